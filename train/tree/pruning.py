"""Growing a pruned tree: reduced-error pruning, and a maximum number of leaves."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.train.config import Criterion
from selfplay.train.tree.branch import Limits
from selfplay.train.tree.grower import Matrix, grow
from selfplay.train.tree.importances import impurity_decrease
from selfplay.train.tree.tree import LEAF, Tree, in_order


def grow_pruned(
    matrix: Matrix,
    options: Any,
    threads: int | None,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> Tree:
    """Grow a tree with the options of a `TrainingConfig` or an `ID3Classifier`, and prune it."""
    held_out = None
    if options.prune is not None:
        matrix, held_out = matrix.divided(options.prune)
        if not (len(matrix.codes) and len(held_out.codes)):
            raise InputError(f"prune={options.prune} leaves too few rows on one side")
    limits = Limits.of(options, matrix.unit)
    tree = grow(matrix, options.criterion, options.split, limits, threads, on_progress)
    if held_out is not None:
        tree = reduced_error(tree, held_out.codes, held_out.labels, held_out.weights)
    if options.max_leaves is not None:
        tree = with_leaves(tree, options.max_leaves, options.criterion)
    return tree


def without(tree: Tree, closed: Array) -> Tree:
    """The tree with these nodes closed to leaves."""
    feature = np.where(closed, LEAF, tree.feature).astype(np.int32)
    return in_order(tree.split, feature, tree.value, tree.child, tree.counts, tree.sides)


def with_leaves(tree: Tree, most: int, criterion: Criterion) -> Tree:
    """The tree that best-first growth gives, stopped at so many leaves.

    A split depends on the rows of its node alone: opening the nodes of the full tree best first
    gives the same.
    """
    inner = tree.feature != LEAF
    gains = impurity_decrease(tree, criterion)
    parts = np.bincount(tree.parent[1:], tree.filled[1:], minlength=len(tree)).astype(np.int64)
    closed, leaves = inner.copy(), 1
    waiting = [(-gains[0], 0)] if inner[0] else []
    while waiting:
        _, node = heapq.heappop(waiting)
        if leaves + parts[node] - 1 > most:
            continue
        leaves += parts[node] - 1
        closed[node] = False
        first = int(tree.child[node])
        for child in range(first, first + int(tree.sides[node])):
            if inner[child]:
                heapq.heappush(waiting, (-gains[child], child))
    return without(tree, closed)


def reduced_error(tree: Tree, codes: Array, labels: Array, weights: Array) -> Tree:
    """The tree without the branches that are no better than a leaf on held-out rows."""
    right = np.zeros(len(tree))  # held-out rows that end here or below
    as_leaf = np.zeros(len(tree))  # and if this were a leaf
    ends = tree.leaf_of(codes)
    np.add.at(right, ends, weights * (tree.majority[ends] == labels))
    at = ends.astype(np.int64)
    rows = np.arange(len(at))
    while len(rows):
        np.add.at(as_leaf, at, weights[rows] * (tree.majority[at] == labels[rows]))
        rows, at = rows[at > 0], tree.parent[at[at > 0]]
    closed = np.zeros(len(tree), np.bool_)
    for node in range(len(tree) - 1, -1, -1):  # children before their parents
        if tree.feature[node] != LEAF and as_leaf[node] >= right[node]:
            closed[node] = True
            right[node] = as_leaf[node]
        if node:
            right[tree.parent[node]] += right[node]
    return without(tree, closed)
