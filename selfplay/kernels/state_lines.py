"""The game state as an array of lines, for boards larger than a machine word (see `state.py`).

Shifting sets of 272 bits is slow, so nothing is computed over the whole board. Each player has
one integer per row, column and diagonal, with a bit for each of its stones. A new stone updates
the four through its cell; a table gives the cells of each that now complete a line. All of it is
one int32 array:

    0                stones on the board
    1, 2             per player: the columns in which its next stone wins
    3 …              the height of every column
    lines_at …       per player: rows, columns, rising and falling diagonals
    marks_at …       per player and column: the rows in which a stone completes a line
"""

from __future__ import annotations

from functools import cache

import numpy as np

from selfplay.arrays import Int, Int32Array, UInt64Array
from selfplay.game.board import Board
from selfplay.kernels.intrinsics import trailing_zeros
from selfplay.kernels.jit import board_constant, inline

State = Int32Array

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
def completions(connect: int) -> Int32Array:
    """For every pattern of stones around a new stone: the cells that complete a line through it.

    A pattern has a bit for each of the 2·connect - 1 cells around the stone, which is its middle.
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


class LinesBoard(Board):
    """A board as the functions below see it: with these constants."""

    line_count: int
    lines_at: int
    marks_at: int
    state_size: int
    completions: Int32Array


for _constant in (line_count, lines_at, marks_at, state_size):
    board_constant(_constant.__name__, _constant)
board_constant("completions", lambda board: completions(board.connect))


def load(board: LinesBoard, packed: UInt64Array) -> State:
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


def scratch(board: LinesBoard) -> State:
    return np.empty(board.state_size, np.int32)


def copy(board: LinesBoard, state: State, buffer: State) -> State:
    for i in range(board.state_size):
        buffer[i] = state[i]
    return buffer


def is_open(board: LinesBoard, state: State, column: Int) -> bool:
    return state[HEIGHTS + np.uint64(column)] < board.rows


def is_full(board: LinesBoard, state: State) -> bool:
    return state[0] == board.cells


def can_win(board: LinesBoard, state: State) -> bool:
    return state[ONE + np.uint64(state[0] & 1)] != 0


def safe_moves(board: LinesBoard, state: State) -> np.int32:
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


def patient_moves(board: LinesBoard, state: State, moves: np.int32) -> np.int32:
    marks = np.uint64(board.marks_at) + np.uint64(state[0] & 1) * np.uint64(board.columns)
    patient = moves
    for column in range(np.uint64(board.columns)):
        gives_up = (state[marks + column] >> (state[HEIGHTS + column] + np.int32(1))) & np.int32(1)
        patient &= ~(gives_up << np.int32(column))
    return patient if patient else moves


def is_among(board: LinesBoard, moves: np.int32, column: Int) -> bool:
    return (moves >> np.int32(column)) & 1 != 0


def wins_with(board: LinesBoard, state: State, column: Int) -> bool:
    return (state[ONE + np.uint64(state[0] & 1)] >> np.int32(column)) & 1 != 0


def key(board: LinesBoard, state: State) -> np.uint64:
    return np.uint64(0)


def stones(board: LinesBoard, state: State) -> Int:
    return np.int64(state[0])


def play(board: LinesBoard, state: State, column: Int) -> State:
    _place(board, state, state[0] & 1, column)
    return state


@inline
def _place(board: LinesBoard, state: State, player: Int, column: Int) -> None:
    # Unsigned indices save the check for negative ones at every access.
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
    board: LinesBoard,
    state: State,
    player: np.uint64,
    line: np.uint64,
    at: np.uint64,
    row: np.uint64,
    column: np.uint64,
    up: int,
    right: int,
) -> None:
    """Set the stone's bit in one line through it, and mark the cells that now complete it.

    Nine parameters, because all are registers or constants once this is inlined: a tuple is not.
    """
    # Bits are shifted by connect - 1, so that the cells around a stone are one shift away.
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
