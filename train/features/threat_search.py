"""Threat sequences: a side threatens, the other makes the only reply, the side threatens again.

The attacker always makes the move with the most threats: one line of play, not a search. A win
found so is certain.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.game.board import next_cells, winning_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline
from selfplay.train.features.cell_sets import several

_ONE = np.uint64(1)
_NONE = np.uint64(0)

_STEPS = 10
"""The longest sequence."""


@inline
def _sequence(board: Any, own: Any, other: Any, mask: Any, first: Any) -> Any:
    """The steps in which the side to move wins by a threat sequence, which begins with `first` if
    that is not empty; 0 if it does not."""
    for step in range(_STEPS):
        empty, free = board.full & ~mask, next_cells(board, mask)
        if winning_cells(board, own) & free:
            return step + 1
        dangers = winning_cells(board, other) & empty
        moves = dangers & free
        if several(moves):
            return 0
        if step == 0 and first:
            if moves and moves != first:
                return 0
            moves = first
        elif not moves:
            moves = free
        moves &= ~(dangers >> _ONE)
        best, chosen, parry = np.int64(-9), _NONE, _NONE
        while moves:
            stone = moves & (~moves + _ONE)
            moves ^= stone
            after = mask | stone
            wins = winning_cells(board, own | stone) & board.full & ~after
            at_once = wins & next_cells(board, after)
            if not at_once:
                continue
            if several(at_once) or (at_once << _ONE) & wins:
                return step + 2
            worth = np.int64(population(wins))
            if (at_once << _ONE) & dangers:
                worth -= 8
            if worth > best:
                best, chosen, parry = worth, stone, at_once
        if not chosen:
            return 0
        own |= chosen
        other |= parry
        mask |= chosen | parry
    return 0


@inline
def forced(board: Any, own: Any, other: Any, mask: Any) -> Any:
    """The fewest steps in which the side to move wins by a threat sequence; 0 if it does not."""
    free = next_cells(board, mask)
    if winning_cells(board, own) & free:
        return 1
    if winning_cells(board, other) & free:
        return _sequence(board, own, other, mask, _NONE)
    best = 0
    while free:
        stone = free & (~free + _ONE)
        free ^= stone
        after = mask | stone
        if winning_cells(board, own | stone) & next_cells(board, after):
            steps = _sequence(board, own, other, mask, stone)
            if steps and (best == 0 or steps < best):
                best = steps
    return best
