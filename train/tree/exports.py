"""Export to text, Graphviz, SVG and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from selfplay.train.tree.tree import LEAF, Tree

if TYPE_CHECKING:
    from selfplay.train.estimator.classifier import ID3Classifier


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for the numbers in a tree."""

    answer: Callable[[int, int, int], str]
    """Of a feature, a value and a side of the split: what holds there."""
    classes: tuple[str, ...]

    @classmethod
    def of(cls, model: ID3Classifier) -> Wording:
        names = getattr(model, "feature_names_in_", None)
        features = model.encoding_.features

        def answer(feature: int, value: int, side: int) -> str:
            name = f"column {feature}" if names is None else str(names[feature])
            known = features[feature]
            if model.split == "multiway":
                return f"{name} is {known.values[side]}"
            if model.split == "equals":
                return f"{name} is {'not ' * side}{known.values[value]}"
            bound = known.bounds[value] if known.bounds is not None else known.values[value]
            return f"{name} {'>' if side else '<='} {bound:g}"

        return cls(answer, tuple(str(name) for name in model.classes_))


def sides_of(tree: Tree, node: int) -> Iterator[tuple[int, int]]:
    """The sides of a node that any training row took, each with its child."""
    for side in range(int(tree.sides[node])):
        child = int(tree.child[node]) + side
        if tree.filled[child]:
            yield side, child


def conclusion(tree: Tree, node: int, wording: Wording) -> str:
    """The majority class of a node, its share if smoothed, and its row count."""
    counts = tree.counts[node]
    best = int(tree.majority[node])
    most, total = int(counts[best]), int(counts.sum())
    support = f"{total:,}" if most == total else f"{most:,} of {total:,}"
    share = f", {tree.shares[node, best]:.0%}" if tree.smoothing else ""
    return f"{wording.classes[best]}{share} ({support})"


def as_text(tree: Tree, wording: Wording, depth: int | None = None) -> str:
    """The tree, a node a line, down to `depth`."""
    lines: list[str] = []

    def write(node: int, text: str, level: int) -> None:
        if tree.feature[node] == LEAF:
            lines.append(f"{text}: {conclusion(tree, node, wording)}".removeprefix(": "))
            return
        if depth is not None and level >= depth:
            lines.append(f"{text}: … {conclusion(tree, node, wording)}".removeprefix(": "))
            return
        if text:
            lines.append(text)
        for side, child in sides_of(tree, node):
            answer = wording.answer(int(tree.feature[node]), int(tree.value[node]), side)
            write(child, "  " * level + answer, level + 1)

    write(0, "", 0)
    return "\n".join(lines)


def as_dot(tree: Tree, wording: Wording, depth: int | None = None) -> str:
    """The tree in the DOT language."""
    lines = ["digraph tree {", '  node [shape=box, style="rounded", fontname="sans-serif"];']
    for node, level in _nodes(tree, depth):
        label = conclusion(tree, node, wording).replace('"', r"\"")
        lines.append(f'  n{node} [label="{label}"];')
        if tree.feature[node] != LEAF and (depth is None or level < depth):
            for side, child in sides_of(tree, node):
                answer = wording.answer(int(tree.feature[node]), int(tree.value[node]), side)
                text = answer.replace('"', r"\"")
                lines.append(f'  n{node} -> n{child} [label="{text}"];')
    return "\n".join([*lines, "}"]) + "\n"


def _nodes(tree: Tree, depth: int | None) -> Iterator[tuple[int, int]]:
    """The nodes down to a depth, each with its depth."""
    for node in range(len(tree)):
        level = int(tree.depths[node])
        if depth is not None and level > depth:
            return
        if tree.filled[node]:
            yield node, level


_ROW, _LETTER, _MARGIN = 64, 7.0, 16


def as_svg(tree: Tree, wording: Wording, depth: int | None = None) -> str:
    """The tree as an SVG image."""
    shown = dict(_nodes(tree, depth))
    texts = {node: conclusion(tree, node, wording) for node in shown}
    answers = {
        child: wording.answer(int(tree.feature[node]), int(tree.value[node]), side)
        for node in shown
        for side, child in sides_of(tree, node)
        if child in shown
    }
    widths = {
        node: max(len(text), len(answers.get(node, ""))) * _LETTER + _MARGIN
        for node, text in texts.items()
    }
    place: dict[int, float] = {}
    right = 0.0

    def lay(node: int) -> None:
        nonlocal right
        below = [child for _, child in sides_of(tree, node) if child in shown]
        for child in below:
            lay(child)
        if below:
            place[node] = (place[below[0]] + place[below[-1]]) / 2
        else:
            place[node] = right + widths[node] / 2
            right += widths[node]

    lay(0)
    width = max(right, *(place[node] + widths[node] / 2 for node in shown)) + _MARGIN
    height = (max(shown.values()) + 1) * _ROW
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        'font-family="sans-serif" font-size="12" text-anchor="middle">',
        f'<rect width="{width:.0f}" height="{height}" fill="white"/>',
    ]
    for node, level in shown.items():
        x, y = place[node], level * _ROW + 40
        if node:
            above = place[int(tree.parent[node])]
            parts.append(
                f'<path d="M{above:.1f} {y - _ROW + 8} L{x:.1f} {y - 28}" stroke="#bbb"/>'
                f'<text x="{x:.1f}" y="{y - 16}" fill="#666">{escape(answers[node])}</text>'
            )
        parts.append(f'<text x="{x:.1f}" y="{y}">{escape(texts[node])}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def as_json(tree: Tree, wording: Wording, depth: int | None = None) -> str:
    """The tree as nested objects."""

    def of(node: int, level: int) -> dict[str, object]:
        counts = tree.counts[node].tolist()
        best = int(tree.majority[node])
        found: dict[str, object] = {"class": wording.classes[best]}
        found["share"] = round(float(tree.shares[node, best]), 4)
        found["counts"] = dict(zip(wording.classes, counts, strict=True))
        if tree.feature[node] != LEAF and (depth is None or level < depth):
            feature, value = int(tree.feature[node]), int(tree.value[node])
            found["branches"] = [
                {"if": wording.answer(feature, value, side), **of(child, level + 1)}
                for side, child in sides_of(tree, node)
            ]
        return found

    return json.dumps(of(0, 0), ensure_ascii=False)
