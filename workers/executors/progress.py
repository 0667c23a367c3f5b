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

    def add(self, receipt: Any) -> None:
        """Count a finished item."""
        raise NotImplementedError

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
