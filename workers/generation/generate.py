"""Generation: the shards of a run as a job, and a run from its plan to its last shard."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from selfplay.errors import InputError
from selfplay.storage.dataset import Dataset, write
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.openings import openings_of
from selfplay.storage.rows import Rows
from selfplay.storage.verify import refuse_impossible
from selfplay.workers.executors.interface import Do, Done, Executor, Failed, WorkerStatus
from selfplay.workers.generation.engine import engine_digest
from selfplay.workers.generation.games import GameMaker
from selfplay.workers.generation.plan import Plan

FAILURES_IN_A_ROW = 5
"""After so many there is no hope for the others."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a worker says of a shard that it has put in its place."""

    shard: int
    games: int
    positions: int
    rollouts: int
    seconds: float
    megabytes: int
    """The worker's own memory; libraries, which all workers share, apart."""


@dataclass(frozen=True, slots=True)
class ShardJob:
    """The shards of a run as a job."""

    uri: str
    description: Manifest
    version: str = field(default_factory=lambda: version("selfplay"))
    labelled: tuple[str, ...] = ()
    """Runs in which the teacher has labelled before: a perfect one need not judge twice."""

    def prepare(self) -> Do:
        if version("selfplay") != self.version:
            raise InputError(
                f"a worker has selfplay {version('selfplay')}, where the run was started with "
                f"{self.version}: install the same on every node"
            )
        place, described = Location(self.uri), self.description
        there = Manifest.read(place)
        if there is None or there.identity != described.identity:
            raise InputError(
                f"a worker does not see the run at {place}: on a cluster it has to be in an object "
                "store, or in a folder that all nodes share"
            )
        assert described.spec is not None
        if described.engine != engine_digest(described.spec):
            raise InputError(
                "a worker has other code that plays and labels games than the driver: install the "
                "same on every node"
            )
        maker = GameMaker(described.spec, openings_of(place, described.spec))
        for run in self.labelled if maker.recalls else ():
            _recall(maker, run)

        def make(shard: int) -> Receipt:
            start, before = time.perf_counter(), maker.rollouts
            games = described.games_of(shard)
            try:
                rows = Rows.join([maker.rows(game) for game in games])
            except InputError as error:  # of a player, over one position: not of the run
                raise ShardError(str(error)) from error
            footer = write(place, described, shard, rows)
            return Receipt(
                shard=shard,
                games=len(games),
                positions=footer.rows,
                rollouts=maker.rollouts - before,
                seconds=time.perf_counter() - start,
                megabytes=_megabytes(),
            )

        return make


def _recall(maker: GameMaker, run: str) -> None:
    dataset = Dataset(run)
    if dataset.spec is None or dataset.spec.teacher != maker.spec.teacher:
        raise InputError(f"{run} has the labels of another teacher")
    for shard in dataset.shards():
        maker.recall(dataset.read(shard, refuse_impossible))


class ShardError(Exception):
    """A shard cannot be made; others can."""


def _megabytes() -> int:
    """The memory of this process alone; where that cannot be known, all it has ever had."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return most // (1_000_000 if sys.platform == "darwin" else 1000)
    return int(status.partition("RssAnon:")[2].split()[0]) // 1000


@dataclass(slots=True)
class Progress:
    """How far a run is."""

    shards: int
    shards_total: int
    games: int
    games_total: int
    positions: int
    new_shards: int = 0
    new_positions: int = 0
    new_rollouts: int = 0
    workers: int = 0
    lost: int = 0
    retries: int = 0
    trouble: str = ""
    failed: list[Failed] = field(default_factory=list)
    megabytes: int = 0
    """The most memory of its own that a worker has had."""
    began: float | None = None
    """When the first worker was ready, by the monotonic clock."""
    seconds: float = 0.0
    """Since then."""

    @classmethod
    def of(cls, plan: Plan) -> Progress:
        described = plan.description
        return cls(
            shards=described.shards - len(plan.missing),
            shards_total=described.shards,
            games=plan.games,
            games_total=described.games,
            positions=plan.positions,
        )

    @property
    def positions_per_second(self) -> float:
        return self.new_positions / self.seconds if self.seconds else 0.0

    @property
    def rollouts_per_second(self) -> float:
        return self.new_rollouts / self.seconds if self.seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """None while nobody knows."""
        if not self.new_shards:
            return None
        return self.seconds * (self.shards_total - self.shards) / self.new_shards

    @property
    def is_complete(self) -> bool:
        return self.shards == self.shards_total

    def take(self, event: Done | Failed | WorkerStatus) -> None:
        """Reckon in what has happened."""
        match event:
            case WorkerStatus():
                self.workers, self.lost = event.ready, event.lost
                self.retries, self.trouble = event.retries, event.trouble
                if event.ready and self.began is None:
                    self.began = time.monotonic()
            case Failed():
                self.failed.append(event)
            case Done(receipt=Receipt() as receipt):
                self.shards += 1
                self.new_shards += 1
                self.games += receipt.games
                self.positions += receipt.positions
                self.new_positions += receipt.positions
                self.new_rollouts += receipt.rollouts
                self.megabytes = max(self.megabytes, receipt.megabytes)
        if self.began is not None:
            self.seconds = time.monotonic() - self.began


def generate(
    plan: Plan, executor: Executor, stop: Callable[[], bool], labelled: tuple[str, ...] = ()
) -> Iterator[Progress]:
    """Make the missing shards of a run, and tell how far it is. Failures stand in the progress."""
    progress = Progress.of(plan)
    job = ShardJob(plan.place.absolute, plan.description, labelled=labelled)
    in_a_row = 0

    def enough() -> bool:
        return stop() or in_a_row >= FAILURES_IN_A_ROW or any(f.is_common for f in progress.failed)

    for event in executor.run(job, plan.missing, enough):
        progress.take(event)
        match event:
            case Done():
                in_a_row = 0
            case Failed():
                in_a_row += 1
        yield progress
