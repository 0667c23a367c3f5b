"""What a split is worth: how much less mixed the classes are below it.

All is worked out from whole counts. Everything that chooses a split does so here, so that a tree
is the same wherever its rows were counted.
"""

from __future__ import annotations

from math import log2
from typing import Any, Literal

import numpy as np

from selfplay.arrays import Array
from selfplay.kernels.jit import inline

Criterion = Literal["entropy", "gain_ratio", "gini"]
Split = Literal["multiway", "equals", "threshold"]

CRITERIA = {"entropy": 0, "gain_ratio": 1, "gini": 2}
SPLITS = {"multiway": 0, "equals": 1, "threshold": 2}
ENTROPY, GAIN_RATIO, GINI = CRITERIA.values()
MULTIWAY, EQUALS, THRESHOLD = SPLITS.values()

NOTHING = -1
"""In place of a feature: there is no split."""

# Two gains that differ by less are equal, and the first in order is taken: the last bit of a
# logarithm is not the same on every machine.
TOLERANCE = 1e-10


def table_of_logs(most: int) -> Array:
    """n·log2(n) for small n, where most counts are."""
    n = np.arange(min(most, 1 << 16) + 1, dtype=np.float64)
    logs: Array = n * np.log2(np.maximum(n, 1))
    return logs


@inline
def n_log_n(n: Any, logs: Any) -> Any:
    return logs[n] if n < len(logs) else n * log2(n)


@inline
def impurity(counts: Any, total: Any, criterion: Any, logs: Any) -> Any:
    """How mixed so many of each class are, times how many there are."""
    if total == 0:
        return 0.0
    mixed = 0.0
    if criterion == GINI:
        for count in counts:
            mixed += float(count) * float(count)
        return total - mixed / total
    for count in counts:
        mixed += n_log_n(count, logs)
    return n_log_n(total, logs) - mixed


@inline
def best_split(histogram: Any, totals: Any, rules: Any, room: Any) -> Any:
    """The split with the largest gain, as feature, value and gain; NOTHING if there is none.

    `histogram` has the classes of every value of every feature, `totals` the classes of all. Among
    equal gains the first feature is taken, then its first value. `room` is for a class each.
    """
    starts, cuts, least, logs = rules.starts, rules.cuts, rules.least, rules.logs
    split, criterion = rules.split, rules.criterion
    all_of_it = 0
    for count in totals:
        all_of_it += count
    before = impurity(totals, all_of_it, criterion, logs)
    best, best_feature, best_value = -1.0, NOTHING, 0
    if split == MULTIWAY:
        for feature in range(len(starts) - 1):
            after, spread, parts, fits = 0.0, n_log_n(all_of_it, logs), 0, True
            for value in range(starts[feature], starts[feature + 1]):
                part = 0
                for count in histogram[value]:
                    part += count
                if part == 0:
                    continue
                parts += 1
                fits = fits and part >= least
                after += impurity(histogram[value], part, criterion, logs)
                spread -= n_log_n(part, logs)
            if parts < 2 or not fits:
                continue
            gain = _gain(before - after, spread, all_of_it, criterion)
            if gain > best + TOLERANCE:
                best, best_feature = gain, feature
        return best_feature, best_value, best
    classes = len(totals)
    for feature in range(len(starts) - 1):
        room[:] = 0
        below = 0
        for value in range(starts[feature], starts[feature + 1] - (split == THRESHOLD)):
            part = 0
            for count in histogram[value]:
                part += count
            if split == EQUALS:
                below = part
                if part:
                    for k in range(classes):
                        room[k] = histogram[value, k]
            elif part:
                below += part
                for k in range(classes):
                    room[k] += histogram[value, k]
            # A threshold above a value that is not there is one that was tried before.
            if part == 0 or not cuts[value] or below < least or all_of_it - below < least:
                continue
            if below == all_of_it:
                continue
            after = impurity(room, below, criterion, logs)
            above = all_of_it - below
            if criterion == GINI:
                mixed = 0.0
                for k in range(classes):
                    rest = float(totals[k] - room[k])
                    mixed += rest * rest
                after += above - mixed / above
            else:
                mixed = 0.0
                for k in range(classes):
                    mixed += n_log_n(totals[k] - room[k], logs)
                after += n_log_n(above, logs) - mixed
            spread = n_log_n(all_of_it, logs) - n_log_n(below, logs) - n_log_n(above, logs)
            gain = _gain(before - after, spread, all_of_it, criterion)
            if gain > best + TOLERANCE:
                best, best_feature, best_value = gain, feature, value - starts[feature]
    return best_feature, best_value, best


@inline
def _gain(less: Any, spread: Any, total: Any, criterion: Any) -> Any:
    """The gain for one row; as a ratio, for one bit of what the split itself says."""
    if criterion == GAIN_RATIO:
        return less / spread
    return less / total
