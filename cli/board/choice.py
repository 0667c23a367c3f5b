"""The choice of players and options, remembered in a file for the next time."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from selfplay.cli.board.opponents import default_opponent, is_offered
from selfplay.errors import InputError
from selfplay.files import read_bounded, write_whole
from selfplay.game.board import Board

_MOST_BYTES = 4096
LONGEST_DELAY = 3600.0


@dataclass(frozen=True, slots=True)
class Choice:
    """What the menu offers to choose."""

    first: str = "human"
    second: str = "tree"
    size: str = "7x6"
    connect: int = 4
    delay: float = 1.0
    """Seconds between moves when no person plays."""

    @property
    def board(self) -> Board:
        return Board.parse(self.size, self.connect)

    def on(self, board: Board) -> Choice:
        """This choice on another board: who cannot play there is replaced."""
        first, second = (
            spec if spec == "human" or is_offered(spec, board) else default_opponent(board)
            for spec in (self.first, self.second)
        )
        return Choice(first, second, board.size, board.connect, self.delay)

    def save(self) -> None:
        """Remember this choice; without a writable folder, it is forgotten."""
        with suppress(OSError):
            path = _path()
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, json.dumps(asdict(self)).encode())

    @classmethod
    def load(cls, board: Board | None = None) -> Choice:
        """The last choice, for this board if one is given; what is wrong with it is ignored."""
        try:
            stored = json.loads(read_bounded(_path(), _MOST_BYTES))
        except (OSError, InputError, ValueError, RecursionError):
            stored = None
        if not isinstance(stored, dict):
            stored = {}
        values: dict[str, Any] = asdict(cls())
        values |= {name: value for name, value in stored.items() if _is_right(name, value)}
        choice = cls(**values)
        if board is None:
            try:
                board = choice.board
            except InputError:
                board = Board()
        return choice.on(board)  # which replaces players that the menu does not offer


def _is_right(name: str, value: Any) -> bool:
    match name:
        case "first" | "second" | "size":
            return isinstance(value, str)
        case "connect":
            return type(value) is int
        case "delay":
            return type(value) in (int, float) and 0 <= value <= LONGEST_DELAY
    return False


def _path() -> Path:
    state = os.environ.get("XDG_STATE_HOME", "")
    folder = Path(state) if os.path.isabs(state) else Path.home() / ".local" / "state"
    return folder / "selfplay" / "play.json"
