"""Perfect play: exact scores on boards that fit one machine word.

The score of a position is 0 for a draw. Where the side to move wins under perfect play it is
(cells + 1 - stones on the board before the winning stone) // 2, so that 1 is a win with one's
very last stone; where it loses, minus what the other side wins with.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from math import isfinite
from threading import Event
from time import perf_counter

import numpy as np

from selfplay import exact
from selfplay.board import Board
from selfplay.errors import InputError
from selfplay.machine import usable_cores
from selfplay.players import refuse_if_over
from selfplay.position import Position

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

    What it has found it keeps, in a table of fixed size, until `forget`.
    """

    def __init__(
        self,
        board: Board | None = None,
        *,
        memory: int = 64,
        threads: int | None = None,
    ) -> None:
        self.board = board or Board()
        if not self.board.fits_word:
            raise InputError(
                f"perfect play is for boards that fit 64 bits, (rows + 1) x columns; "
                f"{self.board.size} does not"
            )
        if not 1 <= memory <= 64_000:
            raise InputError(f"memory is a number of MB from 1 to 64000, not {memory}")
        least = exact.least_bits(self.board)
        self._bits = max(least, (memory * 1_000_000 // 8).bit_length() - 1)
        self._least_bits = least
        try:
            self._table = np.zeros(1 << self._bits, np.uint64)
        except MemoryError:
            raise InputError(
                f"this machine does not have the memory: lower memory={memory}"
            ) from None
        self._memory = exact.new_memory(self.board, self._table)
        self._threads = threads or usable_cores()
        self.nodes = 0
        """Positions searched since the solver was made."""
        exact.forget(self._memory, self._bits)
        # Have everything compiled before anything is timed.
        exact.begin(self.board, self._memory, np.uint64(0), np.uint64(0), -1, 1)
        exact.work(self.board, self._memory, 0)

    def forget(self) -> None:
        """Begin as if nothing had been found before."""
        exact.forget(self._memory, self._memory.ledger[0]["bits"])

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
        if hard:
            self._side_by_side(position, hard, found, deadline)
        return tuple(found)

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
        self._choose_table(position)
        memory = self._memory
        exact.begin(
            self.board, memory, np.uint64(position.own), np.uint64(position.mask), -bound, bound
        )
        return self._finish(memory, nodes, deadline)

    def _finish(
        self,
        memory: exact.Memory,
        nodes: int | None,
        deadline: float | None,
        stop: Callable[[], bool] = lambda: False,
    ) -> int | None:
        ledger = memory.ledger[0]
        start = int(ledger["nodes"])
        done = False
        while not done and not stop():
            used = int(ledger["nodes"]) - start
            left = _SLICE if nodes is None else min(_SLICE, nodes - used)
            if left <= 0 or (deadline is not None and perf_counter() > deadline):
                break
            done = exact.work(self.board, memory, left)
        self.nodes += int(ledger["nodes"]) - start
        return int(ledger["low"]) if done else None

    def _side_by_side(
        self,
        position: Position,
        columns: Sequence[int],
        found: list[int | None],
        deadline: float | None,
    ) -> None:
        """Search columns in threads: kernels run outside the interpreter's lock, and entries of
        the shared table are single words."""
        stop = Event()

        def search(column: int) -> int | None:
            after = position.play(column)
            memory = exact.new_memory(self.board, self._table)
            for field in ("bits", "generation"):
                memory.ledger[0][field] = self._memory.ledger[0][field]
            exact.begin(
                self.board,
                memory,
                np.uint64(after.own),
                np.uint64(after.mask),
                -2 * self.board.cells,
                2 * self.board.cells,
            )
            score = self._finish(memory, None, deadline, stop.is_set)
            return None if score is None else -score

        pool = ThreadPoolExecutor(min(self._threads, len(columns)))
        try:
            for column, score in zip(columns, pool.map(search, columns), strict=True):
                found[column] = score
        finally:
            stop.set()
            pool.shutdown()

    def _known(self, position: Position) -> int | None:
        """The score of a game that is over."""
        if position.board != self.board:
            raise InputError(f"this solver is for {self.board}, not for {position.board}")
        if position.winner is not None:
            return -((self.board.cells + 2 - position.ply) // 2)
        if position.is_over:
            return 0
        return None

    def _choose_table(self, position: Position) -> None:
        """Few empty cells need a small table, which stays in the processor's cache."""
        empty = self.board.cells - position.ply
        bits = 12 if empty < 14 else 19 if empty < 28 else self._bits
        bits = min(self._bits, max(self._least_bits, bits))
        if bits != self._memory.ledger[0]["bits"]:
            exact.forget(self._memory, bits)


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
