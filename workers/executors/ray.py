"""Run a job on all cores of a machine or a cluster: one Ray actor per core.

A worker may be lost at any time: killed, out of memory, its machine gone. Another actor replaces
it, and its item is retried. An exception inside a job is reported without a retry: the same item
would raise it again.
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
from selfplay.signals import STOPPING, deferring, handling
from selfplay.workers.executors.interface import (
    Done,
    Event,
    Failed,
    Job,
    JobError,
    WorkerStatus,
    attempt,
)

MAX_RETRIES = 3  # per item, after losing the worker that did it
_START_RETRIES = 3  # per worker, after losing workers that were not ready

_POLL_SECONDS = 0.5
_OBJECT_STORE = 80_000_000  # the minimum: rows do not pass through it

# An item that takes this many times the median, and this long, is started on an idle worker too.
_STRAGGLER = 3.0
_STRAGGLER_SECONDS = 5.0


class Worker:
    """The actor."""

    def __init__(self, job: Job, folder: str) -> None:
        self._job = job
        with suppress(OSError):  # the folder may not exist on another machine
            os.chdir(folder)  # for relative paths

    def prepare(self) -> str | None:
        """Prepare the job; the message of an InputError, if one is raised."""
        try:
            self._do = self._job.prepare()
        except InputError as error:
            return str(error)
        return None

    def ping(self) -> None:
        """Show that the worker is alive."""

    def do(self, item: int) -> Done | Failed:
        return attempt(self._do, item)


@dataclass(eq=False, slots=True)
class WorkerHandle:
    """The driver's record of a worker."""

    actor: Any
    item: int | None = None  # None while it prepares
    since: float = field(default_factory=time.monotonic)


class RayExecutor:
    """Runs jobs with Ray, on this machine or on the cluster at an address."""

    def __init__(self, workers: int | None = None, address: str | None = None) -> None:
        """`workers` defaults to the number of cores."""
        self.workers = workers
        self.address = address

    @contextmanager
    def start(self) -> Iterator[None]:
        # Ray prints messages about workers to stdout, which is for results; progress reports them.
        with open(os.devnull, "w") as devnull, redirect_stdout(devnull):
            try:
                if self.address is None:
                    with _interrupts_after():
                        _start_local(self.workers)
                else:
                    with _interrupts_at_once():
                        _connect(self.address)
                yield
            finally:
                with _interrupts_after():
                    ray.shutdown()

    def run(self, job: Job, items: Sequence[int], stop: Callable[[], bool]) -> Iterator[Event]:
        workers = self.workers or _cluster_cores()
        loop = _Loop(job, items, min(workers, len(items)))
        try:
            yield from loop.run(stop)
        finally:
            loop.kill_workers()


class _Loop:
    """The scheduler: workers, their items, and the queue."""

    def __init__(self, job: Job, items: Sequence[int], workers: int) -> None:
        self._job = ray.put(job)
        self._queue = deque(items)
        self._open = set(items)
        self._busy: dict[Any, WorkerHandle] = {}  # by the future of its answer
        self._idle: list[WorkerHandle] = []
        self._losses: Counter[int] = Counter()
        self._times: deque[float] = deque(maxlen=100)
        self._retries = 0
        self._lost = 0
        self._never_ready = 0
        self._patience = _START_RETRIES * (workers + 1)
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
            answered, _ = ray.wait(list(self._busy), num_returns=1, timeout=_POLL_SECONDS)
            if answered:  # take all answers that are ready
                answered, _ = ray.wait(list(self._busy), num_returns=len(self._busy), timeout=0)
            for future in answered:
                event = self._receive(future)
                if event is not None:
                    yield event
            yield self._status()

    def kill_workers(self) -> None:
        for handle in [*self._busy.values(), *self._idle]:
            ray.kill(handle.actor)

    def _status(self) -> WorkerStatus:
        ready = len(self._idle) + sum(handle.item is not None for handle in self._busy.values())
        return WorkerStatus(ready, self._lost, self._retries, self._trouble)

    def _running(self) -> set[int]:
        return {handle.item for handle in self._busy.values() if handle.item is not None}

    def _spawn(self) -> None:
        # It gets an item only after it has answered: on a shrunken cluster an actor may wait
        # for a core for ever.
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
        """Overdue items on a single worker, whose machine may be slow or cut off."""
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

    def _receive(self, future: Any) -> Event | None:
        """Process a worker's answer, or its loss."""
        handle = self._busy.pop(future)
        try:
            answer = ray.get(future)
        except RayTaskError as error:
            # An item's exceptions come as answers; this one is from preparing the job.
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
        self._trouble = _cause_of_loss(error)
        ray.kill(handle.actor)  # it may only be out of reach
        # Idle workers may be lost as well: each has to answer before it gets an item.
        for idle in self._idle:
            self._busy[idle.actor.ping.remote()] = idle
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
        if self._losses[item] > MAX_RETRIES:
            reason = f"its worker was lost {self._losses[item]} times; last: {self._trouble}"
            return self._close(item, Failed(item, reason))
        self._retries += 1
        self._queue.appendleft(item)
        return None


def _actor() -> Any:
    return ray.remote(Worker).options(num_cpus=1, max_restarts=0, max_task_retries=0)


def _first_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def _cause_of_loss(error: RayError) -> str:
    """Why a worker was lost: its traceback or last line on stderr, else Ray's explanation."""
    text = _COLOURS.sub("", str(error))
    if "Traceback" in text:
        return text.strip().splitlines()[-1].strip()
    detail = re.search(r"Worker exit detail: (.*?)(?:Some common causes|There are|$)", text, re.S)
    reason = detail[1].strip() if detail else _first_line(error)
    line = _last_stderr_line(re.search(r"pid[:=] ?([0-9]+)", text))
    return f"{reason} Its last line on stderr: {quoted(line, 300)}" if line else reason


def _last_stderr_line(process: re.Match[str] | None) -> str:
    """The last line on a worker's stderr, or a fatal Python error; "" on another machine."""
    node = ray._private.worker._global_node
    if process is None or node is None:
        return ""
    lines: list[str] = []
    for path in Path(node.get_logs_dir_path()).glob(f"worker-*-{process[1]}.err"):
        lines += path.read_text(errors="replace")[-_LOG_TAIL:].splitlines()
    lines = [line.strip() for line in lines if line.strip() and not line.startswith(_LOG_NOISE)]
    fatal = [line for line in lines if line.startswith("Fatal Python error")]
    return (fatal or lines or [""])[-1]


_COLOURS = re.compile("\x1b\\[[0-9;]*m")
_LOG_TAIL = 20_000
_LOG_NOISE = (":job_id:", ":actor_name:", ":task_name:", "Extension modules:")

_QUIET: dict[str, Any] = {"logging_level": logging.ERROR, "log_to_driver": False}


def _start_local(workers: int | None) -> None:
    """Start Ray on this machine, on the loopback address only."""
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    # Ray replaces the loopback address by a public one, unless it believes that clusters are not
    # supported.
    knows_clusters = ray_constants.ENABLE_RAY_CLUSTER
    ray_constants.ENABLE_RAY_CLUSTER = False
    try:
        with _empty_folder():
            # "local": otherwise Ray would join any instance that runs on this machine.
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


def _connect(address: str) -> None:
    """Join a running cluster."""
    if address != "auto":
        _check_reachable(address)
    try:
        with _empty_folder():
            ray.init(address=address, **_QUIET)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise InputError(f"cannot join a cluster at {address}: {_first_line(error)}") from None


@contextmanager
def _empty_folder() -> Iterator[None]:
    """Run in an empty folder. Ray's workers import from the folder where Ray was started first: a
    user's `train.py` or `ray.py` there would shadow a package."""
    folder = tempfile.mkdtemp(prefix="selfplay-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # Ray's processes stay in it
    with chdir(folder):
        yield


def _check_reachable(address: str) -> None:
    """Fail at once where Ray would retry for half a minute."""
    host, colon, port = address.rpartition(":")
    if not (host and colon and port.isdigit() and 0 < int(port) < 65536) or "/" in host:
        raise InputError(f"an address is auto or HOST:PORT, such as 10.0.0.1:6379, not {address!r}")
    try:
        socket.create_connection((host, int(port)), 2).close()
    except OSError as error:
        raise InputError(
            f"nobody answers at {address} ({error.strerror or error}): use the address that "
            "`ray start --head` prints on the head node"
        ) from None


def _cluster_cores() -> int:
    cores = int(ray.cluster_resources().get("CPU", 0))
    if not cores:
        raise InputError("the cluster has no cores yet: give --workers, so that it can grow")
    return cores


@contextmanager
def _interrupts_after() -> Iterator[None]:
    """Defer Ctrl-C while Ray starts or ends: it would leave processes behind."""
    with deferring(*STOPPING):
        try:
            yield
        except SystemExit:  # Ray's answer to SIGTERM once it has begun to start
            raise KeyboardInterrupt from None


@contextmanager
def _interrupts_at_once() -> Iterator[None]:
    """Let Ctrl-C end the process: Ray waits, deaf, for an address that answers but is no Ray."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    with handling({signal.SIGINT: signal.SIG_DFL}):
        yield
