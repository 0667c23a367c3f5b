import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.registry import KINDS, PlayerSpec


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
        ("zzz", r"there is: centre, greedy, human, mcts, minimax, perfect, py, random"),
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


def test_what_cannot_be_built_names_the_player() -> None:
    with pytest.raises(InputError, match=r"player 'mcts:1000000000000': .* GB"):
        PlayerSpec.parse("mcts:1000000000000").build(Board())
    with pytest.raises(InputError, match="can only play in"):
        PlayerSpec.parse("human").build(Board())


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_has_an_example_that_parses(name: str) -> None:
    assert PlayerSpec.parse(KINDS[name].example).name == name
