"""Split criteria: entropy, gain ratio and Gini impurity.

Every grower chooses its splits here, from integer counts, so that a tree is the same wherever its
rows were counted.
"""

from __future__ import annotations

from math import log2
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.kernels.jit import inline
from selfplay.train.config import Criterion, Split

CRITERIA: dict[Criterion, int] = {"entropy": 0, "gain_ratio": 1, "gini": 2}
SPLITS: dict[Split, int] = {"multiway": 0, "equals": 1, "threshold": 2}
ENTROPY, GAIN_RATIO, GINI = CRITERIA.values()
MULTIWAY, EQUALS, THRESHOLD = SPLITS.values()

NOTHING = -1
"""In place of a feature: no split."""

# Gains that differ by less are equal, and the first is taken: the last bit of a logarithm depends
# on the machine.
TOLERANCE = 1e-10


def table_of_logs(most: int) -> Array:
    """n·log2(n) for small n, as most counts are."""
    n = np.arange(min(most, 1 << 16) + 1, dtype=np.float64)
    return np.asarray(n * np.log2(np.maximum(n, 1)))


@inline
def n_log_n(n: Any, logs: Any) -> Any:
    return logs[n] if n < len(logs) else n * log2(n)


@inline
def impurity(counts: Any, total: Any, criterion: Any, logs: Any) -> Any:
    """The impurity of these class counts, times their total."""
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

    `histogram` has the class counts of every value of every feature, `totals` of all rows, `room`
    is scratch space. Among equal gains the first feature is taken, then its first value.
    """
    starts, cuts, least, logs = rules.starts, rules.cuts, rules.least, rules.logs
    split, criterion = rules.split, rules.criterion
    total = 0
    for count in totals:
        total += count
    before = impurity(totals, total, criterion, logs)
    best, best_feature, best_value = -1.0, NOTHING, 0
    if split == MULTIWAY:
        for feature in range(len(starts) - 1):
            after, split_entropy, parts, fits = 0.0, n_log_n(total, logs), 0, True
            for value in range(starts[feature], starts[feature + 1]):
                part = 0
                for count in histogram[value]:
                    part += count
                if part == 0:
                    continue
                parts += 1
                fits = fits and part >= least
                after += impurity(histogram[value], part, criterion, logs)
                split_entropy -= n_log_n(part, logs)
            if parts < 2 or not fits:
                continue
            gain = _gain(before - after, split_entropy, total, criterion)
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
            # A threshold above a missing value was tried before.
            if part == 0 or not cuts[value] or below < least or total - below < least:
                continue
            if below == total:
                continue
            after = impurity(room, below, criterion, logs)
            above = total - below
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
            split_entropy = n_log_n(total, logs) - n_log_n(below, logs) - n_log_n(above, logs)
            gain = _gain(before - after, split_entropy, total, criterion)
            if gain > best + TOLERANCE:
                best, best_feature, best_value = gain, feature, value - starts[feature]
    return best_feature, best_value, best


@inline
def _gain(less: Any, split_entropy: Any, total: Any, criterion: Any) -> Any:
    """The gain per row, or the gain ratio."""
    if criterion == GAIN_RATIO:
        return less / split_entropy
    return less / total
