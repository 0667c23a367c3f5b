"""What a short search finds: the points of the patterns after some moves of best play.

An alpha-beta search of few moves that ends where nothing must be answered at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.game.board import next_cells, winning_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline, kernel
from selfplay.train.features.cell_sets import several
from selfplay.train.weights.weights import pattern_points, stone_in

DEPTH = 4
"""Moves of the search, the one that is rated among them."""
WON = 1 << 20
"""Points of a win, less one for each stone on the board."""
FAR = 256
"""Points below the best move from where on it does not matter how many they are."""
CLOSED = -(1 << 40)
"""Of a full column."""

_ONE = np.uint64(1)


@kernel
def _best(board: Any, weights: Any, own: Any, mask: Any, moves: Any, alpha: Any, beta: Any) -> Any:
    """The points of the side to move."""
    other, free = own ^ mask, next_cells(board, mask)
    stones = np.int64(population(mask))
    if not free:
        return 0
    if winning_cells(board, own) & free:
        return WON - stones - 1
    theirs = winning_cells(board, other) & board.full & ~mask
    forced = theirs & free
    safe = (forced if forced else free) & ~(theirs >> _ONE)
    if several(forced) or not safe:
        return stones + 2 - WON
    if moves <= 0 and not forced:
        return -np.int64(pattern_points(board, weights, other, mask))
    best = -WON
    for k in range(board.columns):
        stone = safe & stone_in(board, mask, _from_the_middle(board, k))
        if stone:
            after = mask | stone
            points = -_best(board, weights, other, after, max(moves - 1, 0), -beta, -alpha)
            best = max(best, points)
            alpha = max(alpha, points)
            if alpha >= beta:
                break
    return best


@inline
def _from_the_middle(board: Any, k: Any) -> Any:
    side = (k + 1) // 2
    return board.columns // 2 + (side if k % 2 == 0 else -side)


@inline
def search_moves(board: Any, weights: Any, own: Any, mask: Any, points: Any) -> None:
    """int64 [column]: the points of each move after best play, at least `FAR` below the best."""
    most = np.int64(-WON)
    for k in range(board.columns):
        column = _from_the_middle(board, k)
        stone = stone_in(board, mask, column)
        points[column] = CLOSED
        if stone:
            after = mask | stone
            if winning_cells(board, own) & stone:
                points[column] = WON - np.int64(population(after))
            else:
                points[column] = -_best(
                    board, weights, own ^ mask, after, DEPTH - 1, -WON, FAR - most
                )
            most = max(most, points[column])
    for column in range(board.columns):
        if points[column] != CLOSED:
            points[column] = max(points[column], most - FAR)
