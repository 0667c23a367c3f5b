"""Growing a tree with several threads: near the root they share the rows of each node, further
down each grows whole branches (`branch.py`).

Counts are integers, so that the tree does not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.machine import usable_cores
from selfplay.train.config import Criterion, Split
from selfplay.train.tree.branch import (
    Branch,
    Limits,
    Rows,
    Rules,
    choose,
    count_rows,
    deal_rows,
    grow_branch,
    is_leaf,
    side_sizes,
    totals_of_sides,
)
from selfplay.train.tree.criterion import NOTHING
from selfplay.train.tree.tree import LEAF, Tree, in_order

ParallelMap = Callable[..., Iterable[Any]]

# A node with fewer rows than this is not worth sharing.
_SHARED = 1 << 14
_BRANCHES_PER_THREAD = 8


@dataclass(frozen=True, slots=True)
class Matrix:
    """A training matrix: rows of small integers with labels and weights."""

    codes: Array
    """uint8 or uint16 [row, feature]: values of each feature, numbered from 0"""
    widths: Array
    """int64 [feature]: the number of values"""
    labels: Array
    """uint8 [row]: classes, numbered from 0"""
    weights: Array
    """int64 [row]: how often it counts"""
    classes: int
    cuts: Array | None = None
    """bool [value of any feature]: where a threshold may be; None: anywhere"""
    unit: float = 1.0
    """What a row of weight 1 counts, if weights were scaled to integers"""

    def __getitem__(self, which: Array) -> Matrix:
        return replace(
            self, codes=self.codes[which], labels=self.labels[which], weights=self.weights[which]
        )

    def divided(self, share: float) -> tuple[Matrix, Matrix]:
        """Split off a share of the rows, by a hash of their codes: equal rows stay together."""
        hashes = np.zeros(len(self.codes), np.uint64)
        for column in self.codes.T:
            hashes = (hashes ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            hashes ^= hashes >> np.uint64(29)
        chosen = (hashes >> np.uint64(11)) < share * (1 << 53)
        return self[~chosen], self[chosen]

    @property
    def starts(self) -> Array:
        """The first row of each feature in a histogram."""
        return np.concatenate([[0], np.cumsum(self.widths)]).astype(np.int64)


def grow(
    matrix: Matrix,
    criterion: Criterion = "entropy",
    split: Split = "threshold",
    limits: Limits | None = None,
    threads: int | None = None,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> Tree:
    """Grow a tree. It depends on how often each row occurs, not on their order."""
    grower = _Grower(matrix, criterion, split, limits or Limits(), threads or usable_cores())
    return grower.grow(on_progress)


@dataclass(slots=True)
class _Node:
    """A node near the root; its rows are `low` to `high` in the buffer of its depth."""

    low: int
    high: int
    depth: int
    totals: Array
    histogram: Array | None = None
    feature: int = LEAF
    value: int = 0
    children: list[_Node] | None = None
    branch: Branch | None = None


class _Grower:
    def __init__(
        self, matrix: Matrix, criterion: Criterion, split: Split, limits: Limits, threads: int
    ) -> None:
        rows = len(matrix.codes)
        self.matrix, self.split, self.threads = matrix, split, threads
        # Weights are nearly always small: int32 saves memory.
        narrow = matrix.weights.max(initial=0) < 1 << 31
        weights = matrix.weights.astype(np.int32) if narrow else matrix.weights
        given = Rows(matrix.codes, matrix.labels, weights)
        # Copied, because both buffers are written to.
        self.buffers = Rows(*map(np.copy, given)), Rows(*map(np.empty_like, given))
        self.rules = Rules.of(
            criterion, split, limits, matrix.widths, int(matrix.weights.sum()), matrix.cuts
        )
        self.starts = self.rules.starts
        self.small = max(_SHARED, rows // (threads * _BRANCHES_PER_THREAD)) if threads > 1 else rows

    def grow(self, on_progress: Callable[[int, int], None]) -> Tree:
        totals = np.bincount(
            self.matrix.labels, self.matrix.weights, minlength=self.matrix.classes
        ).astype(np.int64)
        root = _Node(0, len(self.matrix.codes), 0, totals)
        with ThreadPoolExecutor(self.threads) as pool:
            branches = self._grow_top(root, pool.map)
            branches.sort(key=lambda node: node.low - node.high)  # the longest first
            done = root.high - sum(node.high - node.low for node in branches)
            for node, found in zip(branches, pool.map(self._grow_branch, branches), strict=True):
                node.branch = found
                done += node.high - node.low
                on_progress(done, root.high)
        return _assembled(root, self.split, self.starts)

    def _grow_branch(self, node: _Node) -> Branch:
        return grow_branch(*self.buffers, node.low, node.high, node.depth, node.totals, self.rules)

    def _grow_top(self, root: _Node, parallel_map: ParallelMap) -> list[_Node]:
        """Split nodes until they are small; returns the small ones, which are still leaves."""
        small, big = [], [root]
        while big:
            node = big.pop()
            if node.high - node.low <= self.small:
                small.append(node)
                continue
            if not is_leaf(node.totals, node.depth, self.rules):
                self._split(node, parallel_map)
                big += node.children or []
        return small

    def _split(self, node: _Node, parallel_map: ParallelMap) -> None:
        histogram, node.histogram = node.histogram, None
        if histogram is None:
            histogram = self._histogram(node, parallel_map)
        feature, value = choose(histogram, node.totals, self.rules)
        if feature == NOTHING:
            return
        node.feature, node.value = feature, value
        chunks = self._chunks(node)
        width = int(self.matrix.widths[feature]) if self.split == "multiway" else 2
        here, there = self._sides(node.depth)

        def sizes_of(chunk: tuple[int, int]) -> Array:
            return side_sizes(here.codes, *chunk, feature, value, self.rules.split, width)

        sizes = np.stack(list(parallel_map(sizes_of, chunks)))
        ends = np.cumsum(sizes.sum(axis=0)) + node.low
        firsts = ends - sizes.sum(axis=0)
        cursors = firsts + np.cumsum(sizes, axis=0) - sizes

        def deal(chunk: tuple[int, int], cursor: Array) -> None:
            deal_rows(here, there, *chunk, feature, value, self.rules.split, cursor)

        list(parallel_map(deal, chunks, cursors))
        totals = totals_of_sides(histogram, node.totals, self.rules, feature, value)
        node.children = [
            _Node(int(low), int(high), node.depth + 1, total)
            for low, high, total in zip(firsts, ends, totals, strict=True)
        ]
        self._inherit(node.children, histogram, parallel_map)

    def _inherit(self, children: list[_Node], histogram: Array, parallel_map: ParallelMap) -> None:
        """Histograms of the children: the largest child's is the parent's less the others'."""
        largest = max(children, key=lambda child: child.high - child.low)
        if largest.high - largest.low <= self.small:
            return
        for child in children:
            if child is not largest:
                child.histogram = self._histogram(child, parallel_map)
                histogram = histogram - child.histogram
        largest.histogram = histogram

    def _histogram(self, node: _Node, parallel_map: ParallelMap) -> Array:
        shape = (int(self.starts[-1]), self.matrix.classes)

        def count(chunk: tuple[int, int]) -> Array:
            found = np.zeros(shape, np.int64)
            count_rows(self._sides(node.depth)[0], *chunk, self.starts, found)
            return found

        return np.asarray(np.sum(list(parallel_map(count, self._chunks(node))), axis=0))

    def _chunks(self, node: _Node) -> list[tuple[int, int]]:
        parts = self.threads if node.high - node.low > _SHARED else 1
        marks = np.linspace(node.low, node.high, parts + 1).astype(int).tolist()
        return list(pairwise(marks))

    def _sides(self, depth: int) -> tuple[Rows, Rows]:
        """The buffer with the rows of this depth, and the other one."""
        return self.buffers[depth & 1], self.buffers[1 - (depth & 1)]


def _assembled(root: _Node, split: Split, starts: Array) -> Tree:
    """Join the nodes near the root and the branches below them."""
    top = [root]
    for node in top:
        top += node.children or []
    number = {id(node): at for at, node in enumerate(top)}
    firsts = [number[id(node.children[0])] if node.children else 0 for node in top]
    nodes = np.array(
        [(node.feature, node.value, first) for node, first in zip(top, firsts, strict=True)],
        np.int32,
    )
    parts = [(nodes, np.stack([node.totals for node in top]))]
    used = len(top)
    for at, node in enumerate(top):
        if node.branch is not None:
            branch, counts = node.branch
            branch[branch[:, 0] != LEAF, 2] += used - 1
            nodes[at] = branch[0]  # the root of a branch is a node of the top
            parts.append((branch[1:], counts[1:]))
            used += len(branch) - 1
    nodes, counts = map(np.concatenate, zip(*parts, strict=True))
    feature, value, child = np.ascontiguousarray(nodes.T)
    widths = np.diff(starts) if split == "multiway" else np.full(len(starts) - 1, 2)
    sides = np.where(feature != LEAF, widths[feature], 0)
    return in_order(split, feature, value, child, counts, sides)
