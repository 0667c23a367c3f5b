"""A session on the full screen of a terminal, redrawn in place."""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event, Thread

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.live import Live
from rich.segment import Segment
from rich.spinner import Spinner
from rich.table import Table
from rich.text import Text

from selfplay.cli.board.draw_board import Pen, draw_board
from selfplay.cli.board.keyboard import DOWN, ENTER, LEFT, RIGHT, UP, keys
from selfplay.cli.board.session import Scene
from selfplay.cli.rendering import ascii_keys, has_unicode
from selfplay.game.board import Board
from selfplay.signals import Handler, handling

_FRAMES_PER_SECOND = 10
_AROUND = 9
"""Lines above and below the board."""


class ScreenView:
    """Draws a scene, and reads single keys."""

    waits = True

    def __init__(self, console: Console) -> None:
        self._console = console
        self._scene: Scene | None = None
        self._status: Callable[[], str] | None = None
        self._spinner = Spinner("dots" if has_unicode(console) else "line")
        self._cursor: int | None = None
        self._typed = ""
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
        return width >= 3 * board.columns and height >= board.rows + _AROUND

    @property
    def panel_lines(self) -> int:
        return self._console.size.height - _AROUND + 2

    def show(self, scene: Scene) -> None:
        self._scene = scene
        self._live.refresh()

    def command(self, scene: Scene) -> str:
        """A key, or the column chosen with arrows or digits."""
        columns = scene.game.start.board.columns
        choosing = scene.may_choose
        if choosing:
            self._cursor = columns // 2 if self._cursor is None else self._cursor
        self._typed = ""
        while True:
            self.show(scene)
            key = self._read()
            if not choosing or key in (UP, DOWN):
                return key.lower()
            if key in (LEFT, RIGHT):
                assert self._cursor is not None
                self._cursor = (self._cursor + (1 if key == RIGHT else -1)) % columns
            elif key == ENTER:
                return str(self._cursor + 1) if self._cursor is not None else ""
            elif key.isascii() and key.isdigit() and columns > 9:
                self._typed = (self._typed + key)[-2:]
                if 1 <= int(self._typed) <= columns:
                    self._cursor = int(self._typed) - 1
            else:
                return key.lower()

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
        return Text() if self._scene is None else self.render(self._scene)

    def render(self, scene: Scene) -> RenderableType:
        """The whole screen."""
        pen = Pen.of(self._console)
        cursor = self._cursor if scene.may_choose and not self._status else None
        columns = Table.grid(padding=(0, 3))
        columns.add_column(no_wrap=True)
        columns.add_column()
        board = draw_board(scene.position, pen, scene.last, cursor, scene.values)
        if cursor is None:
            board = Text("\n") + board
        panel = scene.panel if scene.panel is not None else Text()
        columns.add_row(board, _Cut(panel, self.panel_lines))
        parts: list[RenderableType] = [self._title(scene, pen), columns, Text()]
        if self._status is not None:
            self._spinner.update(text=Text(self._status()))
            parts.append(self._spinner)
        elif scene.error:
            parts.append(Text(scene.error, style="bold magenta"))
        else:
            parts.append(Text(scene.message))
        parts.append(self._keys(scene))
        return Group(*parts)

    def _title(self, scene: Scene, pen: Pen) -> Text:
        text = Text(no_wrap=True, overflow="crop")
        mover = None if scene.position.is_over else scene.position.to_move
        for side, seat in enumerate(scene.game.seats, 1):
            text.append("   against   " if side == 2 else "")
            text += pen.stone(side)
            text.append(f" {seat}", style="bold underline" if side == mover else "")
        if scene.heading:
            text.append(f"   ({scene.heading})", style="dim")
        text.append("\n")
        return text

    def _keys(self, scene: Scene) -> Text:
        text = "  ".join(f"{key} {word}" for key, word, _ in scene.keys_on_board)
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
