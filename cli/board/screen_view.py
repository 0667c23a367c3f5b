"""A session on the full screen of a terminal, redrawn in place."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from threading import Event, Thread
from typing import NamedTuple

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.measure import Measurement
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
_GAP = 3
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
        self._paged: RenderableType | None = None
        """The panel that was read page by page, as it does not fit beside the board."""
        self._page: int | None = None
        """The first line of the page of a panel on screen."""
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
        self._keys = self._stack.enter_context(keys())
        self._stack.enter_context(self._live)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def has_room(self, board: Board) -> bool:
        """Whether the board fits the window."""
        width, height = self._console.size
        small = SIZES[-1]
        return width >= small.width * board.columns and height >= board.rows + 1 + _AROUND

    def show(self, scene: Scene) -> None:
        self._scene = scene
        self._live.refresh()

    def command(self, scene: Scene) -> str:
        """A key, or the column chosen with arrows or digits."""
        self._scene = scene
        if scene.panel not in (None, self._paged) and not self._has_room_beside(scene):
            self._show_pages(scene.panel)
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
        key = self._keys.read(_MOMENT)
        if key is not None and key.isascii() and key.isdigit():
            return key
        self._typed_ahead = None if key == ENTER else key
        return ""

    def _key(self) -> str:
        key, self._typed_ahead = self._typed_ahead, None
        if key is None:
            key = self._keys.read()
        assert key is not None
        return key

    def wait(self, scene: Scene, seconds: float) -> str | None:
        self.show(scene)
        key = self._keys.read(seconds)
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
        drops_typed = scene.is_others_turn
        try:
            self._status = status
            self.show(scene)
            painter.start()
            yield
        except KeyboardInterrupt:
            drops_typed = True
            raise
        finally:
            over.set()
            if painter.ident is not None:
                painter.join()
            self._status = None
            if drops_typed:  # it was not meant for the position that follows
                self._typed_ahead = None
                self._keys.drop()

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
        if self._page is not None and scene.panel is not None:
            return self._draw_page(scene.panel, self._page)
        layout = self._layout(scene)
        cursor = self.cursor if scene.may_choose and not self._status else None
        board = draw_board(
            scene.position, self.pen, layout.size, scene.last, scene.values, scene.named
        )
        if layout.has_above:
            above = draw_above(cursor, scene.position.to_move, self.pen, layout.size)
            board = above + board
        columns = Table.grid(padding=(0, _GAP))
        columns.add_column(no_wrap=True)
        columns.add_column()
        fits = scene.panel is not None and self._has_room_beside(scene)
        columns.add_row(board, scene.panel if fits else Text())
        parts: list[RenderableType] = [self._title(scene), columns]
        parts += [Text()] * layout.has_blank
        parts.append(_Cut(self._message(scene), layout.message_lines))
        parts.append(self._footer(scene))
        return Group(*parts)

    def _layout(self, scene: Scene) -> _Layout:
        """How the lines of the window are shared: the keys are always whole."""
        board, (width, height) = scene.position.board, self._console.size
        taken = _AROUND - 1 + len(self._footer(scene).plain.splitlines())
        size = self.pen.largest(board, width - _PANEL, height - taken)
        room = height - (taken - 1) + (scene.values is None)  # for the board and the message
        lines = board.rows * size.height
        has_above = lines + size.height < room
        lines += size.height * has_above
        message = len(self._lines(self._message(scene), width))
        message = max(1, min(message, room - lines))
        return _Layout(size, has_above, lines + message < room, message)

    def _has_room_beside(self, scene: Scene) -> bool:
        """Whether the panel is whole beside the board."""
        assert scene.panel is not None
        layout, (width, height) = self._layout(scene), self._console.size
        room = width - layout.size.width * scene.position.board.columns - _GAP
        if room < 1:
            return False
        options = self._console.options.update(width=1000)
        if Measurement.get(self._console, options, scene.panel).minimum > room:
            return False
        footer = len(self._footer(scene).plain.splitlines())
        most = height - 1 - layout.has_blank - layout.message_lines - footer
        return len(self._lines(scene.panel, room)) <= most

    def _lines(self, shown: RenderableType, width: int) -> list[list[Segment]]:
        options = self._console.options.update(width=width, height=None)
        return self._console.render_lines(shown, options, pad=False)

    def _show_pages(self, panel: RenderableType) -> None:
        """Show a panel over the board; a key turns the page, and goes back from the last one."""
        self._paged, self._page = panel, 0
        try:
            while self._page < len(self._lines(panel, self._console.size.width)):
                self._live.refresh()
                self._key()
                self._page += self._page_lines
        finally:
            self._page = None

    @property
    def _page_lines(self) -> int:
        return max(1, self._console.size.height - 2)

    def _draw_page(self, panel: RenderableType, first: int) -> RenderableType:
        left = len(self._lines(panel, self._console.size.width)) - first - self._page_lines
        keys = f"any key: {left} more lines" if left > 0 else "any key: back to the board"
        return Group(_Cut(panel, self._page_lines, first), Text(f"\n{keys}", "dim"))

    def _message(self, scene: Scene) -> RenderableType:
        if self._status is not None:
            self._spinner.update(text=Text(self._status()))
            return self._spinner
        if scene.error:
            return Text(scene.error, style="bold magenta")
        return Text(scene.message)

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

    def _footer(self, scene: Scene) -> Text:
        """The keys, in as many lines as they need."""
        keys = [f"{key} {word}" for key, word, _ in scene.keys_on_board if word]
        if self._status is not None:
            keys = ["Ctrl-C stops this"]
        lines = [keys[0]]
        for key in keys[1:]:
            if len(lines[-1]) + 2 + len(key) <= self._console.size.width:
                lines[-1] += f"  {key}"
            else:
                lines.append(key)
        return Text(ascii_keys("\n".join(lines), self._console), style="dim")


class _Layout(NamedTuple):
    """How a window is divided."""

    size: CellSize
    has_above: bool
    """Whether there is room above the board for the disc to be dropped."""
    has_blank: bool
    """Whether a line is left between the board and the message."""
    message_lines: int


def _end(number: int, _frame: object) -> None:
    sys.exit(128 + number)


_HANDLERS: dict[int, Handler] = {
    signal.SIGTERM: _end,
    signal.SIGHUP: _end,
    signal.SIGTSTP: signal.SIG_IGN,
}


class _Cut:
    """Some lines of a renderable."""

    def __init__(self, inner: RenderableType, lines: int, first: int = 0) -> None:
        self._inner, self._shown = inner, slice(first, first + lines)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        lines = console.render_lines(self._inner, options.update(height=None), pad=False)
        for line in lines[self._shown]:
            yield from line
            yield Segment.line()
