"""A tree that asks for the number of stones first, and goes on by stages of the game.

Each stage is grown by itself, with as many rows in a leaf as it bears: the first positions of games
are few and come up again, those in the middle of a game never do.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from selfplay.errors import InputError, quoted
from train.features import FeatureSet
from train.grower import Matrix, in_order
from train.tree import LEAF, Tree

Array = np.ndarray[Any, Any]
Stages = tuple[tuple[int, int], ...]
"""Up to so many stones, so many rows in a leaf at least."""

EARLY = (
    "row",
    "columns from the edge",
    "stones",
    "points, against the best other move",
    "better moves by points",
)
"""What stages before the last see, beside the cells. The last sees all but the cells."""

# A stage learns from what is near it, too: so many stones less, and so many more.
_BEFORE, _AFTER = 2, 4


def parse_stages(text: str) -> Stages:
    """`5:1,13:50`: with up to 5 stones a row in a leaf will do, with up to 13 it takes 50."""
    found = []
    for part in text.split(",") if text.strip() else []:
        match = re.fullmatch(r"\s*([0-9]{1,3}):([1-9][0-9]{0,8})\s*", part)
        if match is None:
            raise InputError(
                f"stages are written STONES:ROWS, such as 5:1,13:50, not {quoted(part.strip())}"
            )
        found.append((int(match[1]), int(match[2])))
    if [stones for stones, _ in found] != sorted({stones for stones, _ in found}):
        raise InputError("stages have more and more stones, such as 5:1,13:50")
    return tuple(found)


def grow_stages(
    matrix: Matrix,
    features: FeatureSet,
    stages: Stages,
    last: int,
    grow: Callable[[Matrix, int], Tree],
) -> Tree:
    """The tree of these rows. `last` is the rows in a leaf behind the last stage; `grow` grows a
    tree with so many rows in a leaf."""
    stones = features.names.index("stones")
    counted = matrix.codes[:, stones].astype(np.int64)
    # Of few rows more would be learned by accident, and of cells that do not come up again.
    is_cell = np.array([name.startswith("the cell ") for name in features.names])
    is_asked = is_cell | np.isin(features.names, EARLY)
    early = replace(matrix, codes=np.where(is_asked, matrix.codes, 0))
    late = replace(matrix, codes=np.where(is_cell, 0, matrix.codes))
    edges = [edge for edge, _ in stages]
    trees: list[Tree] = []
    for low, high, least in zip(
        [0, *(edge + 1 for edge in edges)],
        [*edges, np.iinfo(np.int64).max - _AFTER],
        [*(rows for _, rows in stages), last],
        strict=True,
    ):
        near = (counted >= low - _BEFORE) & (counted <= high + _AFTER)
        is_last = len(trees) == len(stages)
        trees.append(grow((late if is_last else early)[near], least))
    return joined(trees, stones, edges)


def joined(trees: Sequence[Tree], feature: int, edges: Sequence[int]) -> Tree:
    """One tree out of several: the first up to the first edge, and so on."""
    # First the questions for the edges, each with its two children; then the trees, whose roots
    # stand among these children.
    chain = 2 * len(edges) + 1
    starts = chain + np.cumsum([0, *(len(tree) - 1 for tree in trees)])
    size = int(starts[-1])
    asked = np.full(size, LEAF, np.int32)
    value, child = np.zeros((2, size), np.int32)
    counts = np.zeros((size, trees[0].counts.shape[1]), np.int64)
    for number, edge in enumerate(edges):
        asked[2 * number], value[2 * number], child[2 * number] = feature, edge, 2 * number + 1
        counts[2 * number] = sum(tree.counts[0] for tree in trees[number:])
    roots = [*range(1, chain, 2), chain - 1]
    for root, start, tree in zip(roots, starts.tolist(), trees, strict=False):
        where = np.append(root, np.arange(start, start + len(tree) - 1))
        asked[where], value[where], counts[where] = tree.feature, tree.value, tree.counts
        child[where] = np.where(tree.feature != LEAF, tree.child + start - 1, 0)
    sides = np.where(asked != LEAF, 2, 0)
    return in_order(trees[0].split, asked, value, child, counts, sides)
