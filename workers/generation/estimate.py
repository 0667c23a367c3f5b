"""Estimate the time and size of a run from a few of its games."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, count
from math import ceil

from selfplay.game.openings import parse_openings
from selfplay.storage.dataset import Dataset
from selfplay.storage.manifest import Manifest
from selfplay.storage.openings import load_openings
from selfplay.storage.rows import Rows
from selfplay.storage.shard import encode
from selfplay.workers.generation.games import GameMaker
from selfplay.workers.generation.plan import Plan

SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Measurements on one core, and their extrapolation to what the run lacks."""

    games: int
    positions: int
    seconds: float
    bytes: int
    manifest: Manifest
    there: list[range]  # the games of the shards that exist
    positions_left: int | None = None  # if the run ends by positions

    @property
    def games_total(self) -> int:
        """The number of games that the run will have."""
        if self.positions_left is None:
            return self.manifest.games
        more = ceil(self.positions_left * self.games / max(1, self.positions))
        return max(self.manifest.games, sum(map(len, self.there)) + more)

    @property
    def games_missing(self) -> int:
        return self.games_total - sum(map(len, self.there))

    @property
    def _kept(self) -> list[range]:
        """The games of the shards that get no more."""
        size, total = self.manifest.shard_games, self.games_total
        return [games for games in self.there if len(games) == size or games.stop == total]

    @property
    def shards_rewritten(self) -> int:
        return len(self.there) - len(self._kept)

    @property
    def shards_missing(self) -> int:
        """Shards to be written, or written again with more games."""
        return ceil(self.games_total / self.manifest.shard_games) - len(self._kept)

    @property
    def games_played(self) -> int:
        """Games to be played: all of a shard that is written again; those of the last shard also
        to count their positions, if the run ends by positions."""
        size, total = self.manifest.shard_games, self.games_total
        counted = 0 if self.positions_left is None else total - (total - 1) // size * size
        return total - sum(map(len, self._kept)) + counted

    @property
    def positions_per_second(self) -> float:
        return self.positions / self.seconds

    @property
    def positions_missing(self) -> float:
        return self.positions / self.games * self.games_missing

    @property
    def bytes_missing(self) -> float:
        return self.bytes / max(1, self.positions) * self.positions_missing

    def seconds_on(self, cores: int) -> float:
        """Of playing: without the start of the workers."""
        return self.seconds / self.games * self.games_played / cores


def estimate(plan: Plan, seconds: float = SECONDS) -> Estimate:
    """Play games for some seconds, at least one, and store none."""
    spec = plan.spec
    if plan.is_new:
        openings = parse_openings(spec.opening, spec.parsed_board)
    else:
        openings = load_openings(plan.place, spec)
    maker = GameMaker(spec, openings)
    manifest = plan.manifest
    missing: Iterable[int] = (game for shard in plan.missing for game in manifest.games_of(shard))
    positions_left = None
    if manifest.positions is not None:
        missing = chain(missing, count(manifest.games))
        positions_left = max(0, manifest.positions - Dataset(plan.place, manifest).positions)
    games = iter(missing)
    first = next(games)
    maker.rows(first)  # which may compile kernels
    parts: list[Rows] = []
    start = time.perf_counter()
    for game in chain((first,), games):
        parts.append(maker.rows(game))
        if time.perf_counter() - start > seconds:
            break
    taken = time.perf_counter() - start
    rows = Rows.join(parts)
    size = len(encode(rows, spec.parsed_board, spec.hash, 0, range(len(parts))))
    there = [footer.games for footer in Dataset(plan.place, manifest).footers.values()]
    return Estimate(len(parts), len(rows), taken, size, manifest, there, positions_left)
