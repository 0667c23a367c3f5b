"""A decision tree as arrays, and its predictions."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from selfplay.arrays import Array
from selfplay.kernels.jit import inline, kernel
from selfplay.train.config import Split
from selfplay.train.tree.criterion import EQUALS, MULTIWAY, SPLITS

LEAF = -1
"""In place of a feature."""


def unseen(codes: Array) -> int:
    """The code of a value that was not in the training set."""
    return int(np.iinfo(codes.dtype).max)


class Nodes(NamedTuple):
    """The arrays of a tree, for compiled code."""

    feature: Array
    value: Array
    child: Array
    filled: Array
    split: int


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in the order of their depth; the children of a node are adjacent.

    A multiway node has a child for every value, some of which may be empty; others have two: first
    the rows with the value, or up to it, then the rest.
    """

    split: Split
    feature: Array
    """int32 [node]: the feature it tests, or LEAF"""
    value: Array
    """int32 [node]: the value it compares with"""
    child: Array
    """int32 [node]: the first child"""
    counts: Array
    """int64 [node, class]: the training rows that reached it"""
    smoothing: float = 0.0
    """Pseudo-rows with the parent's class shares that are added to each node"""

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def leaves(self) -> int:
        """Leaves that any training row reached."""
        return int(((self.feature == LEAF) & (self.counts.sum(axis=1) > 0)).sum())

    @cached_property
    def sides(self) -> Array:
        """int64 [node]: the number of children, empty ones included."""
        inner = np.flatnonzero(self.feature != LEAF)
        found = np.zeros(len(self), np.int64)
        found[inner] = np.diff(np.append(self.child[inner], len(self)))
        return found

    @cached_property
    def parent(self) -> Array:
        """int64 [node]: the parent; of the root, the root."""
        return np.append(0, np.repeat(np.arange(len(self)), self.sides))

    @cached_property
    def depths(self) -> Array:
        """int64 [node]: the number of splits above it."""
        found = np.zeros(len(self), np.int64)
        start, end, depth = 0, 1, 0
        while start < end:
            found[start:end] = depth
            start, end, depth = end, end + int(self.sides[start:end].sum()), depth + 1
        return found

    @property
    def depth(self) -> int:
        """The depth of the deepest leaf."""
        return int(self.depths.max())

    @cached_property
    def majority(self) -> Array:
        """int32 [node]: the class with the largest share, the first of equals."""
        return np.asarray(self.shares.argmax(axis=1).astype(np.int32))

    @cached_property
    def filled(self) -> Array:
        """bool [node]: whether any training row reached it."""
        return np.asarray(self.counts.sum(axis=1) > 0)

    def leaf_of(self, codes: Array) -> Array:
        """int32 [row]: the node where each row ends: a leaf, or where it has an unseen value."""
        found = np.empty(len(codes), np.int32)
        if self.split == "threshold":  # numbers always fall on one side
            _walk_abreast(codes, self._steps, found)
        else:
            _walk(codes, self.nodes, unseen(codes), found)
        return found

    @cached_property
    def nodes(self) -> Nodes:
        """The tree as compiled code walks it."""
        return Nodes(self.feature, self.value, self.child, self.filled, SPLITS[self.split])

    @cached_property
    def _steps(self) -> Array:
        """uint64 [node]: child, value and feature in one word. A leaf leads to itself."""
        is_leaf = self.feature == LEAF
        child = np.where(is_leaf, np.arange(len(self)), self.child).astype(np.uint64)
        value = np.where(is_leaf, 0xFFFF, self.value).astype(np.uint64)
        feature = np.where(is_leaf, 0, self.feature).astype(np.uint64)
        return np.asarray(child | value << np.uint64(32) | feature << np.uint64(48))

    def predict(self, codes: Array) -> Array:
        """The number of each row's class."""
        return np.asarray(self.majority[self.leaf_of(codes)])

    @cached_property
    def shares(self) -> Array:
        """float64 [node, class]: the smoothed class shares."""
        totals = self.counts.sum(axis=1)
        found: Array = self.counts / np.maximum(totals, 1)[:, None]
        if self.smoothing:
            _smooth(found, self.counts, totals, self.parent, self.smoothing)
        return found

    def probabilities(self, codes: Array) -> Array:
        """The class shares where each row ends."""
        return np.asarray(self.shares[self.leaf_of(codes)])


def in_order(
    split: Split, feature: Array, value: Array, child: Array, counts: Array, sides: Array
) -> Tree:
    """The tree of the nodes below the root, sorted by depth."""
    order = _order(feature, child, sides)
    place = np.zeros(len(feature), np.int32)
    place[order] = np.arange(len(order), dtype=np.int32)
    child = np.where(feature != LEAF, place[child], 0).astype(np.int32)
    return Tree(split, feature[order], value[order], child[order], counts[order])


@kernel
def _order(feature: Array, child: Array, sides: Array) -> Array:
    order = np.zeros(len(feature), np.int64)
    used, at = 1, 0
    while at < used:
        node = order[at]
        at += 1
        if feature[node] != LEAF:
            for side in range(sides[node]):
                order[used] = child[node] + side
                used += 1
    return order[:used]


@kernel
def _smooth(shares: Array, counts: Array, totals: Array, parent: Array, smoothing: float) -> None:
    """Parents come before their children."""
    for node in range(1, len(shares)):
        for k in range(shares.shape[1]):
            above = smoothing * shares[parent[node], k]
            shares[node, k] = (counts[node, k] + above) / (totals[node] + smoothing)


@inline
def side_of(code: Any, value: Any, split: Any) -> Any:
    """The child for a row with this code."""
    if split == MULTIWAY:
        return np.intp(code)
    if split == EQUALS:
        return np.intp(code != value)
    return np.intp(code > value)


@inline
def walk_down(codes: Any, nodes: Any, unseen: Any = 255) -> Any:
    """The node where a row ends: a leaf, or where no training row had its value."""
    node = 0
    while nodes.feature[node] != LEAF:
        code = codes[nodes.feature[node]]
        if code == unseen:
            break
        below = nodes.child[node] + side_of(code, nodes.value[node], nodes.split)
        if not nodes.filled[below]:
            break
        node = below
    return node


@kernel
def _walk(codes: Array, nodes: Nodes, unseen: int, found: Array) -> None:
    for row in range(len(codes)):
        found[row] = walk_down(codes[row], nodes, unseen)


_ABREAST = 16
"""Rows that walk side by side, to hide the latency of memory."""


@kernel
def _walk_abreast(codes: Array, steps: Array, found: Array) -> None:
    at = np.zeros(_ABREAST, np.uint64)
    for start in range(0, len(codes), _ABREAST):
        rows = min(_ABREAST, len(codes) - start)
        at[:] = 0
        moved = True
        while moved:
            moved = False
            for k in range(np.uint64(rows)):
                step = steps[at[k]]
                code = codes[np.uint64(start) + k, step >> np.uint64(48)]
                value = (step >> np.uint64(32)) & np.uint64(0xFFFF)
                below = (step & np.uint64(0xFFFFFFFF)) + np.uint64(code > value)
                moved |= below != at[k]
                at[k] = below
        for k in range(rows):
            found[start + k] = at[k]
