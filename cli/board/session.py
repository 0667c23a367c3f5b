"""A session: games at a board, and what people may ask for in between.

What happens is decided here; how it looks, and how people are asked, is a view's.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from rich.console import RenderableType

from selfplay.cli.board.game import Game, Players, result_of
from selfplay.cli.board.judge import Judge
from selfplay.cli.board.panels import HelpPanel, HintPanel, review_panel, why_panel
from selfplay.cli.board.records import keep
from selfplay.cli.drawing import PLAYER_NAMES
from selfplay.errors import InputError
from selfplay.game.position import Position
from selfplay.players import Player, Searcher
from selfplay.registry import PlayerSpec
from selfplay.seeding import derive


class Key(NamedTuple):
    """A key, in a word, and what it is for."""

    key: str
    word: str
    what: str


COLUMNS, ARROWS = "1-9", "←→"
CHOOSING = (
    Key(COLUMNS, "play", "play that column"),
    Key(ARROWS, "choose", "choose a column; Enter plays it"),
    Key("u", "back", "take back"),
    Key("h", "hint", "what another player would do"),
    Key("w", "why", "why the tree played that"),
    Key("e", "values", "what each column is worth, on or off"),
    Key("s", "save", "save the game"),
    Key("q", "leave", "leave"),
    Key("?", "help", "this help"),
)
STOPPED = (Key("c", "go on", "let it go on"), *CHOOSING)
AFTERWARDS = (
    Key(ARROWS, "look", "look back"),
    Key("r", "again", "play again, sides swapped"),
    *(entry for entry in CHOOSING if entry.key in "uhwesq?"),
)
LOOKING = (
    Key(ARROWS, "look", "a move back or on"),
    Key("↑↓", "game", "another game"),
    *(entry for entry in CHOOSING if entry.key in "heq?"),
)


@dataclass
class Scene:
    """What is to be seen."""

    game: Game
    message: str = ""
    complaint: str = ""
    """What was wrong with the last thing asked for."""
    panel: RenderableType | None = None
    review: RenderableType | None = None
    """What was wrong with the game, once it is over."""
    values: dict[int, int | None] | None = None
    keys: tuple[Key, ...] = CHOOSING
    look_at: int | None = None
    """The position that is looked back at; without it, the one on the board."""
    heading: str = ""

    @property
    def may_choose(self) -> bool:
        """Whether a column can be chosen."""
        return self.keys in (CHOOSING, STOPPED)

    @property
    def keys_on_board(self) -> list[Key]:
        """The keys, by their names on a board of this width."""
        columns = f"1-{self.game.start.board.columns}"
        return [key._replace(key=columns) if key.key == COLUMNS else key for key in self.keys]

    @property
    def position(self) -> Position:
        return self.game.positions[-1 if self.look_at is None else self.look_at]

    @property
    def last(self) -> int | None:
        """The move that led here."""
        moves = self.game.moves
        number = len(moves) if self.look_at is None else self.look_at
        if number:
            return moves[number - 1]
        return self.game.start.moves[-1] if self.game.start.moves else None


class View(Protocol):
    """How a session is shown, and how people are asked."""

    waits: bool
    """Whether somebody is there to press a key when a game is over."""

    @property
    def panel_lines(self) -> int | None:
        """The room for a panel; None where there is no end to it."""

    def show(self, scene: Scene) -> None: ...

    def command(self, scene: Scene) -> str:
        """What is asked for: the number of a column, or a key; EOFError if nobody is there."""

    def busy(self, scene: Scene, doing: Callable[[], str]) -> AbstractContextManager[Any]:
        """While it lasts, what is being done is told."""

    def pause(self, seconds: float) -> None: ...


@dataclass
class GameSession:
    """Games at a board until everybody leaves."""

    view: View
    players: Players
    judge: Judge
    hints: str
    """The player who gives them."""
    save_to: Path
    delay: float = 0.0
    games: list[Game] = field(default_factory=list)
    """Those that were played, the last one perhaps not to its end."""
    wants_values: bool = False
    _reviews: dict[int, tuple[list[int], RenderableType]] = field(default_factory=dict)
    """Of each game, by its moves."""

    def play(self, game: Game) -> None:
        """Play it, and again with the sides swapped as long as somebody likes."""
        going_on = True
        while going_on:
            self.games.append(game)
            scene = Scene(game)
            self.view.show(scene)
            going_on = self._until_over(scene) and self._afterwards(scene)
            game = game.swapped(derive(game.seed, "rematch"))

    def look_through(self, games: Sequence[Game]) -> None:
        """Look at games that were played."""
        number = 0
        while True:
            heading = f"game {number + 1} of {len(games)}"
            scene = Scene(games[number], keys=LOOKING, heading=heading)
            self._look_back(scene)
            if not self.view.waits:
                self.view.show(scene)
                number += 1
                if number == len(games):
                    return
                continue
            step = self._look(scene)
            if step is None:
                return
            number = (number + step) % len(games)

    def _until_over(self, scene: Scene) -> bool:
        """Play until the game is over; False if somebody leaves before."""
        game = scene.game
        while not game.position.is_over:
            scene.keys = CHOOSING
            if game.mover.is_person:
                if not self._ask(scene):
                    return False
            elif not self._let_play(scene):
                return False
        scene.values = None
        return True

    def _let_play(self, scene: Scene) -> bool:
        """Have a player decide. Whoever stops it, or has it fail, may choose in its place."""
        game, view = scene.game, self.view
        side = game.position.to_move
        try:
            with view.busy(scene, lambda: f"{game.seats[side - 1]} is getting ready"):
                player = self.players.on(game, side)
            with view.busy(scene, _thinking(str(game.seats[side - 1]), player)):
                decision = player.decide(game.position)
            scene.panel, scene.values = None, None
            game.play(decision.move, decision)
            scene.message = self._said(game, side)
            if not any(seat.is_person for seat in game.seats) and not game.position.is_over:
                view.show(scene)
                view.pause(self.delay)
        except KeyboardInterrupt:
            if not view.waits:
                raise
            self.players.forget()
            scene.complaint = "stopped: c lets it go on, or choose a column for it; q leaves"
            scene.keys = STOPPED
            return self._ask(scene)
        except InputError as error:
            if not view.waits:
                raise
            self.players.forget()
            scene.complaint = f"{error}; c lets it try again, or choose a column for it"
            scene.keys = STOPPED
            return self._ask(scene)
        return True

    def _said(self, game: Game, side: int) -> str:
        return f"{game.names[side - 1]} plays column {game.moves[-1] + 1}"

    def _ask(self, scene: Scene) -> bool:
        """Have somebody choose; False if they leave."""
        before = len(scene.game.moves)
        while len(scene.game.moves) == before:
            asked = self._asked(scene)
            scene.message = ""
            if asked == "q":
                return False
            if asked == "c" and scene.keys is STOPPED:
                return True
            if asked == "u":
                if self._take_back(scene):
                    if scene.game.mover.is_person:
                        return True
                    before = len(scene.game.moves)  # nobody wants it played again at once
            elif asked.isascii() and asked.isdigit() and len(asked) < 4:
                self._put(scene, int(asked))
            else:
                self._answer(scene, asked)
        return True

    def _asked(self, scene: Scene) -> str:
        """What somebody asks for; if nobody is there, to leave."""
        self._find_values(scene)
        self.view.show(scene)
        try:
            asked = self.view.command(scene)
        except EOFError:
            return "q"
        scene.complaint = ""
        return asked

    def _put(self, scene: Scene, number: int) -> None:
        """A stone into a column, 1-based, if it goes."""
        game, board = scene.game, scene.game.start.board
        if number - 1 in game.position.legal_moves:
            side = game.position.to_move
            scene.panel = scene.values = None
            game.play(number - 1)
            scene.message = self._said(game, side)
        elif 1 <= number <= board.columns:
            free = ", ".join(str(column + 1) for column in game.position.legal_moves)
            scene.complaint = f"column {number} is full; open are {free}"
        else:
            scene.complaint = f"there is no column {number}: columns are 1 to {board.columns}"

    def _take_back(self, scene: Scene) -> bool:
        try:
            scene.game.take_back()
        except InputError as error:
            scene.complaint = str(error)
            return False
        self.players.forget()
        scene.panel = scene.values = None
        scene.message = "taken back"
        return True

    def _answer(self, scene: Scene, asked: str) -> None:
        """What may be asked for at any time."""
        allowed = {key.key for key in scene.keys}
        match asked:
            case "" | "enter" | "left" | "right" | "up" | "down":
                pass
            case "h" if "h" in allowed and not scene.position.is_over:
                self._hint(scene)
            case "w" if "w" in allowed:
                self._why(scene)
            case "e" if "e" in allowed:
                self.wants_values = not self.wants_values
                scene.values = None
                scene.message = f"values are {'on' if self.wants_values else 'off'}"
            case "s" if "s" in allowed:
                try:
                    keep(scene.game, self.save_to)
                    scene.message = f"a line more in {self.save_to}"
                except OSError as error:
                    scene.complaint = f"cannot write {self.save_to}: {error.strerror}"
            case "?":
                scene.panel = HelpPanel([(key, what) for key, _, what in scene.keys_on_board])
            case _ if asked.isprintable():
                scene.complaint = (
                    f"{asked[:20]!r} is not understood: a column is a number from 1 to "
                    f"{scene.game.start.board.columns}; q leaves, ? tells more"
                )

    def _hint(self, scene: Scene) -> None:
        with _Stoppable(scene, self.view):
            position = scene.position
            with self.view.busy(scene, lambda: f"{self.hints} is getting ready"):
                adviser = PlayerSpec.parse(self.hints).build(position.board)
                adviser.new_game(0)
            with self.view.busy(scene, _thinking(self.hints, adviser)):
                decision = adviser.decide(position)
            scene.panel = HintPanel(self.hints, decision)

    def _why(self, scene: Scene) -> None:
        found = scene.game.last_of(lambda decision: decision.why is not None)
        if found is None:
            scene.complaint = "only trees give reasons, and none has moved"
        else:
            number, decision = found
            stone = scene.game.positions[number].ply + 1
            # Its reasons are worked out when they are asked for.
            with self.view.busy(scene, lambda: "asking the tree"):
                scene.panel = why_panel(stone, decision.why, self.view.panel_lines)

    def _find_values(self, scene: Scene) -> None:
        """What perfect play says of each column, as far as it does within some seconds."""
        position = scene.position
        if not self.wants_values or scene.values is not None or position.is_over:
            return
        self.wants_values = self.judge.is_able
        with _Stoppable(scene, self.view), self.view.busy(scene, lambda: "working out values"):
            scene.values = self.judge.values(position)

    def _look_back(self, scene: Scene) -> None:
        """Say how the game ended, and what was wrong in it."""
        game = scene.game
        end = result_of(game.position, game.names)
        scene.message = f"{end}, after {game.position.ply} stones"
        if not (game.moves and self.judge.is_able):
            return
        judged = 0

        def tell(done: int, of: int) -> None:
            nonlocal judged
            judged = done

        def doing() -> str:
            return f"perfect play judges the game: {judged} of {len(game.moves)} moves"

        self.view.show(scene)
        with _Stoppable(scene, self.view), self.view.busy(scene, doing):
            if id(game) not in self._reviews or game.moves != self._reviews[id(game)][0]:
                found = review_panel(self.judge.review(game, tell))
                self._reviews[id(game)] = list(game.moves), found
            scene.review = scene.panel = self._reviews[id(game)][1]

    def _afterwards(self, scene: Scene) -> bool:
        """What is to be said when a game is over; whether it is to be played again."""
        self._look_back(scene)
        scene.keys = AFTERWARDS
        people = any(seat.is_person for seat in scene.game.seats)
        if not (people or self.view.waits):
            self.view.show(scene)
            return False
        while True:
            match asked := self._asked(scene):
                case "q":
                    return False
                case "r":
                    return True
                case "u" if people:
                    if self._take_back(scene):
                        scene.look_at = None
                        if not self._until_over(scene):
                            return False
                        self._look_back(scene)
                        scene.keys = AFTERWARDS
                case "left" | "right":
                    _step(scene, 1 if asked == "right" else -1)
                case _ if asked.isdigit():
                    scene.complaint = "the game is over: r plays again, q leaves"
                case _:
                    self._answer(scene, asked)

    def _look(self, scene: Scene) -> int | None:
        """Step through a game; to which other one to go, or None to leave."""
        while True:
            match asked := self._asked(scene):
                case "q":
                    return None
                case "up" | "down":
                    return 1 if asked == "down" else -1
                case "left" | "right":
                    _step(scene, 1 if asked == "right" else -1)
                case _ if asked.isdigit():
                    scene.complaint = "this game was played: q leaves"
                case _:
                    self._answer(scene, asked)


class _Stoppable:
    """Ctrl-C ends what is done in it, and nothing else, if somebody is there to go on."""

    def __init__(self, scene: Scene, view: View) -> None:
        self._scene, self._view = scene, view

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: type[BaseException] | None, error: object, _trace: object) -> bool:
        if kind is not None and issubclass(kind, KeyboardInterrupt) and self._view.waits:
            self._scene.complaint = "stopped"
            return True
        if kind is not None and issubclass(kind, InputError):
            self._scene.complaint = str(error)
            return True
        return False


def _step(scene: Scene, by: int) -> None:
    """Look a move further back, or on."""
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
        scene.message = "the beginning"


def _thinking(name: str, player: Player) -> Callable[[], str]:
    """What a player is at, as far as it tells."""
    start = perf_counter()

    def doing() -> str:
        text = f"{name} is thinking"
        if isinstance(player, Searcher):
            counts = player.so_far()
            first = next(iter(counts.values()))
            taken = perf_counter() - start
            text += ": " + ", ".join(f"{count:,} {what}" for what, count in counts.items())
            if taken > 0.5:
                text += f", {first / taken:,.0f}/s"
        return text

    return doing
