"""Whether many positions reach a bound: one null window each, with the table kept between them."""

from __future__ import annotations

from selfplay.arrays import BoolArray, Int8Array, UInt64Array
from selfplay.game.board import Board
from selfplay.kernels.jit import kernel
from selfplay.solver.kernel import Memory, begin, search


@kernel
def reach_all(
    board: Board,
    memory: Memory,
    owns: UInt64Array,
    masks: UInt64Array,
    bounds: Int8Array,
    reached: BoolArray,
    at: int,
    is_begun: bool,
    budget: int,
) -> tuple[int, bool]:
    """Compare the scores of positions that are not over with their bounds, from position `at` on,
    for some more than `budget` nodes; which is next, and whether its search is begun."""
    counters = memory.counters[0]
    end = counters.nodes + budget
    for i in range(at, len(owns)):
        if counters.nodes >= end:
            return i, False
        if not (is_begun and i == at):
            low = bounds[i] - 1
            begin(board, memory, owns[i], masks[i], low, low + 1)
        if not search(board, memory, budget):
            return i, True
        reached[i] = counters.low >= bounds[i]
    return len(owns), False
