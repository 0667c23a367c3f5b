"""Build an opening book: the chunks of its deepest positions, and their scores."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from selfplay.game.board import Board
from selfplay.solver.book_builder import chunks_of
from selfplay.solver.solver import Solver
from selfplay.workers.solving.build import Progress, SolvingJob
from selfplay.workers.solving.parts import Parts, Row


class BookParts(Parts):
    """The parts of one book: key and score of every position."""

    what = "book"

    def __init__(self, file: Path, board: Board, plies: int) -> None:
        self.board = board
        self.plies = plies
        self._keys = [
            [position.key(canonical=True) for position in chunk]
            for chunk in chunks_of(board, plies)
        ]
        super().__init__(file, len(self._keys))

    @property
    def positions(self) -> int:
        return sum(map(len, self._keys))

    def head(self, chunk: int) -> str:
        return f"part {chunk} of {self.chunks}, {self.plies} plies on {self.board}"

    def is_of(self, chunk: int, rows: Sequence[Row]) -> bool:
        keys = [row[0] for row in rows if len(row) == 2]
        return len(keys) == len(rows) and keys == self._keys[chunk]


@dataclass(frozen=True)
class BookJob(SolvingJob):
    """The chunks of a book as a job."""

    plies: int

    def solver(self) -> Solver:
        return Solver(self.board, memory=self.memory, threads=1, book=None)

    def solve_with(self, solver: Solver) -> Callable[[int], list[Row]]:
        chunks = chunks_of(self.board, self.plies)

        def solve(chunk: int) -> list[Row]:
            return [(p.key(canonical=True), _exact(solver.score(p))) for p in chunks[chunk]]

        return solve


def _exact(score: int | None) -> int:
    assert score is not None  # there is no limit
    return score


class BookProgress(Progress[BookParts]):
    """The chunks of a book that are solved."""

    @property
    def positions_total(self) -> int:
        return self.parts.positions

    @property
    def scores(self) -> dict[int, int]:
        """By canonical key."""
        return {key: score for rows in self.solved.values() for key, score in rows}
