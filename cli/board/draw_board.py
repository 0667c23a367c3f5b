"""The board of the terminal game in three sizes, with or without colours and Unicode."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from rich.console import Console
from rich.style import Style
from rich.text import Text

from selfplay.cli.rendering import PLAYER_NAMES, has_unicode
from selfplay.game.board import Board
from selfplay.game.position import FIRST, SECOND, Position

_BLUE, _HOLE = "#1f4fb8", "#0d2250"
_MARKED, _WINNING, _NAMED = "#e8ecf4", "#27ae60", "#8e6bd6"
_STONES = {
    FIRST: Style(color="#f0323c", bold=True),
    SECOND: Style(color="#ffd23f", bold=True),
}
_DISCS = {FIRST: "●", SECOND: "○"}
_VALUES = {1: ("W", "green"), 0: ("D", "yellow"), -1: ("L", "red"), None: ("?", "white")}


@dataclass(frozen=True, slots=True)
class CellSize:
    """The lines of a cell: with the first player's disc, which is solid, or the second's, which
    has a hole. A cell of one line has a sign in the middle instead."""

    width: int
    discs: dict[int, tuple[str, ...]]

    @property
    def height(self) -> int:
        return len(self.discs[FIRST])


SMALL = CellSize(3, {FIRST: ("",), SECOND: ("",)})
SIZES = (
    CellSize(
        7,
        {
            FIRST: ("▗▆▇▇▇▆▖", "▐█████▌", "▝▜███▛▘"),
            SECOND: ("▗▆▇▇▇▆▖", "▐█▌ ▐█▌", "▝▜███▛▘"),
        },
    ),
    CellSize(5, {FIRST: ("▗▇▇▇▖", "▝███▘"), SECOND: ("▗▛▀▜▖", "▝▙▄▟▘")}),
    SMALL,
)


@dataclass(frozen=True, slots=True)
class Pen:
    """What a console can show."""

    unicode: bool
    colour: bool
    discs: bool
    """Show the sides as discs, solid and with a hole; otherwise as X and O."""

    @classmethod
    def of(cls, console: Console, *, discs: bool) -> Pen:
        colour = console.color_system is not None and not console.no_color
        unicode = has_unicode(console)
        return cls(unicode, colour, discs and unicode)

    def sign(self, side: int) -> str:
        """The sign of a side, the same wherever the side is named."""
        return (_DISCS if self.discs else PLAYER_NAMES)[side]

    def stone(self, side: int) -> Text:
        return Text(self.sign(side), _STONES[side] if self.colour else Style(bold=True))

    def named(self, side: int, name: str) -> str:
        """A side and its player, as the start of a sentence."""
        return f"{self.sign(side)} {name}" if self.discs else f"{self.sign(side)}: {name}"

    def largest(self, board: Board, width: int, height: int) -> CellSize:
        """The largest size in which the board, and a disc above it, fit."""
        sizes = SIZES if self.discs else (SMALL,)
        for size in sizes:
            if board.columns * size.width <= width and (board.rows + 1) * size.height <= height:
                return size
        return SMALL


def draw_board(
    position: Position,
    pen: Pen,
    size: CellSize = SMALL,
    last: int | None = None,
    values: dict[int, int | None] | None = None,
    named: Collection[tuple[int, int]] = (),
) -> Text:
    """The board and its column numbers.

    The last stone, a winning line, and the `named` cells, as column and row, are marked by the
    colour of their cells, in small cells by brackets, too. With `values`, a line below shows each
    column's game value: W a win, D a draw, L a loss, ? unknown.
    """
    columns, cells, line = position.board.columns, position.cells(), set(position.winning_line)
    newest = None if last is None else position.top_cell(last)
    told = {(position.board.rows - 1 - row) * columns + column for column, row in named}
    text = Text(no_wrap=True)
    for first in range(0, len(cells), columns):
        for row in range(size.height):
            for index in range(first, first + columns):
                mark = "[]" if index in line else "()" if index == newest else "  "
                mark = "<>" if index in told and mark == "  " else mark
                _draw_cell(text, cells[index], row, mark, pen, size)
            text.append("\n")
    text.append("".join(f"{column + 1:^{size.width}}" for column in range(columns)))
    if values is not None:
        text.append("\n")
        for column in range(columns):
            sign, colour = _VALUES[values[column]] if column in values else (" ", "white")
            text.append(f"{sign:^{size.width}}", Style(color=colour, bold=True))
    return text


def draw_above(column: int | None, side: int, pen: Pen, size: CellSize) -> Text:
    """The disc to be dropped, above its column; blank lines without one."""
    text = Text(no_wrap=True)
    for row in range(size.height):
        if column is not None:
            text.append(" " * (column * size.width))
            text.append(size.discs[side][row] or f" {pen.sign(side)} ", pen.stone(side).style)
        text.append("\n")
    return text


def _draw_cell(text: Text, code: int, row: int, mark: str, pen: Pen, size: CellSize) -> None:
    is_marked = mark != "  "
    ground = {"[]": _WINNING, "()": _MARKED, "<>": _NAMED}.get(mark, _BLUE)
    if pen.colour:
        style = Style(bgcolor=ground) + _STONES.get(code, Style(color=_HOLE))
    else:
        style = Style(bold=bool(code), dim=not code, reverse=is_marked and size is not SMALL)
    if size is SMALL:
        edge = Style(color="black", bgcolor=ground, bold=True) if pen.colour else Style(bold=True)
        dot = "·" if pen.unicode else "."
        text.append(mark[0], edge)
        text.append(pen.sign(code) if code else dot, style)
        text.append(mark[1], edge)
    elif code or pen.colour:  # an empty cell is a hole of the shape of a disc
        text.append(size.discs[code or FIRST][row], style)
    else:
        text.append(f"{'·' if row == size.height // 2 else '':^{size.width}}", style)
