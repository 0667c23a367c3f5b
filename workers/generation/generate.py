"""Generate a run: hand its missing shards to an executor and report progress."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import ClassVar

from selfplay.workers.executors.interface import Executor
from selfplay.workers.executors.progress import JobProgress
from selfplay.workers.generation.plan import Plan
from selfplay.workers.generation.shard_job import Receipt, ShardJob

FAILURES_IN_A_ROW = 5  # with this many the others would probably fail as well


@dataclass
class Progress(JobProgress):
    """How much of a run is complete."""

    most_failures_in_a_row: ClassVar[float] = FAILURES_IN_A_ROW

    shards: int
    shards_total: int
    games: int
    games_total: int
    positions: int
    new_shards: int = 0
    new_positions: int = 0
    new_rollouts: int = 0
    megabytes: int = 0  # the most private memory of any worker

    @classmethod
    def of(cls, plan: Plan) -> Progress:
        return cls(
            shards=plan.manifest.shards - len(plan.missing),
            shards_total=plan.manifest.shards,
            games=plan.games,
            games_total=plan.manifest.games,
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
        """None if unknown."""
        if not self.new_shards:
            return None
        return self.seconds * (self.shards_total - self.shards) / self.new_shards

    @property
    def is_complete(self) -> bool:
        return self.shards == self.shards_total

    def add(self, receipt: Receipt) -> None:
        self.shards += 1
        self.new_shards += 1
        self.games += receipt.games
        self.positions += receipt.positions
        self.new_positions += receipt.positions
        self.new_rollouts += receipt.rollouts
        self.megabytes = max(self.megabytes, receipt.megabytes)


def generate(
    plan: Plan, executor: Executor, stop: Callable[[], bool], labelled_runs: tuple[str, ...] = ()
) -> Iterator[Progress]:
    """Generate the missing shards of a run; failures are in the progress."""
    job = ShardJob(plan.place.absolute, plan.manifest, labelled_runs=labelled_runs)
    return Progress.of(plan).follow(executor, job, plan.missing, stop)
