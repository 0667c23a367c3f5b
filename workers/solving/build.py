"""Solve positions in chunks: hand those without a part to an executor, and store what comes."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

from selfplay.game.board import Board
from selfplay.solver.solver import Solver
from selfplay.workers.executors.interface import DoItem, Executor, JobError, message_of
from selfplay.workers.executors.progress import JobProgress
from selfplay.workers.solving.parts import Parts, Row

P = TypeVar("P", bound=Parts)


@dataclass(frozen=True, slots=True)
class Receipt:
    """The rows of a chunk."""

    chunk: int
    rows: list[Row]
    seconds: float


@dataclass(frozen=True)
class SolvingJob(ABC):
    """The chunks of a build as a job. Every worker keeps a transposition table from chunk to chunk:
    it makes exact scores sooner known, not others."""

    board: Board
    memory: int

    @abstractmethod
    def solver(self) -> Solver:
        """A worker's solver."""

    def compile(self) -> None:
        """Refuse wrong options, and compile once, before many workers need it."""
        self.solver()

    @abstractmethod
    def solve_with(self, solver: Solver) -> Callable[[int], list[Row]]:
        """A function that solves a chunk."""

    def prepare(self) -> DoItem:
        solve = self.solve_with(self.solver())

        def timed(chunk: int) -> Receipt:
            start = time.perf_counter()
            rows = solve(chunk)
            return Receipt(chunk, rows, time.perf_counter() - start)

        return timed


@dataclass
class Progress(JobProgress, Generic[P]):
    """The chunks that are solved."""

    parts: P
    solved: dict[int, list[Row]]

    @classmethod
    def of(cls, parts: P) -> Self:
        return cls(parts, parts.read())

    @property
    def missing(self) -> list[int]:
        return [chunk for chunk in range(self.parts.chunks) if chunk not in self.solved]

    @property
    def positions(self) -> int:
        """The positions that are solved."""
        return sum(map(len, self.solved.values()))

    @property
    def positions_total(self) -> int:
        raise NotImplementedError

    @property
    def chunks_left(self) -> int | None:
        """None if unknown."""
        return self.parts.chunks - len(self.solved)

    @property
    def is_complete(self) -> bool:
        return not self.chunks_left

    @property
    def is_over(self) -> bool:
        """Whether no chunk remains to be solved."""
        return self.is_complete

    @property
    def seconds_left(self) -> float | None:
        """None if unknown."""
        return None if self.chunks_left is None else self.seconds_of(self.chunks_left)

    def add(self, receipt: Receipt) -> None:
        try:
            self.parts.write(receipt.chunk, receipt.rows)
        except OSError as error:
            raise JobError(message_of(error)) from error
        self.solved[receipt.chunk] = receipt.rows
        self.took(receipt.seconds)


S = TypeVar("S", bound="Progress[Any]")


def build(
    job: SolvingJob, progress: S, executor: Executor, stop: Callable[[], bool]
) -> Iterator[S]:
    """Solve the missing chunks; failures are in the progress."""
    return progress.follow(executor, job, progress.missing, lambda: stop() or progress.is_over)
