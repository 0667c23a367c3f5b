"""Build an opening book: hand the chunks without a part to an executor, and store what comes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from selfplay.game.board import Board
from selfplay.solver.book_builder import chunks_of
from selfplay.solver.solver import Solver
from selfplay.workers.book.parts import Parts
from selfplay.workers.executors.interface import DoItem, Executor, JobError, message_of
from selfplay.workers.executors.progress import JobProgress


@dataclass(frozen=True, slots=True)
class Receipt:
    """The scores of a chunk's positions, by key."""

    chunk: int
    scores: dict[int, int]
    seconds: float


@dataclass(frozen=True, slots=True)
class BookJob:
    """The chunks of a book as a job. Every worker keeps a transposition table from chunk to chunk:
    it makes exact scores sooner known, not others."""

    board: Board
    plies: int
    memory: int

    def solver(self) -> Solver:
        return Solver(self.board, memory=self.memory, threads=1, book=None)

    def prepare(self) -> DoItem:
        solver, chunks = self.solver(), chunks_of(self.board, self.plies)

        def solve(chunk: int) -> Receipt:
            start = time.perf_counter()
            scores = {p.key(canonical=True): _exact(solver.score(p)) for p in chunks[chunk]}
            return Receipt(chunk, scores, time.perf_counter() - start)

        return solve


def _exact(score: int | None) -> int:
    assert score is not None  # there is no limit
    return score


@dataclass
class Progress(JobProgress):
    """The chunks that are solved."""

    parts: Parts
    solved: dict[int, dict[int, int]]

    @classmethod
    def of(cls, parts: Parts) -> Progress:
        return cls(parts, parts.read())

    @property
    def scores(self) -> dict[int, int]:
        """By canonical key."""
        return {key: score for scores in self.solved.values() for key, score in scores.items()}

    @property
    def positions(self) -> int:
        return sum(map(len, self.solved.values()))

    @property
    def missing(self) -> list[int]:
        return [chunk for chunk in range(self.parts.chunks) if chunk not in self.solved]

    @property
    def is_complete(self) -> bool:
        return len(self.solved) == self.parts.chunks

    @property
    def seconds_left(self) -> float | None:
        """None if unknown."""
        return self.seconds_of(self.parts.chunks - len(self.solved))

    def add(self, receipt: Receipt) -> None:
        try:
            self.parts.write(receipt.chunk, receipt.scores)
        except OSError as error:
            raise JobError(message_of(error)) from error
        self.solved[receipt.chunk] = receipt.scores
        self.took(receipt.seconds)


def build(
    job: BookJob, progress: Progress, executor: Executor, stop: Callable[[], bool]
) -> Iterator[Progress]:
    """Solve the missing chunks; failures are in the progress."""
    return progress.follow(executor, job, progress.missing, stop)
