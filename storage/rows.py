"""The rows of the data set: labelled positions as NumPy arrays, and as an Arrow table on disk.

A row is one labelled position. Column names and types are an interface with a `SCHEMA_VERSION`;
docs/data.md documents them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace
from hashlib import blake2b
from typing import Any

import numpy as np
import pyarrow as pa

from selfplay.arrays import Array, Float32Array, Int8Array, Int16Array, Int32Array, Int64Array
from selfplay.game.board import Board
from selfplay.game.enumeration import canonical_keys

NO_RESULT = -128  # stands for null in arrays of results
NO_MOVE = -1  # stands for null in arrays of moves

VALUE_STEPS = 256
"""Values are stored in steps of 1/256: finer than their error, and a quarter of the bytes."""


def schema(board: Board) -> pa.Schema:
    """The columns of a table of rows on this board."""

    def per_column(kind: pa.DataType, *, nulls: bool) -> pa.DataType:
        return pa.list_(pa.field("element", kind, nullable=nulls), board.columns)

    cells = pa.list_(pa.field("element", pa.int8(), nullable=False), board.cells)
    return pa.schema(
        [
            pa.field("game", pa.int64(), nullable=False),
            pa.field("ply", pa.int16(), nullable=False),
            pa.field("board", cells, nullable=False),
            pa.field("move", pa.int8(), nullable=False),
            pa.field("visits", per_column(pa.int32(), nulls=False), nullable=False),
            pa.field("value", per_column(pa.float32(), nulls=True), nullable=False),
            pa.field("proven", per_column(pa.int8(), nulls=True), nullable=False),
            pa.field("played", pa.int8()),
            pa.field("outcome", pa.int8()),
        ]
    )


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows as arrays. Null is NaN in `value`, `NO_RESULT` in `proven` and `outcome`, and `NO_MOVE`
    in `played`."""

    game: Int64Array
    """int64 [row]"""
    ply: Int16Array
    """int16 [row]"""
    board: Int8Array
    """int8 [row, cell]: row by row from the top left; 0 empty, 1 first player, 2 second"""
    move: Int8Array
    """int8 [row]"""
    visits: Int32Array
    """int32 [row, column]"""
    value: Float32Array
    """float32 [row, column]"""
    proven: Int8Array
    """int8 [row, column]"""
    played: Int8Array
    """int8 [row]"""
    outcome: Int8Array
    """int8 [row]"""

    def __len__(self) -> int:
        return len(self.game)

    def columns(self) -> Iterator[tuple[str, Array]]:
        for field in fields(self):
            yield field.name, getattr(self, field.name)

    def __getitem__(self, which: Any) -> Rows:
        return Rows(**{name: column[which] for name, column in self.columns()})

    @classmethod
    def join(cls, parts: Sequence[Rows]) -> Rows:
        names = [field.name for field in fields(cls)]
        return cls(**{n: np.concatenate([getattr(part, n) for part in parts]) for n in names})

    def with_game(self, number: int) -> Rows:
        """The rows of a game under another number."""
        return replace(self, game=np.full(len(self), number, np.int64))

    def is_first(self) -> Array:
        """bool [row]: whether a game begins here."""
        return np.append(True, self.game[1:] != self.game[:-1])[: len(self)]

    def stones(self, board: Board) -> tuple[Array, Array]:
        """The own stones and all stones as bitboards: Python integers if the board does not fit a
        machine word."""
        grid = self.board.reshape(-1, board.rows, board.columns)
        mover = (1 + self.ply % 2).astype(np.int8)
        number = np.uint64 if board.fits_word else object
        own, mask = np.zeros(len(self), number), np.zeros(len(self), number)
        for column in range(board.columns):
            for row in range(board.rows):
                bit: Any = 1 << (column * board.stride + row)
                if board.fits_word:
                    bit = np.uint64(bit)
                cell = grid[:, board.rows - 1 - row, column]
                mask[cell != 0] |= bit
                own[cell == mover] |= bit
        return own, mask

    def canonical_keys(self, board: Board) -> Array:
        """One number for each position, the same for its mirror image."""
        return canonical_keys(board, *self.stones(board))

    def fingerprint(self) -> str:
        """A hash of the logical rows, independent of the file encoding."""
        digest = blake2b(digest_size=16)
        for name, column in self.columns():
            little = np.ascontiguousarray(column, column.dtype.newbyteorder("<"))
            digest.update(f"{name} {little.dtype.str} {little.shape}\n".encode())
            digest.update(little.data)
        return digest.hexdigest()

    def to_table(self, board: Board) -> pa.Table:
        target = schema(board)
        arrays = []
        for name, column in self.columns():
            known = None
            if name == "value":
                known = ~np.isnan(column)
            elif name in _NULLS:
                known = column != _NULLS[name]
            kind = target.field(name).type
            if column.ndim == 1:
                arrays.append(_arrow(column, known, kind))
            else:
                flat = _arrow(column, known, kind.value_type)
                arrays.append(pa.FixedSizeListArray.from_arrays(flat, type=kind))
        return pa.Table.from_arrays(arrays, schema=target)

    @classmethod
    def from_table(cls, table: pa.Table | pa.RecordBatch) -> Rows:
        """The rows of a table with all columns."""
        found: dict[str, Array] = {}
        for name in (field.name for field in fields(cls)):
            column = table.column(name)
            if isinstance(column, pa.ChunkedArray):
                column = column.combine_chunks()
            width = None
            if pa.types.is_fixed_size_list(column.type):
                width = column.type.list_size
                column = column.flatten()
            if column.null_count:
                column = column.fill_null(_NULLS[name])
            array = column.to_numpy(zero_copy_only=False)
            found[name] = array if width is None else array.reshape(-1, width)
        return cls(**found)


_NULLS = {"value": np.nan, "proven": NO_RESULT, "played": NO_MOVE, "outcome": NO_RESULT}


def _arrow(column: Array, known: Array | None, kind: pa.DataType) -> pa.Array:
    # `pa.array` would import pandas for a type check: 50 MB in every worker.
    bits = None if known is None else pa.py_buffer(np.packbits(known, bitorder="little"))
    data = pa.py_buffer(np.ascontiguousarray(column).reshape(-1))
    return pa.Array.from_buffers(kind, column.size, [bits, data])


def rounded(value: Array) -> Array:
    """Values as they are stored; -0.0 becomes 0.0."""
    stored: Array = (np.round(value * VALUE_STEPS) / VALUE_STEPS + 0.0).astype(np.float32)
    return stored
