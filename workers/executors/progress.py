"""The progress of a job: its workers, failures and time, updated from an executor's events."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Self

from selfplay.workers.executors.interface import Done, Event, Executor, Failed, Job, WorkerStatus


@dataclass(kw_only=True)
class JobProgress:
    """What all jobs have in common; `add` counts the receipts of one kind."""

    most_failures_in_a_row: ClassVar[float] = float("inf")  # with this many the job is given up

    workers: int = 0
    lost: int = 0
    retries: int = 0
    trouble: str = ""
    failed: list[Failed] = field(default_factory=list)
    failures_in_a_row: int = 0
    began: float | None = None  # when the first worker was ready, by the monotonic clock
    seconds: float = 0.0  # since then
    timed: int = 0  # finished items whose time is known
    work_seconds: float = 0.0  # of all workers, in these; without their start
    last_done: float = 0.0  # when the last of these was done, by the monotonic clock

    def add(self, receipt: Any) -> None:
        """Count a finished item."""
        raise NotImplementedError

    def took(self, seconds: float) -> None:
        """Count the time of a finished item."""
        self.timed += 1
        self.work_seconds += seconds
        self.last_done = time.monotonic()

    def seconds_of(self, left: int) -> float | None:
        """How long these items will take, by the time that one takes a worker, since the last one;
        None if unknown."""
        if not (self.timed and self.workers):
            return None
        each = self.work_seconds / self.timed
        waited = time.monotonic() - self.last_done
        return max(0.0, each * left / min(self.workers, left) - waited) if left else 0.0

    @property
    def is_hopeless(self) -> bool:
        """Whether the remaining items would probably fail as well."""
        return self.failures_in_a_row >= self.most_failures_in_a_row or any(
            failure.is_common for failure in self.failed
        )

    def update(self, event: Event) -> None:
        match event:
            case WorkerStatus():
                self.workers, self.lost = event.ready, event.lost
                self.retries, self.trouble = event.retries, event.trouble
                if event.ready and self.began is None:
                    self.began = time.monotonic()
            case Failed():
                self.failed.append(event)
                self.failures_in_a_row += 1
            case Done():
                self.failures_in_a_row = 0
                self.add(event.receipt)
        if self.began is not None:
            self.seconds = time.monotonic() - self.began

    def follow(
        self, executor: Executor, job: Job, items: Sequence[int], stop: Callable[[], bool]
    ) -> Iterator[Self]:
        """Run a job until it is done, stopped or hopeless; itself, updated, after every event."""
        for event in executor.run(job, items, lambda: stop() or self.is_hopeless):
            self.update(event)
            yield self
