"""ID3 as it would be written on a blackboard: slow, obvious, and the judge of the fast one."""

from __future__ import annotations

from collections import Counter
from math import log2
from typing import Any

from selfplay.train.tree.criterion import TOLERANCE

Row = tuple[tuple[int, ...], int]


def impurity(rows: list[Row], criterion: str) -> float:
    counts = Counter(label for _, label in rows)
    shares = [count / len(rows) for count in counts.values()]
    if criterion == "gini":
        return 1 - sum(share * share for share in shares)
    return -sum(share * log2(share) for share in shares)


def divided(rows: list[Row], feature: int, value: int, split: str, width: int) -> list[list[Row]]:
    def side(row: Row) -> int:
        code = row[0][feature]
        return {"multiway": code, "equals": int(code != value), "threshold": int(code > value)}[
            split
        ]

    sides = width if split == "multiway" else 2
    return [[row for row in rows if side(row) == number] for number in range(sides)]


def gain(rows: list[Row], parts: list[list[Row]], criterion: str) -> float:
    filled = [part for part in parts if part]
    less = impurity(rows, criterion) - sum(
        len(part) / len(rows) * impurity(part, criterion) for part in filled
    )
    if criterion != "gain_ratio":
        return less
    return less / -sum(len(part) / len(rows) * log2(len(part) / len(rows)) for part in filled)


def grown(
    rows: list[Row],
    widths: list[int],
    criterion: str,
    split: str,
    max_depth: int,
    least: int,
    min_gain: float,
) -> Any:
    """The tree as nested tuples: the classes of a leaf, or a question and its branches."""
    counts = sorted(Counter(label for _, label in rows).items())
    if max_depth == 0 or len(counts) == 1:
        return counts
    best: tuple[float, int, int] | None = None
    for feature, width in enumerate(widths):
        for value in range(1 if split == "multiway" else width):
            parts = divided(rows, feature, value, split, width)
            filled = [part for part in parts if part]
            if len(filled) < 2 or min(map(len, filled)) < least:
                continue
            # Of thresholds between the same rows the first counts.
            if split == "threshold" and not any(row[0][feature] == value for row in rows):
                continue
            found = gain(rows, parts, criterion)
            if best is None or found > best[0] + TOLERANCE:
                best = (found, feature, value)
    if best is None or best[0] < min_gain - TOLERANCE:
        return counts
    _, feature, value = best
    parts = divided(rows, feature, value, split, widths[feature])
    below = [
        grown(part, widths, criterion, split, max_depth - 1, least, min_gain) if part else None
        for part in parts
    ]
    return feature, value, below


def as_nested(tree: Any, node: int = 0) -> Any:
    """A tree of ours in the same form."""
    if not tree.filled[node]:
        return None
    if tree.feature[node] < 0:
        return [(k, int(n)) for k, n in enumerate(tree.counts[node]) if n]
    first = int(tree.child[node])
    below = [as_nested(tree, first + side) for side in range(int(tree.sides[node]))]
    return int(tree.feature[node]), int(tree.value[node]), below
