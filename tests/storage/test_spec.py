from pathlib import Path

import pytest

from selfplay.errors import InputError
from selfplay.options import read_options
from selfplay.storage.spec import Spec


def test_a_spec_says_all_that_decides_and_nothing_else() -> None:
    spec = Spec(teacher="mcts:500").resolved()
    assert spec.teacher == (
        "mcts:iterations=500,exploration=0.5,rollout=patient,proven=on,reuse=on,solver=5,"
        "transpositions=on,early_stop=on"
    )
    same = [
        Spec(teacher="mcts:iterations=500,memory=100"),
        Spec(teacher="mcts:500", games=7),
        Spec(teacher="mcts:500", explorer="mcts:500"),
        Spec(teacher="mcts:500,memory=100", explorer="mcts:500"),
        Spec(teacher="mcts:500,memory=100", explorer="mcts:500"),
        Spec(teacher="mcts:500", board=" 7X6 "),
        Spec.from_record({"teacher": spec.teacher, "games": 3}),
    ]
    assert {one.hash for one in same} == {spec.hash}
    others = [
        Spec(teacher="mcts:501"),
        Spec(teacher="mcts:500", explorer="random"),
        Spec(teacher="mcts:500", seed=1),
        Spec(teacher="mcts:500", noise=0.1),
        Spec(teacher="mcts:500", shard_games=49),
        Spec(teacher="mcts:500", connect=5),
    ]
    # How a player is to work is kept all the same: whoever makes the run has to know.
    assert "memory=100" in same[0].teacher
    assert len({one.hash for one in [spec, *others]}) == 7
    assert spec.differences(others[2]) == ["seed is 0, not 1"]
    # The hash is an interface: runs on disk carry it.
    assert Spec(teacher="random", shard_games=50).hash == "e39d220b1f2d431dbffd9c1fe4943d38"


def test_what_stands_in_a_file_decides_not_where_it_is(tmp_path: Path) -> None:
    for name, text in (("a", "44\n45\n"), ("b", "44\n\n45\n"), ("c", "44\n")):
        (tmp_path / name).write_text(text)
    a, b, c = (Spec(opening=f"file:{tmp_path / name}").resolved() for name in "abc")
    assert a.hash == b.hash != c.hash
    (tmp_path / "a").unlink()
    assert (
        Spec.from_record({"opening": a.opening, "opening_digest": a.opening_digest}).hash == a.hash
    )


def test_the_clock_is_admitted() -> None:
    assert Spec().is_repeatable
    assert not Spec(teacher="mcts:seconds=0.1").is_repeatable
    assert not Spec(explorer="minimax:seconds=0.1").is_repeatable
    assert not Spec(opponent="mcts:seconds=0.1").is_repeatable


def test_a_spec_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text('teacher = "mcts:100"\ngames = 12\nnoise = 0\n')
    assert (
        Spec.from_options(read_options(path, Spec, "a spec"))
        == Spec(teacher="mcts:100", games=12).resolved()
    )
    for text, message in (
        ("games = ", "cannot read a spec"),
        ("gmaes = 1", "no key 'gmaes'; did you mean 'games'"),
        ("opening_digest = 'x'", "no key 'opening_digest'"),
        ("games = 1.5", "games is a whole number, not 1.5"),
        ("games = true", "games is a whole number, not True"),
        ("teacher = 1", "teacher is a text, not 1"),
    ):
        path.write_text(text)
        with pytest.raises(InputError, match=message):
            read_options(path, Spec, "a spec")
    with pytest.raises(InputError, match="cannot read a spec"):
        read_options(tmp_path / "nowhere.toml", Spec, "a spec")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"games": 0}, "games is a number from 1 to"),
        ({"shard_games": 0}, "shard_games is a number from 1"),
        ({"noise": 1.5}, "noise is a number from 0 to 1"),
        ({"noise": float("nan")}, "noise is a number"),
        ({"teacher": "human"}, "a teacher plays by itself"),
        ({"explorer": "mtcs"}, "did you mean 'mcts'"),
        ({"mode": "game"}, "mode is games or positions"),
        ({"temperature": 1.0}, "go together"),
        (
            {"temperature": 1.0, "temperature_plies": 4, "explorer": "greedy"},
            "needs an mcts",
        ),
        ({"opening": "0-50"}, "leaves no game"),
        ({"opponent": "random", "mode": "positions"}, "mode=positions plays no games"),
        ({"teacher": "tree:s3://KEY:hunter2@b/x"}, "holds a key"),
        ({"opening": "\x1b[2J"}, "has control characters"),
        ({"board": "3x3"}, "4 to 16"),
        ({"schema_version": 7}, "writes schema_version 1"),
    ],
)
def test_bad_values_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Spec(**options).resolved()  # type: ignore[arg-type]
