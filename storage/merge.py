"""Merge runs into one, dropping duplicate games. Parts of one run are joined game by game."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice, pairwise
from typing import Any

import numpy as np

from selfplay.errors import InputError
from selfplay.storage.dataset import Dataset, write_run
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.origin import origin_of
from selfplay.storage.rows import Rows
from selfplay.storage.split import Part, part_of


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
        "merged": [origin_of(dataset) for dataset in datasets],
        "teachers": teachers(datasets),
    }
    if any(dataset.manifest.skips_replies for dataset in datasets):
        source["skips_replies"] = True
    if any(run.has_gaps for run in _runs_needed(datasets)):
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
    return sorted({name for dataset in datasets for name in dataset.manifest.teachers})


def games_with_rows(datasets: Sequence[Dataset]) -> int:
    """The number of games with positions, duplicates included; a game in several parts of a run
    is one."""
    return sum(len(np.unique(rows.game)) for run in _runs(datasets) for rows in run.shards())


@dataclass(frozen=True, slots=True)
class _Run:
    """A run, or the given parts of one, in which games keep their numbers."""

    datasets: list[Dataset]
    parts: list[Part]  # none of a run that is no part

    @property
    def has_gaps(self) -> bool:
        halves = {(part.test, part.name) for part in self.parts if part.is_of_whole_games}
        if any({(test, "train"), (test, "test")} <= halves for test, _ in halves):
            return False
        return any(dataset.manifest.has_gaps for dataset in self.datasets)

    def shards(self) -> Iterator[Rows]:
        """The rows of each shard, in order; those that several parts have once."""
        for shard in sorted({shard for dataset in self.datasets for shard in dataset.shards()}):
            have = [dataset for dataset in self.datasets if shard in dataset.footers]
            rows = Rows.join([dataset.read(shard) for dataset in have])
            if len(have) > 1:
                rows = rows[np.lexsort((rows.ply, rows.game))]
                rows = rows[rows.is_first() | np.append(True, np.diff(rows.ply) != 0)[: len(rows)]]
            yield rows


def _runs(datasets: Sequence[Dataset]) -> list[_Run]:
    """The runs, with the parts of one run together."""
    runs: dict[object, _Run] = {}
    for number, dataset in enumerate(datasets):
        part = part_of(dataset.manifest)
        key = number if part is None else (part.fingerprint, dataset.manifest.shard_games)
        run = runs.setdefault(key, _Run([], []))
        run.datasets.append(dataset)
        run.parts.extend([] if part is None else [part])
    return list(runs.values())


def _runs_needed(datasets: Sequence[Dataset]) -> list[_Run]:
    """The runs without the parts of one that is there as a whole."""
    whole = {dataset.fingerprint for dataset in datasets}
    return [run for run in _runs(datasets) if not {part.fingerprint for part in run.parts} & whole]


def _unique_games(datasets: Sequence[Dataset]) -> Iterator[Rows]:
    """The rows of every game once."""
    seen: set[bytes] = set()
    for run in _runs_needed(datasets):
        for rows in run.shards():
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
