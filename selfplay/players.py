"""What a player is, what it decides, and the players that need no search."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from selfplay.errors import InputError
from selfplay.game.position import Position
from selfplay.seeding import Stream, derive

HOW = {"how": True}
"""Metadata of an option that changes how a player works, never what it decides."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """A move, and what the player knows. Sequences have an entry per column; values are for
    the side to move."""

    move: int
    """The column, 0-based."""
    visits: tuple[int, ...] | None = None
    """How often a search tried the column; 0 where it is illegal."""
    wins: tuple[float, ...] | None = None
    """Of these visits, the points won: win 1, draw ½."""
    value: tuple[float | None, ...] | None = None
    """From -1, lost, to 1, won; None where unknown or illegal."""
    proven: tuple[int | None, ...] | None = None
    """The value of the game where it is known for certain: 1, 0, -1; else None."""
    scores: tuple[int | None, ...] | None = None
    """The exact score per column, where a solver knows it."""
    evaluations: tuple[float | None, ...] | None = None
    """What lies ahead is worth to an evaluation, per column; None where it was not found out
    exactly, or a result is proven."""
    shares: tuple[float | None, ...] | None = None
    """What speaks for each column to a tree, from 0 to 1; None where it is illegal."""
    why: Any = None
    """The reasons of a player that can give some."""
    iterations: int = 0
    """Search iterations that the decision rests on, those of a reused tree included."""
    rollouts: int = 0
    """Games played out for this decision."""
    nodes: int = 0
    """Nodes of the search: in memory, or visited where it keeps none."""
    leaves: int = 0
    """Positions that were evaluated."""
    runs: int = 0
    """Runs of cells that were evaluated for it."""
    depth: int = 0
    """How many plies ahead the search looked."""
    seconds: float = 0.0


class Player(Protocol):
    """Whoever chooses moves. A decision depends on the seed and the moves of this game only."""

    def new_game(self, seed: int) -> None:
        """Forget earlier games; all randomness comes from this seed."""

    def decide(self, position: Position) -> Decision:
        """A decision for a position that is not over."""


@runtime_checkable
class Searcher(Protocol):
    """A player that can be asked, from another thread, how far it is with a decision."""

    def so_far(self) -> Mapping[str, int]:
        """What it has counted since it began, by name."""


def refuse_if_over(position: Position) -> None:
    if position.is_over:
        raise InputError("the game is over: there is nothing to decide")


class RandomPlayer:
    """Plays any legal move, all equally likely."""

    def __init__(self) -> None:
        self._seed = 0

    def new_game(self, seed: int) -> None:
        self._seed = seed

    def decide(self, position: Position) -> Decision:
        refuse_if_over(position)
        stream = Stream(derive(self._seed, position.key()))
        return Decision(move=stream.choice(position.legal_moves))


class CentrePlayer:
    """Plays the open column that is nearest to the middle, the left one of two."""

    def new_game(self, seed: int) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        refuse_if_over(position)
        middle = (position.board.columns - 1) / 2
        return Decision(move=min(position.legal_moves, key=lambda column: abs(column - middle)))


class HumanPlayer:
    """Plays what a person answers; `ask` puts the question and gives a column, 0-based."""

    def __init__(self, ask: Callable[[Position], int]) -> None:
        self._ask = ask

    def new_game(self, seed: int) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        refuse_if_over(position)
        return Decision(move=self._ask(position))
