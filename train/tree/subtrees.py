"""What lies below each node of a tree."""

from __future__ import annotations

import numpy as np

from selfplay.arrays import Array
from selfplay.train.tree.tree import LEAF, Tree


def leaves_below(tree: Tree) -> Array:
    """int64 [node]: the leaves below it that any training row reached; a leaf counts itself."""
    found = ((tree.feature == LEAF) & tree.filled).astype(np.int64)
    depths, starts = np.unique(tree.depths, return_index=True)
    ends = np.append(starts[1:], len(tree))
    for level in range(len(depths) - 1, 0, -1):  # children come after all nodes above them
        part = slice(int(starts[level]), int(ends[level]))
        np.add.at(found, tree.parent[part], found[part])
    return np.asarray(found)
