"""The states of all patterns, kept up to date while a search makes moves and takes them back.

A stone changes its own cell and the one above it, and so a few patterns only.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board, mirrored
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import board_constant, inline
from selfplay.train.weights.patterns import low_bits, patterns_of, state_of

_ONE = np.uint64(1)


@cache
def _changes(board: Board) -> tuple[Array, Array]:
    """uint64 [change, 3]: a place among the states, and what a stone of the side that has just
    moved adds there, or one of the other side; int64 [bit + 1]: where those of a cell begin."""
    bits = [_bits_in_states(board, bit) for bit in range(board.columns * board.stride)]
    rows: list[tuple[int, int, int]] = []
    ends = [0]
    for bit, here in enumerate(bits):
        is_below_another = bit % board.stride < board.rows - 1
        above = bits[bit + 1] if is_below_another else {}
        for place in sorted({*here, *above}):
            taken, low = here.get(place, (0, 0))
            playable = above.get(place, (0, 0))[1]
            rows.append((place, taken - low + playable, taken + playable))
        ends.append(len(rows))
    return np.array(rows, np.int64).reshape(-1, 3).astype(np.uint64), np.array(ends, np.uint64)


def _bits_in_states(board: Board, bit: int) -> dict[int, tuple[int, int]]:
    """By place among the states: the two bits of a cell there."""
    column, row = divmod(bit, board.stride)
    found = {}
    for number, (cells, *_) in enumerate(patterns_of(board)):
        for is_image, seen in enumerate((column, board.columns - 1 - column)):
            if (seen, row) in cells:
                at = cells.index((seen, row))
                found[2 * number + is_image] = 1 << (len(cells) + at), 1 << at
    return found


board_constant("stone_changes", lambda board: _changes(board)[0])
board_constant("stone_changes_of", lambda board: _changes(board)[1])


@inline
def find_states(board: Any, other: Any, taken: Any, out: Any) -> None:
    """Every pattern on the board and on its mirror image, where `other` are stones of the side to
    move."""
    image = np.uint64(mirrored(board, taken))
    low = low_bits(board, other, taken)
    low_image = np.uint64(mirrored(board, low))
    for pattern in range(len(board.pattern_size)):
        out[2 * pattern] = state_of(board, pattern, taken, low)
        out[2 * pattern + 1] = state_of(board, pattern, image, low_image)


@inline
def add_stone(board: Any, states: Any, stone: Any, of_other: Any) -> None:
    """`of_other` is 1 for a stone of the other side of the states, else 0."""
    cell, which = np.uint64(population(stone - _ONE)), np.uint64(1 + of_other)
    for k in range(board.stone_changes_of[cell], board.stone_changes_of[cell + _ONE]):
        states[board.stone_changes[k, 0]] += board.stone_changes[k, which]


@inline
def remove_stone(board: Any, states: Any, stone: Any, of_other: Any) -> None:
    """Undo `add_stone`."""
    cell, which = np.uint64(population(stone - _ONE)), np.uint64(1 + of_other)
    for k in range(board.stone_changes_of[cell], board.stone_changes_of[cell + _ONE]):
        states[board.stone_changes[k, 0]] -= board.stone_changes[k, which]


@inline
def state_points(board: Any, table: Any, side: Any, states: Any, is_turned: Any) -> Any:
    """The points of the side that has just moved, 1 if it is the second; `is_turned` if the states
    are seen by the other one."""
    points, row = np.int64(0), np.uint64(side)
    for pattern in range(len(board.pattern_size)):
        start, size = np.uint64(board.pattern_start[pattern]), board.pattern_size[pattern]
        for k in range(2 * pattern, 2 * pattern + 2):
            state = states[k]
            if is_turned:
                cells = state - start
                state = start + (cells ^ (cells >> size))  # of every stone the low bit
            points += table[row, state]
    return points
