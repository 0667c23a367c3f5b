"""Read and write a run's data set: its shards, their rows, and which shards are missing.

`run.json` alone decides which files a run has, and which games are in each. A shard whose file
exists is done, any other is missing; there is no other record. Unexpected files are never read.
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
from selfplay.notebook import table
from selfplay.storage.location import File, Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.row_checks import changed_game
from selfplay.storage.rows import Rows, schema
from selfplay.storage.shard import (
    DamagedShardError,
    Footer,
    decode,
    encode,
    file_name,
    footer_size,
    parse_footer,
)
from selfplay.storage.spec import Spec
from selfplay.wording import counted

if TYPE_CHECKING:
    # Imported lazily: they cost memory in every worker.
    import pandas as pd
    import pyarrow.dataset as ds

SHARDS = "shards"
Check = Callable[[Rows, Board], None]
_THREADS = 16
_FOOTER_GUESS = 1 << 14
_FILE = re.compile(r"part-([0-9]{5,8})\.parquet")


class Dataset:
    """The shards of a run and their rows."""

    def __init__(self, run: str | Location, manifest: Manifest | None = None) -> None:
        """`manifest` takes the place of the run's `run.json`."""
        self.place = run if isinstance(run, Location) else Location(run)
        manifest = manifest or Manifest.read(self.place)
        if manifest is None:
            raise InputError(f"there is no run at {self.place}")
        self.manifest = manifest

    def __repr__(self) -> str:
        return f"Dataset({str(self.place)!r})"

    def _repr_html_(self) -> str:
        spec = self.spec
        facts = [
            ("run", str(self.place)),
            ("board", str(self.board)),
            ("games", f"{self.games:,} of {self.manifest.games:,}"),
            ("positions", f"{self.positions:,}"),
            ("shards", f"{len(self.shards()):,} of {self.manifest.shards:,}"),
            ("fingerprint", self.fingerprint),
        ]
        if spec is not None:
            facts += [
                ("teacher", spec.teacher),
                ("opening", spec.opening),
                ("seed", str(spec.seed)),
            ]
        return table(facts)

    @property
    def spec(self) -> Spec | None:
        """The spec of a generated run; None if it was imported, merged or played."""
        return self.manifest.spec

    @property
    def board(self) -> Board:
        return self.manifest.board

    def complete(self) -> list[int]:
        """The existing shards with all their games."""
        games_of = self.manifest.games_of  # a longer run may have extended the last shard
        return [n for n in self.shards() if self.footers[n].end_game >= games_of(n).stop]

    def missing(self) -> list[int]:
        """The shards that do not exist, or lack games."""
        complete = set(self.complete())
        return [shard for shard in range(self.manifest.shards) if shard not in complete]

    def shards(self) -> list[int]:
        """The existing shards."""
        return sorted(self.footers)

    def paths(self) -> list[str]:
        """The shards' files as paths of `place.filesystem`, for other readers."""
        return [self.place.full(shard_path(shard)) for shard in self.shards()]

    def unexpected_files(self) -> list[str]:
        """Files among the shards that do not belong to the run."""
        planned = {file_name(shard) for shard in self.planned_files}
        return sorted(set(self.files) - planned)

    @cached_property
    def files(self) -> dict[str, File]:
        """All files among the shards."""
        return self.place.files(SHARDS)

    @cached_property
    def planned_files(self) -> list[int]:
        """The shards of the run with a file, damaged or not."""
        numbers = filter(None, map(_FILE.fullmatch, self.files))
        return sorted(
            shard
            for shard in (int(match[1]) for match in numbers)
            if shard < self.manifest.shards and file_name(shard) in self.files
        )

    @cached_property
    def footers(self) -> dict[int, Footer]:
        """The footers of the existing shards; a damaged one is refused."""
        shards = self.planned_files
        with ThreadPoolExecutor(_THREADS) as pool:
            return dict(zip(shards, pool.map(self._footer, shards), strict=True))

    def _footer(self, shard: int) -> Footer:
        with self._damage_as_input_error(shard):
            footer = read_footer(self.place, shard)
            self.check(shard, footer)
            return footer

    @contextmanager
    def _damage_as_input_error(self, shard: int) -> Iterator[None]:
        try:
            yield
        except DamagedShardError as damage:
            raise InputError(
                f"{self.place}/{shard_path(shard)}: {damage}; "
                f"see `selfplay dataset verify {self.place}`"
            ) from None

    def check(self, shard: int, footer: Footer) -> None:
        """Raise DamagedShardError unless the footer is that of this shard of this run."""
        manifest = self.manifest
        if footer.spec_hash != manifest.identity:
            raise DamagedShardError("it belongs to another run")
        if footer.shard != shard or footer.first_game != manifest.games_of(shard).start:
            raise DamagedShardError(f"it is shard {footer.shard} under another's name")
        if (footer.board, footer.connect) != (self.board.size, self.board.connect):
            raise DamagedShardError(
                f"it is of a board {quoted(footer.board)}, connect {footer.connect}"
            )
        if footer.end_game > (shard + 1) * manifest.shard_games:
            raise DamagedShardError("it has games of the next shard")

    @property
    def games(self) -> int:
        """The number of games in the existing shards."""
        return sum(footer.end_game - footer.first_game for footer in self.footers.values())

    @property
    def positions(self) -> int:
        """The number of rows in the existing shards."""
        return sum(footer.rows for footer in self.footers.values())

    @property
    def sizes(self) -> str:
        """How much it has, for messages."""
        return f"{counted(self.games, 'game')}, {counted(self.positions, 'position')}"

    @property
    def bytes(self) -> int:
        """The size of all files among the shards."""
        return sum(file.size for file in self.files.values())

    @property
    def fingerprint(self) -> str:
        """A hash of all rows: equal if and only if the rows are."""
        digest = blake2b(digest_size=16)
        for shard in self.shards():
            digest.update(f"{shard} {self.footers[shard].fingerprint}\n".encode())
        return digest.hexdigest()

    def scan(self) -> ds.Dataset:
        """The rows as an Arrow dataset, with its columns, filters and batches."""
        return self._scan(self.paths())

    def _scan(self, paths: list[str]) -> ds.Dataset:
        from pyarrow.dataset import dataset

        return dataset(
            paths, schema=schema(self.board), format="parquet", filesystem=self.place.filesystem
        )

    def batches(
        self, columns: Sequence[str] | None = None, filter: ds.Expression | None = None
    ) -> Iterator[pa.RecordBatch]:
        """The rows in order, with one shard in memory at a time."""
        for shard in self.shards():
            path = self.place.full(shard_path(shard))
            with self._damage_as_input_error(shard):
                try:
                    yield from self._scan([path]).to_batches(columns=columns, filter=filter)
                except pa.ArrowException as error:
                    raise DamagedShardError(f"it cannot be read ({error})") from None

    def rows(self, check: Check | None = None) -> Iterator[tuple[int, Rows]]:
        """The number and rows of each shard."""
        for shard in self.shards():
            yield shard, self.read(shard, check)

    def read(self, shard: int, check: Check | None = None) -> Rows:
        """The rows of a shard. Checksums are verified; `row_checks.validate_rows` as the `check`
        also refuses impossible positions."""
        with self._damage_as_input_error(shard):
            footer, rows = decode(self.place.read(shard_path(shard)), self.board)
            self.check(shard, footer)
            if check is not None:
                check(rows, self.board)
            return rows

    def to_pandas(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """All rows as a DataFrame; boards and per-column values are arrays in its cells."""
        frame: pd.DataFrame = self.scan().to_table(columns=columns).to_pandas()
        return frame


def shard_path(shard: int) -> str:
    """The path of a shard within a run."""
    return f"{SHARDS}/{file_name(shard)}"


def read_footer(place: Location, shard: int) -> Footer:
    """The footer of an existing shard."""
    name = shard_path(shard)
    tail, size = place.read_tail(name, _FOOTER_GUESS)
    if (needed := footer_size(tail)) > len(tail) and size > len(tail):
        tail, _ = place.read_tail(name, needed)
    return parse_footer(tail)


def write_run(place: Location, manifest: Manifest, rows_of: Callable[[range], Rows]) -> Dataset:
    """Write a run with the rows of these games; a place with another run is refused."""
    manifest.begin(place)
    for shard in range(manifest.shards):
        write_shard(place, manifest, shard, rows_of(manifest.games_of(shard)))
    return Dataset(place)


def write_shard(
    place: Location,
    manifest: Manifest,
    shard: int,
    rows: Rows,
    on_existing: Callable[[], object] = lambda: None,
) -> Footer:
    """Write a shard atomically, or call `on_existing` if it is there by now; the footer of the
    shard that is there afterwards.

    `run.json` and an existing shard are read again just before the file becomes visible: a shard of
    another run, or one with more games, is never overwritten.
    """
    data = encode(rows, manifest.board, manifest.identity, shard, manifest.games_of(shard))
    wanted = parse_footer(data[-_FOOTER_GUESS:])
    existing: list[Footer] = []

    def is_done() -> bool:
        now = Manifest.read(place)
        if (
            now is None
            or not now.is_same_run(manifest)
            or now.games_of(shard) != manifest.games_of(shard)
        ):
            raise InputError(f"{place} was changed meanwhile: run the command again")
        try:
            footer = read_footer(place, shard)
        except FileNotFoundError:
            return False
        except DamagedShardError as damage:
            raise InputError(f"{place}/{shard_path(shard)} is damaged: {damage}") from None
        if footer.spec_hash != wanted.spec_hash:
            raise InputError(f"{place}/{shard_path(shard)} belongs to another run: not overwritten")
        if footer.end_game < wanted.end_game:
            if manifest.is_repeatable:
                _refuse_changed_games(Dataset(place, manifest), footer, rows)
            return False
        if (
            manifest.is_repeatable
            and footer.end_game == wanted.end_game
            and footer.fingerprint != wanted.fingerprint
        ):
            raise InputError(
                f"{place}/{shard_path(shard)} has different rows from another process with the "
                "same spec: install the same version everywhere"
            )
        existing.append(footer)
        return True

    if place.write(shard_path(shard), data, is_done):
        return wanted
    on_existing()
    return existing[-1]


def _refuse_changed_games(dataset: Dataset, footer: Footer, rows: Rows) -> None:
    """Refuse rows that differ from those of the shorter shard that they would replace."""
    before = dataset.read(footer.shard)
    change = changed_game(before, rows[rows.game < footer.end_game], dataset.board)
    if change is not None:
        has_own = dataset.spec is not None and any(p.source for p in dataset.spec.players)
        cause = (
            "is the player's randomness seeded by new_game?" if has_own else "other code made it"
        )
        raise InputError(
            f"{dataset.place}/{shard_path(footer.shard)} stays as it was: {change}: {cause}"
        )
