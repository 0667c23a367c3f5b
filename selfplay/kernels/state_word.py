"""The state of a game in four machine words, for boards that fit one (see `state.py`).

The stones of the side to move and of both; and where either side has three of a line, as the
rules of `board.py` find them: a stone changes that for one side only, so that keeping it is
as cheap as asking for it once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.game.board import next_cells, winning_cells
from selfplay.kernels.jit import inline

_ONE = np.uint64(1)


def load(board: Any, packed: Any) -> Any:
    own, mask = packed[0], packed[1]
    return own, mask, winning_cells(board, own), winning_cells(board, own ^ mask)


def scratch(board: Any) -> Any:
    return None


def copy(board: Any, state: Any, room: Any) -> Any:
    return state


def is_open(board: Any, state: Any, column: Any) -> Any:
    top = np.uint64(column) * np.uint64(board.stride) + np.uint64(board.rows - 1)
    return (state[1] >> top) & _ONE == 0


def is_full(board: Any, state: Any) -> Any:
    return state[1] == board.full


def can_win(board: Any, state: Any) -> Any:
    return state[2] & next_cells(board, state[1]) != 0


def wins_with(board: Any, state: Any, column: Any) -> Any:
    return state[2] & _stone(board, state[1], column) != 0


def safe_moves(board: Any, state: Any) -> Any:
    return safe_stones(board, state[1], state[3])


def is_among(board: Any, moves: Any, column: Any) -> Any:
    return moves & _cells(board, column) != 0


def play(board: Any, state: Any, column: Any) -> Any:
    own, mask, _, wins_of_other = state
    stone = _stone(board, mask, column)
    return own ^ mask, mask | stone, wins_of_other, winning_cells(board, own | stone)


@inline
def safe_stones(board: Any, mask: Any, wins_of_other: Any) -> Any:
    """Where a stone can land after which the other side cannot win at once, as cells."""
    free = next_cells(board, mask)
    dangers = wins_of_other & board.full & ~mask
    forced = free & dangers
    if forced & (forced - _ONE):
        return np.uint64(0)
    return (forced if forced else free) & ~(dangers >> _ONE)


@inline
def _stone(board: Any, mask: Any, column: Any) -> Any:
    return next_cells(board, mask) & _cells(board, column)


@inline
def _cells(board: Any, column: Any) -> Any:
    """The cells of a column."""
    return np.uint64((1 << board.rows) - 1) << (np.uint64(column) * np.uint64(board.stride))
