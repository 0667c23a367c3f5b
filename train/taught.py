"""Taught moves: single positions, each with the move that a tree plays there whatever it rates."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from selfplay.arrays import Array, Int8Array, Int64Array, UInt64Array
from selfplay.errors import InputError
from selfplay.game.board import Board, mirrored, next_cells, position_key
from selfplay.kernels.jit import kernel

UNTAUGHT = -1

_ROW = np.dtype([("key", "<u8"), ("move", "i1")])


@dataclass(frozen=True, eq=False)
class TaughtMoves:
    """Positions and moves. Of two mirror images, the one with the smaller key is kept."""

    board: Board
    keys: UInt64Array = field(default_factory=lambda: np.empty(0, np.uint64))
    """Sorted."""
    moves: Int8Array = field(default_factory=lambda: np.empty(0, np.int8))

    @classmethod
    def of(cls, board: Board, own: Array, mask: Array, moves: Array) -> TaughtMoves:
        """Of distinct positions; if one occurs more than once, its last move counts."""
        keys = position_key(board, own, mask)
        images = position_key(board, mirrored(board, own), mirrored(board, mask))
        moves = np.where(images < keys, board.columns - 1 - moves, moves).astype(np.int8)
        keys, places = np.unique(np.minimum(keys, images)[::-1], return_index=True)
        return cls(board, keys, moves[::-1][places])

    def with_more(self, more: TaughtMoves) -> TaughtMoves:
        """Those of `more` count where both have a position."""
        keys = np.concatenate((more.keys, self.keys))
        keys, places = np.unique(keys, return_index=True)
        return TaughtMoves(self.board, keys, np.concatenate((more.moves, self.moves))[places])

    def __len__(self) -> int:
        return len(self.keys)

    def find(self, own: UInt64Array, mask: UInt64Array) -> Int64Array:
        """int64 [position]: the move; UNTAUGHT where there is none."""
        found = np.full(len(own), UNTAUGHT, np.int64)
        if len(self):
            _find_all(self.board, own, mask, self.keys, self.moves, found)
        return found

    @cached_property
    def data(self) -> bytes:
        """Their part of a model file."""
        rows = np.empty(len(self), _ROW)
        rows["key"], rows["move"] = self.keys, self.moves
        return rows.tobytes()

    @staticmethod
    def size(count: int) -> int:
        """The bytes of this many positions."""
        return count * _ROW.itemsize

    @classmethod
    def from_bytes(cls, data: bytes, board: Board) -> TaughtMoves:
        rows = np.frombuffer(data, _ROW)
        keys, moves = rows["key"].astype(np.uint64), rows["move"].astype(np.int8)
        if len(rows) and not board.fits_word:
            raise InputError("taught moves are for boards that fit 64 bits")
        if (keys[1:] <= keys[:-1]).any() or ((moves < 0) | (moves >= board.columns)).any():
            raise InputError("its taught moves are out of order or out of range")
        return cls(board, keys, moves)


@kernel
def _find_all(
    board: Board, owns: Array, masks: Array, keys: Array, moves: Array, found: Array
) -> None:
    for row in range(len(owns)):
        own, mask = owns[row], masks[row]
        key = position_key(board, own, mask)
        image = position_key(board, mirrored(board, own), mirrored(board, mask))
        wanted = min(key, image)
        place = np.searchsorted(keys, wanted)
        if place == len(keys) or keys[place] != wanted:
            continue
        move = np.int64(moves[place])
        if image < key:
            move = board.columns - 1 - move
        # A forged file may name a full column.
        if (next_cells(board, mask) >> np.uint64(move * board.stride)) & np.uint64(
            (1 << board.rows) - 1
        ):
            found[row] = move
