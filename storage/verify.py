"""Verify a run: every file against its footer, and every game by replaying it."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from heapq import merge
from itertools import islice

import numpy as np

from selfplay.errors import quoted
from selfplay.storage.dataset import Dataset, shard_path
from selfplay.storage.row_checks import SHOWN_PER_FAULT, faults
from selfplay.storage.shard import DamagedShardError, decode, file_name

_READ_AHEAD = 16


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a run."""

    what: str
    shard: int | None = None
    game: int | None = None

    def __str__(self) -> str:
        where = "" if self.shard is None else f"{file_name(self.shard)}: "
        which = "" if self.game is None else f"game {self.game}: "
        return f"{where}{which}{self.what}"


def verify(dataset: Dataset) -> Iterator[Problem]:
    """All problems of a run, shard by shard."""
    for name in dataset.unexpected_files():
        yield Problem(f"{quoted(name, 200)} does not belong to the run")
    inside = (
        Problem(what, shard, game)
        for shard, data in _files(dataset)
        for what, game in _shard_faults(dataset, shard, data)
    )
    yield from merge(_missing(dataset), inside, key=lambda problem: problem.shard or 0)


def _missing(dataset: Dataset) -> Iterator[Problem]:
    """Missing shards, a range of them as one problem."""
    following = 0
    for shard in [*dataset.planned_files, dataset.manifest.shards]:
        if shard - following == 1:
            yield Problem("it is missing", following)
        elif shard > following:
            yield Problem(f"it is missing, and all up to {file_name(shard - 1)}", following)
        following = shard + 1


def _files(dataset: Dataset) -> Iterator[tuple[int, bytes]]:
    """Every shard's bytes, read ahead in threads: object stores are slow to answer."""
    shards = iter(dataset.planned_files)

    def read(shard: int) -> bytes:
        return dataset.place.read(shard_path(shard))

    with ThreadPoolExecutor(_READ_AHEAD) as pool:
        pending = deque((n, pool.submit(read, n)) for n in islice(shards, _READ_AHEAD))
        while pending:
            shard, data = pending.popleft()
            yield shard, data.result()
            pending.extend((n, pool.submit(read, n)) for n in islice(shards, 1))


def quarantine_shards(dataset: Dataset, problems: Sequence[Problem]) -> list[str]:
    """Move shards with problems to `quarantine/`, so that they are generated again; the new
    names."""
    moved = []
    for shard in sorted({p.shard for p in problems if p.shard is not None}):
        if file_name(shard) in dataset.files:
            name = f"quarantine/{file_name(shard)}"
            dataset.place.move(shard_path(shard), name)
            moved.append(name)
    return moved


def _shard_faults(dataset: Dataset, shard: int, data: bytes) -> Iterator[tuple[str, int | None]]:
    manifest = dataset.manifest
    try:
        footer, rows = decode(data, dataset.board)
        dataset.check(shard, footer)
    except DamagedShardError as damage:
        yield str(damage), None
        return
    if rows.fingerprint() != footer.fingerprint:
        yield "its rows do not match the fingerprint in its footer", None
    elif footer.end_game < manifest.games_of(shard).stop:
        yield "it lacks games: the run has been extended", None
    skips, gaps = manifest.skips_replies, manifest.has_gaps
    yield from faults(rows, dataset.board, footer.games, skips_replies=skips, has_gaps=gaps)
    if manifest.spec is not None and manifest.skips_replies:
        for game in np.unique(rows.game[rows.ply % 2 != rows.game % 2])[:SHOWN_PER_FAULT]:
            yield "it has positions of the opponent", int(game)
