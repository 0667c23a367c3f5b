"""The board of the terminal game, with or without colours and Unicode."""

from __future__ import annotations

from dataclasses import dataclass

from rich.console import Console
from rich.style import Style
from rich.text import Text

from selfplay.cli.rendering import PLAYER_NAMES, has_unicode, top_stone
from selfplay.game.position import FIRST, SECOND, Position

_BLUE = Style(bgcolor="blue")
_STONES = {
    FIRST: Style(color="bright_red", bold=True),
    SECOND: Style(color="bright_yellow", bold=True),
}
_VALUES = {1: ("W", "green"), 0: ("D", "yellow"), -1: ("L", "red"), None: ("?", "white")}


@dataclass(frozen=True, slots=True)
class Pen:
    """What a console can show."""

    unicode: bool
    colour: bool

    @classmethod
    def of(cls, console: Console) -> Pen:
        colour = console.color_system is not None and not console.no_color
        return cls(has_unicode(console), colour)

    def stone(self, side: int) -> Text:
        """A stone, as text shows it."""
        if self.unicode and self.colour:
            return Text("●", _STONES[side])
        return Text(PLAYER_NAMES[side], Style(bold=True))

    @property
    def arrow(self) -> str:
        return "▼" if self.unicode else "v"


def draw_board(
    position: Position,
    pen: Pen,
    last: int | None = None,
    cursor: int | None = None,
    values: dict[int, int | None] | None = None,
) -> Text:
    """The board, three characters per cell.

    The last stone is in round brackets, a winning line in square ones. With `values`, a line
    below shows each column's game value: W a win, D a draw, L a loss, ? unknown.
    """
    board, line = position.board, set(position.winning_line)
    newest = None if last is None else top_stone(position, last)
    ground = _BLUE if pen.colour else Style.null()
    text = Text(no_wrap=True)
    if cursor is not None:
        text.append("   " * cursor + f" {pen.arrow}\n", _STONES[position.to_move])
    for index, code in enumerate(position.cells()):
        if index and index % board.columns == 0:
            text.append("\n")
        left, right = "[]" if index in line else "()" if index == newest else "  "
        text.append(left, ground + Style(bold=True))
        if code:
            text.append(pen.stone(code).plain, ground + _STONES[code])
        else:
            text.append("·" if pen.unicode else ".", ground + Style(dim=True))
        text.append(right, ground + Style(bold=True))
    text.append("\n" + "".join(f"{column + 1:^3}" for column in range(board.columns)))
    if values is not None:
        text.append("\n")
        for column in range(board.columns):
            sign, colour = _VALUES[values[column]] if column in values else (" ", "white")
            text.append(f" {sign} ", Style(color=colour, bold=True))
    return text
