"""Game review: the game value before and after each move, and the mistakes, by perfect play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

from selfplay.game.position import Position
from selfplay.solver.mistakes import RESULT_NAMES
from selfplay.solver.solver import Limit, Solver

REVIEW_SECONDS = 8.0


@dataclass(frozen=True, slots=True)
class ReviewedMove:
    """A move of a game. Game values are those of the side that moved; None is not known."""

    number: int
    """Counted from 1."""
    side: int
    """1, the first player, or 2."""
    played: int
    value: int | None
    """1, 0 or -1: the game value before the move."""
    left: int | None
    """And after it."""
    values: tuple[int | None, ...] | None = None
    """Of a mistake: the game value of every column."""

    @property
    def kind(self) -> str:
        """What a mistake gave away, such as "win to draw"; empty if it is none."""
        if self.value is None or self.left is None or self.left >= self.value:
            return ""
        return f"{RESULT_NAMES[self.value]} to {RESULT_NAMES[self.left]}"

    @property
    def better(self) -> tuple[int, ...]:
        """Of a mistake: the columns that keep the game value."""
        if self.values is None:
            return ()
        return tuple(column for column, value in enumerate(self.values) if value == self.value)


@dataclass(frozen=True, slots=True)
class Review:
    """The result of a review."""

    moves: tuple[ReviewedMove, ...]

    @property
    def mistakes(self) -> tuple[ReviewedMove, ...]:
        """The mistakes whose better columns are known."""
        return tuple(move for move in self.moves if move.better)

    @property
    def unsolved(self) -> tuple[int, ...]:
        """The moves, counted from 1, that were not solved in time: early ones take longest."""
        return tuple(
            move.number
            for move in self.moves
            if None in (move.value, move.left) or (move.kind and not move.better)
        )


def review(
    positions: Sequence[Position],
    moves: Sequence[int],
    solver: Solver,
    seconds: float,
    progress: Callable[[int, int], None] = lambda done, of: None,
) -> Review:
    """Review the moves made in these positions, one after the other, within a time limit."""
    end = perf_counter() + seconds
    found: list[ReviewedMove] = []
    after: int | None = None
    # From the end: the table then helps with earlier positions.
    for done, (position, move) in enumerate(list(zip(positions, moves, strict=True))[::-1], 1):
        # No position may use up all of the time.
        now = perf_counter()
        until = now + max(0.001, (end - now) / 3)
        before = solver.value(position, _until(until))
        if after is None:
            after = solver.value(position.play(move), _until(until))
        found.append(_reviewed(position, move, before, after, solver, until))
        after = before
        progress(done, len(moves))
    return Review(tuple(found[::-1]))


def _reviewed(
    position: Position, move: int, before: int | None, after: int | None, solver: Solver, end: float
) -> ReviewedMove:
    left = None if after is None else -after
    reviewed = ReviewedMove(position.ply + 1, position.to_move, move, before, left)
    if not reviewed.kind:
        return reviewed
    values = solver.values(position, _until(end))
    is_solved = all(values[column] is not None for column in position.legal_moves)
    return replace(reviewed, values=values) if is_solved else reviewed


def _until(end: float) -> Limit:
    return Limit(seconds=max(0.001, end - perf_counter()))
