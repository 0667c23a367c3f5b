"""Estimate the time and size of a run from a few of its games."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain, count
from math import ceil

from selfplay.game.openings import parse_openings
from selfplay.storage.openings import load_openings
from selfplay.storage.rows import Rows
from selfplay.storage.shard import encode
from selfplay.workers.generation.games import GameMaker
from selfplay.workers.generation.plan import Plan

SECONDS = 4.0


@dataclass(frozen=True, slots=True)
class Estimate:
    """Measurements on one core, and their extrapolation to the run."""

    games: int
    positions: int
    seconds: float
    bytes: int
    games_left: int  # in the plan
    positions_left: int | None = None  # if the run ends by positions

    @property
    def games_missing(self) -> int:
        if self.positions_left is None:
            return self.games_left
        return ceil(self.positions_left * self.games / max(1, self.positions))

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
        return self.seconds / self.games * self.games_missing / cores


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
        positions_left = max(0, manifest.positions - plan.positions)
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
    left = sum(len(manifest.games_of(shard)) for shard in plan.missing)
    return Estimate(len(parts), len(rows), taken, size, left, positions_left)
