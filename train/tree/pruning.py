"""A smaller tree out of a grown one."""

from __future__ import annotations

import heapq

import numpy as np

from selfplay.arrays import Array
from selfplay.train.tree.criterion import Criterion
from selfplay.train.tree.grower import in_order
from selfplay.train.tree.tree import LEAF, Tree


def without(tree: Tree, closed: Array) -> Tree:
    """The tree in which these nodes have become leaves."""
    feature = np.where(closed, LEAF, tree.feature).astype(np.int32)
    return in_order(tree.split, feature, tree.value, tree.child, tree.counts, tree.sides)


def with_leaves(tree: Tree, most: int, criterion: Criterion) -> Tree:
    """The tree that had been split where that gains most, until it had so many leaves.

    A split depends on the rows of its node alone: to grow in that order would give the same
    nodes as to grow all and to open, of these, the best first.
    """
    inner = tree.feature != LEAF
    gains = _gains(tree, criterion)
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


def _gains(tree: Tree, criterion: Criterion) -> Array:
    """For each node how much less mixed the classes are below it, times its rows."""
    counts = tree.counts.astype(np.float64)
    totals = counts.sum(axis=1)
    if criterion == "gini":
        mixed = totals - (counts**2).sum(axis=1) / np.maximum(totals, 1)
    else:
        mixed = totals * np.log2(np.maximum(totals, 1))
        mixed -= (counts * np.log2(np.maximum(counts, 1))).sum(axis=1)
    gains: Array = mixed - np.bincount(tree.parent[1:], mixed[1:], minlength=len(tree))
    return gains


def reduced_error(tree: Tree, codes: Array, labels: Array, weights: Array) -> Tree:
    """The tree without those branches that are no better than a leaf on rows it has not seen."""
    right = np.zeros(len(tree))  # of the rows that end here
    as_leaf = np.zeros(len(tree))  # of the rows that come by, if this were a leaf
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
