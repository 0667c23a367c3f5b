"""A session line by line: for pipes and dumb terminals."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from selfplay.cli.board.draw_board import Pen, draw_board
from selfplay.cli.board.session import Scene
from selfplay.cli.rendering import PLAYER_NAMES

_KEYS = {"quit": "q", "exit": "q", "help": "?", "<": "left", ">": "right"}


class LineView:
    """Prints what changes, and reads commands a line at a time."""

    panel_lines = None

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown: list[Any] = [None] * 4
        self.waits = sys.stdin.isatty()

    def show(self, scene: Scene) -> None:
        board = draw_board(scene.position, Pen.of(self._console), scene.last, None, scene.values)
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
            prompt = "r plays again, q quits: "
        else:
            prompt = f"{PLAYER_NAMES[position.to_move]}, your column: "
        try:
            answer = input(prompt if self.waits else "").strip().lower()
        except UnicodeDecodeError:
            return "undecodable input"
        return _KEYS.get(answer, answer)

    @contextmanager
    def busy(self, scene: Scene, status: Callable[[], str]) -> Iterator[None]:
        yield
