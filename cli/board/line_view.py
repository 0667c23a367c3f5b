"""A session line by line: for pipes and dumb terminals."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from time import sleep
from typing import Any

from rich.console import Console

from selfplay.cli.board.draw_board import Pen, draw_board
from selfplay.cli.board.scene import Row, Scene
from selfplay.cli.rendering import plain_table
from selfplay.errors import quoted
from selfplay.game.board import Board

_KEYS = {"quit": "q", "exit": "q", "help": "?", "<": "left", ">": "right"}


class LineView:
    """Prints what changes, and reads commands a line at a time."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown: list[Any] = [None] * 4
        self.pen = Pen.of(console, discs=False)
        self.waits = sys.stdin.isatty()

    def has_room(self, board: Board) -> bool:
        return True

    def show(self, scene: Scene) -> None:
        board = draw_board(scene.position, self.pen, last=scene.last, values=scene.values)
        parts = [
            (scene.heading, scene.heading),
            (scene.message, scene.message),
            ((scene.position, scene.values), board),
            (scene.panel, scene.panel),
        ]
        for (key, drawn), before in zip(parts, self._shown, strict=True):
            if key and key != before and drawn is not None:
                self._console.print(drawn)
                if drawn is not scene.message:
                    self._console.print()
        self._shown = [key for key, _ in parts]
        if scene.error:
            self._console.file.flush()
            print(scene.error, file=sys.stderr, flush=True)

    def command(self, scene: Scene) -> str:
        position = scene.position
        if position.is_over:
            prompt = "r plays again, m menu, q quits: "
        elif not scene.may_choose:
            prompt = "p continues, q quits: "
        else:
            prompt = f"{self.pen.sign(position.to_move)}, your column (? lists the keys): "
        answer = _answer(prompt if self.waits else "")
        return _KEYS.get(answer, answer)

    def wait(self, scene: Scene, seconds: float) -> str | None:
        self.show(scene)
        sleep(seconds)
        return None

    def choose(self, title: str, rows: Sequence[Row], at: int) -> int | None:
        self._shown = [None] * 4  # what was printed before is far up
        self._console.print(f"\n{title}")
        numbered = [(f"  {number}", *row) for number, row in enumerate(rows, 1)]
        self._console.print(plain_table(("", "", "", ""), numbered))
        while True:
            answer = _answer(f"[{at + 1}], q goes back: ")
            if answer in ("q", "quit"):
                return None
            if not answer:
                return at
            is_number = answer.isascii() and answer.isdigit() and len(answer) < 4
            if is_number and 1 <= int(answer) <= len(rows):
                return int(answer) - 1
            wanted = f"type a number from 1 to {len(rows)}, not {quoted(answer)}"
            print(wanted, file=sys.stderr, flush=True)

    @contextmanager
    def busy(self, scene: Scene, status: Callable[[], str]) -> Iterator[None]:
        yield

    def note(self, text: str) -> None:
        if sys.stderr.isatty():
            print(text, file=sys.stderr, flush=True)


def _answer(prompt: str) -> str:
    try:
        return input(prompt).strip().lower()
    except UnicodeDecodeError:
        return "undecodable input"
    except KeyboardInterrupt:
        if prompt:
            print(flush=True)  # or the next message would stand beside the prompt
        raise
