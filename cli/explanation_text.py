"""An explanation of a tree's move: lines of text for people, a record for programs."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfplay.train.explanation import Explanation


MOST_ADVANTAGES = 4


def explanation_lines(why: Explanation, most: int | None = None) -> list[str]:
    """The path to the move's leaf, cut to its last `most` lines, and what would change the move."""
    from selfplay.train.explanation import wording_of

    share = why.shares[why.move] or 0.0
    path, left_out = list(why.path), 0
    if most is not None and len(path) > most:
        left_out = len(path) - most + 1
        path = path[left_out:]
    lines = [f"column {why.move + 1} is rated {share:.0%}, because"]
    if left_out:
        lines.append(f"  {left_out} more conditions, and")
    lines += [f"  {line}" for line in path]
    names = wording_of(why.model).classes
    counts = ", ".join(f"{names[k]} {count:,}" for k, count in enumerate(why.counts) if count)
    smoothing = why.model.tree.smoothing
    smoothed = f", smoothed toward its parent by {smoothing:,.0f} rows" if smoothing else ""
    lines.append(f"leaf of {why.support:,} rows: {counts}{smoothed}")
    if why.runner_up is not None:
        other = why.runner_up + 1
        lines.append(
            f"the next best, column {other}, is rated {why.shares[why.runner_up] or 0:.0%}"
        )
        if why.advantages:
            lines.append(f"advantages over column {other}:")
    for advantage in why.advantages[:MOST_ADVANTAGES]:
        lines.append(
            f"  {advantage.name}: {advantage.here}, not {advantage.there} ({advantage.points:+d})"
        )
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
