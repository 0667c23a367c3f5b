"""The executor for all cores of a machine, or of many: Ray actors, and a small loop over them.

A worker may be lost at any time: killed, out of memory, on a machine that is taken away. Then
another is asked for and the item is handed out again. What goes wrong inside a job is told, and
not tried again: it would go wrong again.
"""

from __future__ import annotations

import atexit
import logging
import os
import re
import shutil
import signal
import socket
import tempfile
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import ray
from ray._private import ray_constants
from ray.exceptions import RayError, RayTaskError

from selfplay.errors import InputError, quoted
from selfplay.workers.executors.interface import (
    Done,
    Event,
    Failed,
    Job,
    JobError,
    WorkerStatus,
    attempt,
)

HANDED_OUT_AGAIN = 3
"""How often an item is given to another worker after one was lost over it."""

_BEAT = 0.5
"""Seconds between two looks at whether to stop."""

_OBJECT_STORE = 80_000_000  # rows do not pass through it: as small as it can be

_STRAGGLER = 3.0
"""Times the usual time of an item, after which an idle worker may do it as well."""
_STRAGGLER_SECONDS = 5.0


class Worker:
    """What runs in an actor."""

    def __init__(self, job: Job, folder: str) -> None:
        self._job = job
        with suppress(OSError):  # on another machine there need be no such folder
            os.chdir(folder)  # where relative paths are meant

    def prepare(self) -> str | None:
        """Get ready; what is in the way, if anything is."""
        try:
            self._do = self._job.prepare()
        except InputError as error:
            return str(error)
        return None

    def wake(self) -> None:
        """Answer, if it still lives."""

    def do(self, item: int) -> Done | Failed:
        return attempt(self._do, item)


@dataclass(eq=False, slots=True)
class WorkerHandle:
    """A worker as the driver sees it."""

    actor: Any
    item: int | None = None
    """What it is doing; None while it gets ready."""
    since: float = field(default_factory=time.monotonic)


class RayExecutor:
    """Does the work with Ray, on this machine or on the cluster at an address."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        """`workers`: how many; all that the cluster has room for, if not given."""
        self.workers = workers
        self.address = address

    @contextmanager
    def start(self) -> Iterator[None]:
        # Ray tells people on stdout what happens to workers. Stdout is for results, and what
        # happens is told in the progress.
        with open(os.devnull, "w") as nowhere, redirect_stdout(nowhere):
            try:
                if self.address is None:
                    with _interrupts_after():
                        _begin(self.workers)
                else:
                    with _interrupts_at_once():
                        _join(self.address)
                yield
            finally:
                with _interrupts_after():
                    ray.shutdown()

    def run(self, job: Job, items: Sequence[int], stop: Callable[[], bool]) -> Iterator[Event]:
        workers = self.workers or _room()
        loop = _Loop(job, items, min(workers, len(items)))
        try:
            yield from loop.run(stop)
        finally:
            loop.dismiss()


class _Loop:
    """Workers, what each is doing, and what is still to be done."""

    def __init__(self, job: Job, items: Sequence[int], workers: int) -> None:
        self._job = ray.put(job)
        self._queue = deque(items)
        self._open = set(items)
        self._busy: dict[Any, WorkerHandle] = {}
        """By the promise of an answer."""
        self._idle: list[WorkerHandle] = []
        self._losses: Counter[int] = Counter()
        self._times: deque[float] = deque(maxlen=100)
        self._retries = 0
        self._lost = 0
        self._never_ready = 0
        self._patience = 3 * workers + 3
        self._trouble = ""
        self._is_stopping = False
        for _ in range(workers):
            self._spawn()

    def run(self, stop: Callable[[], bool]) -> Iterator[Event]:
        while self._open:
            if stop():
                self._queue.clear()
                self._open &= self._running()
                self._is_stopping = True
                if not self._open:
                    return
            self._hand_out()
            answered, _ = ray.wait(list(self._busy), num_returns=1, timeout=_BEAT)
            if answered:  # and whoever else has by now
                answered, _ = ray.wait(list(self._busy), num_returns=len(self._busy), timeout=0)
            for promise in answered:
                event = self._receive(promise)
                if event is not None:
                    yield event
            yield self._crew()

    def dismiss(self) -> None:
        for handle in [*self._busy.values(), *self._idle]:
            ray.kill(handle.actor)

    def _crew(self) -> WorkerStatus:
        ready = len(self._idle) + sum(handle.item is not None for handle in self._busy.values())
        return WorkerStatus(ready, self._lost, self._retries, self._trouble)

    def _running(self) -> set[int]:
        return {handle.item for handle in self._busy.values() if handle.item is not None}

    def _spawn(self) -> None:
        # It is given something only when it has answered: on a cluster that has shrunk it may
        # wait for a place for ever.
        handle = WorkerHandle(_actor().remote(self._job, os.getcwd()))
        self._busy[handle.actor.prepare.remote()] = handle

    def _assign(self, handle: WorkerHandle, item: int) -> None:
        handle.item, handle.since = item, time.monotonic()
        self._busy[handle.actor.do.remote(item)] = handle

    def _hand_out(self) -> None:
        while self._idle and self._queue:
            self._assign(self._idle.pop(), self._queue.popleft())
        if self._idle and not self._queue and not self._is_stopping:
            for item in self._stragglers()[: len(self._idle)]:
                self._assign(self._idle.pop(), item)

    def _stragglers(self) -> list[int]:
        """What takes much longer than usual and one worker alone is doing: its machine may be
        slow, or cut off, which is noticed late."""
        if not self._times:
            return []
        limit = time.monotonic() - max(_STRAGGLER * median(self._times), _STRAGGLER_SECONDS)
        doing = [handle for handle in self._busy.values() if handle.item in self._open]
        copies = Counter(handle.item for handle in doing)
        return [
            handle.item
            for handle in sorted(doing, key=lambda handle: handle.since)
            if handle.item is not None and handle.since < limit and copies[handle.item] == 1
        ]

    def _receive(self, promise: Any) -> Event | None:
        """Take an answer, or note that a worker is lost."""
        handle = self._busy.pop(promise)
        try:
            answer = ray.get(promise)
        except RayTaskError as error:
            # What an item does wrong comes as an answer; this is what a worker cannot do at all.
            cause = error.cause
            raise JobError(f"a worker cannot work: {type(cause).__name__}: {cause}") from error
        except RayError as error:
            return self._lose(handle, error)
        self._never_ready = 0
        item, handle.item = handle.item, None
        self._idle.append(handle)
        if item is None:
            if answer is not None:
                raise InputError(answer)
            return None
        self._times.append(time.monotonic() - handle.since)
        return self._close(item, answer)

    def _close(self, item: int, answer: Done | Failed) -> Event | None:
        if item not in self._open:  # another worker was faster
            return None
        self._open.remove(item)
        return answer

    def _lose(self, handle: WorkerHandle, error: RayError) -> Event | None:
        self._lost += 1
        self._trouble = _last_words(error)
        ray.kill(handle.actor)  # it may only be out of reach
        # Whoever waits may be lost as well: each answers before it is given anything.
        for idle in self._idle:
            self._busy[idle.actor.wake.remote()] = idle
        self._idle.clear()
        if handle.item is None:
            self._never_ready += 1
            if self._never_ready > self._patience:
                raise JobError(f"no worker could be started: {self._trouble}")
        self._spawn()
        item = handle.item
        if item is None or item not in self._open or item in self._running():
            return None
        self._losses[item] += 1
        if self._losses[item] > HANDED_OUT_AGAIN:
            reason = f"its worker was lost {self._losses[item]} times; lastly: {self._trouble}"
            return self._close(item, Failed(item, reason))
        self._retries += 1
        self._queue.appendleft(item)
        return None


def _actor() -> Any:
    return ray.remote(Worker).options(num_cpus=1, max_restarts=0, max_task_retries=0)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _last_words(error: RayError) -> str:
    """What a worker died of: its own words where it left any, else what Ray makes of it."""
    text = _COLOURS.sub("", str(error))
    if "Traceback" in text:
        return text.strip().splitlines()[-1].strip()
    detail = re.search(r"Worker exit detail: (.*?)(?:Some common causes|There are|$)", text, re.S)
    reason = detail[1].strip() if detail else _first_line(error)
    said = _said_last(re.search(r"pid[:=] ?([0-9]+)", text))
    return f"{reason} It said last: {quoted(said, 300)}" if said else reason


def _said_last(process: re.Match[str] | None) -> str:
    """The last line that a worker wrote, if it was on this machine."""
    node = ray._private.worker._global_node
    if process is None or node is None:
        return ""
    lines: list[str] = []
    for path in Path(node.get_logs_dir_path()).glob(f"worker-*-{process[1]}.err"):
        lines += path.read_text(errors="replace")[-_MOST_SAID:].splitlines()
    said = [line.strip() for line in lines if line.strip() and not line.startswith(_NOT_SAID)]
    fatal = [line for line in said if line.startswith("Fatal Python error")]
    return (fatal or said or [""])[-1]


_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_MOST_SAID = 20_000
_NOT_SAID = (":job_id:", ":actor_name:", ":task_name:", "Extension modules:")

_QUIET: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}


def _begin(workers: int | None) -> None:
    """Start Ray on this machine, for it alone."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Nobody else needs its ports. Of the address of this machine itself Ray makes one that others
    # can reach, unless it takes itself for a Ray that knows no clusters.
    knows_clusters = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        with _nowhere():
            # "local": without it Ray would join whatever runs on this machine.
            ray.init(
                address="local",
                num_cpus=workers,
                include_dashboard=False,
                object_store_memory=_OBJECT_STORE,
                _node_ip_address="127.0.0.1",
                **_QUIET,
            )
    finally:
        ray_constants.ENABLE_RAY_CLUSTER = knows_clusters


def _join(address: str) -> None:
    """Join a Ray that runs."""
    if address != "auto":
        _refuse_if_silent(address)
    try:
        with _nowhere():
            ray.init(address=address, **_QUIET)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(
            f"there is no joining a cluster at {address}: {_first_line(error)}"
        ) from None


@contextmanager
def _nowhere() -> Iterator[None]:
    """In a folder without files. Ray has its workers import from the folder where it was started
    before anywhere else: a `train.py` there would be taken for this program's."""
    folder = tempfile.mkdtemp(prefix="selfplay-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # Ray's processes stay in it
    with chdir(folder):
        yield


def _refuse_if_silent(address: str) -> None:
    """Ray would try for half a minute."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdigit() and 0 < int(port) < 65536) or "/" in host:
        raise InputError(f"an address is auto or HOST:PORT, such as 10.0.0.1:6379, not {address!r}")
    try:
        socket.create_connection((host, int(port)), 2).close()
    except OSError as error:
        raise InputError(
            f"nobody answers at {address} ({error.strerror or error}); on the head node, "
            "`ray start --head` says the address"
        ) from None


def _room() -> int:
    room = int(ray.cluster_resources().get("CPU", 0))
    if not room:
        raise InputError(
            "the cluster has no cores yet: say how many workers it shall grow to, by --workers"
        )
    return room


@contextmanager
def _interrupts_after() -> Iterator[None]:
    """Ctrl-C while Ray starts or ends would leave processes behind: let it wait."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[int] = []
    before = {
        number: signal.signal(number, lambda number, _frame: came.append(number))
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    }
    try:
        yield
    except SystemExit:  # by which Ray answers SIGTERM once it has begun to start
        raise KeyboardInterrupt from None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt


@contextmanager
def _interrupts_at_once() -> Iterator[None]:
    """Ray may wait for ever for somebody who answers, but is no Ray, and hears nothing meanwhile:
    let the system end it. Nothing of it is on this machine."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
