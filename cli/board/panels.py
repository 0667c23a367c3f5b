"""What is said beside the board."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderResult
from rich.text import Text

from selfplay.cli.drawing import PLAYER_NAMES, RESULT_NAMES, decision_table, in_plain, plain_table
from selfplay.cli.reasons import reasons
from selfplay.players import Decision

if TYPE_CHECKING:
    from selfplay.solver.review import Review
    from selfplay.train.explanation import Explanation

_BAR = 14
_BESIDE_PATH = 12
"""Lines that reasons take beside the path."""


class HintPanel:
    """What a player thinks of each column, as bars."""

    def __init__(self, name: str, decision: Decision) -> None:
        self._name, self._decision = name, decision

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        decision = self._decision
        yield Text(f"{self._name} would play column {decision.move + 1}")
        if decision.value or decision.evaluations or decision.shares:
            yield decision_table(decision, console, _BAR)


class HelpPanel:
    """What the keys are for."""

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        self._keys = keys

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield plain_table(("", ""), [(in_plain(key, console), what) for key, what in self._keys])


def why_panel(stone: int, why: Explanation, lines: int | None) -> Group:
    """Why a tree played what it played, in so many lines; of a long path, its end."""
    room = None if lines is None else max(3, lines - _BESIDE_PATH)
    return Group(Text(f"stone {stone}"), *map(Text, reasons(why, room)))


def review_panel(review: Review) -> Group:
    """The mistakes of a game."""
    lines = []
    if review.unsolved:
        stones = ", ".join(map(str, review.unsolved))
        lines.append(f"time was short for stones {stones}")
    if not review.mistakes:
        lines.append("perfect play finds no mistake" + (" in the others" if lines else ""))
        return Group(*map(Text, lines))
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
    table = plain_table(("stone", "side", "column", "better", "from"), rows)
    return Group(*map(Text, lines), Text("mistakes, by perfect play"), table)
