"""The game state inside compiled searches: one interface, two representations.

Boards that fit a machine word use bitboards (`state_word.py`), larger ones an array of lines
(`state_lines.py`). The board's type selects one at compile time, so that each search is written
once.

`play` may modify the state in place: do not use the old one again.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numba import types
from numba.extending import overload

from selfplay.arrays import Int, UInt64Array
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.kernels import state_lines, state_word
from selfplay.kernels.jit import BoardType

F = TypeVar("F", bound=Callable[..., Any])

State = state_word.State | state_lines.State
Moves = np.uint64 | np.int32
"""A set of moves, for `is_among`."""


def pack(position: Position) -> UInt64Array:
    """The own stones, then all stones, as 64-bit words, for `load`."""
    board = position.board
    size = 8 * -(-board.key_bits // 64)
    packed = position.own.to_bytes(size, "little") + position.mask.to_bytes(size, "little")
    return np.frombuffer(packed, np.uint64)


def _by_board(function: F) -> F:
    """Compile a call as the function of this name in the board's representation."""

    @overload(function, strict=False)  # type: ignore[untyped-decorator]
    @wraps(function)
    def choose(board: BoardType, *_: types.Type) -> Callable[..., Any]:
        return getattr(state_word if board.board.fits_word else state_lines, function.__name__)

    return function


@_by_board
def load(board: Board, packed: UInt64Array) -> State:
    """The state of a packed position."""
    raise NotImplementedError


@_by_board
def scratch(board: Board) -> State | None:
    """A buffer for `copy`."""
    raise NotImplementedError


@_by_board
def copy(board: Board, state: State, buffer: State | None) -> State:
    """A state that `play` may modify; it may use the buffer."""
    raise NotImplementedError


@_by_board
def is_open(board: Board, state: State, column: Int) -> bool:
    """Whether the column is not full."""
    raise NotImplementedError


@_by_board
def is_full(board: Board, state: State) -> bool:
    """Whether the board is full."""
    raise NotImplementedError


@_by_board
def can_win(board: Board, state: State) -> bool:
    """Whether the side to move can win with its next stone."""
    raise NotImplementedError


@_by_board
def safe_moves(board: Board, state: State) -> Moves:
    """The moves after which the opponent cannot win at once, if the side to move cannot either;
    zero if there are none."""
    raise NotImplementedError


@_by_board
def patient_moves(board: Board, state: State, moves: Moves) -> Moves:
    """Those of some moves, unless there are none, that are not right below a cell in which the
    side to move would complete a line: the opponent would take it."""
    raise NotImplementedError


@_by_board
def is_among(board: Board, moves: Moves, column: Int) -> bool:
    """Whether a set of moves contains a column."""
    raise NotImplementedError


@_by_board
def wins_with(board: Board, state: State, column: Int) -> bool:
    """Whether a move in this open column wins."""
    raise NotImplementedError


@_by_board
def key(board: Board, state: State) -> np.uint64:
    """A number of this position alone; 0 on boards beyond one word."""
    raise NotImplementedError


@_by_board
def stones(board: Board, state: State) -> Int:
    """The number of stones on the board."""
    raise NotImplementedError


@_by_board
def play(board: Board, state: State, column: Int) -> State:
    """The state after a move in this open column."""
    raise NotImplementedError
