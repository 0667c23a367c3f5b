"""The seam between what is to be done and who does it.

A job is a list of items, such as the shards of a run, and a way to do one of them. It says nothing
of processes or machines; an executor (`local`, `ray`) does, and knows nothing of games. What a job
makes it puts in its place by itself; what comes back is a small receipt.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from selfplay.errors import InputError

Do = Callable[[int], Any]
"""Does one item, and gives its receipt. To do it twice has to give the same."""


class Job(Protocol):
    """What is to be done. It travels to the workers once, so it is small and can be pickled."""

    def prepare(self) -> Do:
        """Get ready where the work is done: open, build, compile. Once for each worker."""


@dataclass(frozen=True, slots=True)
class Done:
    """An item is done."""

    item: int
    receipt: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """An item cannot be done."""

    item: int
    reason: str
    traceback: str = ""
    is_common: bool = False
    """Whether others will fail for the same reason: a full disk, a wrong key."""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """How the workers are. Executors tell it every now and then."""

    ready: int
    """Workers that can be given something."""
    lost: int = 0
    """Workers that died, or whose machine did."""
    retries: int = 0
    """Items handed out again because their worker was lost."""
    trouble: str = ""
    """Why the last worker was lost."""


Event = Done | Failed | WorkerStatus


class Executor(Protocol):
    """Who does the work."""

    def start(self) -> AbstractContextManager[None]:
        """Have what is needed ready, and put it away at the end."""

    def run(self, job: Job, items: Sequence[int], stop: Callable[[], bool]) -> Iterator[Event]:
        """Do all items, in any order, and tell what happens. Once `stop()` is true no item is
        begun any more, and those that were are finished."""


class JobError(Exception):
    """Nothing can be done at all; the message says why."""


def attempt(do: Do, item: int) -> Done | Failed:
    """Do one item, whatever comes of it."""
    try:
        return Done(item, do(item))
    except (InputError, OSError) as error:
        return Failed(item, _in_words(error), traceback.format_exc(), is_common=True)
    except Exception as error:
        return Failed(item, f"{type(error).__name__}: {error}", traceback.format_exc())


def _in_words(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror}{where}"
    return str(error)
