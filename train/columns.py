"""Columns of many positions at once: which are open, and which win."""

from __future__ import annotations

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board, next_cells, winning_cells


def open_columns(board: Board, mask: Array) -> Array:
    """bool [position, column]"""
    return _columns_of(board, next_cells(board, mask))


def winning_columns(board: Board, own: Array, mask: Array) -> Array:
    """bool [position, column]: whether the move wins at once."""
    return _columns_of(board, winning_cells(board, own) & next_cells(board, mask))


def _columns_of(board: Board, cells: Array) -> Array:
    column = (1 << board.rows) - 1
    columns = np.array([column << k * board.stride for k in range(board.columns)], np.uint64)
    return np.asarray(cells[:, None] & columns != 0)
