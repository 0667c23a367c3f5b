"""The interface between jobs and executors.

A job is a list of items, such as the shards of a run, and a function that does one. It knows
nothing of processes and machines; an executor (`local`, `ray`) knows nothing of games. A job stores
its own results; only small receipts come back.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from selfplay.errors import InputError, PlayerError

DoItem = Callable[[int], Any]  # does one item and returns its receipt; idempotent


class Job(Protocol):
    """It is pickled and sent to every worker, so it is small."""

    def prepare(self) -> DoItem:
        """Open, build and compile what the items need, once in each worker."""


@dataclass(frozen=True, slots=True)
class Done:
    """A finished item."""

    item: int
    receipt: Any


@dataclass(frozen=True, slots=True)
class Failed:
    """An item that raised an exception."""

    item: int
    reason: str
    traceback: str = ""
    is_common: bool = False
    """Whether other items will fail for the same reason, such as a full disk."""


@dataclass(frozen=True, slots=True)
class WorkerStatus:
    """The state of the workers, sent every now and then."""

    ready: int  # workers that can take items
    lost: int = 0  # workers that died, or whose machine did
    retries: int = 0  # items repeated because their worker was lost
    trouble: str = ""  # why the last worker was lost


Event = Done | Failed | WorkerStatus


class Executor(Protocol):
    """Runs jobs."""

    def start(self) -> AbstractContextManager[None]:
        """Start what the workers need, and stop it on exit."""

    def run(self, job: Job, items: Sequence[int], stop: Callable[[], bool]) -> Iterator[Event]:
        """Do all items, in any order. Once `stop()` is true, started items are finished and no
        others are started."""


class JobError(Exception):
    """The job cannot run at all; the message says why."""


def attempt(do: DoItem, item: int) -> Done | Failed:
    """Do one item; exceptions become a `Failed`."""
    try:
        return Done(item, do(item))
    except (InputError, OSError) as error:
        return Failed(item, message_of(error), traceback.format_exc(), is_common=True)
    except PlayerError as error:
        return Failed(item, str(error), traceback.format_exc())
    except Exception as error:
        return Failed(item, f"{type(error).__name__}: {error}", traceback.format_exc())


def message_of(error: Exception) -> str:
    """What an exception says, without Python's errno and quotes."""
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror}{where}"
    return str(error)
