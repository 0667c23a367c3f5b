"""The state of a game line by line, for boards of more than one machine word (see `state.py`).

Shifting sets of 272 bits is slow, so nothing here is ever computed over the whole board. Each
player has one integer for every row, column and diagonal. A new stone sets its bit in the four
that run through it; a table says which cells of each now complete a line; those are marked,
and every player knows at all times in which columns it can win. All of it is one array:

    0                stones on the board
    1, 2             for each player: the columns in which its next stone wins
    3 …              the height of every column
    lines_at …       for each player: rows, columns, rising and falling diagonals
    marks_at …       for each player and column: the rows in which a stone completes a line
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from selfplay.game.board import Board
from selfplay.kernels.intrinsics import trailing_zeros
from selfplay.kernels.jit import board_constant, inline

ZERO, ONE, TWO, HEIGHTS = np.uint64(0), np.uint64(1), np.uint64(2), np.uint64(3)


def line_count(board: Board) -> int:
    return board.rows + board.columns + 2 * (board.rows + board.columns - 1)


def lines_at(board: Board) -> int:
    return int(HEIGHTS) + board.columns


def marks_at(board: Board) -> int:
    return lines_at(board) + 2 * line_count(board)


def state_size(board: Board) -> int:
    return marks_at(board) + 2 * board.columns


@cache
def completions(connect: int) -> np.ndarray[Any, Any]:
    """For every pattern of stones around a stone: the cells that complete a line through it.

    A pattern is the 2·connect - 1 cells of a line with the new stone in the middle, a bit each.
    """
    width = 2 * connect - 1
    runs = [((1 << connect) - 1) << start for start in range(connect)]
    table = np.zeros(1 << width, np.int32)
    for pattern in range(1 << width):
        for run in runs:
            lacking = run & ~pattern
            if lacking.bit_count() == 1:
                table[pattern] |= lacking
    return table


for _measure in (line_count, lines_at, marks_at, state_size):
    board_constant(_measure.__name__, _measure)
board_constant("completions", lambda board: completions(board.connect))


def load(board: Any, packed: Any) -> Any:
    state = np.zeros(board.state_size, np.int32)
    half = len(packed) // 2
    plies = 0
    for column in range(board.columns):
        for row in range(board.rows):
            bit = column * board.stride + row
            at, shift = bit >> 6, np.uint64(bit & 63)
            if (packed[half + at] >> shift) & np.uint64(1):
                plies += 1
    for column in range(board.columns):
        for row in range(board.rows):
            bit = column * board.stride + row
            at, shift = bit >> 6, np.uint64(bit & 63)
            if (packed[half + at] >> shift) & np.uint64(1):
                own = (packed[at] >> shift) & np.uint64(1)
                mover = plies & 1
                _place(board, state, mover if own else 1 - mover, column)
    return state


def scratch(board: Any) -> Any:
    return np.empty(board.state_size, np.int32)


def copy(board: Any, state: Any, room: Any) -> Any:
    for i in range(board.state_size):
        room[i] = state[i]
    return room


def is_open(board: Any, state: Any, column: Any) -> Any:
    return state[HEIGHTS + np.uint64(column)] < board.rows


def is_full(board: Any, state: Any) -> Any:
    return state[0] == board.cells


def can_win(board: Any, state: Any) -> Any:
    return state[ONE + np.uint64(state[0] & 1)] != 0


def safe_moves(board: Any, state: Any) -> Any:
    other = np.uint64(1 - (state[0] & 1))
    forced = state[ONE + other]
    if forced & (forced - np.int32(1)):
        return np.int32(0)
    marks = np.uint64(board.marks_at) + other * np.uint64(board.columns)
    safe = np.int32(0)
    for column in range(np.uint64(board.columns)):
        height = state[HEIGHTS + column]
        allows = (state[marks + column] >> (height + np.int32(1))) & np.int32(1)
        room = np.int32(height < board.rows)
        safe |= (room & ~allows) << np.int32(column)
    return safe & forced if forced else safe


def is_among(board: Any, moves: Any, column: Any) -> Any:
    return (moves >> np.int32(column)) & 1 != 0


def wins_with(board: Any, state: Any, column: Any) -> Any:
    return (state[ONE + np.uint64(state[0] & 1)] >> np.int32(column)) & 1 != 0


def play(board: Any, state: Any, column: Any) -> Any:
    _place(board, state, state[0] & 1, column)
    return state


@inline
def _place(board: Any, state: Any, player: Any, column: Any) -> None:
    # Indices are unsigned: a signed one is asked at every access whether it counts from the end.
    column = np.uint64(column)
    player = np.uint64(player)
    row = np.uint64(state[HEIGHTS + column])
    columns, rows = np.uint64(board.columns), np.uint64(board.rows)
    rising = rows + columns
    falling = rising + rising - ONE
    _add_to_line(board, state, player, row, column, row, column, 0, 1)
    _add_to_line(board, state, player, rows + column, row, row, column, 1, 0)
    _add_to_line(
        board, state, player, rising + row + columns - ONE - column, column, row, column, 1, 1
    )
    _add_to_line(board, state, player, falling + row + column, column, row, column, -1, 1)
    state[0] += 1
    state[HEIGHTS + column] = row + ONE
    others = ~(np.int32(1) << np.int32(column))
    for who in range(ZERO, TWO):
        marks = state[np.uint64(board.marks_at) + who * columns + column]
        wins = (marks >> np.int32(row + ONE)) & 1
        state[ONE + who] = (state[ONE + who] & others) | (wins << np.int32(column))


@inline
def _add_to_line(
    board: Any,
    state: Any,
    player: Any,
    line: Any,
    at: Any,
    row: Any,
    column: Any,
    up: int,
    right: int,
) -> None:
    """Set the stone's bit in one line through it, and mark the cells that now complete it."""
    # Bits stand connect - 1 places up, so that the cells around a stone are one shift away.
    index = np.uint64(board.lines_at) + player * np.uint64(board.line_count) + line
    stones = state[index] | (np.int32(1) << np.int32(at + np.uint64(board.connect - 1)))
    state[index] = stones
    pattern = (stones >> np.int32(at)) & np.int32((1 << (2 * board.connect - 1)) - 1)
    cells = board.completions[np.uint64(pattern)]
    while cells:
        away = np.int64(trailing_zeros(cells)) - (board.connect - 1)
        cells &= cells - np.int32(1)
        r = np.uint64(np.int64(row) + away * up)
        c = np.uint64(np.int64(column) + away * right)
        if r < np.uint64(board.rows) and c < np.uint64(board.columns):
            state[np.uint64(board.marks_at) + player * np.uint64(board.columns) + c] |= np.int32(
                1
            ) << np.int32(r)
            if state[HEIGHTS + c] == np.int32(r):
                state[ONE + player] |= np.int32(1) << np.int32(c)
