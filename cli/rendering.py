"""Boards, bars and tables as text, for all commands."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from selfplay.errors import printable
from selfplay.game.position import FIRST, SECOND, SYMBOLS, Position
from selfplay.players import Decision
from selfplay.solver.mistakes import RESULT_NAMES, MistakeCount
from selfplay.wording import shortened

PLAYER_STYLES = {FIRST: Style(color="red", bold=True), SECOND: Style(color="yellow", bold=True)}
PLAYER_NAMES = {FIRST: "X", SECOND: "O"}

_NO_WIDTH = 10_000  # into files and pipes nothing is shortened
_LEAST_NAME = 10

_EIGHTHS = " ▏▎▍▌▋▊▉█"
_ASCII_ARROWS = str.maketrans({"←": "<", "→": ">", "↑": "^", "↓": "v"})


def console() -> Console:
    """Standard output, in colour at a terminal unless NO_COLOR is set."""
    # Names that users chose may contain brackets and colons: print them unchanged.
    width = None if sys.stdout.isatty() else _NO_WIDTH
    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False, width=width)


def board_text(position: Position) -> Text:
    """The board with numbered columns and the last move marked."""
    board = position.board
    width = len(str(board.columns)) + 1
    marked = position.top_cell(position.moves[-1]) if position.moves else None
    text = Text()
    for index, code in enumerate(position.cells()):
        style = PLAYER_STYLES.get(code, Style(dim=True))
        if index == marked:
            style += Style(reverse=True)
        text.append(" " * (width - 1)).append(SYMBOLS[code], style)
        if index % board.columns == board.columns - 1:
            text.append("\n")
    text.append("".join(str(c + 1).rjust(width) for c in range(board.columns)))
    return text


def bar(share: float, width: int, *, unicode: bool) -> str:
    """A bar of up to `width` cells for a share from 0 to 1."""
    if not unicode:
        return "#" * round(share * width)
    eighths = round(share * width * 8)
    return _EIGHTHS[8] * (eighths // 8) + (_EIGHTHS[eighths % 8] if eighths % 8 else "")


def has_unicode(console: Console) -> bool:
    encoding = console.encoding.lower().replace("-", "")
    return encoding.startswith("utf") and not console.legacy_windows


def ascii_keys(text: str, console: Console) -> str:
    """The names of keys, with ASCII arrows where the console has no others."""
    return text if has_unicode(console) else text.translate(_ASCII_ARROWS)


def decision_table(
    decision: Decision, target: Console, width: int = 24, *, shows_proven: bool = True
) -> Table:
    """What a player knows of each column; what no column has is left out, and bars of width 0."""
    unicode = has_unicode(target)
    visits, total = decision.visits, max(1, sum(decision.visits or ()))
    shares = decision.shares or tuple(count / total for count in visits or ())
    has_bars = bool(shares) and width > 0
    title, known, form = decision.by_column
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("column", justify="right")
    if visits:
        table.add_column("visits", justify="right")
    if has_bars:
        table.add_column("", width=width, no_wrap=True)
    table.add_column(title, justify="right")
    if shows_proven:
        table.add_column("proven")
    for column, number in enumerate(known):
        chosen = column == decision.move
        cells = [f"{'>' if chosen else ' '} {column + 1}"]
        if visits:
            cells.append(f"{visits[column]:,}")
        if has_bars:
            cells.append(bar(shares[column] or 0.0, width, unicode=unicode))
        cells.append("" if number is None else format(number, form))
        proven = decision.proven[column] if decision.proven else None
        if shows_proven:
            cells.append("" if proven is None else RESULT_NAMES[proven])
        table.add_row(*cells, style=Style(bold=True) if chosen else None)
    return table


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table without lines: numbers to the right, the first column and untitled ones left. Where
    the terminal is too narrow, the names in the first column are shortened."""
    table = Table(box=None, pad_edge=False, header_style="dim", show_header=any(header))
    if len(header) > 2:
        others = [max(map(len, column)) + 2 for column in zip(header, *rows, strict=True)][1:]
        room = max(_LEAST_NAME, console().width - sum(others))
        rows = [(shortened(name, room), *cells) for name, *cells in rows]
    for number, title in enumerate(header):
        table.add_column(title, justify="right" if number and title else "left")
    for row in rows:
        table.add_row(*map(printable, row))  # cells may come from files of strangers
    return table


NOTHING = "–"
"""In place of a share of nothing."""
MISTAKES = ("", "contested", "mistakes", "95 % conf.", "optimal", "95 % conf.")
"""The header of a table of `mistake_cells`."""


def mistake_cells(name: str, count: MistakeCount) -> tuple[str, ...]:
    return (
        name,
        f"{count.contested:,}",
        percent(count.mistake_rate, count.contested),
        percent_range(count.interval, count.contested),
        percent(count.optimal_share, count.positions),
        percent_range(count.optimal_interval, count.positions),
    )


def percent(share: float, of: int) -> str:
    return f"{share:.1%}" if of else NOTHING


def percent_range(interval: tuple[float, float], of: int) -> str:
    """A confidence interval as text; a dash if nothing was counted."""
    low, high = interval
    return f"{low:.1%} to {high:.1%}" if of else NOTHING
