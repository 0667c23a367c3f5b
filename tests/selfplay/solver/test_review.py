"""What is said of a game afterwards is what perfect play says of it."""

import pytest

from selfplay.game.position import Position
from selfplay.solver.review import Mistake, review
from selfplay.solver.solver import Solver


def positions_of(text: str) -> tuple[list[Position], list[int]]:
    moves = [int(digit) - 1 for digit in text]
    positions = [Position()]
    for move in moves[:-1]:
        positions.append(positions[-1].play(move))
    return positions, moves


@pytest.fixture(scope="module")
def solver() -> Solver:
    return Solver()


def test_the_move_that_lost_is_found(solver: Solver) -> None:
    # 4 4 3: O has to stop three with two open ends, and does not.
    found = review(*positions_of("4433225"), solver, 60)
    assert found.unsolved == ()
    assert (
        found.mistakes[-1]
        == Mistake(number=4, side=2, played=2, better=found.mistakes[-1].better, value=0, left=-1)
        or found.mistakes[-1].side == 2
    )
    for mistake in found.mistakes:
        position = positions_of("4433225")[0][mistake.number - 1]
        values = [None if s is None else (s > 0) - (s < 0) for s in solver.scores(position)]
        best = max(value for value in values if value is not None)
        assert (mistake.value, mistake.left) == (best, values[mistake.played])
        assert mistake.better == tuple(c for c, value in enumerate(values) if value == best)


def test_what_takes_too_long_is_left_open(solver: Solver) -> None:
    positions, moves = positions_of("1234567" + "1")
    told: list[int] = []
    found = review(positions, moves, Solver(book=None), 0.001, lambda done, of: told.append(done))
    assert found.mistakes == ()
    assert set(found.unsolved) >= {1, 2, 3, 4}
    assert told == list(range(1, 9))
