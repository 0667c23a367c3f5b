"""Growing a branch of a tree: compiled code that a single thread runs.

A node counts the classes of every value of every feature (its histogram). The rows of a split are
dealt to the other of two buffers, so that the rows of each child are adjacent. The largest child's
histogram is the parent's less those of its siblings.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Any, NamedTuple

import numpy as np

from selfplay.arrays import Array
from selfplay.kernels.jit import inline, kernel
from selfplay.train.config import Criterion, Split
from selfplay.train.tree.criterion import (
    CRITERIA,
    EQUALS,
    MULTIWAY,
    NOTHING,
    SPLITS,
    TOLERANCE,
    best_split,
    table_of_logs,
)
from selfplay.train.tree.tree import LEAF, side_of

Branch = tuple[Array, Array]
"""Of each node the feature, value and first child, and the class counts."""

_DEEPEST = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """When to stop splitting."""

    max_depth: int | None = None
    min_samples_leaf: int = 1
    min_samples_split: int = 2
    min_gain: float = 0.0

    @classmethod
    def of(cls, options: Any, unit: float = 1.0) -> Limits:
        """From options that have these names, and others; a row of weight 1 counts `unit`."""
        return cls(
            max_depth=options.max_depth,
            min_samples_leaf=ceil(options.min_samples_leaf * unit),
            min_samples_split=ceil(getattr(options, "min_samples_split", 2) * unit),
            min_gain=options.min_gain,
        )


class Rows(NamedTuple):
    """A buffer of rows."""

    codes: Array
    labels: Array
    weights: Array


class Rules(NamedTuple):
    """How compiled code chooses splits."""

    starts: Array
    cuts: Array
    split: int
    criterion: int
    max_depth: int
    least: int
    """In a leaf"""
    least_split: int
    """In a node that is split"""
    min_gain: float
    logs: Array

    @classmethod
    def of(
        cls, criterion: Criterion, split: Split, limits: Limits, widths: Array, rows: int,
        cuts: Array | None = None,
    ) -> Rules:  # fmt: skip
        """For features of these widths and so many rows, by weight."""
        starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        return cls(
            starts=starts,
            cuts=np.ones(starts[-1], np.bool_) if cuts is None else cuts,
            split=SPLITS[split],
            criterion=CRITERIA[criterion],
            max_depth=_DEEPEST if limits.max_depth is None else limits.max_depth,
            least=limits.min_samples_leaf,
            least_split=max(limits.min_samples_split, 2 * limits.min_samples_leaf),
            min_gain=limits.min_gain,
            logs=table_of_logs(rows),
        )


def totals_of_sides(
    histogram: Array, totals: Array, rules: Rules, feature: int, value: int
) -> Array:
    """int64 [side, class]: the class counts on each side of a split."""
    values: Array = histogram[rules.starts[feature] : rules.starts[feature + 1]]
    if rules.split == MULTIWAY:
        return values
    first = values[value] if rules.split == EQUALS else values[: value + 1].sum(axis=0)
    return np.stack([first, totals - first])


@inline
def is_leaf(totals: Any, depth: Any, rules: Any) -> Any:
    """Whether a node is not split: too deep, too few rows, or pure."""
    total, largest = 0, 0
    for count in totals:
        total += count
        largest = max(largest, count)
    return depth >= rules.max_depth or total < rules.least_split or largest == total


@inline
def _count(rows: Any, low: Any, high: Any, starts: Any, out: Any) -> Any:
    features = rows.codes.shape[1]
    for row in range(low, high):
        label, weight = np.intp(rows.labels[row]), rows.weights[row]
        for feature in range(features):
            out[starts[feature] + rows.codes[row, feature], label] += weight


@kernel
def count_rows(rows: Rows, low: int, high: int, starts: Array, out: Array) -> None:
    _count(rows, low, high, starts, out)


@kernel
def choose(histogram: Array, totals: Array, rules: Rules) -> tuple[int, int]:
    feature, value, gain = best_split(histogram, totals, rules, np.empty(len(totals), np.int64))
    if gain < rules.min_gain - TOLERANCE:
        return NOTHING, 0
    return feature, value


@kernel
def side_sizes(
    codes: Array, low: int, high: int, feature: int, value: int, split: int, width: int
) -> Array:
    found = np.zeros(width, np.int64)
    for row in range(low, high):
        found[side_of(codes[row, feature], value, split)] += 1
    return found


@inline
def _deal(
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
def deal_rows(
    here: Rows, there: Rows, low: int, high: int, feature: int, value: int, split: int,
    cursors: Array,
) -> None:  # fmt: skip
    _deal(here, there, low, high, feature, value, split, cursors)


@kernel
def grow_branch(
    even: Rows, odd: Rows, low: int, high: int, depth: int, totals: Array, rules: Rules
) -> Branch:
    """Grow everything below a node, depth first, the last child first."""
    starts, split, classes = rules.starts, rules.split, len(totals)
    values = starts[-1]
    width = 2
    if split == MULTIWAY:
        for k in range(len(starts) - 1):
            width = max(width, starts[k + 1] - starts[k])
    nodes = np.zeros((64, 3), np.int32)  # feature, value, first child
    counts = np.zeros((64, classes), np.int64)
    used = 1
    nodes[0, 0], counts[0] = LEAF, totals
    # Nodes still to split: node, its rows, its depth and the slot of its histogram or -1.
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
        chosen, at, gain = best_split(histogram, counts[node], rules, room)
        if chosen == NOTHING or gain < rules.min_gain - TOLERANCE:
            free[free_count] = place
            free_count += 1
            continue
        sides = starts[chosen + 1] - starts[chosen] if split == MULTIWAY else 2
        while used + sides > len(nodes):
            nodes, counts = _longer(nodes), _longer(counts)
        nodes[node, 0], nodes[node, 1], nodes[node, 2] = chosen, at, used
        nodes[used : used + sides, 0] = LEAF
        first = starts[chosen]
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
        # Which of the children is the largest, and how many can be split.
        for side in range(sides):
            cursors[side] = 0
        for row in range(low, high):
            cursors[side_of(here.codes[row, chosen], at, split)] += 1
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
        _deal(here, there, low, high, chosen, at, split, cursors)
        while free_count < sides:
            histograms, free = _more(histograms, free, free_count)
            free_count += len(histograms) // 2
        while count + sides > len(waiting):
            waiting = _longer(waiting)
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
    return nodes[:used].copy(), counts[:used].copy()


@inline
def _longer(array: Any) -> Any:
    out = np.zeros((2 * len(array) + 512, array.shape[1]), array.dtype)
    out[: len(array)] = array
    return out


@inline
def _more(histograms: Any, free: Any, free_count: Any) -> Any:
    """Double the number of histograms; the new ones are free."""
    size = len(histograms)
    out = np.zeros((2 * size, histograms.shape[1], histograms.shape[2]), histograms.dtype)
    out[:size] = histograms
    more = np.empty(2 * size, free.dtype)
    more[:free_count] = free[:free_count]
    more[free_count : free_count + size] = np.arange(size, 2 * size)
    return out, more
