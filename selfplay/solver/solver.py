"""Perfect play: exact scores on boards that fit one machine word.

The score of a position is 0 for a draw. Where the side to move wins under perfect play it is
(cells + 1 - stones on the board before the winning stone) // 2, so that 1 is a win with one's
very last stone; where it loses, minus what the other side wins with.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isfinite
from threading import Event, Lock
from time import perf_counter
from typing import Literal

import numpy as np

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.machine import usable_cores
from selfplay.players import refuse_if_over
from selfplay.solver import kernel
from selfplay.solver.book import Book, shipped_book

# Nodes between two looks at the clock and at Ctrl-C.
_SLICE = 1 << 20
# What a column gets before columns are searched side by side: less than a thread is worth.
_ALONE = 1 << 14


@dataclass(frozen=True, slots=True)
class Limit:
    """When to give up. Nodes are counted alike on every machine; seconds are not."""

    nodes: int | None = None
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.nodes is not None and self.nodes < 1:
            raise InputError(f"nodes is a number from 1 up, not {self.nodes}")
        if self.seconds is not None and not (isfinite(self.seconds) and self.seconds > 0):
            raise InputError(f"seconds is a time above 0, not {self.seconds:g}")


NO_LIMIT = Limit()


class Solver:
    """Knows the score of any position, if it is given the time. None means unknown.

    What it has found it keeps, in a table of fixed size, until `forget`. What stands in the
    book it does not search: the shipped one for its board, if there is one, or one that is
    given, or none.
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
                f"perfect play is for boards that fit 64 bits, (rows + 1) x columns; "
                f"{self.board.size} does not"
            )
        if not 1 <= memory <= 64_000:
            raise InputError(f"memory is a number of MB from 1 to 64000, not {memory}")
        wanted = (memory * 1_000_000 // 8).bit_length() - 1
        bits = min(kernel.key_bits(self.board), max(kernel.least_bits(self.board), wanted))
        try:
            table = np.zeros(1 << bits, np.uint64)
        except MemoryError:
            raise InputError(
                f"this machine does not have the memory: lower memory={memory}"
            ) from None
        self._memory = kernel.new_memory(self.board, table)
        self._threads = threads or usable_cores()
        self._counting = Lock()
        self._book = shipped_book(self.board) if book == "shipped" else book
        if self._book is not None and self._book.board != self.board:
            raise InputError(f"this book is for {self._book.board}, not for {self.board}")
        self.nodes = 0
        """Positions searched since the solver was made."""
        # Have everything compiled before anything is timed.
        kernel.widen(self._memory)
        self.forget()
        kernel.begin(self.board, self._memory, np.uint64(0), np.uint64(0), -1, 1)
        kernel.work(self.board, self._memory, 0)

    def forget(self) -> None:
        """Begin as if nothing had been found before."""
        kernel.forget(self._memory)

    def score(self, position: Position, limit: Limit = NO_LIMIT) -> int | None:
        """The exact score for the side to move."""
        return self._ask(position, 2 * self.board.cells, limit.nodes, _deadline(limit))

    def value(self, position: Position, limit: Limit = NO_LIMIT) -> int | None:
        """1 if the side to move wins, 0 for a draw, -1 if it loses; sooner than `score`."""
        score = self._ask(position, 1, limit.nodes, _deadline(limit))
        return None if score is None else sign(score)

    def scores(self, position: Position, limit: Limit = NO_LIMIT) -> tuple[int | None, ...]:
        """For each column the score if it is played now; None where that cannot be, or unknown.

        Columns that take long are solved side by side, unless nodes are limited.
        """
        refuse_if_over(position)
        deadline = _deadline(limit)
        found: list[int | None] = [None] * self.board.columns
        middle = (self.board.columns - 1) / 2
        columns = sorted(position.legal_moves, key=lambda column: abs(column - middle))
        nodes_left = limit.nodes
        hard = []
        for column in columns:
            budget = _ALONE if nodes_left is None else nodes_left
            before = self.nodes
            score = self._ask(position.play(column), 2 * self.board.cells, budget, deadline)
            found[column] = None if score is None else -score
            if nodes_left is not None:
                nodes_left -= self.nodes - before
                if nodes_left <= 0:
                    break
            elif found[column] is None:
                hard.append(column)
        after = [position.play(column) for column in hard]
        for column, score in zip(hard, self._side_by_side(after, deadline), strict=True):
            found[column] = None if score is None else -score
        return tuple(found)

    def values(self, position: Position, limit: Limit = NO_LIMIT) -> tuple[int | None, ...]:
        """For each column 1, 0 or -1 if it is played now; None where that cannot be, or unknown.

        Sooner than `scores`. A limit of nodes is for each column.
        """
        refuse_if_over(position)
        deadline = _deadline(limit)
        found: list[int | None] = [None] * self.board.columns
        for column in position.legal_moves:
            score = self._ask(position.play(column), 1, limit.nodes, deadline)
            found[column] = None if score is None else -sign(score)
        return tuple(found)

    def score_each(self, positions: Sequence[Position]) -> Generator[int]:
        """The scores of many positions in their order, several searched at a time.

        They share the table: the more they have in common, the sooner it is done. Close the
        iterator if it is not used up.
        """
        yield from self._side_by_side(positions, None)  # type: ignore[misc]

    def best_moves(self, position: Position, limit: Limit = NO_LIMIT) -> tuple[int, ...] | None:
        """The moves that keep the game value."""
        return best_of(complete(position, self.scores(position, limit)))

    def strongest_moves(
        self, position: Position, limit: Limit = NO_LIMIT
    ) -> tuple[int, ...] | None:
        """Of the best moves those that win soonest or lose latest."""
        return strongest_of(complete(position, self.scores(position, limit)))

    def _ask(
        self, position: Position, bound: int, nodes: int | None, deadline: float | None
    ) -> int | None:
        """The score, or only on which side of the bounds it lies."""
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
            done = kernel.work(self.board, memory, left)
        with self._counting:
            self.nodes += int(counters["nodes"]) - start
        return int(counters["low"]) if done else None

    def _side_by_side(
        self, positions: Sequence[Position], deadline: float | None
    ) -> Generator[int | None]:
        """Search in threads: kernels run outside the interpreter's lock, and entries of the
        shared table are single words."""
        if not positions:
            return
        stop = Event()

        def search(position: Position) -> int | None:
            known = self._known(position)
            if known is not None:
                return known
            memory = kernel.beside(self.board, self._memory)
            self._begin(memory, position, 2 * self.board.cells)
            return self._finish(memory, None, deadline, stop.is_set)

        kernel.widen(self._memory)
        pool = ThreadPoolExecutor(min(self._threads, len(positions)) or 1)
        try:
            yield from pool.map(search, positions)
        finally:
            stop.set()
            pool.shutdown(cancel_futures=True)

    def _known(self, position: Position) -> int | None:
        """What needs no search: the score of a game that is over, or what stands in the book."""
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
    """The scores, if that of every legal move is known."""
    known = all(scores[column] is not None for column in position.legal_moves)
    return scores if known else None


def best_of(scores: Sequence[int | None] | None) -> tuple[int, ...] | None:
    """The columns that keep the game value, where the scores of all legal ones are known."""
    if scores is None:
        return None
    best = max(sign(score) for score in scores if score is not None)
    return tuple(c for c, score in enumerate(scores) if score is not None and sign(score) == best)


def strongest_of(scores: Sequence[int | None] | None) -> tuple[int, ...] | None:
    """The columns with the highest score, where the scores of all legal ones are known."""
    if scores is None:
        return None
    best = max(score for score in scores if score is not None)
    return tuple(column for column, score in enumerate(scores) if score == best)


def sign(score: int) -> int:
    """The game value that a score stands for."""
    return (score > 0) - (score < 0)


def _deadline(limit: Limit) -> float | None:
    return None if limit.seconds is None else perf_counter() + limit.seconds
