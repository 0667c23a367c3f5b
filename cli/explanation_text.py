"""An explanation of a tree's move: lines of text for people, a record for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfplay.train.explanation import Explanation


MOST_ADVANTAGES = 4
"""Features for the move, and as many against it."""


def explanation_lines(why: Explanation, most: int | None = None) -> list[str]:
    """The path to the move's leaf, cut to its last `most` lines, and what would change the move."""
    from selfplay.train.explanation import wording_of

    rated = f"column {why.move + 1} is rated {why.shares[why.move] or 0.0:.0%}"
    if why.move in why.position.winning_moves:
        return [f"{rated}: it wins", *_ties(why)]
    path, left_out = list(why.path), 0
    if most is not None and len(path) > most:
        left_out = len(path) - most + 1
        path = path[left_out:]
    lines = [f"{rated}, because" if path else rated]
    if left_out:
        lines.append(f"  {left_out} more conditions, and")
    lines += [f"  {line}" for line in path]
    names = wording_of(why.model).classes
    counts = ", ".join(f"{names[k]} {count:,}" for k, count in enumerate(why.counts) if count)
    smoothing = why.model.tree.smoothing
    smoothed = f", smoothed toward its parent by {smoothing:,.0f} rows" if smoothing else ""
    lines.append(f"leaf of {why.support:,} rows: {counts}{smoothed}")
    lines += _ties(why)
    if why.runner_up is not None:
        other = f"column {why.runner_up + 1}"
        share = why.shares[why.runner_up] or 0.0
        lines.append(f"the next best, {other}, is rated {share:.0%}")
        lines += _points(why, other)
    if why.flip is not None:
        lines.append(f"if {why.flip.instead}, it would play column {why.flip.move + 1}")
    return lines


def explanation_record(why: Explanation) -> dict[str, Any]:
    """The explanation for `--json`, uncut; columns count from 0."""
    from selfplay.train.explanation import wording_of

    board = why.position.board
    return {
        "board": board.size,
        "connect": board.connect,
        "move": why.move,
        "ratings": why.shares,
        "path": why.path,
        "leaf": dict(zip(wording_of(why.model).classes, why.counts, strict=True)),
        "smoothing": why.model.tree.smoothing,
        "runner_up": why.runner_up,
        "advantages": [asdict(advantage) for advantage in why.advantages],
        "counterfactual": None if why.flip is None else asdict(why.flip),
    }


def _ties(why: Explanation) -> list[str]:
    """What decided between equally rated moves."""
    from selfplay.train.ties import decided_by

    if len(why.ties) < 2:
        return []
    others = ", ".join(str(column + 1) for column in why.ties if column != why.move)
    decided = decided_by(why.position, why.ties)
    return [f"equal ratings, also of column {others}: decided by {decided}"]


def _points(why: Explanation, other: str) -> list[str]:
    """The features that differ between the move and another, by what they are worth."""
    if not why.advantages:
        return []
    lines = [
        f"compared with {other}, in points:",
        "  (fixed weights of features, 32 to a unit of log odds; not the tree's tests)",
    ]
    for title, sign in (("for", 1), ("against", -1)):
        found = [one for one in why.advantages if one.points * sign > 0][:MOST_ADVANTAGES]
        lines += [f"  {title} column {why.move + 1}:"] * bool(found)
        lines += [f"    {one.points:+d}  {one.name}: {one.here}, not {one.there}" for one in found]
    return lines
