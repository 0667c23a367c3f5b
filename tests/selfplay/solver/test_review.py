"""What is said of a game afterwards is what perfect play says of it."""

from itertools import accumulate

import pytest

from selfplay.game.position import Position
from selfplay.solver.review import Review, review
from selfplay.solver.solver import Solver


def reviewed(text: str, solver: Solver, seconds: float, told: list[int], since: int = 0) -> Review:
    moves = [int(digit) - 1 for digit in text]
    positions = list(accumulate(moves, Position.play, initial=Position()))[:-1]
    return review(
        positions[since:], moves[since:], solver, seconds, lambda done, of: told.append(done)
    )


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver()


@pytest.mark.parametrize(
    ("text", "since", "kinds"),
    [
        # O has to stop three with two open ends, and does not.
        ("4433225", 0, {"win to loss"}),
        ("655251143631151212343", 12, {"win to draw", "draw to loss", "win to loss"}),
    ],
)
def test_every_move_has_its_value_before_and_after(
    solver: Solver, text: str, since: int, kinds: set[str]
) -> None:
    found = reviewed(text, solver, 60, [], since)
    assert found.unsolved == ()
    assert {mistake.kind for mistake in found.mistakes} == kinds
    for move in found.moves:
        position = Position.parse(text[: move.number - 1])
        values = solver.values(position)
        best = max(value for value in values if value is not None)
        assert (move.side, move.value, move.left) == (position.to_move, best, values[move.played])
        is_mistake = move.left != best
        assert (move in found.mistakes) == bool(move.kind) == is_mistake
        keeping = tuple(column for column, value in enumerate(values) if value == best)
        assert move.better == (keeping if is_mistake else ())


def test_what_takes_too_long_is_left_open() -> None:
    told: list[int] = []
    found = reviewed("12345671", Solver(book=None), 0.001, told)
    assert found.mistakes == ()
    assert set(found.unsolved) >= {1, 2, 3, 4}
    assert told == list(range(1, 9))
