"""Merge runs into one, dropping duplicate games."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import islice, pairwise
from typing import Any

import numpy as np

from selfplay.errors import InputError
from selfplay.storage.dataset import Dataset, write_run
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.rows import Rows


def merge(datasets: Sequence[Dataset], place: Location) -> Dataset:
    """Write the games of all runs, renumbered, to a new place."""
    first = datasets[0]
    for other in datasets[1:]:
        if other.board != first.board:
            raise InputError(
                f"{first.place} is of {first.board}, {other.place} of {other.board}: they cannot "
                "be merged"
            )
    games = sum(1 for _ in _unique_games(datasets))
    if not games:
        raise InputError("there are no positions in these runs: nothing to merge")
    digest = blake2b(digest_size=16)
    for dataset in datasets:
        digest.update(f"merged {dataset.fingerprint}\n".encode())
    source: dict[str, Any] = {
        "merged": [{"run": str(d.place), "fingerprint": d.fingerprint} for d in datasets]
    }
    if any(dataset.manifest.skips_replies for dataset in datasets):
        source["skips_replies"] = True
    if any(dataset.manifest.has_gaps for dataset in datasets):
        source["has_gaps"] = True
    manifest = Manifest.of_source(
        digest.hexdigest(), first.board, games, first.manifest.shard_games, source
    )
    unique = _unique_games(datasets)

    def rows_of(games: range) -> Rows:
        return Rows.join([*map(Rows.with_game, islice(unique, len(games)), games)])

    return write_run(place, manifest, rows_of)


def teachers(datasets: Sequence[Dataset]) -> list[str]:
    """The teachers of the runs, as far as they are known."""
    return sorted({dataset.spec.teacher for dataset in datasets if dataset.spec is not None})


def games_with_rows(datasets: Sequence[Dataset]) -> int:
    """The number of games with positions, duplicates included."""
    return sum(len(np.unique(rows.game)) for dataset in datasets for _, rows in dataset.rows())


def _unique_games(datasets: Sequence[Dataset]) -> Iterator[Rows]:
    """The rows of every game once."""
    seen: set[bytes] = set()
    for dataset in datasets:
        for _, rows in dataset.rows():
            for start, stop in pairwise([*np.flatnonzero(rows.is_first()), len(rows)]):
                game = rows[start:stop]
                key = _digest(game)
                if key not in seen:
                    seen.add(key)
                    yield Rows(**{name: column.copy() for name, column in game.columns()})


def _digest(game: Rows) -> bytes:
    """A hash of a game's columns without its number."""
    digest = blake2b(digest_size=16)
    for name, column in game.columns():
        if name != "game":
            digest.update(np.ascontiguousarray(column).data)
    return digest.digest()
