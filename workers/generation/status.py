"""How far a run is, told by the run alone: from any machine, whoever works on it."""

from __future__ import annotations

import time
from dataclasses import dataclass

from selfplay.storage.dataset import Dataset
from selfplay.storage.shard import file_name

_WINDOW = 600.0
"""The speed is that of so many seconds before the last shard."""
_SILENCE = 60.0
"""With nothing new for so long, and for much longer than a shard takes, nobody is at work."""
_USUAL_GAPS = 5


@dataclass(frozen=True, slots=True)
class Status:
    """How far a run is."""

    shards: int
    shards_total: int
    games: int
    games_total: int
    positions: int
    bytes: int
    seconds_since_last: float | None
    """None if there is no shard yet."""
    positions_per_second: float | None
    """None if too few shards say it."""
    seconds_left: float | None
    """None if nobody seems to be at work, or it is done."""

    @property
    def is_complete(self) -> bool:
        return self.shards == self.shards_total


def status_of(dataset: Dataset, now: float | None = None) -> Status:
    """The status of a run."""
    described = dataset.description
    missing = set(dataset.missing())
    there = [shard for shard in dataset.shards() if shard not in missing]
    written = {shard: dataset.files[file_name(shard)].modified for shard in there}
    since = speed = left = None
    if written:
        last = max(written.values())
        since = max(0.0, (time.time() if now is None else now) - last)
        recent = sorted((s for s in there if written[s] >= last - _WINDOW), key=written.__getitem__)
        span = last - written[recent[0]]
        if span > 0:
            speed = sum(dataset.footers[shard].rows for shard in recent[1:]) / span
            gap = span / (len(recent) - 1)
            if missing and since < max(_SILENCE, _USUAL_GAPS * gap):
                left = gap * len(missing)
    return Status(
        shards=len(there),
        shards_total=described.shards,
        games=sum(len(described.games_of(shard)) for shard in there),
        games_total=described.games,
        positions=sum(dataset.footers[shard].rows for shard in there),
        bytes=dataset.bytes,
        seconds_since_last=since,
        positions_per_second=speed,
        seconds_left=left,
    )
