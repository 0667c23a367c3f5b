"""What a worker does: play the games of a shard and write it to the run."""

from __future__ import annotations

import resource
import sys
import time
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path

from selfplay.errors import InputError
from selfplay.storage.dataset import SHARDS, Dataset, write_shard
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.openings import load_openings
from selfplay.storage.row_checks import validate_rows
from selfplay.storage.rows import Rows
from selfplay.storage.shard import file_name
from selfplay.workers.executors.interface import DoItem
from selfplay.workers.generation.engine import engine_digest
from selfplay.workers.generation.games import GameMaker


@dataclass(frozen=True, slots=True)
class Receipt:
    """A worker's report of a shard that it has written."""

    shard: int
    games: int
    positions: int
    rollouts: int
    seconds: float
    megabytes: int  # the worker's own memory, without shared libraries
    seconds_since_other: float | None = None  # since another driver wrote it, if one did


@dataclass(frozen=True, slots=True)
class Counted:
    """The number of rows of a game that was not stored."""

    game: int
    rows: int


class ShardError(Exception):
    """A shard cannot be made; others can."""


@dataclass(frozen=True, slots=True)
class ShardJob:
    """The shards of a run as a job."""

    uri: str
    manifest: Manifest
    version: str = field(default_factory=lambda: version("selfplay"))
    labelled_runs: tuple[str, ...] = ()
    """Runs with labels of the same teacher, which a perfect one need not compute again."""

    def make_games(self) -> GameMaker:
        """The players of the run, which has to be the one that this worker sees."""
        if version("selfplay") != self.version:
            raise InputError(
                f"a worker has selfplay {version('selfplay')}, but the run was started with "
                f"{self.version}: install the same version on every node"
            )
        place, manifest, spec = Location(self.uri), self.manifest, self.manifest.spec
        existing = Manifest.read(place)
        if existing is None or existing.identity != manifest.identity:
            raise InputError(
                f"a worker does not see the run at {place}: on a cluster, use an object store or a "
                "folder that all nodes share"
            )
        assert spec is not None
        if manifest.engine != engine_digest(spec):
            raise InputError(
                "a worker's code differs from the driver's: install the same version on every node"
            )
        maker = GameMaker(spec, load_openings(place, spec))
        for run in self.labelled_runs if maker.reuses_labels else ():
            _reuse_labels(maker, run)
        return maker

    def prepare(self) -> DoItem:
        place, manifest, maker = Location(self.uri), self.manifest, self.make_games()

        def make(shard: int) -> Receipt:
            start, before = time.perf_counter(), maker.rollouts
            games = manifest.games_of(shard)
            rows = _rows(maker, games)
            others: list[float] = []
            footer = write_shard(
                place, manifest, shard, rows, lambda: others.append(_age(place, shard))
            )
            return Receipt(
                shard=shard,
                games=len(games),
                positions=footer.rows,
                rollouts=maker.rollouts - before,
                seconds=time.perf_counter() - start,
                megabytes=_megabytes(),
                seconds_since_other=others[0] if others else None,
            )

        return make


@dataclass(frozen=True, slots=True)
class CountJob:
    """Games of a run as a job: each is played for the number of its rows, and not stored."""

    of: ShardJob

    def prepare(self) -> DoItem:
        maker = self.of.make_games()
        return lambda game: Counted(game, len(_rows(maker, range(game, game + 1))))


def _rows(maker: GameMaker, games: range) -> Rows:
    try:
        return Rows.join([maker.rows(game) for game in games])
    except InputError as error:  # a player's, over one position: not the run's
        raise ShardError(str(error)) from error


def _age(place: Location, shard: int) -> float:
    """The seconds since a shard was written."""
    file = place.files(SHARDS).get(file_name(shard))
    return 0.0 if file is None else max(0.0, time.time() - file.modified)


def _reuse_labels(maker: GameMaker, run: str) -> None:
    dataset = Dataset(run)
    if dataset.spec is None or dataset.spec.teacher != maker.spec.teacher:
        raise InputError(f"{run} has the labels of another teacher")
    for shard in dataset.shards():
        maker.reuse_labels(dataset.read(shard, validate_rows))


def _megabytes() -> int:
    """The private memory of this process; if unknown, its peak memory."""
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak // (1_000_000 if sys.platform == "darwin" else 1000)
    return int(status.partition("RssAnon:")[2].split()[0]) // 1000
