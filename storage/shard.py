"""One file of a run: the rows of some games, and a footer by which it can prove itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from selfplay.board import Board
from storage.rows import SCHEMA_VERSION, Rows

_PREFIX = "selfplay."

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
            return cls(
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
            raise DamagedShardError(f"it has no footer of a shard ({error})") from None


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


def read_footer(file: Any) -> Footer:
    """What a shard says of itself, from an open file."""
    try:
        return Footer.from_metadata(pq.read_metadata(file).metadata)
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedShardError(f"it is no Parquet file ({error})") from None


def decode(data: bytes) -> tuple[Footer, pa.Table]:
    """A shard's footer and rows; refused if they do not agree."""
    try:
        with pq.ParquetFile(pa.BufferReader(data), page_checksum_verification=True) as file:
            footer = Footer.from_metadata(file.metadata.metadata)
            table = file.read()
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DamagedShardError(f"it cannot be read ({error})") from None
    return footer, table
