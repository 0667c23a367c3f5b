"""A session line by line: through a pipe, on a terminal that can do no better."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console

from selfplay.cli.board.picture import Pen, picture
from selfplay.cli.board.session import Scene
from selfplay.cli.drawing import PLAYER_NAMES

_WORDS = {"quit": "q", "exit": "q", "help": "?", "<": "left", ">": "right"}


class Lines:
    """Prints what changes, and reads answers a line at a time."""

    panel_lines = None

    def __init__(self, console: Console) -> None:
        self._console = console
        self._shown: list[Any] = []
        self.waits = sys.stdin.isatty()

    def show(self, scene: Scene) -> None:
        board = picture(scene.position, Pen.of(self._console), scene.last, None, scene.values)
        parts = [
            (scene.heading, scene.heading),
            (scene.message, scene.message),
            (
                (scene.position, scene.values),
                board,
            ),
            (scene.panel, scene.panel),
        ]
        for (key, drawn), before in zip(parts, self._shown or [None] * len(parts), strict=True):
            if key and key != before and drawn is not None:
                self._console.print(drawn)
                if drawn is not scene.message:
                    self._console.print()
        self._shown = [key for key, _ in parts]
        if scene.complaint:
            self._console.file.flush()
            print(scene.complaint, file=sys.stderr, flush=True)

    def command(self, scene: Scene) -> str:
        position = scene.position
        # Whoever pipes moves in does not need to be asked.
        question = "r plays again, q leaves: "
        if not position.is_over:
            question = f"{PLAYER_NAMES[position.to_move]}, your column: "
        try:
            answer = input(question if self.waits else "").strip().lower()
        except UnicodeDecodeError:
            return "an answer that is no text"
        return _WORDS.get(answer, answer)

    @contextmanager
    def busy(self, scene: Scene, doing: Callable[[], str]) -> Iterator[None]:
        yield

    def pause(self, seconds: float) -> None:
        time.sleep(seconds)
