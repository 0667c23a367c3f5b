"""The kernels of Monte Carlo tree search: how a tree grows.

No operation here rounds differently on another machine (no fused or reordered arithmetic; the
logarithm is a table, rounded to half its digits), so that a tree is the same everywhere.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selfplay.arrays import Float32Array, Int, Int64Array, UInt64Array
from selfplay.game.board import Board
from selfplay.kernels.intrinsics import highest_lane, leading_zeros
from selfplay.kernels.jit import inline, kernel
from selfplay.kernels.rollouts import advance, below, rollout
from selfplay.kernels.state import (
    can_win,
    copy,
    is_full,
    load,
    play,
    scratch,
    stones,
    wins_with,
)
from selfplay.mcts.exact import DRAW, LOSS, UNKNOWN, WIN, answer, is_due, other_side, solve
from selfplay.mcts.tree import (
    LINK,
    MEAN,
    ROOT,
    SCORE,
    SPREAD,
    VISITS,
    Tree,
    init_node,
    prove,
    proven_value,
    rebuild_slots,
    slot_of,
    value_of,
)
from selfplay.solver.kernel import Memory, begin

_ONE = np.uint64(1)


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
                proof = other_side(answer(board, memory, nodes))
                nodes -= solver.nodes - before
        counters.asking = proof == UNKNOWN
        if proof == UNKNOWN:
            return False
        counters.asked += 1
        prove(tree, ROOT, np.uint64(column), proof)
    counters.proven = value_of(board, tree, ROOT)
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
        at = ROOT
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
            if (not proven or at == ROOT) and wins_with(board, state, column):
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
            if solver_nodes and is_due(at_visits, first_attempts[stones(board, state)]):
                proof = other_side(solve(board, memory, state, solver_nodes, at_visits))
                if proof != UNKNOWN:
                    points = proof - np.int32(1)
                    break
            child = np.uint64(link >> 2)
            if link == 0 and at_visits > 0:
                slot = slot_of(board, tree, state) if shares else ROOT
                child = np.uint64(tree.slots[slot]) - _ONE if shares else ~ROOT
                if child == ~ROOT and used < capacity:
                    child = used
                    used += _ONE
                    random = init_node(board, tree, child, state, random, max_children)
                    if shares:
                        tree.slots[slot] = np.int32(used)
                        if used << _ONE > _ONE << counters.slot_bits:
                            counters.slot_bits += _ONE
                            rebuild_slots(tree, used)
                if child != ~ROOT:
                    if shares:
                        tree.totals[child, VISITS] += tree.counts[at, VISITS, column]
                        tree.totals[child, SCORE] += (
                            2 * tree.counts[at, VISITS, column] - tree.counts[at, SCORE, column]
                        )
                    tree.counts[at, LINK, column] = np.int32(child << np.uint64(2))
                    if shares and proven:
                        proof = other_side(value_of(board, tree, child))
                        if proof != UNKNOWN:
                            points = proof - np.int32(1)
                            break
            if at_visits == 0 or child == ~ROOT:
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
        count = tree.counts[ROOT, VISITS, column]
        next_most = max(next_most, min(most, count))
        most = max(most, count)
    return most - next_most > left


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
        prove(tree, at, column, proof)
        value = proof if proof == WIN else proven_value(board, tree, at)
        if value == UNKNOWN or step == 0:
            return value
        proof = other_side(value)
        step -= _ONE
