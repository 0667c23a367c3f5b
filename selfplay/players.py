"""The interface of players, and the players that do not search."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from selfplay.errors import InputError
from selfplay.game.position import Position
from selfplay.notebook import table
from selfplay.seeding import Stream, derive

if TYPE_CHECKING:
    from selfplay.arrays import Array

_RESULTS = {1: "win", 0: "draw", -1: "loss", None: ""}
HOW = {"how": True}
"""Metadata of an option that changes how a player works, but not its moves."""


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Decision:
    """A move, and what the player knows. Tuples have an entry per column; values are for the
    side to move."""

    move: int
    """The column, 0-based."""
    visits: tuple[int, ...] | None = None
    """Visits in the search; 0 where illegal."""
    wins: tuple[float, ...] | None = None
    """The points won in these visits: win 1, draw ½."""
    value: tuple[float | None, ...] | None = None
    """From -1, lost, to 1, won; None where unknown or illegal."""
    proven: tuple[int | None, ...] | None = None
    """The proven game value, 1, 0 or -1; None where unknown."""
    scores: tuple[int | None, ...] | None = None
    """The exact score, from a solver."""
    evaluations: tuple[float | None, ...] | None = None
    """The value of a heuristic search; None where it is only a bound, or the result is proven."""
    shares: tuple[float | None, ...] | None = None
    """A tree's score from 0 to 1; None where illegal."""
    why: Any = None
    """An explanation, if the player can give one."""
    iterations: int = 0
    """Search iterations, including those of a reused tree."""
    rollouts: int = 0
    """Rollouts for this decision."""
    nodes: int = 0
    """Nodes in the tree, or nodes visited if the search keeps none."""
    leaves: int = 0
    """Positions evaluated."""
    lines: int = 0
    """Lines evaluated."""
    depth: int = 0
    """The search depth in plies."""
    seconds: float = 0.0

    @property
    def by_column(self) -> tuple[str, Sequence[float | None], str]:
        """What the player says of each column: its name, the numbers, and their format."""
        if self.shares:
            return "rating", self.shares, ".0%"
        if self.evaluations:
            return "evaluation", self.evaluations, "+,.1f"
        if self.scores:
            return "score", self.scores, "+d"
        return "value", self.value or (), "+.3f"

    def __repr__(self) -> str:
        name, numbers, form = self.by_column
        facts = [f"move={self.move}"]
        if numbers:
            texts = ("None" if number is None else format(number, form) for number in numbers)
            facts.append(f"{name}=({', '.join(texts)})")
        facts += [
            f"{name}={getattr(self, name)}"
            for name in ("iterations", "nodes", "depth")
            if getattr(self, name)
        ]
        return f"Decision({', '.join(facts)})"

    def _repr_html_(self) -> str:
        name, numbers, form = self.by_column
        known = {
            "visits": [f"{count:,}" for count in self.visits or ()],
            name: ["" if number is None else format(number, form) for number in numbers],
            "proven": [_RESULTS[result] for result in self.proven or ()],
        }
        known = {name: texts for name, texts in known.items() if any(texts)}
        if not known:
            return table([[f"column {self.move + 1}"]])
        columns = map(str, range(1, 1 + max(map(len, known.values()))))
        rows = list(zip(columns, *known.values(), strict=True))
        return table(rows, ("column", *known), bold=self.move)


class Player(Protocol):
    """Chooses moves. A decision depends on the seed and the moves of this game only."""

    def new_game(self, seed: int) -> None:
        """Start a new game; all randomness comes from this seed."""

    def decide(self, position: Position) -> Decision:
        """A decision for a position that is not over."""


@runtime_checkable
class Searcher(Protocol):
    """A player that reports its progress to other threads."""

    def so_far(self) -> Mapping[str, int]:
        """Counters of the current decision, by name."""


@runtime_checkable
class Batched(Protocol):
    """A player that decides for many positions at once, each by its stones alone."""

    def moves_of_images(self, own: Array, mask: Array) -> Array:
        """int [position, 2]: the moves that `decide` would make in positions and in their mirror
        images, the latter mirrored back."""

    def moves_among(self, own: Array, mask: Array, columns: Array) -> Array:
        """int [position]: of these columns, bool [position, column], the one it thinks best."""


def refuse_if_over(position: Position) -> None:
    if position.is_over:
        raise InputError("the game is over: there is no move")


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
    """Plays the open column nearest to the middle, the left one of two."""

    def new_game(self, seed: int) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        refuse_if_over(position)
        middle = (position.board.columns - 1) / 2
        return Decision(move=min(position.legal_moves, key=lambda column: abs(column - middle)))


class HumanPlayer:
    """Plays the columns, 0-based, that `ask` returns."""

    def __init__(self, ask: Callable[[Position], int]) -> None:
        self._ask = ask

    def new_game(self, seed: int) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        refuse_if_over(position)
        return Decision(move=self._ask(position))
