"""One file of a run: the rows of some games, and a footer by which it can prove itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from selfplay.errors import quoted
from selfplay.game.board import Board
from selfplay.storage.rows import MOST_SHARD_BYTES, SCHEMA_VERSION, Rows, row_bytes, schema

_PREFIX = "selfplay."
_MAGIC = b"PAR1"
_LARGEST_FOOTER = 1 << 24
_MOST_UNPACKED = 5  # small integers take four bytes each in a file
_MOST_OVERHEAD = 1 << 22
MOST_GAME = 1 << 50

# What made the smallest files of those that were tried. Small integers are kept in four bytes
# each: apart from one another the empty ones cost nothing.
_EFFORT = 12
_ENCODINGS = {
    "game": "DELTA_BINARY_PACKED",
    **dict.fromkeys(
        (
            "ply",
            "board.list.element",
            "move",
            "visits.list.element",
            "value.list.element",
            "played",
        ),
        "BYTE_STREAM_SPLIT",
    ),
}


class DamagedShardError(Exception):
    """A file that is not what its name and footer say; the message says why."""


@dataclass(frozen=True, slots=True)
class Footer:
    """What a shard says of itself."""

    spec_hash: str
    shard: int
    first_game: int
    """The games in it are those from `first_game` up to, not including, `end_game`."""
    end_game: int
    rows: int
    fingerprint: str
    board: str
    connect: int
    schema_version: int = SCHEMA_VERSION

    @property
    def games(self) -> range:
        return range(self.first_game, self.end_game)

    def as_metadata(self) -> dict[str, str]:
        return {_PREFIX + name: str(getattr(self, name)) for name in self.__slots__}

    @classmethod
    def from_metadata(cls, metadata: Mapping[bytes, bytes] | None) -> Footer:
        texts = {
            name.decode("utf-8", "replace").removeprefix(_PREFIX): value.decode("utf-8", "replace")
            for name, value in (metadata or {}).items()
            if name.startswith(_PREFIX.encode())
        }
        try:
            found = cls(
                spec_hash=texts["spec_hash"],
                fingerprint=texts["fingerprint"],
                board=texts["board"],
                **{
                    name: int(texts[name])
                    for name in (
                        "shard",
                        "first_game",
                        "end_game",
                        "rows",
                        "connect",
                        "schema_version",
                    )
                },
            )
        except (KeyError, ValueError) as error:
            raise DamagedShardError(f"it has no footer of a shard ({_brief(error)})") from None
        if not (0 <= found.first_game < found.end_game <= MOST_GAME and found.rows >= 0):
            raise DamagedShardError("its footer has games or rows that there cannot be")
        return found


def file_name(shard: int) -> str:
    return f"part-{shard:05d}.parquet"


def encode(rows: Rows, board: Board, spec_hash: str, shard: int, games: range) -> bytes:
    """The file."""
    footer = Footer(
        spec_hash=spec_hash,
        shard=shard,
        first_game=games.start,
        end_game=games.stop,
        rows=len(rows),
        fingerprint=rows.fingerprint(),
        board=board.size,
        connect=board.connect,
    )
    table = rows.to_table(board).replace_schema_metadata(footer.as_metadata())
    out = pa.BufferOutputStream()
    pq.write_table(
        table,
        out,
        compression="zstd",
        compression_level=_EFFORT,
        write_page_checksum=True,
        use_dictionary=False,
        column_encoding=_ENCODINGS,
        write_statistics=["game", "ply"],
    )
    return bytes(out.getvalue())


def parse_footer(end: bytes) -> Footer:
    """What a shard says of itself, from the end of its file."""
    try:
        # The reader asks for a whole file, and looks at its end alone.
        metadata = pq.read_metadata(pa.BufferReader(_MAGIC + end)).metadata
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedShardError(f"it is no Parquet file ({_brief(error)})") from None
    return Footer.from_metadata(metadata)


def end_needed(end: bytes) -> int:
    """How many bytes at the end of a file the footer takes, from its last eight."""
    length = int.from_bytes(end[-8:-4], "little") + 8
    return length if end[-4:] == _MAGIC and length <= _LARGEST_FOOTER else 0


def decode(data: bytes, board: Board) -> tuple[Footer, Rows]:
    """A shard's footer and rows; refused if it is damaged, or claims what cannot be."""
    try:
        with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
            footer = Footer.from_metadata(file.metadata.metadata)
            _refuse_wrong_size(file.metadata, footer, board)
            if not file.schema_arrow.equals(schema(board)):
                raise DamagedShardError("its columns are not those of a run")
            table = file.read()
            table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise DamagedShardError(f"it cannot be read ({_brief(error)})") from None
    if len(table) != footer.rows:
        raise DamagedShardError(f"it has {len(table)} rows, and its footer says {footer.rows}")
    return footer, Rows.from_table(table)


def _refuse_wrong_size(metadata: Any, footer: Footer, board: Board) -> None:
    """Before anything is unpacked: a few bytes can stand for very many."""
    rows = metadata.num_rows
    if rows > len(footer.games) * board.cells or rows * row_bytes(board) > MOST_SHARD_BYTES:
        raise DamagedShardError(f"it claims {rows:,} rows, more than its games can have")
    unpacked = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    if unpacked > _MOST_UNPACKED * rows * row_bytes(board) + _MOST_OVERHEAD:
        raise DamagedShardError(f"it claims {unpacked:,} bytes for {rows:,} rows")


def _brief(error: Exception) -> str:
    return quoted(str(error), 200).strip("'\"")
