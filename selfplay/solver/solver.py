"""Perfect play: exact scores on boards that fit one machine word.

A draw scores 0. A win of the side to move scores (cells + 1 - stones before the winning move) // 2:
1 is a win with the very last stone. A loss scores minus the opponent's win.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from threading import Event, Lock
from time import perf_counter
from typing import Literal

import numpy as np

from selfplay.arrays import Array, BoolArray
from selfplay.checks import allocating, check_memory, check_range, check_seconds
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.machine import usable_cores
from selfplay.players import refuse_if_over
from selfplay.solver import kernel
from selfplay.solver.book import Book, shipped_book
from selfplay.solver.bounds import reach_all

# Nodes between two checks of the clock and for Ctrl-C.
_SLICE = 1 << 20
# Nodes per column before columns are searched in parallel: fewer are not worth a thread.
_SERIAL_NODES = 1 << 14


@dataclass(frozen=True, slots=True)
class Limit:
    """When to give up. Node limits are reproducible, time limits are not."""

    nodes: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        check_range("nodes", self.nodes, 1)
        check_seconds(self.seconds)


NO_LIMIT = Limit()


class Solver:
    """Computes exact scores; None means unknown.

    It keeps results in a transposition table of fixed size until `forget`. Positions in the opening
    book are not searched. By default that is the bundled book of the board, if there is one.
    """

    def __init__(
        self,
        board: Board | None = None,
        *,
        memory: int = 64,
        threads: int | None = None,
        book: Book | Literal["shipped"] | None = "shipped",
    ) -> None:
        self.board = board or Board()
        if not self.board.fits_word:
            raise InputError(
                f"perfect play needs boards that fit 64 bits, (rows + 1) x columns: "
                f"{self.board.size} does not"
            )
        check_memory(memory)
        wanted = (memory * 1_000_000 // 8).bit_length() - 1
        bits = min(self.board.key_bits, max(kernel.least_bits(self.board), wanted))
        with allocating(memory):
            table = np.zeros(1 << bits, np.uint64)
        self._memory = kernel.new_memory(self.board, table)
        self._threads = threads or usable_cores()
        self._counting = Lock()
        self._book = shipped_book(self.board) if book == "shipped" else book
        if self._book is not None and self._book.board != self.board:
            raise InputError(f"this book is for {self._book.board}, not for {self.board}")
        self.nodes = 0
        """Positions searched since the solver was made."""
        # Compile everything before anything is timed.
        kernel.use_whole_table(self._memory)
        self.forget()
        kernel.begin(self.board, self._memory, np.uint64(0), np.uint64(0), -1, 1)
        kernel.search(self.board, self._memory, 0)

    def forget(self) -> None:
        """Clear the table."""
        kernel.forget(self._memory)

    def score(self, position: Position, limit: Limit = NO_LIMIT) -> int | None:
        """The exact score for the side to move."""
        return self._solve(position, 2 * self.board.cells, limit.nodes, _deadline(limit))

    def value(self, position: Position, limit: Limit = NO_LIMIT) -> int | None:
        """1 if the side to move wins, 0 for a draw, -1 if it loses; faster than `score`."""
        score = self._solve(position, 1, limit.nodes, _deadline(limit))
        return None if score is None else sign(score)

    def scores(self, position: Position, limit: Limit = NO_LIMIT) -> tuple[int | None, ...]:
        """The score of each column; None where illegal or unknown.

        Hard columns are solved in parallel, unless nodes are limited.
        """
        refuse_if_over(position)
        deadline = _deadline(limit)
        found: list[int | None] = [None] * self.board.columns
        middle = (self.board.columns - 1) / 2
        columns = sorted(position.legal_moves, key=lambda column: abs(column - middle))
        nodes_left = limit.nodes
        hard = []
        for column in columns:
            budget = _SERIAL_NODES if nodes_left is None else nodes_left
            before = self.nodes
            score = self._solve(position.play(column), 2 * self.board.cells, budget, deadline)
            found[column] = None if score is None else -score
            if nodes_left is not None:
                nodes_left -= self.nodes - before
                if nodes_left <= 0:
                    break
            elif found[column] is None:
                hard.append(column)
        after = [position.play(column) for column in hard]
        for column, score in zip(hard, self._in_parallel(after, deadline), strict=True):
            found[column] = None if score is None else -score
        return tuple(found)

    def values(self, position: Position, limit: Limit = NO_LIMIT) -> tuple[int | None, ...]:
        """1, 0 or -1 for each column; None where illegal or unknown.

        Faster than `scores`. A node limit holds for each column.
        """
        refuse_if_over(position)
        deadline = _deadline(limit)
        found: list[int | None] = [None] * self.board.columns
        for column in position.legal_moves:
            score = self._solve(position.play(column), 1, limit.nodes, deadline)
            found[column] = None if score is None else -sign(score)
        return tuple(found)

    def reaches(self, own: Array, mask: Array, bounds: Array) -> BoolArray:
        """Whether positions score at least these bounds, for the side to move; faster than `value`
        for many positions, which are not over. Neighbours by key share results."""
        board, memory = self.board, self._memory
        reached = np.zeros(len(own), np.bool_)
        is_known = np.bitwise_count(mask) <= (-1 if self._book is None else self._book.plies)
        for i in np.flatnonzero(is_known).tolist():
            known = self._known(Position(board, int(own[i]), int(mask[i]), None))
            assert known is not None
            reached[i] = known >= bounds[i]
        left = np.flatnonzero(~is_known)
        own, mask, bounds = own[left], mask[left], bounds[left].astype(np.int8)
        found = np.zeros(len(left), np.bool_)
        before = int(memory.counters[0]["nodes"])
        at, is_begun = 0, False
        while at < len(left):
            at, is_begun = reach_all(board, memory, own, mask, bounds, found, at, is_begun, _SLICE)
        self.nodes += int(memory.counters[0]["nodes"]) - before
        reached[left] = found
        return reached

    def best_moves(self, position: Position, limit: Limit = NO_LIMIT) -> tuple[int, ...] | None:
        """The moves that keep the game value."""
        return best_of(complete(position, self.scores(position, limit)))

    def strongest_moves(
        self, position: Position, limit: Limit = NO_LIMIT
    ) -> tuple[int, ...] | None:
        """The best moves that win soonest or lose latest."""
        return strongest_of(complete(position, self.scores(position, limit)))

    def _solve(
        self, position: Position, bound: int, nodes: int | None, deadline: float | None
    ) -> int | None:
        """The score, or a bound if it lies outside -bound to bound."""
        known = self._known(position)
        if known is not None:
            return known
        self._begin(self._memory, position, bound)
        return self._finish(self._memory, nodes, deadline)

    def _begin(self, memory: kernel.Memory, position: Position, bound: int) -> None:
        own, mask = np.uint64(position.own), np.uint64(position.mask)
        kernel.begin(self.board, memory, own, mask, -bound, bound)

    def _finish(
        self,
        memory: kernel.Memory,
        nodes: int | None,
        deadline: float | None,
        stop: Callable[[], bool] = lambda: False,
    ) -> int | None:
        counters = memory.counters[0]
        start = int(counters["nodes"])
        done = False
        while not done and not stop():
            used = int(counters["nodes"]) - start
            left = _SLICE if nodes is None else min(_SLICE, nodes - used)
            if left <= 0 or (deadline is not None and perf_counter() > deadline):
                break
            done = kernel.search(self.board, memory, left)
        with self._counting:
            self.nodes += int(counters["nodes"]) - start
        return int(counters["low"]) if done else None

    def _in_parallel(
        self, positions: Sequence[Position], deadline: float | None
    ) -> Generator[int | None]:
        """Search in threads: kernels release the GIL, and entries of the shared table are single
        words."""
        if not positions:
            return
        stop = Event()

        def search(position: Position) -> int | None:
            known = self._known(position)
            if known is not None:
                return known
            memory = kernel.sharing_table(self.board, self._memory)
            self._begin(memory, position, 2 * self.board.cells)
            return self._finish(memory, None, deadline, stop.is_set)

        kernel.use_whole_table(self._memory)
        pool = ThreadPoolExecutor(min(self._threads, len(positions)) or 1)
        try:
            yield from pool.map(search, positions)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)

    def _known(self, position: Position) -> int | None:
        """The score without a search: of a game that is over, or from the book."""
        if position.board != self.board:
            raise InputError(f"this solver is for {self.board}, not for {position.board}")
        final = final_score(position)
        if final is not None or self._book is None:
            return final
        return self._book.score(position)


def final_score(position: Position) -> int | None:
    """The score of a game that is over."""
    if position.winner is not None:
        return -((position.board.cells + 2 - position.ply) // 2)
    return 0 if position.is_over else None


def complete(position: Position, scores: tuple[int | None, ...]) -> tuple[int | None, ...] | None:
    """The scores if those of all legal moves are known, else None."""
    known = all(scores[column] is not None for column in position.legal_moves)
    return scores if known else None


def best_of(scores: Sequence[int | None] | None) -> tuple[int, ...] | None:
    """The columns that keep the game value; None if the scores are unknown."""
    if scores is None:
        return None
    best = max(sign(score) for score in scores if score is not None)
    return tuple(c for c, score in enumerate(scores) if score is not None and sign(score) == best)


def strongest_of(scores: Sequence[int | None] | None) -> tuple[int, ...] | None:
    """The columns with the highest score; None if the scores are unknown."""
    if scores is None:
        return None
    best = max(score for score in scores if score is not None)
    return tuple(column for column, score in enumerate(scores) if score == best)


def sign(score: int) -> int:
    """The game value of a score."""
    return (score > 0) - (score < 0)


def _deadline(limit: Limit) -> float | None:
    return None if limit.seconds is None else perf_counter() + limit.seconds
