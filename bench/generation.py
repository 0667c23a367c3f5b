"""What a run costs beyond its games: Ray's workers beside processes that know nothing of it."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import median
from typing import NamedTuple

from bench.report import Table
from selfplay.machine import usable_cores
from selfplay.storage.location import Location
from selfplay.workers.executors.interface import Executor
from selfplay.workers.executors.local import LocalExecutor
from selfplay.workers.executors.ray import RayExecutor
from selfplay.workers.generation.generate import Progress, generate
from selfplay.workers.generation.plan import plan

SHARD_GAMES = {"default-0.1": 10, "default-0.1:100": 50}
ROUNDS = 3
SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Measured:
    """A run while all its workers were at work."""

    rate: float
    """Positions per second."""
    driver: float = 0.0
    """Milliseconds of a core that a shard takes from whoever watches over the workers."""
    megabytes: float = 0.0
    """The most memory of a worker, libraries apart, which all share."""


class Reading(NamedTuple):
    """How far a run is, at a moment, and the time that it took."""

    seconds: float
    busy: float
    shards: int
    positions: int


class Watch:
    """Takes the time from the moment on when all workers are at work."""

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._first: Reading | None = None
        self._last: Reading | None = None
        self._megabytes = 0

    def is_over(self) -> bool:
        return self._first is not None and time.perf_counter() > self._first.seconds + SECONDS

    def take(self, progress: Progress) -> None:
        now = Reading(
            time.perf_counter(), time.process_time(), progress.new_shards, progress.new_positions
        )
        if self._first is None:
            if progress.workers == self._workers and progress.new_shards:
                self._first = self._last = now
        elif not self.is_over() and self._last and now.shards > self._last.shards:
            self._last = now
        self._megabytes = progress.megabytes

    def measured(self) -> Measured:
        assert self._first is not None
        assert self._last is not None
        seconds, busy, shards, positions = (
            last - first for first, last in zip(self._first, self._last, strict=True)
        )
        return Measured(positions / seconds, 1000 * busy / shards, self._megabytes)


def measure(executor: Executor, workers: int, teacher: str, seed: int) -> Measured:
    """Generate for some seconds."""
    with tempfile.TemporaryDirectory() as folder:
        options = {"teacher": teacher, "seed": seed, "shard_games": SHARD_GAMES[teacher]}
        what = plan(Location(f"{folder}/run"), {**options, "games": 1_000_000})
        what.begin()
        watch = Watch(workers)
        with executor.start():
            for progress in generate(what, executor, watch.is_over):
                watch.take(progress)
        return watch.measured()


def _alone(teacher: str, seed: int) -> float:
    return measure(LocalExecutor(), 1, teacher, seed).rate


def generation() -> list[Table]:
    return [_table(teacher) for teacher in SHARD_GAMES]


def _table(teacher: str) -> Table:
    cores = usable_cores()
    # A new process each: forked ones would share what this one has already loaded.
    with ProcessPoolExecutor(cores, get_context("spawn")) as pool:

        def plain(processes: int) -> Callable[[int], Measured]:
            def work(seed: int) -> Measured:
                seeds = [seed * cores + number for number in range(processes)]
                return Measured(sum(pool.map(_alone, [teacher] * processes, seeds)))

            return work

        contenders: dict[str, Callable[[int], Measured]] = {
            "1 process without Ray": plain(1),
            f"{cores} processes without Ray": plain(cores),
            f"{cores} workers of Ray": lambda seed: measure(
                RayExecutor(cores), cores, teacher, seed
            ),
        }
        found: dict[str, list[Measured]] = {name: [] for name in contenders}
        for seed in range(ROUNDS):
            for name, contender in contenders.items():
                found[name].append(contender(seed))
    rates = {name: median(m.rate for m in measured) for name, measured in found.items()}
    alone, *_, ray = rates.values()
    on_ray = found[f"{cores} workers of Ray"]
    return Table.of_rates(
        f"generation, {teacher}, {SHARD_GAMES[teacher]} games in a shard",
        "positions/s",
        rates,
        "1 process without Ray",
        f"{ray / alone / cores:.2f} x {cores} x one process; the driver takes "
        f"{median(m.driver for m in on_ray):.1f} ms for a shard, "
        f"a worker {max(m.megabytes for m in on_ray):.0f} MB",
    )
