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
from selfplay.storage.card import says_complete
from selfplay.storage.dataset import Dataset, read_footer, shard_path
from selfplay.storage.row_checks import SHOWN_PER_FAULT, faults
from selfplay.storage.rows import Rows
from selfplay.storage.shard import DamagedShardError, Footer, decode, file_name

_READ_AHEAD = 16


@dataclass(frozen=True, slots=True)
class Problem:
    """What a run lacks, or what is wrong with it."""

    what: str
    shard: int | None = None
    game: int | None = None
    is_open: bool = False
    """Whether the run is unfinished, and nothing else: resuming it adds what is missing."""

    def __str__(self) -> str:
        where = "" if self.shard is None else f"{file_name(self.shard)}: "
        which = "" if self.game is None else f"game {self.game}: "
        return f"{where}{which}{self.what}"


def verify(dataset: Dataset) -> Iterator[Problem]:
    """All problems of a run, shard by shard: none if it is whole."""
    for name in dataset.unexpected_files():
        yield Problem(f"{quoted(name, 200)} does not belong to the run")
    inside = (
        problem
        for shard, data in _files(dataset)
        for problem in _shard_problems(dataset, shard, data)
    )
    yield from merge(_missing(dataset), inside, key=lambda problem: problem.shard or 0)


def _missing(dataset: Dataset) -> Iterator[Problem]:
    """Missing shards, a range of them as one problem. Those after the last one of a generated run
    are not made yet, unless its card says that it was complete."""
    following, end = 0, dataset.manifest.shards
    for shard in [*dataset.planned_files, end]:
        is_last = shard == end > following
        is_open = is_last and dataset.spec is not None and not says_complete(dataset)
        what = "it is not made yet" if is_open else "it is missing"
        if shard - following == 1:
            yield Problem(what, following, is_open=is_open)
        elif shard > following:
            upto = f"{what}, and all up to {file_name(shard - 1)}"
            yield Problem(upto, following, is_open=is_open)
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
    for shard in sorted({p.shard for p in problems if p.shard is not None and not p.is_open}):
        if file_name(shard) in dataset.files:
            name = f"quarantine/{file_name(shard)}"
            dataset.place.move(shard_path(shard), name)
            moved.append(name)
    return moved


def sound_positions(dataset: Dataset, problems: Sequence[Problem]) -> int:
    """The number of positions in the shards without problems."""
    bad = {problem.shard for problem in problems if not problem.is_open}
    sound = [shard for shard in dataset.planned_files if shard not in bad]
    with ThreadPoolExecutor(_READ_AHEAD) as pool:
        footers = pool.map(lambda shard: read_footer(dataset.place, shard), sound)
        return sum(footer.rows for footer in footers)


def _shard_problems(dataset: Dataset, shard: int, data: bytes) -> Iterator[Problem]:
    try:
        footer, rows = decode(data, dataset.board)
        dataset.check(shard, footer)
    except DamagedShardError as damage:
        yield Problem(str(damage), shard)
        return
    yield from problems_of_rows(dataset, shard, footer, rows)


def problems_of_rows(dataset: Dataset, shard: int, footer: Footer, rows: Rows) -> Iterator[Problem]:
    """The problems of a shard that can be read."""
    manifest = dataset.manifest
    if rows.fingerprint() != footer.fingerprint:
        yield Problem("its rows do not match the fingerprint in its footer", shard)
    elif footer.end_game < manifest.games_of(shard).stop:
        is_open = manifest.spec is not None
        yield Problem("it lacks games: the run has been extended", shard, is_open=is_open)
    skips, gaps = manifest.skips_replies, manifest.has_gaps
    for what, game in faults(rows, dataset.board, footer.games, skips_replies=skips, has_gaps=gaps):
        yield Problem(what, shard, game)
    if manifest.spec is not None and manifest.skips_replies:
        for game in np.unique(rows.game[rows.ply % 2 != rows.game % 2])[:SHOWN_PER_FAULT]:
            yield Problem("it has positions of the opponent", shard, int(game))
