"""Exact results in a search: when a position is worth the solver's time, and its answer.

A visit buys the solver a fixed number of nodes. It tries a position once the visits buy as many
nodes as such positions typically take, and again each time the visits have quadrupled.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numba import types
from numba.extending import overload

from selfplay.arrays import Int, Int64Array
from selfplay.game.board import Board
from selfplay.kernels.jit import inline
from selfplay.kernels.state import State
from selfplay.solver import kernel as solver

UNKNOWN, LOSS, DRAW, WIN = 0, 1, 2, 3
"""A proven result, for the side that it is about: half points, plus one."""

_NEVER = 1 << 62

# Of one attempt below the root, which cannot be interrupted: about a second.
_MOST_NODES = 1 << 23

# The median of the solver's nodes grows by this, in percent, with every empty cell. Measured on
# 7x6 (`python -m bench nodes`).
_GROWTH = 183
_MEDIAN, _MEDIAN_EMPTY = 300, 22


def typical_nodes(empty: int) -> int:
    """The median number of nodes that solve a position with this many empty cells."""
    away = abs(empty - _MEDIAN_EMPTY)
    growth = (_GROWTH**away, 100**away)
    above, below = growth if empty >= _MEDIAN_EMPTY else growth[::-1]
    return int(_MEDIAN * above // below)


def first_attempts(board: Board, nodes_per_visit: int) -> Int64Array:
    """By stones, the visits with which a position is first given to the solver: 0, as soon as it
    is met, or a power of four."""
    found = np.full(board.cells + 1, _NEVER, np.int64)
    for stones in range(board.cells + 1 if nodes_per_visit else 0):
        needed = typical_nodes(board.cells - stones)
        visits = 0 if needed <= nodes_per_visit else 4
        while visits * nodes_per_visit < needed and visits < _NEVER:
            visits = max(4 * visits, 1)
        found[stones] = visits
    return found


@inline
def other_side(value: np.int32) -> np.int32:
    """A proven result for the other side."""
    return np.int32(WIN + LOSS) - value if value != UNKNOWN else np.int32(UNKNOWN)


@inline
def is_due(visits: Int, first: Int) -> bool:
    """Whether a position with these visits, first tried with `first`, is to be tried now."""
    if visits <= first:
        return visits == first
    return visits & (visits - 1) == 0 and visits & 0x5555555555555554 != 0


@inline
def answer(board: Board, memory: solver.Memory, nodes: int) -> np.int32:
    """Win, draw or loss of the position that the solver has begun; UNKNOWN beyond these nodes."""
    if not solver.search(board, memory, nodes):
        return np.int32(UNKNOWN)
    low = memory.counters[0].low
    return np.int32(DRAW + (low > 0) - (low < 0))


def solve(
    board: Board, memory: solver.Memory | None, state: State, nodes_per_visit: int, visits: Int
) -> np.int32:
    """Win, draw or loss for the side to move, which cannot win at once, or UNKNOWN; always on
    boards beyond one word."""
    raise NotImplementedError


@overload(solve, strict=False)  # type: ignore[untyped-decorator]
def _solve(board: types.Type, memory: types.Type, *_: types.Type) -> Callable[..., np.int32]:
    def unsolved(
        board: Board, memory: None, state: State, nodes_per_visit: int, visits: Int
    ) -> np.int32:
        return np.int32(UNKNOWN)

    def solved(
        board: Board,
        memory: solver.Memory,
        state: tuple[np.uint64, ...],
        nodes_per_visit: int,
        visits: Int,
    ) -> np.int32:
        solver.begin(board, memory, state[0], state[1], -1, 1)
        return answer(board, memory, min(nodes_per_visit * max(visits, 1), _MOST_NODES))

    return unsolved if isinstance(memory, types.NoneType) else solved
