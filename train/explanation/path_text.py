"""A move's path through the tree as text: what comes before its conditions, and what after."""

from __future__ import annotations

from selfplay.train.explanation.path import Explanation, wording_of


def path_lines(why: Explanation) -> list[str]:
    """The path to the move's leaf, and the split that would have changed the move."""
    return [before_path(why), *(f"  {line}" for line in why.path), *after_path(why)]


def before_path(why: Explanation) -> str:
    rated = f"column {why.move + 1} is rated {why.shares[why.move] or 0.0:.0%}"
    return f"{rated}, because" if why.path else rated


def after_path(why: Explanation) -> list[str]:
    """The leaf, what else decided, and what would have changed the move."""
    names = wording_of(why.model).classes
    counts = ", ".join(f"{names[k]} {count:,}" for k, count in enumerate(why.counts) if count)
    smoothing = why.model.tree.smoothing
    smoothed = f", smoothed toward its parent by {smoothing:,.0f} rows" if smoothing else ""
    lines = [f"leaf of {why.support:,} rows: {counts}{smoothed}"]
    if why.decided_by is not None:
        lines.append(why.decided_by)
    if why.runner_up is not None:
        share = why.shares[why.runner_up] or 0.0
        lines.append(f"the next best, column {why.runner_up + 1}, is rated {share:.0%}")
    if why.flip is not None:
        lines.append(f"if {why.flip.instead}, it would play column {why.flip.move + 1}")
    return lines
