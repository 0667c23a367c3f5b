"""A game inside a compiled search: one set of functions over two representations.

Boards that fit one machine word are kept in two words (`state_word.py`), larger ones line by line
(`state_lines.py`). Which of the two serves is decided when a kernel is compiled, by the board's
type, so that every search is written once.

A state that was given to `play` is not to be used again: it may have changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

import numpy as np
from numba.extending import overload

from selfplay.game.position import Position
from selfplay.kernels import state_lines, state_word

F = TypeVar("F", bound=Callable[..., Any])

Array = np.ndarray[Any, Any]


def pack(position: Position) -> Array:
    """The own stones, then all stones, as 64-bit words: what `load` takes."""
    board = position.board
    size = 8 * -(-board.stride * board.columns // 64)
    packed = position.own.to_bytes(size, "little") + position.mask.to_bytes(size, "little")
    return np.frombuffer(packed, np.uint64)


def _by_board(function: F) -> F:
    """Let compiled code call the function of this name that suits the board."""

    @overload(function)  # type: ignore[untyped-decorator]
    @wraps(function)
    def choose(board: Any, *_: Any) -> Any:
        return getattr(state_word if board.board.fits_word else state_lines, function.__name__)

    return function


@_by_board
def load(board: Any, packed: Any) -> Any:
    """The state of a packed position."""
    raise NotImplementedError


@_by_board
def scratch(board: Any) -> Any:
    """Room for one state, for `copy`."""
    raise NotImplementedError


@_by_board
def copy(board: Any, state: Any, room: Any) -> Any:
    """A state that `play` may change; it may live in `room`."""
    raise NotImplementedError


@_by_board
def is_open(board: Any, state: Any, column: Any) -> Any:
    """Whether the column has room."""
    raise NotImplementedError


@_by_board
def is_full(board: Any, state: Any) -> Any:
    """Whether no column has room."""
    raise NotImplementedError


@_by_board
def can_win(board: Any, state: Any) -> Any:
    """Whether the side to move can complete a line with its next stone."""
    raise NotImplementedError


@_by_board
def safe_moves(board: Any, state: Any) -> Any:
    """The moves after which the other side cannot win at once, where one's own side cannot win
    either: a set for `is_among`, zero if there are none."""
    raise NotImplementedError


@_by_board
def is_among(board: Any, moves: Any, column: Any) -> Any:
    """Whether a column is in a set of moves."""
    raise NotImplementedError


@_by_board
def wins_with(board: Any, state: Any, column: Any) -> Any:
    """Whether a stone in this open column completes a line."""
    raise NotImplementedError


@_by_board
def play(board: Any, state: Any, column: Any) -> Any:
    """The state after a stone in this open column."""
    raise NotImplementedError
