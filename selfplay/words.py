"""The state of a game in two machine words, for boards that fit one (see `state.py`)."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.board import has_line, next_cells, winning_cells
from selfplay.compiled import inline


def load(board: Any, packed: Any) -> Any:
    return packed[0], packed[1]


def scratch(board: Any) -> Any:
    return None


def copy(board: Any, state: Any, room: Any) -> Any:
    return state


def is_open(board: Any, state: Any, column: Any) -> Any:
    top = np.uint64(column) * np.uint64(board.stride) + np.uint64(board.rows - 1)
    return (state[1] >> top) & np.uint64(1) == 0


def is_full(board: Any, state: Any) -> Any:
    return state[1] == board.full


def can_win(board: Any, state: Any) -> Any:
    return winning_cells(board, state[0]) & next_cells(board, state[1]) != 0


def wins_with(board: Any, state: Any, column: Any) -> Any:
    return has_line(board, state[0] | _stone(board, state[1], column)) != 0


def play(board: Any, state: Any, column: Any) -> Any:
    own, mask = state
    return own ^ mask, mask | _stone(board, mask, column)


@inline
def _stone(board: Any, mask: Any, column: Any) -> Any:
    cells = np.uint64((1 << board.rows) - 1)
    return next_cells(board, mask) & (cells << (np.uint64(column) * np.uint64(board.stride)))
