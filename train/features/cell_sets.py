"""Sets of cells in compiled code: rows and columns, and how to count cells."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.game.board import Board
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import board_constant, inline

_ONE = np.uint64(1)
_NONE = np.uint64(0)


def _odd_rows(board: Board) -> np.uint64:
    return np.uint64(sum(board.bottom << row for row in range(0, board.rows, 2)))


board_constant("odd_rows", _odd_rows)
board_constant("column", lambda board: np.uint64((1 << board.rows) - 1))


@inline
def count_up_to(cells: Any, most: Any) -> Any:
    """The number of cells, at most `most`."""
    return min(np.int64(population(cells)), most)


@inline
def several(cells: Any) -> Any:
    return cells & (cells - _ONE) != _NONE


@inline
def lowest_row(board: Any, cells: Any) -> Any:
    """The lowest row with any of the cells, counted from 1; 0 if there are none."""
    row = board.bottom
    for k in range(board.rows):
        if cells & row:
            return k + 1
        row <<= _ONE
    return 0


@inline
def encode_cells(board: Any, own: Any, mask: Any, out: Any) -> Any:
    """Row by row from the top left: 0 empty, 1 one of `own`, 2 another stone."""
    at = 0
    for row in range(board.rows - 1, -1, -1):
        for column in range(board.columns):
            bit = np.uint64(column * board.stride + row)
            out[at] = np.uint8((mask >> bit) & _ONE) * (2 - np.uint8((own >> bit) & _ONE))
            at += 1
