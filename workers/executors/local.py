"""Run a job in this process, one item after another: for tests and debuggers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext

from selfplay.workers.executors.interface import Event, Job, WorkerStatus, attempt


class LocalExecutor:
    """Runs a job in this process."""

    def start(self) -> AbstractContextManager[None]:
        return nullcontext()

    def run(self, job: Job, items: Sequence[int], stop: Callable[[], bool]) -> Iterator[Event]:
        yield WorkerStatus(ready=0)
        do = job.prepare()
        yield WorkerStatus(ready=1)
        for item in items:
            if stop():
                return
            yield attempt(do, item)
