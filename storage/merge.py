"""One run out of several, without the games that more than one of them holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import pairwise
from typing import Any

import numpy as np

from selfplay.errors import InputError
from selfplay.storage.dataset import Dataset, write
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.rows import Rows


def merge(datasets: Sequence[Dataset], place: Location) -> Dataset:
    """Write the games of all runs, numbered anew, to a new place."""
    first = datasets[0]
    for other in datasets[1:]:
        if other.board != first.board:
            raise InputError(
                f"{first.place} is of {first.board}, {other.place} of {other.board}: they cannot "
                "be merged"
            )
    games = sum(1 for _ in _new_games(datasets))
    if not games:
        raise InputError("there are no positions in these runs: nothing to merge")
    digest = blake2b(digest_size=16)
    for dataset in datasets:
        digest.update(f"merged {dataset.fingerprint}\n".encode())
    source: dict[str, Any] = {
        "merged": [{"run": str(d.place), "fingerprint": d.fingerprint} for d in datasets]
    }
    if any(dataset.description.skips_replies for dataset in datasets):
        source["skips_replies"] = True
    described = Manifest.of_source(
        digest.hexdigest(), first.board, games, first.description.shard_games, source
    )
    described.begin(place)
    found = _new_games(datasets)
    for shard in range(described.shards):
        parts = []
        for game in described.games_of(shard):
            rows = next(found)
            rows.game[:] = game
            parts.append(rows)
        write(place, described, shard, Rows.join(parts))
    return Dataset(place)


def games_with_rows(datasets: Sequence[Dataset]) -> int:
    """How many games have positions; of others there is nothing to merge."""
    return sum(len(np.unique(rows.game)) for dataset in datasets for _, rows in dataset.rows())


def _new_games(datasets: Sequence[Dataset]) -> Iterator[Rows]:
    """Game after game, each but once."""
    seen: set[bytes] = set()
    for dataset in datasets:
        for _, rows in dataset.rows():
            is_first = np.append(True, rows.game[1:] != rows.game[:-1])[: len(rows)]
            starts = np.flatnonzero(is_first)
            for start, stop in pairwise([*starts, len(rows)]):
                game = rows[start:stop]
                key = _digest(game)
                if key not in seen:
                    seen.add(key)
                    yield Rows(**{name: column.copy() for name, column in game.columns()})


def _digest(game: Rows) -> bytes:
    """What tells a game from others: everything but its number."""
    digest = blake2b(digest_size=16)
    for name, column in game.columns():
        if name != "game":
            digest.update(np.ascontiguousarray(column).data)
    return digest.digest()
