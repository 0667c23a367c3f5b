from dataclasses import fields

import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.mcts.player import MctsOptions
from selfplay.registry import KINDS, PRESETS, PlayerSpec

BEFORE_SOLVER = {"solver": 0, "transpositions": False, "early_stop": False}


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("random", "random"),
        ("human", "human"),
        (" mcts ", "mcts:10000"),
        ("mcts:10000", "mcts:10000"),
        ("mcts:iterations=500", "mcts:500"),
        ("mcts:exploration=1,iterations=500", "mcts:500,exploration=1"),
        ("mcts:seconds=2", "mcts:seconds=2"),
        ("mcts:seconds=0.5,proven=off,rollout=uniform", None),
        ("minimax", "minimax:4"),
        ("minimax:depth=6,eval=threats", "minimax:6,eval=threats"),
        ("minimax:seconds=1,order=left", None),
        ("mcts:10,max_children=3,reuse=off,memory=10", None),
        (PRESETS["usual"], "usual"),
        (" default-0.1 ", "default-0.1"),
        ("default-0.1:10000", "default-0.1"),
        (
            "usual:500,solver=5,transpositions=on,early_stop=on,rollout=patient,exploration=0.5",
            "mcts:500",
        ),
        ("default-0.1:seconds=2,memory=10", None),
    ],
)
def test_specs_are_read_and_written(text: str, canonical: str | None) -> None:
    spec = PlayerSpec.parse(text)
    assert PlayerSpec.parse(str(spec)) == spec
    if canonical is not None:
        assert str(spec) == canonical


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no player ''"),
        ("mtcs:100", "did you mean 'mcts'"),
        ("zzz", r"centre, default-0.1, greedy, human, mcts, minimax, perfect, py, random"),
        ("default", "did you mean 'default-0.1'"),
        ("usal", "did you mean 'usual'"),
        ("usual:", "options are missing after the colon"),
        ("default-0.1:solvr=1", "player 'default-0.1:solvr=1': .* did you mean 'solver'"),
        ("usual:seconds=1,iterations=5", "iterations or seconds, not both"),
        ("mcts:", "options are missing after the colon"),
        ("mcts:exploraton=1", "did you mean 'exploration'"),
        ("mcts:x=1", "there is no option 'x'"),
        ("mcts:100,200", "write key=value"),
        ("mcts:100,iterations=200", "given twice"),
        ("mcts:ten", "iterations is a whole number, not 'ten'"),
        ("mcts:1.5", "iterations is a whole number"),
        ("mcts:seconds=soon", "seconds is a number, not 'soon'"),
        ("mcts:seconds=0", "above 0"),
        ("mcts:seconds=nan", "above 0, not nan"),
        ("mcts:0", "from 1 up, not 0"),
        ("mcts:-3", "from 1 up, not -3"),
        ("mcts:proven=maybe", "proven is on or off"),
        ("mcts:rollout=fast", "careful, win-first, uniform, not 'fast'"),
        ("random:3", "write key=value"),
        ("random:x=3", "this player has none"),
    ],
)
def test_bad_specs_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        PlayerSpec.parse(text)


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("usual", {"rollout": "win-first", "exploration": 1.414}),
        ("default-0.1", {"rollout": "careful", "exploration": 0.5}),
    ],
)
def test_a_preset_is_the_search_it_was_and_leaves_nothing_to_defaults(
    name: str, options: dict[str, object]
) -> None:
    """An option of the search that is new has to be written out in every preset."""
    was = {"iterations": 10_000, "proven": True, "reuse": True, **BEFORE_SOLVER, **options}
    assert PlayerSpec.parse(name).options == MctsOptions(**was)
    deciding = {field.name for field in fields(MctsOptions) if not field.metadata.get("how")}
    written = {part.partition("=")[0] for part in PRESETS[name].partition(":")[2].split(",")}
    # A limit that is not given stays none.
    assert deciding - written == {"seconds", "max_children"}
    assert MctsOptions().seconds is MctsOptions().max_children is None


def test_options_replace_those_of_a_preset() -> None:
    assert PlayerSpec.parse("default-0.1:1000").full == (
        "mcts:iterations=1000,exploration=0.5,rollout=careful,proven=on,reuse=on,solver=0,"
        "transpositions=off,early_stop=off"
    )
    timed = PlayerSpec.parse("usual:seconds=2")
    assert (timed.options.iterations, timed.options.solver, timed.is_timed) == (None, 0, True)


def test_what_cannot_be_built_names_the_player() -> None:
    with pytest.raises(InputError, match=r"player 'mcts:1000000000000': .* GB"):
        PlayerSpec.parse("mcts:1000000000000").build(Board())
    with pytest.raises(InputError, match="can only play in"):
        PlayerSpec.parse("human").build(Board())


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_an_example_that_parses(name: str) -> None:
    assert PlayerSpec.parse(KINDS[name].example).name == name
