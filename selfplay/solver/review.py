"""Game review: the mistakes of a game, by perfect play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from selfplay.game.position import Position
from selfplay.solver.solver import Limit, Solver


@dataclass(frozen=True, slots=True)
class Mistake:
    """A move that gave away some of the game value."""

    number: int
    """The move's number, counted from 1."""
    side: int
    """1, the first player, or 2."""
    played: int
    better: tuple[int, ...]
    """The columns that keep the game value."""
    value: int
    """The game value for that side before: 1, a win, or 0, a draw."""
    left: int
    """And after it: 0 or -1."""


@dataclass(frozen=True, slots=True)
class Review:
    """The result of a review."""

    mistakes: tuple[Mistake, ...]
    unsolved: tuple[int, ...]
    """The moves, counted from 1, that were not solved in time: early ones take longest."""


def review(
    positions: Sequence[Position],
    moves: Sequence[int],
    solver: Solver,
    seconds: float,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Review:
    """Review the moves made in these positions, within a time limit."""
    end = perf_counter() + seconds
    mistakes: list[Mistake] = []
    unsolved: list[int] = []
    # From the end: the table then helps with earlier positions.
    for done, (position, move) in enumerate(list(zip(positions, moves, strict=True))[::-1], 1):
        # No position may use up all of the time.
        now = perf_counter()
        values = _values(position, move, solver, now + max(0.001, (end - now) / 3))
        if values is None:
            unsolved.append(position.ply + 1)
        elif values[move] < (best := max(values.values())):
            better = tuple(column for column in sorted(values) if values[column] == best)
            number = position.ply + 1
            mistakes.append(Mistake(number, position.to_move, move, better, best, values[move]))
        progress(done, len(moves))
    return Review(tuple(mistakes[::-1]), tuple(unsolved[::-1]))


def _values(position: Position, move: int, solver: Solver, end: float) -> dict[int, int] | None:
    """The value of this move, and of all others if it is a mistake; None if time runs out."""

    def left() -> Limit:
        return Limit(seconds=max(0.001, end - perf_counter()))

    best = solver.value(position, left())
    after = None if best is None else solver.value(position.play(move), left())
    if best is None or after is None:
        return None
    if -after == best:
        return {move: best}
    values = solver.values(position, left())
    if any(values[column] is None for column in position.legal_moves):
        return None
    return {column: value for column, value in enumerate(values) if value is not None}
