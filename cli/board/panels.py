"""The panels beside the board: hint, help, explanation and review."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.text import Text

from selfplay.cli.explanation_text import explanation_lines
from selfplay.cli.rendering import (
    PLAYER_NAMES,
    RESULT_NAMES,
    ascii_keys,
    decision_table,
    plain_table,
)
from selfplay.players import Decision

if TYPE_CHECKING:
    from selfplay.solver.review import Review
    from selfplay.train.explanation import Explanation

_BAR = 14
_BESIDES_PATH = 12
"""Lines of an explanation besides the path."""


class HintPanel:
    """A player's move and what it knows of each column."""

    def __init__(self, name: str, decision: Decision) -> None:
        self._name, self._decision = name, decision

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        decision = self._decision
        yield Text(f"{self._name} would play column {decision.move + 1}")
        if decision.value or decision.evaluations or decision.shares:
            yield decision_table(decision, console, _BAR)


class HelpPanel:
    """The keys and what they do."""

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        self._keys = keys

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield plain_table(("", ""), [(ascii_keys(key, console), what) for key, what in self._keys])


def why_panel(stone: int, why: Explanation, lines: int | None) -> Group:
    """Why a tree played a stone, in about `lines` lines: a long path is cut to its end."""
    room = None if lines is None else max(3, lines - _BESIDES_PATH)
    return Group(Text(f"stone {stone}"), *map(Text, explanation_lines(why, room)))


def review_panel(review: Review) -> Group:
    """The mistakes of a game."""
    lines = []
    if review.unsolved:
        lines.append(f"not solved in time: stones {', '.join(map(str, review.unsolved))}")
    if not review.mistakes:
        return Group(*map(Text, lines), Text("no mistakes" + (" in the others" if lines else "")))
    rows = [
        (
            f"{mistake.number}",
            PLAYER_NAMES[mistake.side],
            f"{mistake.played + 1}",
            " ".join(str(column + 1) for column in mistake.better),
            f"{RESULT_NAMES[mistake.value]} to {RESULT_NAMES[mistake.left]}",
        )
        for mistake in review.mistakes
    ]
    table = plain_table(("stone", "side", "played", "better", "game value"), rows)
    return Group(*map(Text, lines), Text("mistakes, by perfect play"), table)
