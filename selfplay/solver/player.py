"""Perfect play as a player."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import HOW, Decision
from selfplay.seeding import Stream, derive
from selfplay.solver.book import Book, shipped_book
from selfplay.solver.solver import Limit, Solver, complete, sign, strongest_of

_MOST_KNOWN = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PerfectOptions:
    """How the `perfect` player plays."""

    memory: int = field(default=64, metadata=HOW)
    """The table, in MB."""
    scores: bool = True
    """Play for the soonest win and the latest loss. Without, any move that keeps the value of the
    game will do, and twice as many positions are judged in the same time."""
    seconds: float | None = None
    """Give up after so long; without it, it takes as long as it takes."""
    book: str | None = field(default=None, metadata=HOW)
    """The file of an opening book, in place of the one that comes along."""

    def __post_init__(self) -> None:
        Limit(seconds=self.seconds)


class PerfectPlayer:
    """Plays a strongest move: wins as soon as it can be done, loses as late."""

    def __init__(self, board: Board, options: PerfectOptions | None = None) -> None:
        options = options or PerfectOptions()
        book = Book.load(Path(options.book)) if options.book else shipped_book(board)
        self._solver = Solver(board, memory=options.memory, book=book)
        self._limit = Limit(seconds=options.seconds)
        self._judge = self._solver.scores if options.scores else self._solver.values
        self._has_scores = options.scores
        self._known: dict[int, tuple[int | None, ...]] = {}
        """Games begin alike: what was asked before is not searched again."""
        self._seed = 0
        self._nodes_before = 0

    def new_game(self, seed: int) -> None:
        self._seed = seed

    @property
    def may_be_told(self) -> bool:
        """Whether it goes by values alone, and finds them whatever time it takes."""
        return not self._has_scores and self._limit.seconds is None

    def remember(self, values: Iterable[tuple[int, tuple[int | None, ...]]]) -> None:
        """Take over what every open column is worth, 1, 0 or -1, in positions that were judged
        before, each by its key."""
        assert self.may_be_told
        for key, columns in values:
            if len(self._known) >= _MOST_KNOWN:
                return
            self._known[key] = columns

    def so_far(self) -> dict[str, int]:
        return {"nodes": self._solver.nodes - self._nodes_before}

    def decide(self, position: Position) -> Decision:
        start = perf_counter()
        self._nodes_before = self._solver.nodes
        known = self._known.get(position.key()) or complete(
            position, self._judge(position, self._limit)
        )
        if known is None:
            raise InputError(
                f"perfect could not solve {position} in {self._limit.seconds:g} s: give it more"
            )
        if len(self._known) < _MOST_KNOWN:
            self._known[position.key()] = known
        values = tuple(None if score is None else sign(score) for score in known)
        stream = Stream(derive(self._seed, position.key()))
        return Decision(
            move=stream.choice(strongest_of(known) or ()),
            value=tuple(None if value is None else float(value) for value in values),
            proven=values,
            scores=known if self._has_scores else None,
            nodes=self._solver.nodes - self._nodes_before,
            seconds=perf_counter() - start,
        )
