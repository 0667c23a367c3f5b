"""What a short search finds: the points of the patterns after some moves of best play.

Alpha-beta searches of few moves that end where nothing must be answered at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.game.board import Board, next_cells, winning_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import board_constant, inline, kernel
from selfplay.train.features.cell_sets import several
from selfplay.train.weights.pattern_states import (
    add_stone,
    find_states,
    remove_stone,
    state_points,
)

DEPTHS = 4, 5
"""Moves of each search, the one that is rated among them."""
WON = 1 << 20
"""Points of a win, less one for each stone on the board."""
FAR = 128
"""Points below the best move from where on it does not matter how many they are."""
CLOSED = -(1 << 40)
"""Of a full column."""

_ONE = np.uint64(1)


def _from_the_middle(board: Board) -> list[int]:
    return sorted(range(board.columns), key=lambda k: (abs(k - board.columns // 2), k))


board_constant("from_the_middle", lambda board: np.array(_from_the_middle(board), np.int64))
board_constant(
    "columns_from_the_middle",
    lambda board: np.array(
        [((1 << board.rows) - 1) << (k * board.stride) for k in _from_the_middle(board)], np.uint64
    ),
)


@kernel
def _best(
    board: Any, table: Any, own: Any, mask: Any, moves: Any, alpha: Any, beta: Any, states: Any,
    is_other: Any,
) -> Any:  # fmt: skip
    """The points of the side to move, which has no win at once; `is_other` is 1 if it is the other
    side of the states. Behind these is, by moves left, the stone that last refuted a move."""
    other, free = own ^ mask, next_cells(board, mask)
    stones = np.int64(population(mask))
    if not free:
        return 0
    theirs = winning_cells(board, other) & board.full & ~mask
    forced = theirs & free
    safe = (forced if forced else free) & ~(theirs >> _ONE)
    if several(forced) or not safe:
        return stones + 2 - WON
    if moves <= 0 and not forced:
        return -state_points(board, table, 1 - (stones & 1), states, is_other == 0)
    at = np.uint64(2 * len(board.pattern_size) + max(moves, 0))
    first = safe & states[at]
    best = -WON
    for k in range(-1, board.columns):
        stone = first if k < 0 else safe & board.columns_from_the_middle[np.uint64(k)] & ~first
        if stone:
            add_stone(board, states, stone, is_other)
            points = -_best(
                board, table, other, mask | stone, max(moves - 1, 0), -beta, -alpha, states,
                1 - is_other,
            )  # fmt: skip
            remove_stone(board, states, stone, is_other)
            best = max(best, points)
            alpha = max(alpha, points)
            if alpha >= beta:
                states[at] = stone
                break
    return best


@inline
def search_moves(board: Any, weights: Any, own: Any, mask: Any, points: Any) -> None:
    """int64 [column]: the points of each move after best play, the mean of all searches; at least
    `FAR` below the best."""
    states = np.zeros(2 * len(board.pattern_size) + max(DEPTHS), np.uint64)
    order, found = board.from_the_middle.copy(), np.empty(board.columns, np.int64)
    points[:] = 0
    for depth in DEPTHS:
        # Seen by the side that moves last, as most boards are that the search rates.
        is_other = 1 - (depth & 1)
        find_states(board, own if is_other else own ^ mask, mask, states)
        _search_to(board, weights.patterns, own, mask, depth, states, is_other, order, found)
        for column in range(board.columns):
            points[column] += found[column]
        _sort(order, found)
    for column in range(board.columns):
        points[column] = CLOSED if points[column] < CLOSED // 2 else points[column] // len(DEPTHS)


@inline
def _search_to(
    board: Any, table: Any, own: Any, mask: Any, depth: Any, states: Any, is_other: Any,
    order: Any, points: Any,
) -> None:  # fmt: skip
    free, most = next_cells(board, mask), np.int64(-WON)
    wins, replies = winning_cells(board, own) & free, winning_cells(board, own ^ mask)
    for column in order:
        stone = free & (board.column << np.uint64(column * board.stride))
        after, points[column] = mask | stone, CLOSED
        if not stone:
            continue
        if wins & stone:
            points[column] = WON - np.int64(population(after))
        elif replies & next_cells(board, after):
            points[column] = np.int64(population(after)) + 1 - WON
        else:
            add_stone(board, states, stone, is_other)
            points[column] = -_best(
                board, table, own ^ mask, after, depth - 1, -WON, FAR - most, states, 1 - is_other
            )  # fmt: skip
            remove_stone(board, states, stone, is_other)
        most = max(most, points[column])
    for column in range(board.columns):
        if points[column] != CLOSED:
            points[column] = max(points[column], most - FAR)


@inline
def _sort(order: Any, points: Any) -> None:
    """The best move first; of equal ones the first stays first."""
    for last in range(1, len(order)):
        column, at = order[last], last
        while at > 0 and points[order[at - 1]] < points[column]:
            order[at] = order[at - 1]
            at -= 1
        order[at] = column
