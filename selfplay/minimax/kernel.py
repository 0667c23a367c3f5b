"""The kernel of minimax: fixed depth, any board, resumable.

It counts the stones of either side in every line. A move changes the lines through its cell, at
most four times `connect`; a full line is a win. The value of a leaf is a sum over lines, computed
at the leaf or updated from move to move.

A won position is worth WON minus the stones on the board: a quick win is better, a late loss too,
whatever the order of moves.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from selfplay.arrays import BoolArray, Float64Array, Int64Array, RecordArray, UInt64Array
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.kernels.jit import kernel
from selfplay.minimax.heuristics import COUNTS, Evaluation, all_lines
from selfplay.seeding import Stream, derive

WON = 1e9
"""More than any evaluation."""
LEAST_WIN = WON - 256

# Fields of a node on the path: floats, then integers.
FLOOR, ALPHA, BETA, BEST, LINES, CELLS = (np.uint64(i) for i in range(6))
COUNT, NEXT, CHOICE, CELL = (np.uint64(i) for i in range(4))

# Bounds in the transposition table.
_EXACT, _AT_LEAST, _AT_MOST = 0, 1, 2

_ZERO, _ONE = np.uint64(0), np.uint64(1)
_NONE = -1

COUNTERS = np.dtype(
    [
        ("nodes", np.int64),  # positions visited
        ("leaves", np.int64),  # positions evaluated
        ("lines", np.int64),  # lines evaluated
        ("stones", np.int64),  # on the board where the path ends
        ("depth", np.int64),  # how long the path is
        ("hash", np.uint64),  # of the position there
        ("won", np.bool_),  # whether the last stone completed a line
        ("line_sum", np.float64),  # the value of all lines there, if incremental
        ("cell_sum", np.float64),  # the value of the cells of the path
    ]
)

ENTRY = np.dtype(
    [
        ("hash", np.uint64),
        ("value", np.float64),
        ("round", np.int32),  # the search that found it: the value is valid in this search only
        ("kind", np.int8),
        ("choice", np.int8),  # the best move
    ]
)


class Settings(NamedTuple):
    """How to search."""

    pruning: bool
    skip_empty: bool
    incremental: bool
    """Whether to update the sum over lines with every move, or compute it at every leaf."""
    remember: bool
    """Whether to use the transposition table and killer moves."""
    order: Int64Array
    """The columns in the order in which they are tried."""


class Memory(NamedTuple):
    """The state of a search."""

    heights: Int64Array
    """[column]: stones in it"""
    counts: Int64Array
    """[line]: COUNTS * own stones + opponent's stones"""
    floats: Float64Array
    """[depth, FLOOR | ALPHA | BETA | BEST | LINES | CELLS]; FLOOR is the initial alpha"""
    integers: Int64Array
    """[depth, COUNT | NEXT | CHOICE | CELL]"""
    moves: Int64Array
    """[depth, number]: columns in the order in which they are tried"""
    killers: Int64Array
    """[depth, 2]: columns that caused a cutoff at this depth, the latest first"""
    values: Float64Array
    """[column]: the value of a move of the root; infinite before it was tried"""
    exact: BoolArray
    """[column]: whether the value is exact, not an upper bound"""
    table: RecordArray
    """`ENTRY` [a power of two]: the transposition table"""
    counters: RecordArray
    """One record of `COUNTERS`"""


class Lookup(NamedTuple):
    """Constant tables of a board."""

    through: Int64Array
    """[cell, number]: the lines through a cell"""
    through_count: Int64Array
    """[cell]"""
    hashes: UInt64Array
    """[side, cell]: Zobrist hashes"""


@cache
def lookup(board: Board) -> Lookup:
    lines = all_lines(board)
    through = np.zeros((board.cells, 4 * board.connect), np.int64)
    count = np.zeros(board.cells, np.int64)
    for line, cells in enumerate(lines):
        for cell in cells:
            through[cell, count[cell]] = line
            count[cell] += 1
    stream = Stream(derive("hashes of cells"))
    hashes = [[stream.bits() for _ in range(board.cells)] for _ in range(2)]
    return Lookup(through, count, np.array(hashes, np.uint64))


def new_memory(board: Board, deepest: int, table_bytes: int) -> Memory:
    """Allocate for searches of at most `deepest` plies."""
    bits = max(0, (table_bytes // ENTRY.itemsize).bit_length() - 1)
    columns = board.columns
    return Memory(
        np.zeros(columns, np.int64),
        np.zeros(len(all_lines(board)), np.int64),
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
    """Start a new search from a position; the counters keep counting."""
    board, counters = position.board, memory.counters[0]
    own, other, heights = _stones(position)
    memory.heights[:] = heights
    lines = all_lines(board)
    memory.counts[:] = COUNTS * own[lines].sum(axis=1) + other[lines].sum(axis=1)
    counters["stones"], counters["depth"], counters["won"] = position.ply, 0, False
    hashes = lookup(board).hashes
    stones = np.concatenate([hashes[0][own], hashes[1][other]])
    # Never zero: that is an empty entry.
    counters["hash"] = np.bitwise_xor.reduce(stones, initial=hashes[1][0] ^ hashes[0][-1])
    counters["line_sum"], counters["cell_sum"] = evaluation.lines[memory.counts].sum(), 0
    memory.floats[0, FLOOR] = memory.floats[0, ALPHA] = -np.inf
    memory.floats[0, BETA] = np.inf
    memory.floats[0, BEST] = -np.inf
    memory.values[:] = np.inf
    memory.exact[:] = False
    memory.killers[:] = _NONE


def _stones(position: Position) -> tuple[BoolArray, BoolArray, Int64Array]:
    """[cell]: own stones; [cell]: opponent's stones; [column]: heights."""
    board = position.board
    shape = board.rows, board.columns
    grid = np.array(position.cells(), np.int64).reshape(shape)[::-1].T  # [column, row]
    own = grid == position.to_move
    return own.ravel(), ((grid != 0) & ~own).ravel(), (grid != 0).sum(axis=1)


@kernel
def search(
    board: Board,
    memory: Memory,
    lookup: Lookup,
    evaluation: tuple[Float64Array, Float64Array, float, float],
    settings: Settings,
    levels: int,
    search_id: int,
    budget: int,
) -> bool:
    """Visit at most `budget` positions more; whether the search, `levels` deep, is finished.

    `evaluation` is its lines, cells, bonus and divisor; `search_id` marks this search's entries
    in the table.
    """
    heights, counts, floats, integers, moves, killers, values, exact, table, records = memory
    through, through_count, hashes = lookup
    line_values, cell_values, bonus, divisor = evaluation
    pruning, skip_empty, incremental, remember, order = settings
    counters = records[0]
    slots = np.uint64(len(table) - 1)
    depth = np.uint64(counters.depth)
    stones = counters.stones
    won = counters.won
    path_hash = counters.hash
    line_sum, cell_sum = counters.line_sum, counters.cell_sum
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
                line_sum = 0.0
                for stones_in_line in counts:
                    if stones_in_line or not skip_empty:
                        evaluated += 1
                        line_sum += line_values[np.uint64(stones_in_line)]
            score = (line_sum + cell_sum + bonus) / divisor
            if depth & _ONE:
                score = -score
        else:
            settled = False

        # The transposition table: from an earlier search, or another order of moves.
        hint = _NONE
        if remember and not settled:
            slot = path_hash & slots
            if table[slot].hash == path_hash:
                hint = int(table[slot].choice)
                if table[slot].round == search_id and depth > _ZERO:
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

        # Back up the score as far as it settles nodes, then descend into the next move.
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
                line_sum, cell_sum = floats[depth, LINES], floats[depth, CELLS]

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
                        table[slot].round = search_id
                        table[slot].choice = choice
                        exactly = best > floats[depth, FLOOR]
                        table[slot].kind = _AT_LEAST if cut else _EXACT if exactly else _AT_MOST
                    continue

            column = moves[depth, integers[depth, NEXT]]
            integers[depth, NEXT] += 1
            cell = np.uint64(column * board.rows + heights[column])
            side = depth & _ONE
            integers[depth, CELL] = np.int64(cell)
            floats[depth, LINES], floats[depth, CELLS] = line_sum, cell_sum
            floats[depth + _ONE, FLOOR] = -floats[depth, BETA]
            floats[depth + _ONE, ALPHA] = -floats[depth, BETA]
            floats[depth + _ONE, BETA] = -floats[depth, ALPHA]
            heights[column] += 1
            stones += 1
            path_hash ^= hashes[side, cell]
            step = 1 if side else COUNTS
            for i in range(np.uint64(through_count[cell])):
                line = np.uint64(through[cell, i])
                before = np.uint64(counts[line])
                after = before + np.uint64(step)
                counts[line] = np.int64(after)
                won = won or after == np.uint64(step * board.connect)
                if incremental:
                    evaluated += 1
                    line_sum += line_values[after] - line_values[before]
            cell_sum += -cell_values[cell] if side else cell_values[cell]
            depth += _ONE
            break

    counters.nodes += nodes
    counters.leaves += leaves
    counters.lines += evaluated
    counters.depth = np.int64(depth)
    counters.stones = stones
    counters.won = won
    counters.hash = path_hash
    counters.line_sum, counters.cell_sum = line_sum, cell_sum
    return finished
