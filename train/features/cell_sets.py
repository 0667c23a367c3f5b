"""The lines and rows of a board as compiled code sees them, and how cells are counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import board_constant, inline
from selfplay.minimax.heuristics import all_lines

_ONE = np.uint64(1)
_NONE = np.uint64(0)


def windows(board: Board) -> Array:
    """All lines of so many cells as win, as sets of cells."""
    runs = [[divmod(cell, board.rows) for cell in run] for run in all_lines(board).tolist()]
    return np.array(
        [sum(1 << (column * board.stride + row) for column, row in run) for run in runs], np.uint64
    )


def odd_rows(board: Board) -> int:
    """The cells of the first, third, … row from below."""
    return sum(board.bottom << row for row in range(0, board.rows, 2))


def _windows_through(board: Board) -> Array:
    """uint64 [bit, …]: the lines through a cell, filled up with empty ones."""
    lines = windows(board).tolist()
    through = [[line for line in lines if line >> bit & 1] for bit in range(64)]
    found = np.zeros((64, max(map(len, through)) + 1), np.uint64)
    for bit, some in enumerate(through):
        found[bit, : len(some)] = some
    return found


board_constant("windows", windows)
board_constant("windows_through", _windows_through)
board_constant("lines_through", lambda board: (_windows_through(board) != 0).sum(axis=1))
board_constant("odd_rows", lambda board: np.uint64(odd_rows(board)))
board_constant("column", lambda board: np.uint64((1 << board.rows) - 1))


@inline
def some(cells: Any, most: Any) -> Any:
    """How many cells there are, or the most that is told apart."""
    return min(np.int64(population(cells)), most)


@inline
def several(cells: Any) -> Any:
    return cells & (cells - _ONE) != _NONE


@inline
def lowest_row(board: Any, cells: Any) -> Any:
    """The lowest row that any of the cells is in, counted from 1; 0 if there are none."""
    row = board.bottom
    for k in range(board.rows):
        if cells & row:
            return k + 1
        row <<= _ONE
    return 0
