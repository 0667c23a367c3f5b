"""The status of a run, read from its files alone: from any machine, whoever works on it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise

from selfplay.storage.dataset import Dataset
from selfplay.storage.shard import file_name

_WINDOW = 600.0  # the speed is measured over this time before the last shard
_IDLE_SECONDS = 10.0
"""Without a new shard for this long, and for several times the longest gap, nobody is at work."""
_IDLE_GAPS = 3


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
    seconds_left: float | None  # None if nobody seems to be at work, or the run is complete
    positions_total: int | None = None  # if the run ends by positions

    @property
    def is_complete(self) -> bool:
        is_enough = self.positions_total is None or self.positions >= self.positions_total
        return self.shards == self.shards_total and is_enough


def status_of(dataset: Dataset, now: float | None = None) -> Status:
    """The status of a run."""
    manifest, complete = dataset.manifest, dataset.complete()
    missing = manifest.shards - len(complete)
    written = {shard: dataset.files[file_name(shard)].modified for shard in complete}
    since = speed = left = None
    if written:
        last = max(written.values())
        since = max(0.0, (time.time() if now is None else now) - last)
        recent = sorted(
            (s for s in complete if written[s] >= last - _WINDOW), key=written.__getitem__
        )
        span = last - written[recent[0]]
        if span > 0:
            speed = sum(dataset.footers[shard].rows for shard in recent[1:]) / span
            longest = max(written[b] - written[a] for a, b in pairwise(recent))
            if missing and since < max(_IDLE_SECONDS, _IDLE_GAPS * longest):
                left = span / (len(recent) - 1) * missing
    return Status(
        shards=len(complete),
        shards_total=manifest.shards,
        games=sum(len(manifest.games_of(shard)) for shard in complete),
        games_total=manifest.games,
        positions=sum(dataset.footers[shard].rows for shard in complete),
        bytes=dataset.bytes,
        seconds_since_last=since,
        positions_per_second=speed,
        seconds_left=left,
        positions_total=manifest.positions,
    )
