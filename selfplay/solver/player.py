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

_MAX_CACHED = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class PerfectOptions:
    """How the `perfect` player plays."""

    memory: int = field(default=64, metadata=HOW)
    """The size of the transposition table, in MB."""
    scores: bool = True
    """Play for the soonest win and the latest loss. If off, any move that keeps the game value will
    do, which is twice as fast."""
    seconds: float | None = None
    """Time limit per move; unlimited by default."""
    book: str | None = field(default=None, metadata=HOW)
    """The file of an opening book, instead of the bundled one."""

    def __post_init__(self) -> None:
        Limit(seconds=self.seconds)


class PerfectPlayer:
    """Plays a strongest move: wins as soon as possible, loses as late as possible."""

    def __init__(self, board: Board, options: PerfectOptions | None = None) -> None:
        options = options or PerfectOptions()
        book = Book.load(Path(options.book)) if options.book else shipped_book(board)
        self._solver = Solver(board, memory=options.memory, book=book)
        self._limit = Limit(seconds=options.seconds)
        self._solve = self._solver.scores if options.scores else self._solver.values
        self._has_scores = options.scores
        self._cache: dict[int, tuple[int | None, ...]] = {}
        """Results by position: games begin alike."""
        self._seed = 0
        self._nodes_before = 0

    def new_game(self, seed: int) -> None:
        self._seed = seed

    @property
    def may_be_told(self) -> bool:
        """Whether `remember` is allowed: it plays by values alone, and without a time limit."""
        return not self._has_scores and self._limit.seconds is None

    def remember(self, values: Iterable[tuple[int, tuple[int | None, ...]]]) -> None:
        """Cache results from elsewhere: keys of positions, and the value of each column."""
        assert self.may_be_told
        for key, columns in values:
            if len(self._cache) >= _MAX_CACHED:
                return
            self._cache[key] = columns

    def so_far(self) -> dict[str, int]:
        return {"nodes": self._solver.nodes - self._nodes_before}

    def decide(self, position: Position) -> Decision:
        start = perf_counter()
        self._nodes_before = self._solver.nodes
        known = self._cache.get(position.key()) or complete(
            position, self._solve(position, self._limit)
        )
        if known is None:
            raise InputError(
                f"perfect could not solve {position} in {self._limit.seconds:g} s: raise seconds"
            )
        if len(self._cache) < _MAX_CACHED:
            self._cache[position.key()] = known
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
