"""Deterministic playouts: both sides play on to the end, each by a playout policy.

A player takes a win, prevents one, gives none away, keeps its own threats, and of the remaining
moves makes the one with the most points. Policies differ in the points.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.game.board import next_cells, winning_cells
from selfplay.kernels.intrinsics import population, trailing_zeros
from selfplay.kernels.jit import inline
from selfplay.train.features.cell_sets import several

_ONE = np.uint64(1)

# The points of a move, by policy: per own threat after it, more if its row suits; per threat of
# the other side that it prevents, more if its row suits; for a threat to win at once; for
# preventing two at once; per line through the cell that is empty, has one own stone, two, one of
# the other side's, two; for answering right above; for a row that suits. Odd rows suit the first
# player, even ones the second.
POLICIES = np.array(
    [
        [480, 320, 320, 160, 400, 500, 20, 20, 20, 20, 20, 0, 0],
        [0, 0, 0, 0, 0, 0, 20, 30, 60, 20, 40, 0, 0],
        [727, 945, 938, 772, 7238, 2393, 60, 13, 19, 135, -33, 45, 76],
    ],
    np.int64,
)
# Points of a line by its own and other stones, four to a row: 0 where both have some.
_LINE_POINTS = np.zeros((len(POLICIES), 16), np.int64)
_LINE_POINTS[:, [0, 4, 8, 1, 2]] = POLICIES[:, 6:11]
_WHO = ("plain", "shaping", "forcing")
# The policies of this side and of the other, and who answers right above where that is safe:
# nobody, the other side, this side, both.
PLAYOUTS = (
    *((policy, policy, 0) for policy in range(len(POLICIES))),
    (1, 0, 0),
    (0, 0, 1),
    (0, 0, 2),
    (0, 0, 3),
)
AS_ARRAY = np.array(PLAYOUTS, np.int64)
_ANSWERING = ("", ", who answers right above", "", ", both answering right above")
NAMES = tuple(
    f"a {_WHO[this]} player{', answering right above,' if answering == 2 else ''} "
    f"against a {_WHO[that]} one{_ANSWERING[answering]}"
    for this, that, answering in PLAYOUTS
)
_CERTAIN = np.int64(1 << 40)

LOST, DRAWN, WON = 0, 3, 6
"""How a playout ends for the side that moves: 0-2 lost, soon to late; 4-6 won, late to soon."""


@inline
def _points(
    board: Any, own: Any, other: Any, mask: Any, stone: Any, suits: Any, last: Any, policy: Any
) -> Any:
    """The points of a move by a policy; the maximum if it threatens in two places."""
    after = mask | stone
    empty, free = board.full & ~after, next_cells(board, after)
    mine = winning_cells(board, own | stone) & empty
    at_once = mine & free
    if several(at_once) or (at_once << _ONE) & mine:
        return _CERTAIN
    theirs = winning_cells(board, other | stone) & empty
    points = POLICIES[policy, 0] * np.int64(population(mine))
    points += POLICIES[policy, 1] * np.int64(population(mine & suits))
    points += POLICIES[policy, 2] * np.int64(population(theirs))
    points += POLICIES[policy, 3] * np.int64(population(theirs & ~suits))
    if at_once:
        points += POLICIES[policy, 4]
    prevented = theirs & free
    if several(prevented) or (prevented << _ONE) & theirs:
        points += POLICIES[policy, 5]
    cell = np.uint64(trailing_zeros(stone))
    for k in range(board.lines_through[cell]):
        line = board.windows_through[cell, k]
        kind = (population(line & own) << np.uint64(2)) | population(line & other)
        points += _LINE_POINTS[policy, kind]
    if stone == last << _ONE:
        points += POLICIES[policy, 11]
    if stone & suits:
        points += POLICIES[policy, 12]
    return points


@inline
def end_of(board: Any, own: Any, other: Any, mask: Any, last: Any, playout: Any) -> Any:
    """How a playout ends for the side that has just moved, which is `other`."""
    mine, theirs = winning_cells(board, own), winning_cells(board, other)
    stones = np.int64(population(mask))
    begun = stones
    turn = 1
    wins = False
    for _ in range(board.cells):  # it ends even on impossible boards
        empty, free = board.full & ~mask, next_cells(board, mask)
        if not empty:
            return DRAWN
        if mine & free:
            wins = True
            break
        dangers = (theirs & empty) >> _ONE
        moves = theirs & free
        if several(moves):
            wins = False
            break
        moves = (moves if moves else free) & ~dangers
        if not moves:
            wins = False
            break
        if moves & ~(mine >> _ONE):
            moves &= ~(mine >> _ONE)
        stone = moves
        if several(moves):
            above = (last << _ONE) & moves
            if above and playout[2] & turn:
                stone = above
            else:
                suits = board.full & ~board.odd_rows if stones & 1 else board.odd_rows
                best = -(_CERTAIN)
                while moves:
                    one = moves & (~moves + _ONE)
                    moves ^= one
                    points = _points(board, own, other, mask, one, suits, last, playout[2 - turn])
                    if points > best:
                        best, stone = points, one
                if best == _CERTAIN:
                    wins = True
                    break
        last = stone
        mask |= stone
        own, other = other, own | stone
        mine, theirs = theirs, winning_cells(board, other)
        turn = 3 - turn
        stones += 1
    late: Any = min((stones - begun) // 8, 2)
    return WON - late if wins == (turn == 2) else LOST + late
