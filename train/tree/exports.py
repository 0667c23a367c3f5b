"""Export to text, Graphviz, SVG and JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from selfplay.errors import InputError
from selfplay.train.tree.tree import LEAF, Tree


@dataclass(frozen=True, slots=True)
class Wording:
    """The words for the numbers in a tree."""

    answer: Callable[[int, int, int], str]
    """Of a feature, a value and a side of the split: what holds there."""
    classes: tuple[str, ...]
    unit: float = 1.0
    """What a row of weight 1 counts in the tree."""

    @classmethod
    def of(
        cls,
        model: Any,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
    ) -> Wording:
        """Of an `ID3Classifier`: the names of its training data, unless others are given."""
        names = _names(
            "feature",
            feature_names,
            getattr(model, "feature_names_in_", None),
            [f"column {feature}" for feature in range(model.n_features_in_)],
        )
        classes = _names("class", class_names, None, model.classes_.tolist())
        features = model.encoding_.features

        def answer(feature: int, value: int, side: int) -> str:
            name = names[feature]
            known = features[feature]
            if model.split == "multiway":
                return f"{name} is {known.values[side]}"
            if model.split == "equals":
                return f"{name} is {'not ' * side}{known.values[value]}"
            bound = known.bounds[value] if known.bounds is not None else known.values[value]
            return f"{name} {'>' if side else '<='} {bound:g}"

        return cls(answer, classes, model.unit_)

    def number(self, count: int) -> str:
        """A number of rows, by weight."""
        return f"{count:,}" if self.unit == 1 else f"{count / self.unit:,.1f}"


def _names(
    what: str,
    given: Sequence[str] | None,
    known: Iterable[object] | None,
    default: Sequence[object],
) -> tuple[str, ...]:
    if given is not None and len(given) != len(default):
        raise InputError(f"there are {len(default)} names for {what}_names, not {len(given)}")
    chosen = given if given is not None else known if known is not None else default
    return tuple(str(name) for name in chosen)


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
    support = wording.number(total)
    if most != total:
        support = f"{wording.number(most)} of {support}"
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


_ROW, _LETTER, _MARGIN = 96, 6.6, 16
_WIDEST, _NARROWEST, _BAR = 180.0, 4.0, 18
_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#666666")
"""Okabe and Ito's, which colour-blind people tell apart."""


def _colour(number: int) -> str:
    if number < len(_COLOURS):
        return _COLOURS[number]
    return f"hsl({number * 137.5 % 360:.0f}, 55%, 55%)"  # the golden angle: neighbours differ


def as_svg(tree: Tree, wording: Wording, depth: int | None = None) -> str:
    """The tree as an SVG image: each node a bar as long as its rows, in the colours of its
    classes; branches are as thick as their rows."""
    shown = dict(_nodes(tree, depth))
    texts = {node: conclusion(tree, node, wording) for node in shown}
    answers = {
        child: wording.answer(int(tree.feature[node]), int(tree.value[node]), side)
        for node in shown
        for side, child in sides_of(tree, node)
        if child in shown
    }
    totals = tree.counts.sum(axis=1)
    bars = {node: max(_NARROWEST, _WIDEST * totals[node] / totals[0]) for node in shown}
    widths = {
        node: max(bars[node], max(len(text), len(answers.get(node, ""))) * _LETTER) + _MARGIN
        for node, text in texts.items()
    }
    place = _places(tree, widths)
    used = [k for k in range(len(wording.classes)) if tree.counts[0, k]]
    legend, legend_width = _legend([(wording.classes[k], _colour(k)) for k in used])
    width = max(legend_width, *(place[node] + widths[node] / 2 for node in shown)) + _MARGIN
    height = (max(shown.values()) + 1) * _ROW + 12
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" '
        f'width="{width:.0f}" font-family="sans-serif" font-size="12" text-anchor="middle">',
        f'<rect width="{width:.0f}" height="{height}" fill="white"/>',
        *legend,
    ]
    for node, level in shown.items():
        if node:
            x, y, above = place[node], level * _ROW + 40, place[int(tree.parent[node])]
            top, end = y - _ROW + _BAR + 20, y - 22
            middle = (top + end) // 2
            parts.append(
                f'<path d="M{above:.1f} {top} C{above:.1f} {middle} {x:.1f} {middle} '
                f'{x:.1f} {end}" fill="none" stroke="#ccc" '
                f'stroke-width="{1 + 11 * totals[node] / totals[0]:.1f}"/>'
            )
    for node, level in shown.items():
        x, y = place[node], level * _ROW + 40
        if node:
            parts.append(
                f'<text x="{x:.1f}" y="{y - 7}" fill="#555">{escape(answers[node])}</text>'
            )
        parts += _bar(tree, node, wording, x - bars[node] / 2, y, bars[node])
        is_cut = tree.feature[node] != LEAF and level == depth
        text = escape(texts[node]) + (" …" if is_cut else "")
        parts.append(f'<text x="{x:.1f}" y="{y + _BAR + 14}">{text}</text>')
    return "\n".join([*parts, "</svg>"]) + "\n"


def _places(tree: Tree, widths: dict[int, float]) -> dict[int, float]:
    """The middle of each node: of a leaf beside the others, else above its children."""
    place: dict[int, float] = {}
    right = float(_MARGIN) / 2

    def lay(node: int) -> None:
        nonlocal right
        left = right
        below = [child for _, child in sides_of(tree, node) if child in widths]
        for child in below:
            lay(child)
        place[node] = left + widths[node] / 2
        if below:
            # Never left of what was there before: a wide node may stand on narrow children.
            place[node] = max(place[node], (place[below[0]] + place[below[-1]]) / 2)
        right = max(right, place[node] + widths[node] / 2)

    lay(0)
    return place


def _legend(classes: Sequence[tuple[str, str]]) -> tuple[list[str], float]:
    """Squares with the names of the classes, and where they end."""
    parts, x = [], float(_MARGIN)
    for name, colour in classes:
        parts.append(
            f'<rect x="{x:.0f}" y="8" width="11" height="11" fill="{colour}"/>'
            f'<text x="{x + 16:.0f}" y="18" text-anchor="start">{escape(name)}</text>'
        )
        x += 16 + len(name) * _LETTER + 18
    return parts, x


def _bar(tree: Tree, node: int, wording: Wording, x: float, y: int, width: float) -> Iterator[str]:
    """A node: a part for each class, as long as its share."""
    counts = tree.counts[node].tolist()
    facts = [f"{wording.classes[k]}: {wording.number(n)}" for k, n in enumerate(counts) if n]
    yield f"<g><title>{escape('; '.join(facts))}</title>"
    for k, share in enumerate(tree.shares[node].tolist()):
        if part := width * share:
            yield (
                f'<rect x="{x:.1f}" y="{y}" width="{part:.2f}" height="{_BAR}" '
                f'fill="{_colour(k)}"/>'
            )
            x += part
    yield "</g>"


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
