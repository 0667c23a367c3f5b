"""The panels beside the board: hint, help, explanation and review."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.measure import Measurement
from rich.style import Style
from rich.table import Table
from rich.text import Text

from selfplay.cli.board.draw_board import Pen
from selfplay.cli.rendering import ascii_keys, decision_table, plain_table
from selfplay.game.position import FIRST, SECOND
from selfplay.players import Decision

if TYPE_CHECKING:
    from selfplay.cli.board.perfect_play import Hint
    from selfplay.solver.review import Review
    from selfplay.train.explanation.reasons import Reasons

_BAR, _SHORTEST_BAR, _BETWEEN = 14, 4, 2
"""The widths of bars, and of the gap before them."""
_ANY = 1000
"""A width that no table exceeds."""
_FEWEST_VISITS = 10
"""The value of fewer says nothing."""


class DecisionPanel:
    """What a player knows of each column, with bars as wide as there is room."""

    def __init__(self, decision: Decision) -> None:
        self._decision = decision
        if decision.visits and decision.value:
            proven = decision.proven or (None,) * len(decision.visits)
            known = zip(decision.value, decision.visits, proven, strict=True)
            value = tuple(
                value if visits >= _FEWEST_VISITS or result is not None else None
                for value, visits, result in known
            )
            self._decision = replace(decision, value=value)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        decision = self._decision
        if decision.value or decision.evaluations or decision.shares:
            yield self._table(console, options)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._table(console, options.update(width=1)))

    def _table(self, console: Console, options: ConsoleOptions) -> Table:
        """The table with bars, if there is room; if not, without an empty column, without bars."""
        decision = self._decision
        has_proven = any(result is not None for result in decision.proven or ())
        for shows_proven in (True, has_proven):
            plain = decision_table(decision, console, 0, shows_proven=shows_proven)
            taken = Measurement.get(console, console.options.update(width=_ANY), plain).maximum
            bar = min(_BAR, options.max_width - taken - _BETWEEN)
            if bar >= _SHORTEST_BAR:
                return decision_table(decision, console, bar, shows_proven=shows_proven)
        return plain


def hint_panel(name: str, decision: Decision, reason: str) -> Group:
    """A player's move and what it knows of each column."""
    lines = [f"{name} would play column {decision.move + 1}"]
    return Group(*map(Text, [*lines, f"({reason})"] if reason else lines), DecisionPanel(decision))


def perfect_panel(name: str, hint: Hint) -> Group:
    """What perfect play, under this name, knows of each column."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("column", justify="right")
    table.add_column("result, in moves")
    for column, result in hint.results().items():
        chosen = column == hint.move
        style = Style(bold=True) if chosen else None
        table.add_row(f"{'>' if chosen else ' '} {column + 1}", result, style=style)
    return Group(Text(f"{name} would play column {hint.move + 1}"), table)


class HelpPanel:
    """The keys and what they do."""

    def __init__(self, keys: Sequence[tuple[str, str]]) -> None:
        self._keys = keys

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield self._table(console)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, self._table(console))

    def _table(self, console: Console) -> Table:
        return plain_table(("", ""), [(ascii_keys(key, console), what) for key, what in self._keys])


class WhyPanel:
    """Why a player made a move: the reasons for a tree's, or what a search saw."""

    def __init__(self, title: str, decision: Decision, pen: Pen) -> None:
        self._parts: list[RenderableType] = [Text(title)]
        self.cells: Sequence[tuple[int, int]] = ()
        """The cells that the reasons name, as column and row."""
        if decision.why is None:
            self._parts += _what_it_saw(decision)
            return
        reasons: Reasons = decision.why.reasons
        self.cells = reasons.cells
        signs = ("", pen.sign(FIRST), pen.sign(SECOND))
        self._parts += [Text(f"\n{sentence}") for sentence in reasons.sentences(signs)]
        self._parts.append(Text("\n(selfplay explain --path shows its way down the tree)", "dim"))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._parts

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement.get(console, options, Group(*self._parts))


def _what_it_saw(decision: Decision) -> list[RenderableType]:
    parts: list[RenderableType] = []
    counts = ((decision.rollouts, "rollout"), (decision.nodes, "node"), (decision.depth, "ply"))
    if seen := ", ".join(_counted(count, what) for count, what in counts if count):
        parts.append(Text(f"{seen} in {decision.seconds:.2g} s"))
    known = decision.value or decision.evaluations
    return [*parts, DecisionPanel(decision) if known else Text("it gives no reasons")]


def _counted(count: int, what: str) -> str:
    plural = "plies ahead" if what == "ply" else f"{what}s"
    return f"{count:,} {plural if count != 1 else what}"


def review_panel(review: Review, pen: Pen) -> Group:
    """The mistakes of a game."""
    lines = []
    if review.unsolved:
        lines.append(f"not solved in time: stones {', '.join(map(str, review.unsolved))}")
    if not review.mistakes:
        return Group(*map(Text, lines), Text("no mistakes" + (" in the others" if lines else "")))
    rows = [
        (
            f"{mistake.number}",
            pen.sign(mistake.side),
            f"{mistake.played + 1}",
            " ".join(str(column + 1) for column in mistake.better),
            mistake.kind,
        )
        for mistake in review.mistakes
    ]
    table = plain_table(("stone", "side", "played", "better", "game value"), rows)
    return Group(*map(Text, lines), Text("mistakes, by perfect play"), table)
