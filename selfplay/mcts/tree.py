"""The tree of a Monte Carlo tree search: a few arrays.

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

Moves that lead to the same position (transpositions) share a node. A move's mean is then that of
the node, over the visits from all sides. A hash table finds the nodes of positions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selfplay.arrays import (
    Float32Array,
    Int,
    Int32Array,
    RecordArray,
    UInt64Array,
)
from selfplay.game.board import Board
from selfplay.kernels.jit import inline, kernel
from selfplay.kernels.rollouts import advance, below
from selfplay.kernels.state import State, is_open, key, load
from selfplay.mcts.exact import LOSS, UNKNOWN, WIN

CLOSED, SKIPPED = -1, -2
"""In place of a link: a full column; a column skipped by `max_children`."""

MEAN, SPREAD = np.uint64(0), np.uint64(1)
VISITS, SCORE, LINK = np.uint64(0), np.uint64(1), np.uint64(2)

ROOT = np.uint64(0)

_ONE = np.uint64(1)
_UNVISITED_MEAN = np.float32(1e30)
_CLOSED_MEAN = np.float32(-1)

COUNTERS = np.dtype(
    [
        ("nodes", np.int64),  # in use, the root included
        ("visits", np.int64),  # of the root
        ("rollouts", np.int64),  # since `reset`
        ("random", np.uint64),  # the state of the random number generator
        ("proven", np.int64),  # what is proven of the root, for the side to move
        ("asked", np.int64),  # the root's columns that it was given, from the middle outwards
        ("asking", np.bool_),  # whether it is at work on the next one
        ("slot_bits", np.uint64),  # the part of `slots` in use has 2^slot_bits entries
    ]
)
_FIRST_SLOT_BITS = np.uint64(10)
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


class Tree(NamedTuple):
    """A search tree, allocated once."""

    bounds: Float32Array
    """float32 [node, MEAN | SPREAD, lane]"""
    counts: Int32Array
    """int32 [node, VISITS | SCORE | LINK, lane]"""
    totals: Int32Array
    """int32 [node, VISITS | SCORE]: of all its visits, for the side to move"""
    keys: UInt64Array
    """uint64 [node]: its position"""
    slots: Int32Array
    """int32 [slot]: a node plus one, or 0: a hash table of `keys`. Empty if none are shared."""
    counters: RecordArray
    """One record of `COUNTERS`, about the whole tree."""


def node_bytes(board: Board) -> int:
    # Bounds and counts; totals, key and at most four slots.
    return 5 * 4 * board.lanes + 8 + 8 + 16


def new_tree(board: Board, capacity: int, transpositions: bool) -> Tree:
    """A tree of at most `capacity` nodes; memory that no search touches costs nothing."""
    shared = capacity if transpositions else 0
    bits = max(int(_FIRST_SLOT_BITS), (2 * capacity).bit_length())
    return Tree(
        np.empty((capacity, 2, board.lanes), np.float32),
        np.empty((capacity, 3, board.lanes), np.int32),
        np.empty((shared, 2), np.int32),
        np.empty(shared, np.uint64),
        np.zeros(1 << bits if shared else 0, np.int32),
        np.zeros(1, COUNTERS),
    )


@kernel
def reset(
    board: Board, tree: Tree, packed: UInt64Array, random: np.uint64, max_children: int
) -> None:
    """Start a new tree: a root without visits."""
    counters = tree.counters[0]
    state = load(board, packed)
    if len(tree.slots):
        tree.slots[: _ONE << counters.slot_bits] = 0
        counters.slot_bits = _FIRST_SLOT_BITS
    counters.random = init_node(board, tree, ROOT, state, np.uint64(random), max_children)
    counters.nodes = 1
    counters.visits = 0
    counters.rollouts = 0
    counters.proven = UNKNOWN
    counters.asked = 0
    counters.asking = False


@inline
def init_node(
    board: Board, tree: Tree, at: np.uint64, state: State, random: np.uint64, max_children: int
) -> np.uint64:
    """Write a node without visits; return the random state."""
    if len(tree.slots):
        tree.keys[at] = key(board, state)
        tree.totals[at, VISITS] = tree.totals[at, SCORE] = 0
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
def slot_of(board: Board, tree: Tree, state: State) -> np.uint64:
    """Where the hash table has, or would have, a position."""
    return _slot_of_key(tree, key(board, state))


@inline
def _slot_of_key(tree: Tree, position: np.uint64) -> np.uint64:
    bits = tree.counters[0].slot_bits
    slot = (position * _MULTIPLIER) >> (np.uint64(64) - bits)
    while tree.slots[slot] and tree.keys[tree.slots[slot] - 1] != position:
        slot = (slot + _ONE) & ((_ONE << bits) - _ONE)
    return slot


@inline
def rebuild_slots(tree: Tree, used: np.uint64) -> None:
    """Fill the part of the hash table in use with all nodes but the root."""
    tree.slots[: _ONE << tree.counters[0].slot_bits] = 0
    for at in range(_ONE, used):
        tree.slots[_slot_of_key(tree, tree.keys[at])] = np.int32(at + _ONE)


@inline
def prove(tree: Tree, at: np.uint64, column: np.uint64, proof: np.int32) -> None:
    """Record what is proven of a move."""
    tree.counts[at, LINK, column] |= proof
    if proof != WIN:
        # Its value is exact: no exploration.
        tree.bounds[at, MEAN, column] = np.float32(0.5) * np.float32(proof - LOSS)
        tree.bounds[at, SPREAD, column] = np.float32(0)


@inline
def value_of(board: Board, tree: Tree, at: Int) -> np.int32:
    """What is proven of a node, for the side to move."""
    for column in range(board.columns):
        link = tree.counts[at, LINK, column]
        if link > 0 and link & 3 == WIN:
            return np.int32(WIN)
    return proven_value(board, tree, at)


@inline
def proven_value(board: Board, tree: Tree, at: Int) -> np.int32:
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
    counts, counters = tree.counts, tree.counters[0]
    link = counts[0, LINK, column]
    if link < 4:
        return False
    used = counters.nodes
    new_index = _reachable(board, tree, link >> 2)
    # All but the root keep their order: moving them overwrites only what has been moved.
    _move(tree, link >> 2, 0)
    kept = 1
    for at in range(1, used):
        if new_index[at] > 0:
            _move(tree, at, kept)
            new_index[at] = kept
            kept += 1
    visits = 0
    for lane in range(board.columns):
        visits += counts[0, VISITS, lane]
        for at in range(kept):
            link = counts[at, LINK, lane]
            if link >= 4:
                counts[at, LINK, lane] = (new_index[link >> 2] << 2) | (link & 3)
    counters.nodes = kept
    counters.visits = visits
    counters.proven = value_of(board, tree, 0) if proven else UNKNOWN
    counters.asked = 0
    counters.asking = False
    if len(tree.slots):
        rebuild_slots(tree, np.uint64(kept))
    return True


@inline
def _reachable(board: Board, tree: Tree, root: Int) -> Int32Array:
    """By node: -1 if it cannot be reached from the root, else 1; 0 for the root itself."""
    found = np.full(tree.counters[0].nodes, -1, np.int32)
    waiting = np.empty(tree.counters[0].nodes, np.int32)
    waiting[0] = root
    count = 1
    while count:
        count -= 1
        at = waiting[count]
        for lane in range(board.columns):
            link = tree.counts[at, LINK, lane]
            if link >= 4 and found[link >> 2] < 0:
                found[link >> 2] = 1
                waiting[count] = link >> 2
                count += 1
    found[root] = 0
    return found


@inline
def _move(tree: Tree, source: Int, target: Int) -> None:
    tree.bounds[target] = tree.bounds[source]
    tree.counts[target] = tree.counts[source]
    if len(tree.slots):
        tree.totals[target] = tree.totals[source]
        tree.keys[target] = tree.keys[source]
