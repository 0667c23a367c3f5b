"""Looking back at a game: which moves gave something away, by perfect play."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from time import perf_counter

from selfplay.game.position import Position
from selfplay.solver.solver import Limit, Solver


@dataclass(frozen=True, slots=True)
class Mistake:
    """A move after which the game was worth less to the side that made it."""

    number: int
    """Of the stone, counted from 1."""
    side: int
    """1, the first player, or 2."""
    played: int
    better: tuple[int, ...]
    """The columns that keep what the position was worth."""
    value: int
    """Of the game to that side before: 1, a win, or 0, a draw."""
    left: int
    """And after: 0 or -1."""


@dataclass(frozen=True, slots=True)
class Review:
    """What is known of a game."""

    mistakes: tuple[Mistake, ...]
    unjudged: tuple[int, ...]
    """The stones, counted from 1, for which time was short: early ones take longest."""


def review(
    positions: Sequence[Position],
    moves: Sequence[int],
    solver: Solver,
    seconds: float,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Review:
    """Judge the moves that were made on these positions, for so long."""
    end = perf_counter() + seconds
    mistakes: list[Mistake] = []
    unjudged: list[int] = []
    # From the end: what is found there helps with what comes before.
    for done, (position, move) in enumerate(list(zip(positions, moves, strict=True))[::-1], 1):
        # One that takes long must not use up the time of all.
        now = perf_counter()
        values = _values(position, move, solver, now + max(0.001, (end - now) / 3))
        if values is None:
            unjudged.append(position.ply + 1)
        elif values[move] < (best := max(values.values())):
            better = tuple(column for column in sorted(values) if values[column] == best)
            number = position.ply + 1
            mistakes.append(Mistake(number, position.to_move, move, better, best, values[move]))
        tell(done, len(moves))
    return Review(tuple(mistakes[::-1]), tuple(unjudged[::-1]))


def _values(position: Position, move: int, solver: Solver, end: float) -> dict[int, int] | None:
    """What this move is worth, and the others too unless it is as good as any; if it is known
    in time."""

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
