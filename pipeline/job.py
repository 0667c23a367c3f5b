"""The life cycle of a job: start the executor, catch signals, run, report, say how it ended."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from selfplay.errors import InputError
from selfplay.workers.executors.interface import Executor, Failed, JobError
from selfplay.workers.executors.stopping import Stop


class StoppedError(Exception):
    """Ctrl-C or a signal ended the work; the message says what is done and how to resume."""


class Progress(Protocol):
    """How far a job is."""

    @property
    def failed(self) -> Sequence[Failed]: ...

    @property
    def is_complete(self) -> bool: ...


P = TypeVar("P", bound=Progress)
P_contra = TypeVar("P_contra", contravariant=True)


class Display(Protocol[P_contra]):
    """Shows progress to a person or a program."""

    def show(self, progress: P_contra) -> None: ...

    def stopping(self) -> None:
        """Acknowledge the first Ctrl-C."""


@dataclass(frozen=True, slots=True)
class Ended(Generic[P]):
    """How far a job came, and what stopped it."""

    progress: P
    was_interrupted: bool = False
    error: JobError | InputError | None = None

    def raise_unless_complete(self, done: str, resume: str = "") -> None:
        """End the command with the reason and what is done; return if all is, or the time is up."""
        if self.progress.is_complete:
            return
        done += f"; {resume}" if resume else ""
        if self.was_interrupted:
            raise StoppedError(f"stopped: {done}")
        if self.error is not None:
            raise type(self.error)(f"{self.error}; {done}")
        if self.progress.failed:
            raise JobError(done)


def run_job(
    steps: Callable[[Callable[[], bool]], Iterator[P]],
    start: P,
    executor: Executor,
    display: AbstractContextManager[Display[P]],
    stop: Stop,
) -> Ended[P]:
    """Run `steps` on the executor until they end, fail, or somebody stops them.

    An error before the first step is raised: nothing was begun that could be resumed.
    """
    progress, began = start, False
    try:
        # Ray installs signal handlers of its own when it starts: ours go on top of them.
        with display as shown, executor.start(), stop.listening(shown.stopping):
            for progress in steps(stop):
                began = True
                shown.show(progress)
    except KeyboardInterrupt:
        return Ended(progress, was_interrupted=True)
    except (JobError, InputError) as error:
        if not began:
            raise
        return Ended(progress, error=error)
    return Ended(progress, was_interrupted=stop.is_interrupted)
