"""Growing a tree: rows are counted, a split is chosen, rows are dealt to its sides, and so on.

Rows stand in two buffers in turn. Those of a node are side by side in one; a split deals them to
the other, so that those of each child are again. A node counts the classes of every value of
every feature once, over its own rows alone or as what its parent has and its siblings have not,
whichever is less to read.

Near the root several threads share the rows of a node; further down each grows whole branches.
Counts are whole numbers, so that none of this shows in the tree.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from selfplay.arrays import Array, Int64Array, UInt8Array
from selfplay.kernels.jit import inline, kernel
from selfplay.machine import usable_cores
from selfplay.train.tree.criterion import (
    CRITERIA,
    EQUALS,
    MULTIWAY,
    NOTHING,
    SPLITS,
    TOLERANCE,
    Criterion,
    Split,
    best_split,
    table_of_logs,
)
from selfplay.train.tree.tree import LEAF, Tree, side_of

Branch = tuple[Array, Array, Array, Array]
"""Feature, value, first child and classes of the nodes of a part of a tree."""
Share = Callable[..., Iterable[Any]]
"""`map`, by several threads."""

DEEPEST = 1 << 20

# A node with fewer rows than this is not worth sharing.
_SHARED = 1 << 14
_BRANCHES_PER_THREAD = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where to stop."""

    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_gain: float = 0.0


@dataclass(frozen=True, slots=True)
class Matrix:
    """Rows of small whole numbers, and what is to be learned of them."""

    codes: Array
    """uint8 or uint16 [row, feature]: values are numbered from 0 in each feature"""
    widths: Int64Array
    """int64 [feature]: how many values it has"""
    labels: UInt8Array
    """uint8 [row]: classes are numbered from 0"""
    weights: Int64Array
    """int64 [row]: how many rows this stands for"""
    classes: int
    cuts: Array | None = None
    """bool [value of any feature]: where a threshold may be; anywhere, if not given"""

    def __getitem__(self, which: Array) -> Matrix:
        """The same of some rows."""
        return replace(
            self, codes=self.codes[which], labels=self.labels[which], weights=self.weights[which]
        )

    def divided(self, share: float) -> tuple[Matrix, Matrix]:
        """Those rows to which no such share belongs, and those to which it does. Rows with the
        same codes stay together: which side is theirs depends on these alone."""
        mixed = np.zeros(len(self.codes), np.uint64)
        for column in self.codes.T:
            mixed = (mixed ^ column.astype(np.uint64)) * np.uint64(0x9E3779B97F4A7C15)
            mixed ^= mixed >> np.uint64(29)
        chosen = (mixed >> np.uint64(11)) < share * (1 << 53)
        return self[~chosen], self[chosen]

    @property
    def starts(self) -> Array:
        """Where the values of each feature begin, if all are counted through."""
        return np.concatenate([[0], np.cumsum(self.widths)]).astype(np.int64)


def grow(
    matrix: Matrix,
    criterion: Criterion = "entropy",
    split: Split = "threshold",
    limits: Limits | None = None,
    threads: int | None = None,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Tree:
    """The tree of these rows. It depends on how often each row is there, and on nothing else."""
    grower = _Grower(matrix, criterion, split, limits or Limits(), threads or usable_cores())
    return grower.grow(tell)


@dataclass(slots=True)
class _Node:
    """Rows from `low` up to `high` in the buffer of its depth, and what became of them."""

    low: int
    high: int
    depth: int
    totals: Array
    histogram: Array | None = None
    feature: int = LEAF
    value: int = 0
    children: list[_Node] | None = None
    branch: Branch | None = None


class Rows(NamedTuple):
    """Some of the rows of a matrix, or a place for them."""

    codes: Array
    labels: Array
    weights: Array


class Rules(NamedTuple):
    """What decides over splits."""

    starts: Array
    cuts: Array
    split: int
    criterion: int
    max_depth: int
    least: int
    min_gain: float
    logs: Array


class _Grower:
    def __init__(
        self, matrix: Matrix, criterion: Criterion, split: Split, limits: Limits, threads: int
    ) -> None:
        rows = len(matrix.codes)
        self.matrix, self.split, self.threads = matrix, split, threads
        self.starts = matrix.starts
        # Weights are wide for what is nearly always a small number, and there are many.
        narrow = matrix.weights.max(initial=0) < 1 << 31
        weights = matrix.weights.astype(np.int32) if narrow else matrix.weights
        given = Rows(matrix.codes, matrix.labels, weights)
        # What is read is dealt over later: the rows given are the caller's.
        self.buffers = Rows(*map(np.copy, given)), Rows(*map(np.empty_like, given))
        self.rules = Rules(
            starts=self.starts,
            cuts=np.ones(self.starts[-1], np.bool_) if matrix.cuts is None else matrix.cuts,
            split=SPLITS[split],
            criterion=CRITERIA[criterion],
            max_depth=DEEPEST if limits.max_depth is None else limits.max_depth,
            least=limits.min_samples_leaf,
            min_gain=limits.min_gain,
            logs=table_of_logs(int(matrix.weights.sum())),
        )
        self.small = max(_SHARED, rows // (threads * _BRANCHES_PER_THREAD)) if threads > 1 else rows

    def grow(self, tell: Callable[[int, int], None]) -> Tree:
        totals = np.bincount(
            self.matrix.labels, self.matrix.weights, minlength=self.matrix.classes
        ).astype(np.int64)
        root = _Node(0, len(self.matrix.codes), 0, totals)
        with ThreadPoolExecutor(self.threads) as pool:
            branches = self._grow_top(root, pool.map)
            branches.sort(key=lambda node: node.low - node.high)  # the longest first
            settled = root.high - sum(node.high - node.low for node in branches)
            for node, found in zip(branches, pool.map(self._grow_branch, branches), strict=True):
                node.branch = found
                settled += node.high - node.low
                tell(settled, root.high)
        return _assembled(root, self.split, self.starts)

    def _grow_branch(self, node: _Node) -> Branch:
        return _branch(*self.buffers, node.low, node.high, node.depth, node.totals, self.rules)

    def _grow_top(self, root: _Node, share: Share) -> list[_Node]:
        """Split nodes until they are small; the small ones, which are still to be grown."""
        small, big = [], [root]
        while big:
            node = big.pop()
            if node.high - node.low <= self.small:
                small.append(node)
                continue
            if not is_leaf(node.totals, node.depth, self.rules):
                self._split(node, share)
                big += node.children or []
        return small

    def _split(self, node: _Node, share: Share) -> None:
        histogram = self._histogram(node, share) if node.histogram is None else node.histogram
        node.histogram = None
        feature, value = choose(histogram, node.totals, self.rules)
        if feature == NOTHING:
            return
        node.feature, node.value = feature, value
        chunks = self._chunks(node)
        width = int(self.matrix.widths[feature]) if self.split == "multiway" else 2
        here, there = self._sides(node.depth)

        def sizes_of(chunk: tuple[int, int]) -> Array:
            return _sizes(here.codes, *chunk, feature, value, self.rules.split, width)

        sizes = np.stack(list(share(sizes_of, chunks)))
        ends = np.cumsum(sizes.sum(axis=0)) + node.low
        firsts = ends - sizes.sum(axis=0)
        cursors = firsts + np.cumsum(sizes, axis=0) - sizes

        def deal(chunk: tuple[int, int], cursor: Array) -> None:
            _deal(here, there, *chunk, feature, value, self.rules.split, cursor)

        list(share(deal, chunks, cursors))
        totals = totals_of_sides(histogram, node.totals, self.rules, feature, value)
        node.children = [
            _Node(int(low), int(high), node.depth + 1, total)
            for low, high, total in zip(firsts, ends, totals, strict=True)
        ]
        self._inherit(node.children, histogram, share)

    def _inherit(self, children: list[_Node], histogram: Array, share: Share) -> None:
        """The largest child has what the parent has and the others have not."""
        largest = max(children, key=lambda child: child.high - child.low)
        if largest.high - largest.low <= self.small:
            return
        for child in children:
            if child is not largest:
                child.histogram = self._histogram(child, share)
                histogram = histogram - child.histogram
        largest.histogram = histogram

    def _histogram(self, node: _Node, share: Share) -> Array:
        shape = (int(self.starts[-1]), self.matrix.classes)

        def count(chunk: tuple[int, int]) -> Array:
            found = np.zeros(shape, np.int64)
            _count_rows(self._sides(node.depth)[0], *chunk, self.starts, found)
            return found

        total: Array = np.sum(list(share(count, self._chunks(node))), axis=0)
        return total

    def _chunks(self, node: _Node) -> list[tuple[int, int]]:
        parts = self.threads if node.high - node.low > _SHARED else 1
        marks = np.linspace(node.low, node.high, parts + 1).astype(int).tolist()
        return list(pairwise(marks))

    def _sides(self, depth: int) -> tuple[Rows, Rows]:
        """The buffer in which the rows of this depth are, and the other one."""
        return self.buffers[depth & 1], self.buffers[1 - (depth & 1)]


def totals_of_sides(
    histogram: Array, totals: Array, rules: Rules, feature: int, value: int
) -> Array:
    """The classes on each side of a split."""
    values: Array = histogram[rules.starts[feature] : rules.starts[feature + 1]]
    if rules.split == MULTIWAY:
        return values
    first = values[value] if rules.split == EQUALS else values[: value + 1].sum(axis=0)
    return np.stack([first, totals - first])


@inline
def is_leaf(totals: Any, depth: Any, rules: Any) -> Any:
    """Whether there is nothing to ask: no room, too few, or all of one class."""
    total, largest = 0, 0
    for count in totals:
        total += count
        largest = max(largest, count)
    return depth >= rules.max_depth or total < 2 * rules.least or largest == total


@inline
def _count(rows: Any, low: Any, high: Any, starts: Any, out: Any) -> Any:
    features = rows.codes.shape[1]
    for row in range(low, high):
        label, weight = np.intp(rows.labels[row]), rows.weights[row]
        for feature in range(features):
            out[starts[feature] + rows.codes[row, feature], label] += weight


@kernel
def _count_rows(rows: Rows, low: int, high: int, starts: Array, out: Array) -> None:
    _count(rows, low, high, starts, out)


@kernel
def choose(histogram: Array, totals: Array, rules: Rules) -> tuple[int, int]:
    feature, value, gain = best_split(histogram, totals, rules, np.empty(len(totals), np.int64))
    if gain < rules.min_gain - TOLERANCE:
        return NOTHING, 0
    return feature, value


@kernel
def _sizes(
    codes: Array, low: int, high: int, feature: int, value: int, split: int, width: int
) -> Array:
    found = np.zeros(width, np.int64)
    for row in range(low, high):
        found[side_of(codes[row, feature], value, split)] += 1
    return found


@inline
def _deal_rows(
    here: Any, there: Any, low: Any, high: Any, feature: Any, value: Any, split: Any, cursors: Any
) -> Any:
    features = here.codes.shape[1]
    for row in range(low, high):
        side = side_of(here.codes[row, feature], value, split)
        at = cursors[side]
        cursors[side] = at + 1
        for k in range(features):
            there.codes[at, k] = here.codes[row, k]
        there.labels[at] = here.labels[row]
        there.weights[at] = here.weights[row]


@kernel
def _deal(
    here: Rows,
    there: Rows,
    low: int,
    high: int,
    feature: int,
    value: int,
    split: int,
    cursors: Array,
) -> None:
    _deal_rows(here, there, low, high, feature, value, split, cursors)


@kernel
def _branch(
    even: Rows, odd: Rows, low: int, high: int, depth: int, totals: Array, rules: Rules
) -> Branch:
    """Grow all that is below a node, one thread alone, the last child first."""
    starts, split, classes = rules.starts, rules.split, len(totals)
    values = starts[-1]
    width = 2
    if split == MULTIWAY:
        for k in range(len(starts) - 1):
            width = max(width, starts[k + 1] - starts[k])
    # What the tree is made of.
    feature = np.full(64, LEAF, np.int32)
    value = np.zeros(64, np.int32)
    child = np.zeros(64, np.int32)
    counts = np.zeros((64, classes), np.int64)
    used = 1
    counts[0] = totals
    # Nodes that wait, each with its rows, its depth and the place of its histogram.
    waiting = np.empty((64, 5), np.int64)
    histograms = np.zeros((8, values, classes), np.int64)
    free = np.arange(8)
    free_count = 8
    room = np.empty(classes, np.int64)
    cursors = np.empty(width, np.int64)
    waiting[0] = (0, low, high, depth, -1)
    count = 1
    while count:
        count -= 1
        node, low, high, depth, place = waiting[count]
        here, there = (odd, even) if depth & 1 else (even, odd)
        if place < 0:
            if is_leaf(counts[node], depth, rules):
                continue
            free_count -= 1
            place = free[free_count]
            histograms[place] = 0
            _count(here, low, high, starts, histograms[place])
        histogram = histograms[place]
        asked, at, gain = best_split(histogram, counts[node], rules, room)
        if asked == NOTHING or gain < rules.min_gain - TOLERANCE:
            free[free_count] = place
            free_count += 1
            continue
        sides = starts[asked + 1] - starts[asked] if split == MULTIWAY else 2
        if used + sides > len(feature):
            feature = _longer(feature, LEAF)
            value, child = _longer(value, 0), _longer(child, 0)
            counts = _taller(counts)
        feature[node], value[node], child[node] = asked, at, used
        # The classes of the children, out of the histogram.
        first = starts[asked]
        for side in range(sides):
            counts[used + side] = 0
        if split == MULTIWAY:
            for side in range(sides):
                for k in range(classes):
                    counts[used + side, k] = histogram[first + side, k]
        else:
            for v in range(first + at if split == EQUALS else first, first + at + 1):
                for k in range(classes):
                    counts[used, k] += histogram[v, k]
            for k in range(classes):
                counts[used + 1, k] = counts[node, k] - counts[used, k]
        # Which of them go on, and which is the largest.
        for side in range(sides):
            cursors[side] = 0
        for row in range(low, high):
            cursors[side_of(here.codes[row, asked], at, split)] += 1
        begin, largest, most = low, 0, -1
        inner = 0
        for side in range(sides):
            size = cursors[side]
            cursors[side] = begin
            begin += size
            if size > most:
                largest, most = side, size
            inner += not is_leaf(counts[used + side], depth + 1, rules)
        if inner == 0:
            used += sides
            free[free_count] = place
            free_count += 1
            continue
        _deal_rows(here, there, low, high, asked, at, split, cursors)
        while free_count < sides:
            histograms, free = _more(histograms, free, free_count)
            free_count += len(histograms) // 2
        if count + sides > len(waiting):
            waiting = _taller(waiting)
        subtract = not is_leaf(counts[used + largest], depth + 1, rules)
        end = low
        for side in range(sides):
            begin, end = end, cursors[side]
            if side == largest or begin == end:
                continue
            wanted = not is_leaf(counts[used + side], depth + 1, rules)
            if not (wanted or subtract):
                continue
            free_count -= 1
            own = free[free_count]
            histograms[own] = 0
            _count(there, begin, end, starts, histograms[own])
            if subtract:
                for v in range(values):
                    for k in range(classes):
                        histograms[place, v, k] -= histograms[own, v, k]
            if wanted:
                waiting[count] = (used + side, begin, end, depth + 1, own)
                count += 1
            else:
                free[free_count] = own
                free_count += 1
        if subtract:
            end = cursors[largest]
            waiting[count] = (used + largest, end - most, end, depth + 1, place)
            count += 1
        else:
            free[free_count] = place
            free_count += 1
        used += sides
    return feature[:used].copy(), value[:used].copy(), child[:used].copy(), counts[:used].copy()


@inline
def _longer(array: Any, fill: Any) -> Any:
    out = np.full(2 * len(array) + 512, fill, array.dtype)
    out[: len(array)] = array
    return out


@inline
def _taller(array: Any) -> Any:
    out = np.zeros((2 * len(array) + 512, array.shape[1]), array.dtype)
    out[: len(array)] = array
    return out


@inline
def _more(histograms: Any, free: Any, free_count: Any) -> Any:
    """Twice as many histograms; the new ones are free."""
    size = len(histograms)
    out = np.zeros((2 * size, histograms.shape[1], histograms.shape[2]), histograms.dtype)
    out[:size] = histograms
    more = np.empty(2 * size, free.dtype)
    more[:free_count] = free[:free_count]
    more[free_count : free_count + size] = np.arange(size, 2 * size)
    return out, more


def _assembled(root: _Node, split: Split, starts: Array) -> Tree:
    """One tree out of the nodes near the root and the branches below, in the order of depth."""
    feature: list[Array] = []
    value: list[Array] = []
    child: list[Array] = []
    counts: list[Array] = []

    def add(node: _Node) -> int:
        at = len(feature)
        feature.append(np.array([node.feature], np.int32))
        value.append(np.array([node.value], np.int32))
        child.append(np.zeros(1, np.int32))
        counts.append(node.totals[None])
        return at

    # First all nodes of the top, then all branches; numbers are those of this order.
    top = [root]
    for node in top:
        top += node.children or []
    number = {id(node): at for at, node in enumerate(top)}
    for node in top:
        at = add(node)
        if node.children:
            child[at][0] = number[id(node.children[0])]
    used = len(top)
    for at, node in enumerate(top):
        if node.branch is None:
            continue
        f, v, c, n = node.branch
        # The root of the branch is there already.
        feature[at][0], value[at][0] = f[0], v[0]
        child[at][0] = c[0] + used - 1 if f[0] != LEAF else 0
        feature.append(f[1:])
        value.append(v[1:])
        child.append(np.where(f[1:] != LEAF, c[1:] + used - 1, 0).astype(np.int32))
        counts.append(n[1:])
        used += len(f) - 1
    sides = np.diff(starts) if split == "multiway" else np.full(len(starts) - 1, 2)
    asked = np.concatenate(feature)
    return in_order(
        split,
        asked,
        np.concatenate(value),
        np.concatenate(child),
        np.concatenate(counts),
        np.where(asked != LEAF, sides[asked], 0),
    )


def in_order(
    split: Split, feature: Array, value: Array, child: Array, counts: Array, sides: Array
) -> Tree:
    """The tree of these nodes, those that the root leads to, in the order of their depth."""
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
