"""A run as its readers see it: which of its shards are there, and the rows in them.

The plan follows from `run.json` alone: which files there shall be, and which games are in each. A
shard that is there is done, one that is not is missing; nothing else keeps count. A file that
the plan does not know is never read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING

import pyarrow as pa

from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.storage.location import File, Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.rows import Rows, schema
from selfplay.storage.shard import (
    DamagedShardError,
    Footer,
    decode,
    encode,
    end_needed,
    file_name,
    parse_footer,
)
from selfplay.storage.spec import Spec

if TYPE_CHECKING:
    # Imported where they are used: workers, of which there are many, do without.
    import pandas as pd
    import pyarrow.dataset as ds

SHARDS = "shards"
Check = Callable[[Rows, Board], None]
_AT_ONCE = 16
_USUAL_FOOTER = 1 << 14
_FILE = re.compile(r"part-([0-9]{5,8})\.parquet")


class Dataset:
    """The rows of a run."""

    def __init__(self, run: str | Location, description: Manifest | None = None) -> None:
        """The run at a place, as its `run.json` describes it, or as is said here."""
        self.place = run if isinstance(run, Location) else Location(run)
        found = description or Manifest.read(self.place)
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
        whole = {n for n, footer in self.footers.items() if self._is_whole(footer)}
        return [shard for shard in range(self.description.shards) if shard not in whole]

    def shards(self) -> list[int]:
        """The shards that are there."""
        return sorted(self.footers)

    def paths(self) -> list[str]:
        """The files of these shards, as `place.filesystem` names them: for other readers."""
        return [self.place.full(name_of(shard)) for shard in self.shards()]

    def strays(self) -> list[str]:
        """Files among the shards that the plan does not have."""
        planned = {file_name(shard) for shard in self.planned_files}
        return sorted(set(self.files) - planned)

    @cached_property
    def files(self) -> dict[str, File]:
        """All files among the shards."""
        return self.place.files(SHARDS)

    @cached_property
    def planned_files(self) -> list[int]:
        """The shards of the plan that there are files of, damaged or not."""
        numbers = filter(None, map(_FILE.fullmatch, self.files))
        return sorted(
            shard
            for shard in (int(match[1]) for match in numbers)
            if shard < self.description.shards and file_name(shard) in self.files
        )

    @cached_property
    def footers(self) -> dict[int, Footer]:
        """What the shards that are there say of themselves; one that is damaged is refused."""
        there = self.planned_files
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            return dict(zip(there, pool.map(self._footer, there), strict=True))

    def _footer(self, shard: int) -> Footer:
        with self._damage_told(shard):
            footer = footer_at(self.place, shard)
            self.check(shard, footer)
            return footer

    @contextmanager
    def _damage_told(self, shard: int) -> Iterator[None]:
        try:
            yield
        except DamagedShardError as damage:
            raise InputError(
                f"{self.place}/{name_of(shard)}: {damage}; "
                f"see `selfplay dataset verify {self.place}`"
            ) from None

    def check(self, shard: int, footer: Footer) -> None:
        """Refuse a shard that is not of this run or not this one."""
        described = self.description
        if footer.spec_hash != described.identity:
            raise DamagedShardError("it belongs to another run")
        if footer.shard != shard or footer.first_game != described.games_of(shard).start:
            raise DamagedShardError(f"it is shard {footer.shard}, under another's name")
        if (footer.board, footer.connect) != (self.board.size, self.board.connect):
            raise DamagedShardError(
                f"it is of a board {quoted(footer.board)}, connect {footer.connect}"
            )
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
        for shard in self.shards():
            path = self.place.full(name_of(shard))
            with self._damage_told(shard):
                try:
                    yield from self._scan([path]).to_batches(columns=columns, filter=filter)
                except pa.ArrowException as error:
                    raise DamagedShardError(f"it cannot be read ({error})") from None

    def rows(self, check: Check | None = None) -> Iterator[tuple[int, Rows]]:
        """Shard by shard: its number and its rows."""
        for shard in self.shards():
            yield shard, self.read(shard, check)

    def read(self, shard: int, check: Check | None = None) -> Rows:
        """The rows of one shard, its pages checked. A file with a right checksum may still hold
        what no game has: `verify.refuse_impossible` is a check for whoever would mind."""
        with self._damage_told(shard):
            footer, rows = decode(self.place.read(name_of(shard)), self.board)
            self.check(shard, footer)
            if check is not None:
                check(rows, self.board)
            return rows

    def to_pandas(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """All rows; a board or a list per column is an array in each."""
        frame: pd.DataFrame = self.scan().to_table(columns=columns).to_pandas()
        return frame


def name_of(shard: int) -> str:
    """A shard's file within a run."""
    return f"{SHARDS}/{file_name(shard)}"


def footer_at(place: Location, shard: int) -> Footer:
    """What the shard that is there says of itself."""
    name = name_of(shard)
    end, size = place.read_end(name, _USUAL_FOOTER)
    if (needed := end_needed(end)) > len(end) and size > len(end):
        end, _ = place.read_end(name, needed)
    return parse_footer(end)


def write(place: Location, described: Manifest, shard: int, rows: Rows) -> Footer:
    """Put a shard of a run in its place, and say what is there then.

    What the run is, is asked once more at the last moment: a shard of another run, or one with
    more games, is never written over.
    """
    mine = encode(rows, described.board, described.identity, shard, described.games_of(shard))
    wanted = parse_footer(mine[-_USUAL_FOOTER:])
    there: list[Footer] = []

    def is_done() -> bool:
        now = Manifest.read(place)
        if now is None or not now.is_of(described) or now.games != described.games:
            raise InputError(f"{place} was changed meanwhile: give the command again")
        try:
            footer = footer_at(place, shard)
        except FileNotFoundError:
            return False
        except DamagedShardError as damage:
            raise InputError(f"{place}/{name_of(shard)} is damaged: {damage}") from None
        if footer.spec_hash != wanted.spec_hash:
            raise InputError(
                f"{place}/{name_of(shard)} belongs to another run: it is not written over"
            )
        if footer.end_game < wanted.end_game:
            return False
        if (
            described.is_repeatable
            and footer.end_game == wanted.end_game
            and footer.fingerprint != wanted.fingerprint
        ):
            raise InputError(
                f"{place}/{name_of(shard)} was made by somebody else with other rows, though the "
                "spec is the same: is the same version installed everywhere?"
            )
        there.append(footer)
        return True

    return wanted if place.write(name_of(shard), mine, is_done) else there[-1]
