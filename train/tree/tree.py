"""A grown tree as arrays, and what it says of rows."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from selfplay.arrays import Array, Int32Array, Int64Array
from selfplay.kernels.jit import inline, kernel
from selfplay.train.tree.criterion import EQUALS, MULTIWAY, SPLITS, Split

LEAF = -1
"""In place of a feature."""


def unseen(codes: Array) -> int:
    """The code of a value that was not there when the tree was grown."""
    return int(np.iinfo(codes.dtype).max)


@dataclass(frozen=True, eq=False)
class Tree:
    """Nodes in the order of their depth; the children of a node stand side by side.

    A multiway node has a child for every value, some of which may be empty; others have two: first
    the rows with the value, or up to it, then the rest.
    """

    split: Split
    feature: Int32Array
    """int32 [node]: what is asked, LEAF if nothing is"""
    value: Int32Array
    """int32 [node]: the value that is asked for"""
    child: Int32Array
    """int32 [node]: the first child"""
    counts: Int64Array
    """int64 [node, class]: the rows that came by"""
    smoothing: float = 0.0
    """With how many rows like those above it each node is filled up before it says anything: a few
    rows alone say little"""

    def __len__(self) -> int:
        return len(self.feature)

    @property
    def leaves(self) -> int:
        """Those that any row came to."""
        return int(((self.feature == LEAF) & (self.counts.sum(axis=1) > 0)).sum())

    @cached_property
    def sides(self) -> Array:
        """int64 [node]: how many children it has, empty ones included."""
        inner = np.flatnonzero(self.feature != LEAF)
        found = np.zeros(len(self), np.int64)
        found[inner] = np.diff(np.append(self.child[inner], len(self)))
        return found

    @cached_property
    def parent(self) -> Array:
        """int64 [node]: its parent; that of the root is the root."""
        return np.append(0, np.repeat(np.arange(len(self)), self.sides))

    @cached_property
    def depths(self) -> Array:
        """int64 [node]: how many questions lead to it."""
        found = np.zeros(len(self), np.int64)
        start, end, depth = 0, 1, 0
        while start < end:
            found[start:end] = depth
            start, end, depth = end, end + int(self.sides[start:end].sum()), depth + 1
        return found

    @property
    def depth(self) -> int:
        """The most questions on the way to a leaf."""
        return int(self.depths.max())

    @cached_property
    def majority(self) -> Array:
        """int32 [node]: the class with the largest share; among equals the first."""
        found: Array = self.shares.argmax(axis=1).astype(np.int32)
        return found

    @cached_property
    def filled(self) -> Array:
        """bool [node]: whether any row came to it."""
        found: Array = self.counts.sum(axis=1) > 0
        return found

    def leaf_of(self, codes: Array) -> Array:
        """The node in which each row ends: a leaf, or where a value is met that is new there."""
        found = np.empty(len(codes), np.int32)
        if self.split == "threshold":  # numbers always fall on one side
            _walk_abreast(codes, self._steps, found)
        else:
            _walk(
                codes,
                self.feature,
                self.value,
                self.child,
                self.filled,
                SPLITS[self.split],
                unseen(codes),
                found,
            )
        return found

    @cached_property
    def _steps(self) -> Array:
        """uint64 [node]: child, value and feature in one word. A leaf leads to itself."""
        is_leaf = self.feature == LEAF
        child = np.where(is_leaf, np.arange(len(self)), self.child).astype(np.uint64)
        value = np.where(is_leaf, 0xFFFF, self.value).astype(np.uint64)
        feature = np.where(is_leaf, 0, self.feature).astype(np.uint64)
        steps: Array = child | value << np.uint64(32) | feature << np.uint64(48)
        return steps

    def predict(self, codes: Array) -> Array:
        """The class of each row, as its number."""
        found: Array = self.majority[self.leaf_of(codes)]
        return found

    @cached_property
    def shares(self) -> Array:
        """float64 [node, class]: of the rows that came by, filled up."""
        totals = self.counts.sum(axis=1)
        found: Array = self.counts / np.maximum(totals, 1)[:, None]
        if self.smoothing:
            _smooth(found, self.counts, totals, self.parent, self.smoothing)
        return found

    def probabilities(self, codes: Array) -> Array:
        """The share of each class where a row ends."""
        found: Array = self.shares[self.leaf_of(codes)]
        return found


@kernel
def _smooth(shares: Array, counts: Array, totals: Array, parent: Array, smoothing: float) -> None:
    """Children stand behind their parents."""
    for node in range(1, len(shares)):
        for k in range(shares.shape[1]):
            above = smoothing * shares[parent[node], k]
            shares[node, k] = (counts[node, k] + above) / (totals[node] + smoothing)


@inline
def side_of(code: Any, value: Any, split: Any) -> Any:
    """The child that a row with this code goes to."""
    if split == MULTIWAY:
        return np.intp(code)
    if split == EQUALS:
        return np.intp(code != value)
    return np.intp(code > value)


@inline
def walk_down(
    codes: Any, feature: Any, value: Any, child: Any, filled: Any, split: Any, unseen: Any = 255
) -> Any:
    """Where a row ends: at a leaf, or where it has a value that no row before it had."""
    node = 0
    while feature[node] != LEAF:
        code = codes[feature[node]]
        if code == unseen:
            break
        below = child[node] + side_of(code, value[node], split)
        if not filled[below]:
            break
        node = below
    return node


@kernel
def _walk(
    codes: Array,
    feature: Array,
    value: Array,
    child: Array,
    filled: Array,
    split: int,
    unseen: int,
    found: Array,
) -> None:
    for row in range(len(codes)):
        found[row] = walk_down(codes[row], feature, value, child, filled, split, unseen)


_ABREAST = 16
"""Rows that walk side by side: while one waits for its node from memory, others go on."""


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
