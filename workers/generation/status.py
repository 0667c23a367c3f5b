"""The status of a run, read from its files alone: from any machine, whoever works on it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

from selfplay.storage.dataset import Dataset
from selfplay.storage.manifest import NAME
from selfplay.storage.shard import file_name

_WINDOW = 600.0  # the speed is measured over this time before the last shard
_IDLE_SECONDS = 60.0
"""Without a new shard for this long, and for several times the longest gap, nobody is at work."""
_IDLE_GAPS = 3
_IDLE_UNKNOWN = 1800.0  # the same, before two shards show how long one takes


@dataclass(frozen=True, slots=True)
class Status:
    """How much of a run is complete."""

    shards: int
    shards_total: int
    games: int
    games_total: int
    positions: int
    bytes: int
    seconds_since_last: float | None  # None without shards
    positions_per_second: float | None  # None with too few shards
    seconds_left: float | None  # None if not known, idle or complete
    is_idle: bool  # whether nobody seems to be at work
    games_expected: int  # in the end; of a run that ends by positions by its games so far
    shards_expected: int
    positions_total: int | None = None  # if the run ends by positions; `games_total` then grows

    @property
    def is_complete(self) -> bool:
        is_enough = self.positions_total is None or self.positions >= self.positions_total
        return self.shards == self.shards_total and is_enough


def status_of(dataset: Dataset, now: float | None = None) -> Status:
    """The status of a run."""
    manifest, complete = dataset.manifest, dataset.complete()
    now = time.time() if now is None else now
    written = {shard: dataset.files[file_name(shard)].modified for shard in complete}
    positions = sum(dataset.footers[shard].rows for shard in complete)
    games = sum(len(manifest.games_of(shard)) for shard in complete)
    missing = manifest.shards - len(complete)
    is_complete = not missing and positions >= (manifest.positions or 0)
    # A driver that begins or extends the run writes its manifest.
    began = dataset.place.files("")[NAME].modified
    last = max(written.values(), default=None)
    speed = left = None
    patience = _IDLE_UNKNOWN
    if last is not None:
        recent = sorted(
            (s for s in complete if written[s] >= last - _WINDOW), key=written.__getitem__
        )
        span = last - written[recent[0]]
        if span > 0:
            speed = sum(dataset.footers[shard].rows for shard in recent[1:]) / span
            longest = max(written[b] - written[a] for a, b in pairwise(recent))
            patience = max(_IDLE_SECONDS, _IDLE_GAPS * longest)
            left = span / (len(recent) - 1) * missing
            if manifest.positions is not None:
                left = max(0, manifest.positions - positions) / speed if speed else None
    expected = manifest.games
    if positions and not is_complete:
        expected = max(expected, -(-games * (manifest.positions or 0) // positions))
    is_idle = not is_complete and now - max(began, last or 0.0) >= patience
    return Status(
        shards=len(complete),
        shards_total=manifest.shards,
        games=games,
        games_total=manifest.games,
        positions=positions,
        bytes=dataset.bytes,
        seconds_since_last=None if last is None else max(0.0, now - last),
        positions_per_second=speed,
        seconds_left=None if is_idle or is_complete else left,
        is_idle=is_idle,
        games_expected=expected,
        shards_expected=-(-expected // manifest.shard_games),
        positions_total=manifest.positions,
    )
