"""Watch a run that grows or is broken: every footer is read once, and what is wrong is noted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import islice

from selfplay.arrays import Array
from selfplay.errors import InputError, quoted
from selfplay.storage.dataset import Dataset, read_footer, shard_path
from selfplay.storage.location import File, Location
from selfplay.storage.row_checks import validate_rows
from selfplay.storage.rows import Rows
from selfplay.storage.shard import DamagedShardError, Footer, decode, file_name
from selfplay.storage.statistics import Part, Statistics, combined
from selfplay.storage.verify import Problem, problems_of_rows

_THREADS = 16
_AT_ONCE = 64
_MOST_ROWS = 2_000_000
"""Of a shard that is looked into: reading one must not take long."""
MOST_POSITIONS = 10_000_000
"""Of a run whose statistics are kept in memory."""


@dataclass(frozen=True, slots=True)
class _Seen:
    """What a file had, or what is wrong with it."""

    file: File
    footer: Footer | None = None
    fault: str | None = None
    part: Part | None = None
    remark: Problem | None = None
    """What is wrong with its games, once they are counted."""


class Watch:
    """A run, looked at again and again."""

    def __init__(self, uri: str) -> None:
        self.place = Location(uri)
        self.problems: list[Problem] = []
        """What was wrong at the last look."""
        self.unread: list[int] = []
        """The shards whose footers the last look had no time for."""
        self._seen: dict[int, _Seen] = {}
        self._rows: tuple[int, File, Rows] | None = None

    def look(self, seconds: float | None = None, first: int = 0) -> Dataset:
        """The run with its sound shards, as far as they can be read within this time, from the
        `first` on."""
        dataset = Dataset(self.place)
        files = {shard: dataset.files[file_name(shard)] for shard in dataset.planned_files}
        self._seen = {n: seen for n, seen in self._seen.items() if files.get(n) == seen.file}
        unread = iter(sorted(files.keys() - self._seen.keys(), key=lambda n: (n < first, n)))
        end = None if seconds is None else time.monotonic() + seconds
        with ThreadPoolExecutor(_THREADS) as pool:
            while batch := list(islice(unread, _AT_ONCE)):
                found = pool.map(lambda shard: self._footer(shard, files[shard]), batch)
                self._seen.update(zip(batch, found, strict=True))
                if end is not None and time.monotonic() > end:
                    break
        self.unread = sorted(unread)
        self.problems = [
            Problem(f"{quoted(name, 200)} does not belong to the run")
            for name in dataset.unexpected_files()
        ]
        dataset.footers = dict(sorted(self._sound(dataset)))
        return dataset

    def _footer(self, shard: int, file: File) -> _Seen:
        try:
            return _Seen(file, read_footer(self.place, shard))
        except DamagedShardError as damage:
            return _Seen(file, fault=str(damage))
        except OSError as error:
            return _Seen(file, fault=f"it cannot be read ({error.strerror})")

    def _sound(self, dataset: Dataset) -> Iterator[tuple[int, Footer]]:
        for shard, seen in self._seen.items():
            fault = seen.fault
            if fault is None and seen.footer is not None:
                try:
                    dataset.check(shard, seen.footer)
                except DamagedShardError as damage:
                    fault = str(damage)
                else:
                    yield shard, seen.footer
                    if seen.remark is not None:
                        self.problems.append(seen.remark)
            if fault is not None:
                self.problems.append(Problem(fault, shard))

    def read(self, dataset: Dataset, shard: int) -> Rows | None:
        """The rows of a shard of the last look; None of one that proves to be damaged."""
        seen = self._seen[shard]
        if self._rows is not None and self._rows[:2] == (shard, seen.file):
            return self._rows[2]
        if dataset.footers[shard].rows > _MOST_ROWS:
            raise InputError(
                f"{file_name(shard)} has over {_MOST_ROWS:,} rows: too many for a page"
            )
        try:
            _, rows = decode(self.place.read(shard_path(shard)), dataset.board)
            validate_rows(rows, dataset.board)
        except (DamagedShardError, OSError, InputError) as damage:
            fault = str(damage) if isinstance(damage, DamagedShardError) else "it cannot be read"
            self._seen[shard] = _Seen(seen.file, fault=fault)
            return None
        self._rows = shard, seen.file, rows
        return rows

    def tally(self, dataset: Dataset, seconds: float) -> int:
        """Count what is in the shards, and replay their games, for this long; how many are
        counted."""
        if dataset.positions > MOST_POSITIONS:
            raise InputError(
                f"beyond {MOST_POSITIONS:,} positions `selfplay dataset info` counts them"
            )
        end = time.monotonic() + seconds
        for shard in dataset.shards():
            if self._seen[shard].part is None:
                if time.monotonic() > end:
                    break
                rows = self.read(dataset, shard)
                if rows is not None:
                    part = Part.of(rows, dataset.manifest)
                    found = problems_of_rows(dataset, shard, dataset.footers[shard], rows)
                    remark = next((problem for problem in found if not problem.is_open), None)
                    self._seen[shard] = replace(self._seen[shard], part=part, remark=remark)
        return sum(self._seen[shard].part is not None for shard in dataset.shards())

    def statistics(self, dataset: Dataset) -> Statistics:
        """The statistics of shards that are all counted."""
        return combined(dataset, self._parts(dataset))

    def plies(self, dataset: Dataset) -> Iterator[Array]:
        """The stones of all rows of shards that are all counted."""
        return (part.plies for part in self._parts(dataset))

    def _parts(self, dataset: Dataset) -> list[Part]:
        parts = [self._seen[shard].part for shard in dataset.shards()]
        return [part for part in parts if part is not None]
