"""A session: games at a board, and the commands people may give in between.

A session decides what happens; a `View` shows it and reads the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter, sleep
from typing import Any, NamedTuple, Protocol

from rich.console import RenderableType

from selfplay.cli.board.game import Game, Players, result_of
from selfplay.cli.board.panels import HelpPanel, HintPanel, review_panel, why_panel
from selfplay.cli.board.perfect_play import PerfectPlay
from selfplay.cli.board.saved_games import save_game
from selfplay.cli.rendering import PLAYER_NAMES
from selfplay.errors import InputError, PlayerError
from selfplay.game.position import Position
from selfplay.players import Player, Searcher
from selfplay.registry import PlayerSpec
from selfplay.seeding import derive


class Key(NamedTuple):
    """A key, its label below the board, and its line in the help."""

    key: str
    label: str
    help: str


COLUMNS, ARROWS = "1-9", "←→"
CHOOSING = (
    Key(COLUMNS, "play", "play that column"),
    Key(ARROWS, "choose", "choose a column; Enter plays it"),
    Key("u", "undo", "take back your last move"),
    Key("h", "hint", "what another player would play"),
    Key("w", "why", "why the tree made its last move"),
    Key("e", "values", "game value of each column (W, D, L), on or off"),
    Key("s", "save", "save the game"),
    Key("q", "quit", "quit"),
    Key("?", "help", "this help"),
)
STOPPED = (Key("c", "continue", "let the player continue"), *CHOOSING)
AFTER_GAME = (
    Key(ARROWS, "step", "step through the moves"),
    Key("r", "again", "play again with sides swapped"),
    *(entry for entry in CHOOSING if entry.key in "uhwesq?"),
)
REPLAY = (
    Key(ARROWS, "step", "step through the moves"),
    Key("↑↓", "game", "previous or next game"),
    *(entry for entry in CHOOSING if entry.key in "heq?"),
)


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
    def keys_on_board(self) -> list[Key]:
        """The keys, with the columns of this board."""
        columns = f"1-{self.game.start.board.columns}"
        return [key._replace(key=columns) if key.key == COLUMNS else key for key in self.keys]

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

    def clear(self) -> None:
        """Remove what belonged to the position before a move."""
        self.panel = self.values = None


class View(Protocol):
    """Shows a session and reads commands."""

    waits: bool
    """Whether a person is there to press a key when a game is over."""

    @property
    def panel_lines(self) -> int | None:
        """The height of a panel; None if unlimited."""

    def show(self, scene: Scene) -> None: ...

    def command(self, scene: Scene) -> str:
        """The next command: the number of a column, or a key. EOFError at the end of input."""

    def busy(self, scene: Scene, status: Callable[[], str]) -> AbstractContextManager[Any]:
        """Show the status of a computation while it runs."""


@dataclass
class GameSession:
    """Games at a board until the user quits."""

    view: View
    players: Players
    perfect_play: PerfectPlay
    hints: str
    """The player that gives hints."""
    save_to: Path
    delay: float = 0.0
    games: list[Game] = field(default_factory=list)
    """The games played; the last one may be unfinished."""
    wants_values: bool = False
    _reviews: dict[int, tuple[list[int], RenderableType]] = field(default_factory=dict)
    """The review of each game, with the moves it is of."""

    def play(self, game: Game) -> None:
        """Play a game, and rematches with swapped sides while the user wants them."""
        going_on = True
        while going_on:
            self.games.append(game)
            scene = Scene(game)
            self.view.show(scene)
            going_on = self._play_to_end(scene) and self._after_game(scene)
            game = game.swapped(derive(game.seed, "rematch"))

    def replay(self, games: Sequence[Game]) -> None:
        """Step through saved games; without a person, show each once."""
        number = 0
        while True:
            heading = f"game {number + 1} of {len(games)}"
            scene = Scene(games[number], keys=REPLAY, heading=heading)
            self._review(scene)
            if self.view.waits:
                step = self._step_through(scene)
                if step is None:
                    return
                number = (number + step) % len(games)
            else:
                self.view.show(scene)
                number += 1
                if number == len(games):
                    return

    def _play_to_end(self, scene: Scene) -> bool:
        """Play until the game is over; False if the user quits before."""
        while not scene.game.position.is_over:
            scene.keys = CHOOSING
            move = self._person_moves if scene.game.mover.is_person else self._player_moves
            if not move(scene):
                return False
        scene.values = None
        return True

    def _player_moves(self, scene: Scene) -> bool:
        """Have a player move. If it is stopped or fails, a person may move for it."""
        game, view = scene.game, self.view
        side, name = game.position.to_move, str(game.mover)
        try:
            with view.busy(scene, lambda: f"{name} is getting ready"):
                player = self.players.of(game, side)
            with view.busy(scene, _search_status(name, player)):
                decision = player.decide(game.position)
            scene.clear()
            game.play(decision.move, decision)
            scene.message = _last_move(game, side)
            if not game.has_person and not game.position.is_over:
                view.show(scene)
                sleep(self.delay)
            return True
        except KeyboardInterrupt:
            if not view.waits:
                raise
            scene.error = "stopped: c continues, or choose a column for the player; q quits"
        except (InputError, PlayerError) as error:
            if not view.waits:
                raise
            scene.error = f"{error}; c tries again, or choose a column for the player"
        self.players.reset()
        scene.keys = STOPPED
        return self._person_moves(scene)

    def _person_moves(self, scene: Scene) -> bool:
        """Follow commands until a move is made; False if the user quits."""
        before = len(scene.game.moves)
        while len(scene.game.moves) == before:
            command = self._next_command(scene)
            scene.message = ""
            if command == "q":
                return False
            if command == "c" and scene.keys is STOPPED:
                return True
            if command == "u":
                if self._take_back(scene):
                    if scene.game.mover.is_person:
                        return True
                    before = len(scene.game.moves)  # or the player would repeat its move at once
            elif command.isascii() and command.isdigit() and len(command) < 4:
                self._play_column(scene, int(command))
            else:
                self._follow(scene, command)
        return True

    def _next_command(self, scene: Scene) -> str:
        """The user's next command; q at the end of input."""
        self._solve_values(scene)
        self.view.show(scene)
        try:
            command = self.view.command(scene)
        except EOFError:
            return "q"
        scene.error = ""
        return command

    def _play_column(self, scene: Scene, number: int) -> None:
        """Play a column, counted from 1, if it is legal."""
        game, columns = scene.game, scene.game.start.board.columns
        if number - 1 in game.position.legal_moves:
            side = game.position.to_move
            scene.clear()
            game.play(number - 1)
            scene.message = _last_move(game, side)
        elif 1 <= number <= columns:
            legal = ", ".join(str(column + 1) for column in game.position.legal_moves)
            scene.error = f"column {number} is full; choose one of {legal}"
        else:
            scene.error = f"there is no column {number}: columns are 1 to {columns}"

    def _take_back(self, scene: Scene) -> bool:
        try:
            scene.game.take_back()
        except InputError as error:
            scene.error = str(error)
            return False
        self.players.reset()
        scene.clear()
        scene.message = "taken back"
        return True

    def _follow(self, scene: Scene, command: str) -> None:
        """Follow a command that makes no move."""
        allowed = {key.key for key in scene.keys}
        match command:
            case "" | "enter" | "left" | "right" | "up" | "down":
                pass
            case "h" if "h" in allowed and not scene.position.is_over:
                self._hint(scene)
            case "w" if "w" in allowed:
                self._explain(scene)
            case "e" if "e" in allowed:
                self.wants_values = not self.wants_values
                scene.values = None
                scene.message = f"game values are {'on' if self.wants_values else 'off'}"
            case "s" if "s" in allowed:
                try:
                    save_game(scene.game, self.save_to)
                    scene.message = f"saved to {self.save_to}"
                except OSError as error:
                    scene.error = f"cannot write {self.save_to}: {error.strerror}"
            case "?":
                scene.panel = HelpPanel([(key, text) for key, _, text in scene.keys_on_board])
            case _ if command.isprintable():
                scene.error = (
                    f"unknown command {command[:20]!r}: a column is a number from 1 to "
                    f"{scene.game.start.board.columns}; q quits, ? lists the keys"
                )

    def _hint(self, scene: Scene) -> None:
        with self._stoppable(scene):
            position = scene.position
            with self.view.busy(scene, lambda: f"{self.hints} is getting ready"):
                player = PlayerSpec.parse(self.hints).build(position.board)
                player.new_game(0)
            with self.view.busy(scene, _search_status(self.hints, player)):
                decision = player.decide(position)
            scene.panel = HintPanel(self.hints, decision)

    def _explain(self, scene: Scene) -> None:
        explained = scene.game.last_explained()
        if explained is None:
            scene.error = "only trees explain their moves, and none has moved yet"
        else:
            number, decision = explained
            stone = scene.game.positions[number].ply + 1
            with self.view.busy(scene, lambda: "explaining the move"):
                scene.panel = why_panel(stone, decision.why, self.view.panel_lines)

    def _solve_values(self, scene: Scene) -> None:
        """Find the game value of each column, if the user wants them."""
        if not self.wants_values or scene.values is not None or scene.position.is_over:
            return
        self.wants_values = self.perfect_play.is_available
        with self._stoppable(scene), self.view.busy(scene, lambda: "solving the position"):
            scene.values = self.perfect_play.values(scene.position)

    def _review(self, scene: Scene) -> None:
        """Show the result of a game and its mistakes."""
        game = scene.game
        result = result_of(game.position, game.names)
        scene.message = f"{result}, after {game.position.ply} stones"
        if not (game.moves and self.perfect_play.is_available):
            return
        reviewed = 0

        def update(done: int, _total: int) -> None:
            nonlocal reviewed
            reviewed = done

        def status() -> str:
            return f"reviewing the game: {reviewed} of {len(game.moves)} moves"

        self.view.show(scene)
        with self._stoppable(scene), self.view.busy(scene, status):
            if id(game) not in self._reviews or game.moves != self._reviews[id(game)][0]:
                panel = review_panel(self.perfect_play.review(game, update))
                self._reviews[id(game)] = list(game.moves), panel
            scene.review = scene.panel = self._reviews[id(game)][1]

    def _after_game(self, scene: Scene) -> bool:
        """Review a finished game and follow commands; whether to play again."""
        self._review(scene)
        scene.keys = AFTER_GAME
        has_person = scene.game.has_person
        if not (has_person or self.view.waits):
            self.view.show(scene)
            return False
        while True:
            match command := self._next_command(scene):
                case "q":
                    return False
                case "r":
                    return True
                case "u" if has_person:
                    if self._take_back(scene):
                        scene.look_at = None
                        if not self._play_to_end(scene):
                            return False
                        self._review(scene)
                        scene.keys = AFTER_GAME
                case "left" | "right":
                    _step(scene, 1 if command == "right" else -1)
                case _ if command.isdigit():
                    scene.error = "the game is over: r plays again, q quits"
                case _:
                    self._follow(scene, command)

    def _step_through(self, scene: Scene) -> int | None:
        """Step through a saved game; 1 or -1 for the next or previous game, None to quit."""
        while True:
            match command := self._next_command(scene):
                case "q":
                    return None
                case "up" | "down":
                    return 1 if command == "down" else -1
                case "left" | "right":
                    _step(scene, 1 if command == "right" else -1)
                case _ if command.isdigit():
                    scene.error = "this is a saved game: arrows step through it, q quits"
                case _:
                    self._follow(scene, command)

    @contextmanager
    def _stoppable(self, scene: Scene) -> Iterator[None]:
        """Turn Ctrl-C, if a person is there, and bad input into a message: the session goes on."""
        try:
            yield
        except KeyboardInterrupt:
            if not self.view.waits:
                raise
            scene.error = "stopped"
        except (InputError, PlayerError) as error:
            scene.error = str(error)


def _last_move(game: Game, side: int) -> str:
    return f"{game.names[side - 1]} plays column {game.moves[-1] + 1}"


def _step(scene: Scene, by: int) -> None:
    """Show the position some moves earlier or later."""
    last = len(scene.game.moves)
    at = last if scene.look_at is None else scene.look_at
    at = min(max(at + by, 0), last)
    scene.look_at = None if at == last else at
    scene.values = None
    scene.panel = scene.review
    if at:
        side = scene.game.positions[at - 1].to_move
        column = scene.game.moves[at - 1] + 1
        scene.message = f"stone {scene.position.ply}: {PLAYER_NAMES[side]} in column {column}"
    else:
        scene.message = "the start of the game"


def _search_status(name: str, player: Player) -> Callable[[], str]:
    """What a player is doing, with the counts of its search if it has any."""
    start = perf_counter()

    def status() -> str:
        text = f"{name} is thinking"
        if isinstance(player, Searcher):
            counts = player.so_far()
            first = next(iter(counts.values()))
            seconds = perf_counter() - start
            text += ": " + ", ".join(f"{count:,} {what}" for what, count in counts.items())
            if seconds > 0.5:
                text += f", {first / seconds:,.0f}/s"
        return text

    return status
