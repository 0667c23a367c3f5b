"""What a session shows and asks for: the scene, the keys, and the interface of views."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

from rich.console import RenderableType

from selfplay.cli.board.draw_board import Pen
from selfplay.cli.board.game import Game
from selfplay.cli.board.panels import WhyPanel
from selfplay.game.board import Board
from selfplay.game.position import Position


class Key(NamedTuple):
    """A key, its label below the board, and its line in the help."""

    key: str
    label: str
    help: str


COLUMNS, ARROWS = "1-9", "←→"
CHOOSING = (
    Key(COLUMNS, "play", "play that column"),
    Key(ARROWS, "", "choose a column; Enter plays it"),
    Key("u", "undo", "take back your last move"),
    Key("h", "hint", "what perfect play, or a search, would play"),
    Key("w", "why", "why the other player made its last move"),
    Key("e", "values", "game value of each column (W, D, L), on or off"),
    Key("m", "menu", "choose other players, another board"),
    Key("s", "save", "save the game"),
    Key("q", "quit", "quit"),
    Key("?", "help", "this help"),
)


def _unlabelled(keys: tuple[Key, ...], key: str) -> tuple[Key, ...]:
    """Keys with one that only the help lists: below the board there are 80 characters."""
    return tuple(entry._replace(label="") if entry.key == key else entry for entry in keys)


STOPPED = (Key("c", "continue", "let the player continue"), *_unlabelled(CHOOSING, "s"))
_WATCHED = tuple(entry for entry in CHOOSING if entry.key in "wemsq?")
WATCHING = (Key("p", "pause", "pause the game; so does any key"), *_WATCHED)
PAUSED = (Key("p", "continue", "continue the game"), *_WATCHED)
AFTER_GAME = (
    Key(ARROWS, "step", "step through the moves"),
    Key("r", "again", "play again with sides swapped"),
    Key("w", "why", "why a player chose the stone on screen"),
    *(entry for entry in _unlabelled(CHOOSING, "u") if entry.key in "uhemsq?"),
)
REPLAY = (
    Key(ARROWS, "step", "step through the moves"),
    Key("↑↓", "game", "previous or next game"),
    *(entry for entry in CHOOSING if entry.key in "heq?"),
)


class Row(NamedTuple):
    """A row of the menu: what it is, a word about it, and details."""

    what: str
    word: str = ""
    detail: str = ""


@dataclass
class Scene:
    """Everything a view shows."""

    game: Game
    message: str = ""
    error: str = ""
    """What was wrong with the last command."""
    panel: RenderableType | None = None
    review: RenderableType | None = None
    """The mistakes of a finished game."""
    values: dict[int, int | None] | None = None
    keys: tuple[Key, ...] = CHOOSING
    look_at: int | None = None
    """The number of the position shown; None for the present one."""
    heading: str = ""

    @property
    def may_choose(self) -> bool:
        """Whether a column can be chosen."""
        at_present = self.look_at is None and not self.position.is_over
        return at_present and self.keys in (CHOOSING, STOPPED)

    @property
    def is_others_turn(self) -> bool:
        """Whether a person waits for the move of a player."""
        game = self.game
        return game.has_person and not (game.position.is_over or game.mover.is_person)

    @property
    def keys_on_board(self) -> list[Key]:
        """The keys, with the columns of this board."""
        columns = f"1-{self.game.start.board.columns}"
        return [key._replace(key=columns) if key.key == COLUMNS else key for key in self.keys]

    def allows(self, key: str) -> bool:
        return any(key == entry.key for entry in self.keys)

    @property
    def position(self) -> Position:
        return self.game.positions[-1 if self.look_at is None else self.look_at]

    @property
    def last(self) -> int | None:
        """The move before the position shown."""
        moves = self.game.moves
        number = len(moves) if self.look_at is None else self.look_at
        if number:
            return moves[number - 1]
        return self.game.start.moves[-1] if self.game.start.moves else None

    @property
    def named(self) -> Sequence[tuple[int, int]]:
        """The cells that the panel names, as column and row."""
        return self.panel.cells if isinstance(self.panel, WhyPanel) else ()

    def clear(self) -> None:
        """Remove what belonged to the position before a move."""
        self.panel = self.values = None


class View(Protocol):
    """Shows a session and reads commands."""

    waits: bool
    """Whether a person is there to press a key when a game is over."""
    pen: Pen

    def has_room(self, board: Board) -> bool: ...

    def show(self, scene: Scene) -> None: ...

    def command(self, scene: Scene) -> str:
        """The next command: the number of a column, or a key. EOFError at the end of input."""

    def wait(self, scene: Scene, seconds: float) -> str | None:
        """A key pressed within this time."""

    def choose(self, title: str, rows: Sequence[Row], at: int) -> int | None:
        """The row that the user chooses, from row `at` on; None to go back."""

    def busy(self, scene: Scene, status: Callable[[], str]) -> AbstractContextManager[Any]:
        """Show the status of a computation while it runs."""

    def note(self, text: str) -> None:
        """Show a remark on the computation in progress."""
