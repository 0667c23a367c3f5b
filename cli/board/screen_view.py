"""A session on the full screen of a terminal, redrawn in place."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Event, Thread

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from selfplay.cli.board.draw_board import SIZES, CellSize, Pen, draw_above, draw_board
from selfplay.cli.board.keyboard import DOWN, ENTER, LEFT, RIGHT, UP, keys
from selfplay.cli.board.scene import Row, Scene
from selfplay.cli.rendering import ascii_keys, has_unicode
from selfplay.errors import printable
from selfplay.game.board import Board
from selfplay.game.position import FIRST, SECOND
from selfplay.signals import Handler, handling

_FRAMES_PER_SECOND = 10
_AROUND = 5
"""Lines that are not the board: the title, column numbers, game values, message, keys."""
_PANEL = 36
"""Columns that a panel needs, with the gap beside the board."""
_MOMENT = 0.7
"""Seconds in which the second digit of a column is typed."""


class ScreenView:
    """Draws a scene, and reads single keys."""

    waits = True

    def __init__(self, console: Console) -> None:
        self._console = console
        self._scene: Scene | None = None
        self._status: Callable[[], str] | None = None
        self._spinner = Spinner("dots" if has_unicode(console) else "line")
        self._menu: tuple[str, Sequence[Row], int] | None = None
        self.cursor: int | None = None
        """The column chosen with the arrows."""
        self._typed_ahead: str | None = None
        self.pen = Pen.of(console, discs=True)
        self._stack = ExitStack()
        self._live = Live(
            console=console,
            screen=True,
            auto_refresh=False,  # redrawn after a key, or by `busy`
            get_renderable=self._draw,
            redirect_stdout=False,
            redirect_stderr=False,
        )

    def __enter__(self) -> ScreenView:
        # Restore the terminal when killed; Ctrl-Z is ignored.
        resized = {signal.SIGWINCH: lambda *_: self._live.refresh()}
        self._stack.enter_context(handling(_HANDLERS | resized))
        self._read = self._stack.enter_context(keys())
        self._stack.enter_context(self._live)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def has_room(self, board: Board) -> bool:
        """Whether the board fits the window."""
        width, height = self._console.size
        small = SIZES[-1]
        return width >= small.width * board.columns and height >= board.rows + 1 + _AROUND

    def _cell_size(self, board: Board) -> CellSize:
        width, height = self._console.size
        return self.pen.largest(board, width - _PANEL, height - _AROUND)

    def show(self, scene: Scene) -> None:
        self._scene = scene
        self._live.refresh()

    def command(self, scene: Scene) -> str:
        """A key, or the column chosen with arrows or digits."""
        columns = scene.game.start.board.columns
        choosing = scene.may_choose
        if choosing:
            self.cursor = columns // 2 if self.cursor is None else self.cursor
        while True:
            self.show(scene)
            key = self._key()
            if not choosing or key in (UP, DOWN):
                return key.lower()
            if key in (LEFT, RIGHT):
                assert self.cursor is not None
                self.cursor = (self.cursor + (1 if key == RIGHT else -1)) % columns
            elif key == ENTER:
                return str(self.cursor + 1) if self.cursor is not None else ""
            elif key.isascii() and key.isdigit():
                return key + self._second_digit(scene, int(key), columns)
            else:
                return key.lower()

    def _second_digit(self, scene: Scene, digit: int, columns: int) -> str:
        """The second digit of a column, if there can be one and it is typed within a moment."""
        if not 1 <= digit <= columns // 10:
            return ""
        self.cursor = digit - 1
        self.show(scene)
        key = self._read(_MOMENT)
        if key is not None and key.isascii() and key.isdigit():
            return key
        self._typed_ahead = None if key == ENTER else key
        return ""

    def _key(self) -> str:
        key, self._typed_ahead = self._typed_ahead, None
        if key is None:
            key = self._read()
        assert key is not None
        return key

    def wait(self, scene: Scene, seconds: float) -> str | None:
        self.show(scene)
        key = self._read(seconds)
        return None if key is None else key.lower()

    def choose(self, title: str, rows: Sequence[Row], at: int) -> int | None:
        try:
            while True:
                self._menu = title, rows, at
                self._live.refresh()
                key = self._key().lower()
                if key in (UP, DOWN):
                    at = (at + (1 if key == DOWN else -1)) % len(rows)
                elif key == ENTER:
                    return at
                elif key in ("", "q", "m", LEFT):
                    return None
                elif key.isascii() and key.isdigit() and 1 <= int(key) <= len(rows):
                    return int(key) - 1
        finally:
            self._menu = None

    @contextmanager
    def busy(self, scene: Scene, status: Callable[[], str]) -> Iterator[None]:
        over = Event()

        def redraw() -> None:
            while not over.wait(1 / _FRAMES_PER_SECOND):
                self._live.refresh()

        painter = Thread(target=redraw, daemon=True)
        try:
            self._status = status
            self.show(scene)
            painter.start()
            yield
        finally:
            over.set()
            if painter.ident is not None:
                painter.join()
            self._status = None

    def note(self, text: str) -> None:
        """Show this beside the spinner until the work in progress ends."""
        if self._status is not None:
            self._status = lambda: text

    def _draw(self) -> RenderableType:
        if self._menu is not None:
            return self._draw_menu(*self._menu)
        return Text() if self._scene is None else self.render(self._scene)

    def _draw_menu(self, title: str, rows: Sequence[Row], at: int) -> RenderableType:
        table = Table.grid(padding=(0, 2))
        room = max(1, self._console.size.height - 4)
        first = min(max(0, at - room // 2), max(0, len(rows) - room))
        for number, row in list(enumerate(rows))[first : first + room]:
            chosen = number == at
            style = "bold reverse" if chosen else ""
            what = Text(f" {number + 1}  {printable(row.what)} ", style)
            table.add_row(what, Text(printable(row.word)), Text(printable(row.detail), "dim"))
        keys = ascii_keys("↑↓ and Enter, or a number, choose  q goes back", self._console)
        return Group(Text(f"{title}\n", "bold"), table, Text(f"\n{keys}", "dim"))

    def render(self, scene: Scene) -> RenderableType:
        """The whole screen."""
        position = scene.position
        size = self._cell_size(position.board)
        cursor = self.cursor if scene.may_choose and not self._status else None
        above = draw_above(cursor, position.to_move, self.pen, size)
        board = draw_board(position, self.pen, size, scene.last, scene.values)
        columns = Table.grid(padding=(0, 3))
        columns.add_column(no_wrap=True)
        columns.add_column()
        panel = scene.panel if scene.panel is not None else Text()
        columns.add_row(above + board, _Cut(panel, self._console.size.height - 4))
        parts: list[RenderableType] = [self._title(scene), columns]
        used = (position.board.rows + 1) * size.height + 4 + (scene.values is not None)
        parts += [Text()] * (self._console.size.height > used + 1)
        if self._status is not None:
            self._spinner.update(text=Text(self._status()))
            parts.append(self._spinner)
        elif scene.error:
            parts.append(Text(scene.error, style="bold magenta"))
        else:
            parts.append(Text(scene.message))
        parts.append(self._keys(scene))
        return Group(*parts)

    def _title(self, scene: Scene) -> Text:
        text = Text(no_wrap=True, overflow="crop")
        mover = None if scene.position.is_over else scene.position.to_move
        for side in (FIRST, SECOND):
            text.append("   against   " if side == SECOND else "")
            text += self.pen.stone(side)
            text.append(self.pen.named(side, "")[1:])
            text.append(scene.game.name(side), style="bold underline" if side == mover else "")
        if scene.heading:
            text.append(f"   ({scene.heading})", style="dim")
        return text

    def _keys(self, scene: Scene) -> Text:
        text = "  ".join(f"{key} {word}" for key, word, _ in scene.keys_on_board if word)
        if self._status is not None:
            text = "Ctrl-C stops this"
        return Text(ascii_keys(text, self._console), style="dim")


def _end(number: int, _frame: object) -> None:
    sys.exit(128 + number)


_HANDLERS: dict[int, Handler] = {
    signal.SIGTERM: _end,
    signal.SIGHUP: _end,
    signal.SIGTSTP: signal.SIG_IGN,
}


class _Cut:
    """The first lines of a renderable."""

    def __init__(self, inner: RenderableType, lines: int) -> None:
        self._inner, self._lines = inner, lines

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inner, options.update(height=None), pad=False)
        for line in lines[: self._lines]:
            yield from line
            yield Segment.line()
