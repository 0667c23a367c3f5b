"""The kernel of minimax: to a fixed depth, on any board, and able to stop and go on.

Of every run it knows how many stones of either side it holds. A stone changes the runs through
its cell, four times `connect` at most; a run that is full is a win. The value of a leaf is a sum
over runs, taken anew or kept up to date from stone to stone.

A position that is won is worth WON less the stones on the board: sooner is better for the
winner, later for the loser, and how the search got there does not matter.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.kernels.jit import kernel
from selfplay.minimax.heuristics import COUNTS, Evaluation, all_runs
from selfplay.seeding import Stream, derive

Array = np.ndarray[Any, Any]

WON = 1e9
"""More than any evaluation comes to."""
LEAST_WIN = WON - 256

# Fields of a position on the path: floats, then integers.
FLOOR, ALPHA, BETA, BEST, RUNS, CELLS = (np.uint64(i) for i in range(6))
COUNT, NEXT, CHOICE, CELL = (np.uint64(i) for i in range(4))

# What the table holds of a value.
_EXACT, _AT_LEAST, _AT_MOST = 0, 1, 2

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_NONE = -1

COUNTERS = np.dtype(
    [
        ("nodes", np.int64),  # positions visited
        ("leaves", np.int64),  # positions evaluated
        ("runs", np.int64),  # runs evaluated
        ("stones", np.int64),  # on the board where the path ends
        ("depth", np.int64),  # how long the path is
        ("hash", np.uint64),  # of the position there
        ("won", np.bool_),  # whether the last stone completed a run
        ("of_runs", np.float64),  # the value of all runs there, if it is kept up to date
        ("of_cells", np.float64),  # the value of the cells of the path
    ]
)

ENTRY = np.dtype(
    [
        ("hash", np.uint64),
        ("value", np.float64),
        ("round", np.int32),  # the search that found it: only there the value means something
        ("kind", np.int8),
        ("choice", np.int8),  # the best move
    ]
)


class Setting(NamedTuple):
    """How to search."""

    pruning: bool
    skip_empty: bool
    incremental: bool
    """Whether the sum over runs is kept up to date, not taken at every leaf."""
    remember: bool
    """Whether to use the table and killer moves."""


class Memory(NamedTuple):
    """What a search works on."""

    heights: Array
    """int64 [column]: stones in it"""
    counts: Array
    """int64 [run]: COUNTS * stones of the player who searches + stones of the other"""
    floats: Array
    """float64 [depth, FLOOR | ALPHA | BETA | BEST | RUNS | CELLS]: alpha at first, alpha now, …"""
    integers: Array
    """int64 [depth, COUNT | NEXT | CHOICE | CELL]"""
    moves: Array
    """int64 [depth, number]: columns in the order to be tried"""
    killers: Array
    """int64 [depth, 2]: columns that cut off another search at this depth, the latest first"""
    values: Array
    """float64 [column]: what a move of the root is worth; infinite before it was tried"""
    exact: Array
    """bool [column]: whether it is that, and not at most that"""
    table: Array
    """`ENTRY` [a power of two]"""
    counters: Array
    """One record of `COUNTERS`"""


class Geometry(NamedTuple):
    """What never changes on a board."""

    through: Array
    """int64 [cell, number]: the runs through a cell"""
    through_count: Array
    """int64 [cell]"""
    hashes: Array
    """uint64 [side, cell]"""


@cache
def geometry(board: Board) -> Geometry:
    runs = all_runs(board)
    through = np.zeros((board.cells, 4 * board.connect), np.int64)
    count = np.zeros(board.cells, np.int64)
    for run, cells in enumerate(runs):
        for cell in cells:
            through[cell, count[cell]] = run
            count[cell] += 1
    stream = Stream(derive("hashes of cells"))
    hashes = [[stream.bits() for _ in range(board.cells)] for _ in range(2)]
    return Geometry(through, count, np.array(hashes, np.uint64))


def new_memory(board: Board, deepest: int, table_bytes: int) -> Memory:
    """For searches of so many plies at most."""
    bits = max(0, (table_bytes // ENTRY.itemsize).bit_length() - 1)
    columns = board.columns
    return Memory(
        np.zeros(columns, np.int64),
        np.zeros(len(all_runs(board)), np.int64),
        np.zeros((deepest + 1, 6)),
        np.zeros((deepest + 1, 4), np.int64),
        np.zeros((deepest + 1, columns), np.int64),
        np.full((deepest + 1, 2), _NONE, np.int64),
        np.zeros(columns),
        np.zeros(columns, np.bool_),
        np.zeros(1 << bits, ENTRY),
        np.zeros(1, COUNTERS),
    )


def begin(memory: Memory, position: Position, evaluation: Evaluation) -> None:
    """Put a position at the root of a new search; what was counted goes on counting."""
    board, counters = position.board, memory.counters[0]
    own, other, heights = _stones(position)
    memory.heights[:] = heights
    runs = all_runs(board)
    memory.counts[:] = COUNTS * own[runs].sum(axis=1) + other[runs].sum(axis=1)
    counters["stones"], counters["depth"], counters["won"] = position.ply, 0, False
    hashes = geometry(board).hashes
    stones = np.concatenate([hashes[0][own], hashes[1][other]])
    # Never zero, as an empty entry of the table is.
    counters["hash"] = np.bitwise_xor.reduce(stones, initial=hashes[1][0] ^ hashes[0][-1])
    counters["of_runs"], counters["of_cells"] = evaluation.runs[memory.counts].sum(), 0
    memory.floats[0, FLOOR] = memory.floats[0, ALPHA] = -np.inf
    memory.floats[0, BETA] = np.inf
    memory.floats[0, BEST] = -np.inf
    memory.values[:] = np.inf
    memory.exact[:] = False
    memory.killers[:] = _NONE


def _stones(position: Position) -> tuple[Array, Array, Array]:
    """By cell: whose stone it is; by column: how many."""
    board = position.board
    shape = board.rows, board.columns
    grid = np.array(position.cells(), np.int64).reshape(shape)[::-1].T  # [column, row]
    own = grid == position.to_move
    return own.ravel(), ((grid != 0) & ~own).ravel(), (grid != 0).sum(axis=1)


@kernel
def search(
    board: Any,
    memory: Any,
    geometry: Any,
    evaluation: Any,
    setting: Any,
    order: Any,
    levels: Any,
    number: Any,
    budget: Any,
) -> Any:
    """Visit so many positions more; whether the search, `levels` deep, is done.

    `evaluation` is its runs, cells, bonus and divisor; `order` the columns as they are tried;
    `number` tells this search from others in the table.
    """
    heights, counts, floats, integers, moves, killers, values, exact, table, ledgers = memory
    through, through_count, hashes = geometry
    worth_of_run, worth_of_cell, bonus, divisor = evaluation
    pruning, skip_empty, incremental, remember = setting
    counters = ledgers[0]
    slots = np.uint64(len(table) - 1)
    depth = np.uint64(counters.depth)
    stones = counters.stones
    won = counters.won
    path_hash = counters.hash
    of_runs, of_cells = counters.of_runs, counters.of_cells
    nodes = leaves = evaluated = 0
    finished = False

    while nodes < budget and not finished:
        nodes += 1
        alpha, beta = floats[depth, ALPHA], floats[depth, BETA]
        settled = True
        score = 0.0
        if won:
            score = stones - WON
        elif stones == board.cells:
            score = 0.0
        elif depth == np.uint64(levels):
            leaves += 1
            if not incremental:
                of_runs = 0.0
                for stones_in_run in counts:
                    if stones_in_run or not skip_empty:
                        evaluated += 1
                        of_runs += worth_of_run[np.uint64(stones_in_run)]
            score = (of_runs + of_cells + bonus) / divisor
            if depth & _ONE:
                score = -score
        else:
            settled = False

        # What an earlier search, or another way to this position, has found.
        hint = _NONE
        if remember and not settled:
            slot = path_hash & slots
            if table[slot].hash == path_hash:
                hint = int(table[slot].choice)
                if table[slot].round == number and depth > _ZERO:
                    kind, score = table[slot].kind, table[slot].value
                    settled = (
                        kind == _EXACT
                        or (kind == _AT_LEAST and score >= beta)
                        or (kind == _AT_MOST and score <= alpha)
                    )

        if not settled:
            count = _ZERO
            tried = np.uint64(0)
            for place in range(-3, board.columns):
                if place == -3:
                    column = hint
                elif place < 0:
                    column = killers[depth, place + 2] if remember else _NONE
                else:
                    column = order[place]
                if column == _NONE:
                    continue
                bit = _ONE << np.uint64(column)
                if heights[column] == board.rows or tried & bit:
                    continue
                tried |= bit
                moves[depth, count] = column
                count += _ONE
            integers[depth, COUNT] = np.int64(count)
            integers[depth, NEXT] = 0
            floats[depth, BEST] = -np.inf

        # Go up with the score as far as it settles positions there, then down the next move.
        while True:
            if settled:
                if depth == _ZERO:
                    finished = True
                    break
                depth -= _ONE
                stones -= 1
                won = False
                cell = np.uint64(integers[depth, CELL])
                side = depth & _ONE
                step = 1 if side else COUNTS
                for i in range(np.uint64(through_count[cell])):
                    counts[np.uint64(through[cell, i])] -= step
                column = moves[depth, integers[depth, NEXT] - 1]
                heights[column] -= 1
                path_hash ^= hashes[side, cell]
                of_runs, of_cells = floats[depth, RUNS], floats[depth, CELLS]

                score = -score
                if depth == _ZERO:
                    values[column] = score
                    exact[column] = not pruning or score > floats[depth, ALPHA]
                if score > floats[depth, BEST]:
                    floats[depth, BEST] = score
                    integers[depth, CHOICE] = column
                alpha, beta = floats[depth, ALPHA], floats[depth, BETA]
                best = floats[depth, BEST]
                if pruning:
                    floats[depth, ALPHA] = max(alpha, best)
                cut = pruning and best >= beta
                if cut or integers[depth, NEXT] == integers[depth, COUNT]:
                    score = best
                    if remember:
                        choice = integers[depth, CHOICE]
                        if cut and killers[depth, 0] != choice:
                            killers[depth, 1] = killers[depth, 0]
                            killers[depth, 0] = choice
                        slot = path_hash & slots
                        table[slot].hash = path_hash
                        table[slot].value = score
                        table[slot].round = number
                        table[slot].choice = choice
                        exactly = best > floats[depth, FLOOR]
                        table[slot].kind = _AT_LEAST if cut else _EXACT if exactly else _AT_MOST
                    continue

            column = moves[depth, integers[depth, NEXT]]
            integers[depth, NEXT] += 1
            cell = np.uint64(column * board.rows + heights[column])
            side = depth & _ONE
            integers[depth, CELL] = np.int64(cell)
            floats[depth, RUNS], floats[depth, CELLS] = of_runs, of_cells
            floats[depth + _ONE, FLOOR] = -floats[depth, BETA]
            floats[depth + _ONE, ALPHA] = -floats[depth, BETA]
            floats[depth + _ONE, BETA] = -floats[depth, ALPHA]
            heights[column] += 1
            stones += 1
            path_hash ^= hashes[side, cell]
            step = 1 if side else COUNTS
            for i in range(np.uint64(through_count[cell])):
                run = np.uint64(through[cell, i])
                before = np.uint64(counts[run])
                after = before + np.uint64(step)
                counts[run] = np.int64(after)
                won = won or after == np.uint64(step * board.connect)
                if incremental:
                    evaluated += 1
                    of_runs += worth_of_run[after] - worth_of_run[before]
            of_cells += -worth_of_cell[cell] if side else worth_of_cell[cell]
            depth += _ONE
            break

    counters.nodes += nodes
    counters.leaves += leaves
    counters.runs += evaluated
    counters.depth = np.int64(depth)
    counters.stones = stones
    counters.won = won
    counters.hash = path_hash
    counters.of_runs, counters.of_cells = of_runs, of_cells
    return finished
