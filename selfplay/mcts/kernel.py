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

Moves that lead to the same position (transpositions) share a node. A move's mean is then that of
the node, over the visits from all sides. A hash table finds the nodes of positions.

No operation here rounds differently on another machine (no fused or reordered arithmetic; the
logarithm is a table, rounded to half its digits), so that a tree is the same everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selfplay.arrays import (
    Float32Array,
    Int,
    Int32Array,
    Int64Array,
    RecordArray,
    UInt64Array,
)
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
    key,
    load,
    play,
    scratch,
    stones,
    wins_with,
)
from selfplay.mcts.exact import DRAW, LOSS, UNKNOWN, WIN, answer, is_due, solve
from selfplay.solver.kernel import Memory, begin

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


class Rules(NamedTuple):
    """How a search grows its tree."""

    exploration: np.float32
    policy: int
    """Of the rollouts."""
    proven: bool
    """Whether results are proven."""
    max_children: int
    first_attempts: Int64Array
    """By stones: see `exact.py`."""
    solver_nodes: int
    """Of the solver, per visit of a position."""
    goal: int
    """Visits of the root at which the search ends; it stops once they cannot change the choice. 0:
    it does not stop early."""


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
    state = load(board, packed)
    if len(tree.slots):
        tree.slots[: _ONE << counters.slot_bits] = 0
        counters.slot_bits = _FIRST_SLOT_BITS
    counters.random = _init_node(board, tree, _ROOT, state, np.uint64(random), max_children)
    counters.nodes = 1
    counters.visits = 0
    counters.rollouts = 0
    counters.proven = UNKNOWN
    counters.asked = 0
    counters.asking = False


@kernel
def solve_root(board: Board, tree: Tree, packed: UInt64Array, memory: Memory, nodes: int) -> bool:
    """Prove the root's moves one by one until the solver's nodes run out; resumable.

    Return whether all are proven.
    """
    root = load(board, packed)
    counters, solver = tree.counters[0], memory.counters[0]
    while counters.asked < board.columns:
        side = 1 - 2 * (counters.asked & 1)
        column = board.columns // 2 + side * ((counters.asked + 1) // 2)
        link = tree.counts[0, LINK, column]
        if link < 0 or link & 3:
            counters.asked += 1
            continue
        proof = np.int32(UNKNOWN)
        if wins_with(board, root, column):
            proof = np.int32(WIN)
        else:
            after = play(board, root, column)
            if is_full(board, after):
                proof = np.int32(DRAW)
            else:
                if not counters.asking:
                    begin(board, memory, after[0], after[1], -1, 1)
                before = solver.nodes
                proof = _other_side(answer(board, memory, nodes))
                nodes -= solver.nodes - before
        counters.asking = proof == UNKNOWN
        if proof == UNKNOWN:
            return False
        counters.asked += 1
        _prove(tree, _ROOT, np.uint64(column), proof)
    counters.proven = _value(board, tree, _ROOT)
    return True


@kernel
def search(
    board: Board,
    tree: Tree,
    packed: UInt64Array,
    iterations: int,
    rules: Rules,
    memory: Memory | None,
) -> bool:
    """Run iterations on a tree; whether it is done: its root is proven, or its choice settled."""
    root = load(board, packed)
    buffer = scratch(board)
    exploration, policy, proven, max_children, first_attempts, solver_nodes, goal = rules
    shares = len(tree.slots) > 0
    capacity = np.uint64(len(tree.counts))
    counters = tree.counters[0]
    random = counters.random
    used = np.uint64(counters.nodes)
    visits = counters.visits
    rollouts = counters.rollouts
    path_nodes = np.empty(board.cells + 1, np.uint64)
    path_columns = np.empty(board.cells + 1, np.uint64)
    done = False

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
            if is_due(at_visits, first_attempts[stones(board, state)]):
                proof = _other_side(solve(board, memory, state, solver_nodes, at_visits))
                if proof != UNKNOWN:
                    points = proof - np.int32(1)
                    break
            child = np.uint64(link >> 2)
            if link == 0 and at_visits > 0:
                slot = _slot(board, tree, state) if shares else _ROOT
                child = np.uint64(tree.slots[slot]) - _ONE if shares else ~_ROOT
                if child == ~_ROOT and used < capacity:
                    child = used
                    used += _ONE
                    random = _init_node(board, tree, child, state, random, max_children)
                    if shares:
                        tree.slots[slot] = np.int32(used)
                        if used << _ONE > _ONE << counters.slot_bits:
                            counters.slot_bits += _ONE
                            _rebuild_slots(tree, used)
                if child != ~_ROOT:
                    if shares:
                        tree.totals[child, VISITS] += tree.counts[at, VISITS, column]
                        tree.totals[child, SCORE] += (
                            2 * tree.counts[at, VISITS, column] - tree.counts[at, SCORE, column]
                        )
                    tree.counts[at, LINK, column] = np.int32(child << np.uint64(2))
                    if shares and proven:
                        proof = _other_side(_value(board, tree, child))
                        if proof != UNKNOWN:
                            points = proof - np.int32(1)
                            break
            if at_visits == 0 or child == ~_ROOT:
                points, random, _ = rollout(board, state, random, policy)
                points = np.int32(2) - points
                rollouts += 1
                break
            at = child

        visits += 1
        _back_up(tree, path_nodes, path_columns, length, points)
        if proof != UNKNOWN:
            value = _record_proof(board, tree, path_nodes, path_columns, length, proof, proven)
            if value != UNKNOWN:
                counters.proven = value
                done = True
                break
        if goal and visits & 127 == 0 and _is_settled(board, tree, goal - visits):
            done = True
            break

    counters.random = random
    counters.nodes = used
    counters.visits = visits
    counters.rollouts = rollouts
    return done


@inline
def _is_settled(board: Board, tree: Tree, left: Int) -> bool | np.bool:
    """Whether one move of the root stays the most visited, whatever the iterations left."""
    most = next_most = np.int32(0)
    for column in range(board.columns):
        count = tree.counts[_ROOT, VISITS, column]
        next_most = max(next_most, min(most, count))
        most = max(most, count)
    return most - next_most > left


@inline
def _slot(board: Board, tree: Tree, state: State) -> np.uint64:
    """Where the hash table has, or would have, a position."""
    return _slot_of(tree, key(board, state))


@inline
def _slot_of(tree: Tree, position: np.uint64) -> np.uint64:
    bits = tree.counters[0].slot_bits
    slot = (position * _MULTIPLIER) >> (np.uint64(64) - bits)
    while tree.slots[slot] and tree.keys[tree.slots[slot] - 1] != position:
        slot = (slot + _ONE) & ((_ONE << bits) - _ONE)
    return slot


@inline
def _rebuild_slots(tree: Tree, used: np.uint64) -> None:
    """Fill the part of the hash table in use with all nodes but the root."""
    tree.slots[: _ONE << tree.counters[0].slot_bits] = 0
    for at in range(_ONE, used):
        tree.slots[_slot_of(tree, tree.keys[at])] = np.int32(at + _ONE)


@inline
def _other_side(value: np.int32) -> np.int32:
    """A proven result for the other side."""
    return np.int32(WIN + LOSS) - value if value != UNKNOWN else np.int32(UNKNOWN)


@inline
def _init_node(
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
def _select(
    board: Board, tree: Tree, at: np.uint64, weight: np.float32, random: np.uint64
) -> np.uint64:
    """The column with the highest upper confidence bound; ties are broken at random."""
    turn = below(random, board.columns)
    return np.uint64(highest_lane(board, tree.bounds, at, weight, turn))


@inline
def _back_up(
    tree: Tree,
    path_nodes: UInt64Array,
    path_columns: UInt64Array,
    length: np.uint64,
    points: np.int32,
) -> None:
    """Count a visit of every move on the path; `points` are for the side that made the last."""
    shares = len(tree.slots) > 0
    step = length
    while step > 0:
        step -= _ONE
        at, column = path_nodes[step], path_columns[step]
        visits = tree.counts[at, VISITS, column] + np.int32(1)
        score = tree.counts[at, SCORE, column] + points
        tree.counts[at, VISITS, column] = visits
        tree.counts[at, SCORE, column] = score
        count = np.float32(visits)
        tree.bounds[at, SPREAD, column] = np.float32(1) / np.sqrt(count)
        if shares:
            tree.totals[at, VISITS] += np.int32(1)
            tree.totals[at, SCORE] += points
            if step + _ONE < length:
                child = path_nodes[step + _ONE]
                count = np.float32(tree.totals[child, VISITS])
                score = np.int32(2) * tree.totals[child, VISITS] - tree.totals[child, SCORE]
        tree.bounds[at, MEAN, column] = np.float32(0.5) * np.float32(score) / count
        points = np.int32(2) - points


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
        if not proven:
            tree.counts[at, LINK, column] |= proof
            return np.int32(UNKNOWN)
        _prove(tree, at, column, proof)
        value = proof if proof == WIN else _proven_value(board, tree, at)
        if value == UNKNOWN or step == 0:
            return value
        proof = _other_side(value)
        step -= _ONE


@inline
def _prove(tree: Tree, at: np.uint64, column: np.uint64, proof: np.int32) -> None:
    """Record what is proven of a move."""
    tree.counts[at, LINK, column] |= proof
    if proof != WIN:
        # Its value is exact: no exploration.
        tree.bounds[at, MEAN, column] = np.float32(0.5) * np.float32(proof - LOSS)
        tree.bounds[at, SPREAD, column] = np.float32(0)


@inline
def _value(board: Board, tree: Tree, at: Int) -> np.int32:
    """What is proven of a node, for the side to move."""
    for column in range(board.columns):
        link = tree.counts[at, LINK, column]
        if link > 0 and link & 3 == WIN:
            return np.int32(WIN)
    return _proven_value(board, tree, at)


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
    counters.proven = _value(board, tree, 0) if proven else UNKNOWN
    counters.asked = 0
    counters.asking = False
    if len(tree.slots):
        _rebuild_slots(tree, np.uint64(kept))
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
