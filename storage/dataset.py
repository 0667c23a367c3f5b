"""A run as its readers see it: which of its shards are there, and the rows in them.

The plan follows from `run.json` alone: which files there shall be, and which games are in each. A
shard that is there is done, one that is not is missing; nothing else keeps count. A file that
the plan does not know is never read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

import pyarrow as pa

from selfplay.board import Board
from selfplay.errors import InputError
from storage.description import Description
from storage.place import File, Place
from storage.rows import Rows, schema
from storage.shard import DamagedShardError, Footer, decode, file_name, read_footer
from storage.spec import Spec

if TYPE_CHECKING:
    # Imported where they are used: workers, of which there are many, do without.
    import pandas as pd
    import pyarrow.dataset as ds

SHARDS = "shards"
_AT_ONCE = 16


class Dataset:
    """The rows of a run."""

    def __init__(self, run: str | Place, description: Description | None = None) -> None:
        """The run at a place, as its `run.json` describes it, or as is said here."""
        self.place = run if isinstance(run, Place) else Place(run)
        found = description or Description.read(self.place)
        if found is None:
            raise InputError(f"there is no run at {self.place}")
        self.description = found

    @property
    def spec(self) -> Spec | None:
        """What the run was generated from; None if it was imported, merged or played."""
        return self.description.spec

    @property
    def board(self) -> Board:
        return self.description.board

    def missing(self) -> list[int]:
        """The shards that the plan has and the run has not, or not with all their games."""
        footers = self.footers
        return [
            shard
            for shard in range(self.description.shards)
            if shard not in footers or not self._is_whole(footers[shard])
        ]

    def shards(self) -> list[int]:
        """The shards that are there."""
        return sorted(self.footers)

    def paths(self) -> list[str]:
        """The files of these shards, as `place.filesystem` names them: for other readers."""
        return [self.place.full(name_of(shard)) for shard in self.shards()]

    def strays(self) -> list[str]:
        """Files among the shards that the plan does not have."""
        planned = {file_name(shard) for shard in range(self.description.shards)}
        return sorted(set(self.files) - planned)

    @cached_property
    def files(self) -> dict[str, File]:
        """All files among the shards."""
        return self.place.files(SHARDS)

    @cached_property
    def footers(self) -> dict[int, Footer]:
        """What the shards that are there say of themselves; one that is damaged is refused."""
        there = [n for n in range(self.description.shards) if file_name(n) in self.files]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return dict(zip(there, pool.map(self._footer, there), strict=True))

    def _footer(self, shard: int) -> Footer:
        name = name_of(shard)
        try:
            with self.place.filesystem.open_input_file(self.place.full(name)) as file:
                footer = read_footer(file)
            self.check(shard, footer)
        except DamagedShardError as damage:
            raise InputError(
                f"{self.place}/{name}: {damage}; see `selfplay dataset verify {self.place}`"
            ) from None
        return footer

    def check(self, shard: int, footer: Footer) -> None:
        """Refuse a shard that is not of this run or not this one."""
        described = self.description
        if footer.spec_hash != described.identity:
            raise DamagedShardError("it belongs to another run")
        if footer.shard != shard or footer.first_game != described.games_of(shard).start:
            raise DamagedShardError(f"it is shard {footer.shard}, under another's name")
        if (footer.board, footer.connect) != (self.board.size, self.board.connect):
            raise DamagedShardError(f"it is of a board {footer.board}, connect {footer.connect}")
        if footer.end_game > (shard + 1) * described.shard_games:
            raise DamagedShardError("it has games of the next shard")

    def _is_whole(self, footer: Footer) -> bool:
        # A run with more games than before has its last shard to do again.
        return footer.end_game >= self.description.games_of(footer.shard).stop

    @property
    def games(self) -> int:
        """How many games are there."""
        return sum(footer.end_game - footer.first_game for footer in self.footers.values())

    @property
    def positions(self) -> int:
        """How many rows are there."""
        return sum(footer.rows for footer in self.footers.values())

    @property
    def bytes(self) -> int:
        """What all files among the shards take."""
        return sum(file.size for file in self.files.values())

    @property
    def fingerprint(self) -> str:
        """A hash of all rows that are there: equal if and only if the rows are."""
        digest = blake2b(digest_size=16)
        for shard in self.shards():
            digest.update(f"{shard} {self.footers[shard].fingerprint}\n".encode())
        return digest.hexdigest()

    def scan(self) -> ds.Dataset:
        """The rows as an Arrow dataset: columns, filters and batches are its own."""
        return self._scan(self.paths())

    def _scan(self, paths: list[str]) -> ds.Dataset:
        from pyarrow.dataset import dataset

        return dataset(
            paths, schema=schema(self.board), format="parquet", filesystem=self.place.filesystem
        )

    def batches(
        self, columns: Sequence[str] | None = None, filter: ds.Expression | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The rows in order, a shard in memory at a time."""
        for path in self.paths():
            yield from self._scan([path]).to_batches(columns=columns, filter=filter)

    def rows(self) -> Iterator[tuple[int, Rows]]:
        """Shard by shard: its number and its rows."""
        for shard in self.shards():
            yield shard, self.read(shard)

    def read(self, shard: int) -> Rows:
        """The rows of one shard, its pages checked."""
        _, table = decode(self.place.read(name_of(shard)))
        return Rows.from_table(table)

    def to_pandas(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """All rows; a board or a list per column is an array in each."""
        frame: pd.DataFrame = self.scan().to_table(columns=columns).to_pandas()
        return frame


def name_of(shard: int) -> str:
    """A shard's file within a run."""
    return f"{SHARDS}/{file_name(shard)}"


def write(place: Place, described: Description, shard: int, rows: Rows) -> Footer:
    """Put a shard of a run in its place."""
    from storage.shard import encode

    data = encode(rows, described.board, described.identity, shard, described.games_of(shard))
    place.write(name_of(shard), data)
    return read_footer(pa.BufferReader(data))
