"""Generate a run: hand its missing shards to an executor and report progress."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import ClassVar

from selfplay.workers.executors.interface import Executor
from selfplay.workers.executors.progress import JobProgress
from selfplay.workers.generation.plan import Plan
from selfplay.workers.generation.shard_job import Counted, CountJob, Receipt, ShardJob

_RECENT_SECONDS = 30.0

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
    wanted: int | None = None  # the positions by which the run ends
    counted: dict[int, int] = field(default_factory=dict)  # rows of games played to count them
    other: tuple[int, float] | None = None
    """A shard that another driver wrote meanwhile, and how many seconds ago."""
    recent: deque[tuple[float, Receipt]] = field(default_factory=deque)

    @classmethod
    def of(cls, plan: Plan) -> Progress:
        progress = cls(0, 0, 0, 0, 0, wanted=plan.manifest.positions)
        progress.take(plan)
        return progress

    def take(self, plan: Plan) -> None:
        """Take over what is complete by a plan."""
        self.shards = plan.manifest.shards - len(plan.missing)
        self.shards_total = plan.manifest.shards
        self.games, self.games_total = plan.games, plan.manifest.games
        self.positions = plan.positions

    def games_needed(self, games: range, rows: int) -> int | None:
        """The end of the first of these games that have so many rows; None if not known yet."""
        for game in games:
            if game not in self.counted:
                return None
            rows -= self.counted[game]
            if rows <= 0:
                return game + 1
        return None

    @property
    def positions_per_second(self) -> float:
        return self.new_positions / self.seconds if self.seconds else 0.0

    @property
    def rollouts_per_second(self) -> float:
        return self.new_rollouts / self.seconds if self.seconds else 0.0

    @property
    def positions_per_second_now(self) -> float:
        """That of all workers together, by the shards of the last half minute."""
        positions = sum(receipt.positions for _, receipt in self.recent)
        seconds = sum(receipt.seconds for _, receipt in self.recent)
        return self.workers * positions / seconds if seconds else 0.0

    @property
    def seconds_left(self) -> float | None:
        """None if unknown."""
        if self.wanted is not None and self.new_positions and self.workers:
            left = max(0, self.wanted - self.positions)
            return self.seconds * left / self.new_positions
        return self.seconds_of(self.shards_total - self.shards)

    @property
    def is_complete(self) -> bool:
        is_enough = self.wanted is None or self.positions >= self.wanted
        return self.shards == self.shards_total and is_enough

    def add(self, receipt: Receipt | Counted) -> None:
        if isinstance(receipt, Counted):
            self.counted[receipt.game] = receipt.rows
            return
        # A worker that was lost may have written its shard before.
        if receipt.seconds_since_other is not None and not self.lost:
            self.other = self.other or (receipt.shard, receipt.seconds_since_other)
        self.shards += 1
        self.new_shards += 1
        self.games += receipt.games
        self.positions += receipt.positions
        self.new_positions += receipt.positions
        self.new_rollouts += receipt.rollouts
        self.megabytes = max(self.megabytes, receipt.megabytes)
        self.took(receipt.seconds)
        self.recent.append((self.last_done, receipt))
        while self.last_done - self.recent[0][0] > _RECENT_SECONDS:
            self.recent.popleft()


def generate(
    plan: Plan, executor: Executor, stop: Callable[[], bool], labelled_runs: tuple[str, ...] = ()
) -> Iterator[Progress]:
    """Generate the missing shards of a run that is begun; failures are in the progress."""
    progress = Progress.of(plan)
    if plan.manifest.positions is None:
        yield from progress.follow(executor, _job(plan, labelled_runs), plan.missing, stop)
    else:
        yield from _to_positions(plan, progress, executor, stop, labelled_runs)


def _job(plan: Plan, labelled_runs: tuple[str, ...]) -> ShardJob:
    return ShardJob(plan.place.absolute, plan.manifest, labelled_runs=labelled_runs)


def _to_positions(
    plan: Plan,
    progress: Progress,
    executor: Executor,
    stop: Callable[[], bool],
    labelled_runs: tuple[str, ...],
) -> Iterator[Progress]:
    """Generate waves of full shards that are needed however long the games are. Before the last
    shard, its games are played to count their rows: a shard is written once."""
    wanted, size = plan.manifest.positions, plan.manifest.shard_games
    assert wanted is not None
    while True:
        full = plan.manifest.games // size
        wave = [shard for shard in plan.missing if shard < full]
        if wave:
            yield from progress.follow(executor, _job(plan, labelled_runs), wave, stop)
            if progress.failed or stop():
                return
            plan = plan.extended(plan.manifest.games)
            progress.take(plan)
        left = wanted - plan.rows_before(full)
        needed = -(-left // plan.manifest.most_rows_of_game)
        if needed >= size:
            plan = plan.extended(max(plan.manifest.games, (full + needed // size) * size))
            progress.take(plan)
            continue
        games = range(full * size, (full + 1) * size)
        if left > 0:
            job = CountJob(_job(plan, labelled_runs))

            def is_enough(games: range = games, left: int = left) -> bool:
                return stop() or progress.games_needed(games, left) is not None

            yield from progress.follow(executor, job, games, is_enough)
            end = progress.games_needed(games, left)
            if end is None and (progress.failed or stop()):
                return
            plan = plan.extended(max(plan.manifest.games, end or games.stop))
            progress.take(plan)
        if plan.missing:
            yield from progress.follow(executor, _job(plan, labelled_runs), plan.missing, stop)
        if left <= 0 or end is not None or progress.failed or stop():
            return
        plan = plan.extended(plan.manifest.games)
