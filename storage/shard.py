"""Encode and decode shards: one Parquet file each, with a checksummed footer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from selfplay.errors import quoted
from selfplay.game.board import Board
from selfplay.storage.limits import MOST_SHARD_BYTES, SCHEMA_VERSION, row_bytes
from selfplay.storage.rows import Rows, schema

_PREFIX = "selfplay."
_MAGIC = b"PAR1"
_LARGEST_FOOTER = 1 << 24
_MOST_UNPACKED = 5  # small integers take four bytes each in a file
_MOST_OVERHEAD = 1 << 22
MOST_GAME = 1 << 50

# These settings made the smallest files. Parquet stores small integers in four bytes each; split
# into byte streams, the empty bytes compress to nothing.
_ZSTD_LEVEL = 12
_LISTS = ("board.list.element", "visits.list.element", "value.list.element")
_ENCODINGS = {
    "game": "DELTA_BINARY_PACKED",
    **dict.fromkeys(("ply", "move", "played", *_LISTS), "BYTE_STREAM_SPLIT"),
}


class DamagedShardError(Exception):
    """A shard does not match its name, footer or checksums; the message says how."""


@dataclass(frozen=True, slots=True)
class Footer:
    """A shard's metadata."""

    spec_hash: str
    shard: int
    first_game: int  # inclusive
    end_game: int  # exclusive
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
        names = ("shard", "first_game", "end_game", "rows", "connect", "schema_version")
        try:
            values: dict[str, Any] = {
                name: (metadata or {})[(_PREFIX + name).encode()].decode("utf-8", "replace")
                for name in cls.__slots__
            }
            footer = cls(**values | {name: int(values[name]) for name in names})
        except (KeyError, ValueError) as error:
            raise DamagedShardError(f"it has no footer of a shard ({_brief(error)})") from None
        if not (0 <= footer.first_game < footer.end_game <= MOST_GAME and footer.rows >= 0):
            raise DamagedShardError("its footer has impossible games or rows")
        return footer


def file_name(shard: int) -> str:
    return f"part-{shard:05d}.parquet"


def encode(rows: Rows, board: Board, spec_hash: str, shard: int, games: range) -> bytes:
    """The bytes of a shard's file."""
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
        compression_level=_ZSTD_LEVEL,
        write_page_checksum=True,
        use_dictionary=False,
        column_encoding=_ENCODINGS,
        write_statistics=["game", "ply"],
    )
    return bytes(out.getvalue())


def parse_footer(end: bytes) -> Footer:
    """The footer from the last bytes of a file."""
    try:
        # The reader wants a whole file, but parses only its end.
        metadata = pq.read_metadata(pa.BufferReader(_MAGIC + end)).metadata
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedShardError(f"it is no Parquet file ({_brief(error)})") from None
    return Footer.from_metadata(metadata)


def footer_size(end: bytes) -> int:
    """The footer's size, from the last eight bytes of a file; 0 if it is no Parquet file."""
    length = int.from_bytes(end[-8:-4], "little") + 8
    return length if end[-4:] == _MAGIC and length <= _LARGEST_FOOTER else 0


def decode(data: bytes, board: Board) -> tuple[Footer, Rows]:
    """A shard's footer and rows; DamagedShardError if a check fails."""
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
        raise DamagedShardError(f"it has {len(table)} rows, but its footer says {footer.rows}")
    return footer, Rows.from_table(table)


def _refuse_wrong_size(metadata: Any, footer: Footer, board: Board) -> None:
    """Refuse decompression bombs before anything is decompressed."""
    rows = metadata.num_rows
    if rows > len(footer.games) * board.cells or rows * row_bytes(board) > MOST_SHARD_BYTES:
        raise DamagedShardError(f"it claims {rows:,} rows, more than its games can have")
    unpacked = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    if unpacked > _MOST_UNPACKED * rows * row_bytes(board) + _MOST_OVERHEAD:
        raise DamagedShardError(f"it claims {unpacked:,} bytes for {rows:,} rows")


def _brief(error: Exception) -> str:
    return quoted(str(error), 200).strip("'\"")
