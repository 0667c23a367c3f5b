"""Boards, bars and tables, as all commands draw them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.style import Style
from rich.table import Table
from rich.text import Text

from selfplay.errors import printable
from selfplay.game.position import FIRST, SECOND, SYMBOLS, Position
from selfplay.players import Decision

PLAYER_STYLES = {FIRST: Style(color="red", bold=True), SECOND: Style(color="yellow", bold=True)}
PLAYER_NAMES = {FIRST: "X", SECOND: "O"}
RESULT_NAMES = {1: "win", 0: "draw", -1: "loss"}

_EIGHTHS = " ▏▎▍▌▋▊▉█"


def console() -> Console:
    """Where to draw. Colours vanish with NO_COLOR and where no terminal looks on."""
    # What people name things is shown as it is, brackets and colons too.
    return Console(highlight=False, soft_wrap=True, markup=False, emoji=False)


def board_text(position: Position, *, last: int | None = None) -> Text:
    """The board with its columns numbered; the stone that was played last is marked."""
    board = position.board
    width = len(str(board.columns)) + 1
    cells = position.cells()
    marked = None
    if last is not None:
        marked = next(i for i in range(last, board.cells, board.columns) if cells[i])
    text = Text()
    for index, code in enumerate(cells):
        symbol = SYMBOLS[code]
        style = PLAYER_STYLES.get(code, Style(dim=True))
        if index == marked:
            style += Style(reverse=True)
        text.append(" " * (width - 1)).append(symbol, style)
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
    return (
        console.encoding.lower().replace("-", "").startswith("utf") and not console.legacy_windows
    )


_ASCII = str.maketrans({"←": "<", "→": ">", "↑": "^", "↓": "v"})


def in_plain(text: str, console: Console) -> str:
    """The names of keys, where there is nothing but ASCII."""
    return text if has_unicode(console) else text.translate(_ASCII)


def decision_table(decision: Decision, target: Console, width: int = 24) -> Table:
    """What a player knows of each column, in the columns of a table that it can fill."""
    unicode = has_unicode(target)
    visits, total = decision.visits, max(1, sum(decision.visits or ()))
    known = decision.value or decision.evaluations or decision.shares or ()
    shown = decision.shares or tuple(count / total for count in visits or ())
    table = Table(box=None, pad_edge=False, header_style="dim")
    table.add_column("column", justify="right")
    if visits:
        table.add_column("visits", justify="right")
    if shown:
        table.add_column("", width=width, no_wrap=True)
    known_as = "evaluation" if decision.evaluations else "score" if decision.scores else "value"
    known_as = "for it" if decision.shares else known_as
    table.add_column(known_as, justify="right")
    table.add_column("proven")
    for column in range(len(known)):
        cells = [f"{'>' if column == decision.move else ' '} {column + 1}"]
        if visits:
            cells.append(f"{visits[column]:,}")
        if shown:
            cells.append(bar(shown[column] or 0.0, width, unicode=unicode))
        if decision.shares:
            cells.append(_or_blank(decision.shares[column], ".0%"))
        elif decision.evaluations:
            cells.append(_or_blank(decision.evaluations[column], "+,.1f"))
        elif decision.scores:
            cells.append(_or_blank(decision.scores[column], "+d"))
        else:
            cells.append(_or_blank(decision.value[column] if decision.value else None, "+.3f"))
        proven = decision.proven[column] if decision.proven else None
        cells.append("" if proven is None else RESULT_NAMES[proven])
        table.add_row(*cells, style=Style(bold=True) if column == decision.move else None)
    return table


def _or_blank(number: float | None, form: str) -> str:
    return "" if number is None else format(number, form)


def plain_table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """A table of results: the first column on the left, as is one without a title."""
    table = Table(box=None, pad_edge=False, header_style="dim")
    for number, title in enumerate(header):
        table.add_column(title, justify="right" if number and title else "left")
    for row in rows:
        table.add_row(*map(printable, row))  # some of it was written by strangers
    return table
