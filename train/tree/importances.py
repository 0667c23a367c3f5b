"""Gain importances: how much the splits by each feature decrease the impurity."""

from __future__ import annotations

import numpy as np

from selfplay.arrays import Array
from selfplay.train.config import Criterion
from selfplay.train.tree.tree import LEAF, Tree


def impurity(tree: Tree, criterion: Criterion) -> Array:
    """float64 [node]: the impurity, times its rows. The gain ratio measures entropy."""
    counts = tree.counts.astype(np.float64)
    totals = counts.sum(axis=1)
    if criterion == "gini":
        return np.asarray(totals - (counts**2).sum(axis=1) / np.maximum(totals, 1))
    found = totals * np.log2(np.maximum(totals, 1))
    found -= (counts * np.log2(np.maximum(counts, 1))).sum(axis=1)
    return np.asarray(found)


def impurity_decrease(tree: Tree, criterion: Criterion) -> Array:
    """float64 [node]: the impurity less that of its children, times the rows of each."""
    impurities = impurity(tree, criterion)
    below = np.bincount(tree.parent[1:], impurities[1:], minlength=len(tree))
    return np.asarray(impurities - below)


def gain_importances(tree: Tree, criterion: Criterion, features: int) -> Array:
    """float64 [feature]: its share of the decrease of impurity; all 0 without a split."""
    inner = tree.feature != LEAF
    decrease = np.maximum(impurity_decrease(tree, criterion)[inner], 0)
    found = np.bincount(tree.feature[inner], decrease, minlength=features)
    return np.asarray(found / (found.sum() or 1.0))
