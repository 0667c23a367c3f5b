"""The kernels of Monte Carlo tree search: a tree in a few arrays, and how it grows.

A node is a position that was visited at least twice. It stores the statistics of its moves, one
lane per column, so that choosing a move reads two short runs of memory, and a child needs no node
until its second visit. Per node and column:

    bounds   MEAN     mean result for the side to move (win 1, draw ½)
             SPREAD   1/√visits: the factor of the exploration term
    counts   VISITS   visits of the move
             SCORE    the points it won, in half points
             LINK     the child node, times four, plus what is proven of the move

`bounds` follow from `counts`. They are stored because one column's change with each visit, while
all columns' are read.

No operation here rounds differently on another machine (no fused or reordered arithmetic; the
logarithm is a table, rounded to half its digits), so that a tree is the same everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selfplay.arrays import Float, Float32Array, Int, Int32Array, RecordArray, UInt64Array
from selfplay.game.board import Board
from selfplay.kernels.intrinsics import highest_lane, leading_zeros
from selfplay.kernels.jit import inline, kernel
from selfplay.kernels.rollouts import advance, below, rollout
from selfplay.kernels.state import (
    State,
    can_win,
    copy,
    is_full,
    is_open,
    load,
    play,
    scratch,
    wins_with,
)

UNKNOWN, LOSS, DRAW, WIN = 0, 1, 2, 3
"""The proven result of a move, for the side that makes it: half points, plus one."""

CLOSED, SKIPPED = -1, -2
"""In place of a link: a full column; a column skipped by `max_children`."""

MEAN, SPREAD = np.uint64(0), np.uint64(1)
VISITS, SCORE, LINK = np.uint64(0), np.uint64(1), np.uint64(2)

_UNVISITED_MEAN = np.float32(1e30)
_CLOSED_MEAN = np.float32(-1)
_ROOT, _ONE = np.uint64(0), np.uint64(1)

COUNTERS = np.dtype(
    [
        ("nodes", np.int64),  # in use, the root included
        ("visits", np.int64),  # of the root
        ("rollouts", np.int64),  # since `reset`
        ("random", np.uint64),  # the state of the random number generator
        ("proven", np.int64),  # what is proven of the root, for the side to move
    ]
)


class Tree(NamedTuple):
    """A search tree, allocated once."""

    bounds: Float32Array
    """float32 [node, MEAN | SPREAD, lane]"""
    counts: Int32Array
    """int32 [node, VISITS | SCORE | LINK, lane]"""
    counters: RecordArray
    """One record of `COUNTERS`, about the whole tree."""


def node_bytes(board: Board) -> int:
    return 5 * 4 * board.lanes


def new_tree(board: Board, capacity: int) -> Tree:
    """A tree of at most `capacity` nodes; memory that no search touches costs nothing."""
    return Tree(
        np.empty((capacity, 2, board.lanes), np.float32),
        np.empty((capacity, 3, board.lanes), np.int32),
        np.zeros(1, COUNTERS),
    )


# ln n by the seven bits after the leading one: correct to 1 part in 1,000.
_BITS = 7


def _sqrt_log_table() -> Float32Array:
    steps = np.arange(1 << _BITS, 2 << _BITS, dtype=np.float64)
    small = np.arange(1 << _BITS, dtype=np.float64)
    numbers = [small] + [steps * 2.0**shift for shift in range(32 - _BITS)]
    return np.sqrt(np.log(np.maximum(np.concatenate(numbers), 1))).astype(np.float32)


SQRT_LOG = _sqrt_log_table()


@inline
def sqrt_log(number: Int) -> np.float32:
    """√(ln number), from a table."""
    n = np.uint32(number)
    if n < np.uint32(1 << _BITS):
        return SQRT_LOG[n]
    shift = np.uint32(31 - _BITS) - leading_zeros(n)
    return SQRT_LOG[(shift << np.uint32(_BITS)) + (n >> shift)]


@kernel
def reset(
    board: Board, tree: Tree, packed: UInt64Array, random: np.uint64, max_children: int
) -> None:
    """Start a new tree: a root without visits."""
    counters = tree.counters[0]
    counters.random = _init_node(
        board, tree, _ROOT, load(board, packed), np.uint64(random), max_children
    )
    counters.nodes = 1
    counters.visits = 0
    counters.rollouts = 0
    counters.proven = UNKNOWN


@kernel
def search(
    board: Board,
    tree: Tree,
    packed: UInt64Array,
    iterations: int,
    exploration: Float,
    policy: int,
    proven: bool,
    max_children: int,
) -> None:
    """Run iterations on a tree; stop early if its root is proven."""
    root = load(board, packed)
    buffer = scratch(board)
    exploration = np.float32(exploration)
    capacity = np.uint64(len(tree.counts))
    counters = tree.counters[0]
    random = counters.random
    used = np.uint64(counters.nodes)
    visits = counters.visits
    rollouts = counters.rollouts
    path_nodes = np.empty(board.cells + 1, np.uint64)
    path_columns = np.empty(board.cells + 1, np.uint64)

    for _ in range(iterations):
        state = copy(board, root, buffer)
        at = _ROOT
        at_visits = visits
        length = np.uint64(0)
        points = np.int32(0)  # half points for the side that made the path's last move
        proof = np.int32(UNKNOWN)  # the proven result of that move

        while True:
            random = advance(random)
            column = _select(board, tree, at, exploration * sqrt_log(at_visits), random)
            path_nodes[length] = at
            path_columns[length] = column
            length += _ONE
            link = tree.counts[at, LINK, column]
            if link & 3:
                proof = link & np.int32(3)
                points = proof - np.int32(1)
                break
            at_visits = np.int64(tree.counts[at, VISITS, column])
            # With proofs only the root may be a position with a winning move.
            if (not proven or at == _ROOT) and wins_with(board, state, column):
                proof, points = np.int32(WIN), np.int32(2)
                break
            state = play(board, state, column)
            if at_visits == 0:
                if is_full(board, state):
                    proof, points = np.int32(DRAW), np.int32(1)
                    break
                if proven and can_win(board, state):
                    proof, points = np.int32(LOSS), np.int32(0)
                    break
            if at_visits == 0 or (link == 0 and used == capacity):
                points, random, _ = rollout(board, state, random, policy)
                points = np.int32(2) - points
                rollouts += 1
                break
            if link == 0:
                random = _init_node(board, tree, used, state, random, max_children)
                link = np.int32(used << np.uint64(2))
                tree.counts[at, LINK, column] = link
                used += _ONE
            at = np.uint64(link >> 2)

        visits += 1
        if not length & _ONE:
            points = np.int32(2) - points
        for step in range(length):
            _update(tree, path_nodes[step], path_columns[step], points)
            points = np.int32(2) - points
        if proof != UNKNOWN:
            value = _record_proof(board, tree, path_nodes, path_columns, length, proof, proven)
            if value != UNKNOWN:
                counters.proven = value
                break

    counters.random = random
    counters.nodes = used
    counters.visits = visits
    counters.rollouts = rollouts


@inline
def _init_node(
    board: Board, tree: Tree, at: np.uint64, state: State, random: np.uint64, max_children: int
) -> np.uint64:
    """Write a node without visits; return the random state."""
    free = 0
    for column in range(board.columns):
        free += is_open(board, state, column)
    wanted = free if max_children == 0 else min(free, max_children)
    for column in range(board.lanes):
        tree.bounds[at, MEAN, column] = _CLOSED_MEAN
        tree.bounds[at, SPREAD, column] = np.float32(0)
        tree.counts[at, VISITS, column] = 0
        tree.counts[at, SCORE, column] = 0
        tree.counts[at, LINK, column] = CLOSED
    for column in range(board.columns):
        if is_open(board, state, column):
            chosen: bool | np.bool = wanted == free
            if not chosen:
                random = advance(random)
                chosen = below(random, free) < np.uint64(wanted)
            if chosen:
                tree.bounds[at, MEAN, column] = _UNVISITED_MEAN
                tree.counts[at, LINK, column] = 0
                wanted -= 1
            else:
                tree.counts[at, LINK, column] = SKIPPED
            free -= 1
    return random


@inline
def _select(
    board: Board, tree: Tree, at: np.uint64, weight: np.float32, random: np.uint64
) -> np.uint64:
    """The column with the highest upper confidence bound; ties are broken at random."""
    turn = below(random, board.columns)
    return np.uint64(highest_lane(board, tree.bounds, at, weight, turn))


@inline
def _update(tree: Tree, at: np.uint64, column: np.uint64, points: np.int32) -> None:
    """Add one visit to a move."""
    visits = tree.counts[at, VISITS, column] + np.int32(1)
    score = tree.counts[at, SCORE, column] + points
    tree.counts[at, VISITS, column] = visits
    tree.counts[at, SCORE, column] = score
    count = np.float32(visits)
    tree.bounds[at, MEAN, column] = np.float32(0.5) * np.float32(score) / count
    tree.bounds[at, SPREAD, column] = np.float32(1) / np.sqrt(count)


@inline
def _record_proof(
    board: Board,
    tree: Tree,
    path_nodes: UInt64Array,
    path_columns: UInt64Array,
    length: np.uint64,
    proof: np.int32,
    proven: bool,
) -> np.int32:
    """Record a proof of the path's last move, and propagate it up; return the root's value."""
    step = length - _ONE
    while True:
        at, column = path_nodes[step], path_columns[step]
        tree.counts[at, LINK, column] = (tree.counts[at, LINK, column] & np.int32(~3)) | proof
        if not proven:
            return np.int32(UNKNOWN)
        if proof != WIN:
            # Its value is exact: no exploration.
            tree.bounds[at, MEAN, column] = np.float32(0.5) * np.float32(proof - LOSS)
            tree.bounds[at, SPREAD, column] = np.float32(0)
        value = proof if proof == WIN else _proven_value(board, tree, at)
        if value == UNKNOWN or step == 0:
            return value
        proof = np.int32(WIN + LOSS) - value
        step -= _ONE


@inline
def _proven_value(board: Board, tree: Tree, at: Int) -> np.int32:
    """The best result of a node's moves if all are proven, else UNKNOWN."""
    best = np.int32(LOSS)
    for column in range(board.columns):
        link = tree.counts[at, LINK, column]
        if link == CLOSED:
            continue
        if link == SKIPPED or link & 3 == UNKNOWN:
            return np.int32(UNKNOWN)
        best = max(best, link & np.int32(3))
    return best


@kernel
def advance_root(board: Board, tree: Tree, column: int, proven: bool) -> bool:
    """Make a child of the root the new root; False if the move has no node.

    Unreachable nodes are dropped; the others move to the front of the arrays.
    """
    bounds, counts, counters = tree.bounds, tree.counts, tree.counters[0]
    link = counts[0, LINK, column]
    if link < 4:
        return False
    new_root = np.int64(link >> 2)
    used = counters.nodes
    new_index = np.full(used, -1, np.int32)
    new_index[new_root] = kept = 0
    # Children come after their parents: one pass suffices, and overwrites only what it has read.
    for at in range(new_root, used):
        if new_index[at] < 0:
            continue
        new_index[at] = kept
        bounds[kept] = bounds[at]
        counts[kept] = counts[at]
        kept += 1
        for lane in range(board.columns):
            link = counts[at, LINK, lane]
            if link >= 4:
                new_index[link >> 2] = 0
    visits = 0
    won = False
    for lane in range(board.columns):
        link = counts[0, LINK, lane]
        visits += counts[0, VISITS, lane]
        won = won or (link > 0 and link & 3 == WIN)
        for at in range(kept):
            link = counts[at, LINK, lane]
            if link >= 4:
                counts[at, LINK, lane] = (new_index[link >> 2] << 2) | (link & 3)
    counters.nodes = kept
    counters.visits = visits
    if not proven:
        counters.proven = UNKNOWN
    else:
        counters.proven = WIN if won else _proven_value(board, tree, 0)
    return True
