"""A session: games at a board, and the commands people may give in between.

A session decides what happens; a `View` shows it and reads the commands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter

from rich.console import RenderableType

from selfplay.cli.board.choice import Choice
from selfplay.cli.board.game import Game, Players, Seat, result_of
from selfplay.cli.board.menu import Menu
from selfplay.cli.board.panels import HelpPanel, WhyPanel, hint_panel, perfect_panel, review_panel
from selfplay.cli.board.perfect_play import PerfectPlay
from selfplay.cli.board.saved_games import save_game
from selfplay.cli.board.scene import (
    AFTER_GAME,
    CHOOSING,
    PAUSED,
    REPLAY,
    STOPPED,
    WATCHING,
    Key,
    Scene,
    View,
)
from selfplay.cli.compilation import announce_compilation
from selfplay.errors import InputError, PlayerError
from selfplay.game.position import Position
from selfplay.players import Player, Searcher
from selfplay.registry import PlayerSpec
from selfplay.seeding import derive

HINTS = "mcts:10000"


@dataclass
class GameSession:
    """Games at a board until the user quits."""

    view: View
    hints: str | None
    """The player that gives hints; None: perfect play, or a search where that takes long."""
    save_to: Path
    delay: float = 0.0
    """Seconds between moves when no person plays."""
    is_recorded: bool = False
    """Whether the games become a run, which has one board."""
    games: list[Game] = field(default_factory=list)
    """The games played; the last one may be unfinished."""
    wants_values: bool = False
    players: Players = field(default_factory=Players)
    perfect_play: PerfectPlay = field(default_factory=PerfectPlay)
    _next: Game | None = None
    """The game that the user wants after this one."""
    _reviews: dict[int, tuple[list[int], RenderableType]] = field(default_factory=dict)
    """The review of each game, with the moves it is of."""

    def play(self, game: Game, message: str = "") -> None:
        """Play a game, rematches with swapped sides, and games from the menu."""
        self._next = game
        while self._next is not None:
            game, self._next = self._next, None
            self.games.append(game)
            announce_compilation(game.start.board, self.view.note)
            scene, message = Scene(game, message, keys=_keys_in(game)), ""
            self.view.show(scene)
            if self._play_to_end(scene):
                self._after_game(scene)

    def replay(self, games: Sequence[Game]) -> None:
        """Step through saved games; without a person, show each once."""
        announce_compilation(games[0].start.board, self.view.note)
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
        """Play until the game is over; False if the user leaves it before."""
        while not scene.game.position.is_over:
            scene.keys = _keys_in(scene.game)
            move = self._person_moves if scene.game.mover.is_person else self._player_moves
            if not move(scene):
                return False
        scene.values = None
        return True

    def _player_moves(self, scene: Scene) -> bool:
        """Have a player move. If it is stopped or fails, a person may move for it."""
        game, view = scene.game, self.view
        side = game.position.to_move
        name = self._named(game, side)
        try:
            with view.busy(scene, lambda: f"{name} is getting ready"):
                player = self.players.of(game, side)
            with view.busy(scene, _search_status(name, player)):
                decision = player.decide(game.position)
            scene.clear()
            game.play(decision.move, decision)
            scene.message = self._last_move(game, side)
            return game.has_person or game.position.is_over or self._watch(scene)
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

    def _watch(self, scene: Scene) -> bool:
        """Wait between the moves of players; a key pauses the game. False if the user leaves."""
        try:
            command = self.view.wait(scene, self.delay)
        except EOFError:
            return False
        if command is None:
            return True
        paused_before = False
        while not (paused_before and command in ("p", " ")):
            if self._leaves(scene, command):
                return False
            if command not in ("p", " "):
                self._follow(scene, command)
            if not paused_before:
                scene.message += "; paused"
            scene.keys, paused_before = PAUSED, True
            command = self._next_command(scene)
        scene.clear()
        return True

    def _person_moves(self, scene: Scene) -> bool:
        """Follow commands until a move is made; False if the user leaves the game."""
        before = len(scene.game.moves)
        while len(scene.game.moves) == before:
            command = self._next_command(scene)
            scene.message = ""
            if self._leaves(scene, command):
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

    def _leaves(self, scene: Scene, command: str) -> bool:
        """Whether this command ends the game: to quit, or for another one from the menu."""
        if command != "m" or not scene.allows("m"):
            return command == "q"
        game = scene.game
        board = game.start.board
        first, second = (seat.text for seat in game.seats)
        menu = Menu(self.view, may_change_board=not self.is_recorded)
        try:
            choice = menu.open(Choice(first, second, board.size, board.connect, self.delay))
        except EOFError:
            return True
        if choice is None:
            return False
        if self.view.waits:
            choice.save()
        self.delay = choice.delay
        start = game.start if choice.board == board else Position(choice.board)
        seats = Seat.of(choice.first), Seat.of(choice.second)
        self._next = Game(start, seats, derive(game.seed, "from the menu"))
        return True

    def _play_column(self, scene: Scene, number: int) -> None:
        """Play a column, counted from 1, if it is legal."""
        game, columns = scene.game, scene.game.start.board.columns
        if number - 1 in game.position.legal_moves:
            side = game.position.to_move
            scene.clear()
            game.play(number - 1)
            scene.message = self._last_move(game, side)
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
        match command:
            case "" | "enter" | "left" | "right" | "up" | "down":
                pass
            case "m" if scene.allows("m"):
                pass  # the menu was left without a choice
            case "h" if scene.allows("h") and scene.position.is_over:
                scene.error = "the game is over: step back to a position for a hint"
            case "h" if scene.allows("h"):
                self._hint(scene)
            case "w" if scene.allows("w"):
                self._explain(scene)
            case "w" if scene.keys is REPLAY:
                scene.error = (
                    "a saved game has moves, not reasons: ask `selfplay explain POSITION` for a "
                    "tree's, `selfplay analyse POSITION` for a search's"
                )
            case "e" if scene.allows("e"):
                self.wants_values = not self.wants_values
                scene.values = None
                scene.message = f"game values are {'on' if self.wants_values else 'off'}"
            case "s" if scene.allows("s"):
                try:
                    save_game(scene.game, self.save_to)
                    scene.message = f"saved to {self.save_to}"
                except OSError as error:
                    scene.error = f"cannot write {self.save_to}: {error.strerror}"
            case "?":
                scene.panel = HelpPanel([(key, text) for key, _, text in scene.keys_on_board])
            case _ if command.isdigit() and not scene.may_choose:
                scene.error = "the players move: p pauses and continues, q quits"
            case _ if command.isprintable():
                columns = scene.game.start.board.columns
                what = f"a column is a number from 1 to {columns}; " if scene.may_choose else ""
                scene.error = f"unknown command {command[:20]!r}: {what}q quits, ? lists the keys"

    def _hint(self, scene: Scene) -> None:
        position, by, reason = scene.position, self.hints or HINTS, ""
        mover = "" if scene.may_choose else f"{self.view.pen.sign(position.to_move)} to move: "
        with self._stoppable(scene):
            if self.hints is None:
                with self.view.busy(scene, lambda: "perfect play is thinking"):
                    hint = self.perfect_play.hint(position)
                if hint is not None:
                    scene.panel = perfect_panel(f"{mover}perfect play", hint)
                    return
                reason = "perfect play takes longer here"
            with self.view.busy(scene, lambda: f"{by} is getting ready"):
                player = PlayerSpec.parse(by).build(position.board)
                player.new_game(0)
            with self.view.busy(scene, _search_status(by, player)):
                decision = player.decide(position)
            scene.panel = hint_panel(f"{mover}{by}", decision, reason)

    def _explain(self, scene: Scene) -> None:
        """Show why a player made its last move, or when stepping through a game the one on screen:
        what it knew of every column."""
        game, at = scene.game, scene.look_at
        found = game.last_decision() if at is None else game.decision_before(at)
        if found is None:
            if all(seat.is_person for seat in game.seats):
                scene.error = "only players give reasons, and people play both sides"
            elif at:
                stone = scene.position.ply
                scene.error = f"a person chose stone {stone}: only players give reasons"
            else:
                scene.error = "no player has moved yet: there is nothing to explain"
            return
        number, decision = found
        before = game.positions[number]
        name = self._named(game, before.to_move)
        title = f"{name} in column {decision.move + 1}, stone {before.ply + 1}"
        with self.view.busy(scene, lambda: "explaining the move"):
            scene.panel = WhyPanel(title, decision, self.view.pen)

    def _named(self, game: Game, side: int) -> str:
        return self.view.pen.named(side, game.name(side))

    def _last_move(self, game: Game, side: int) -> str:
        verb = "play" if game.name(side) == "you" else "plays"
        return f"{self._named(game, side)} {verb} column {game.moves[-1] + 1}"

    def _solve_values(self, scene: Scene) -> None:
        """Find the game value of each column, if the user wants them."""
        if not self.wants_values or scene.values is not None or scene.position.is_over:
            return
        self.wants_values = scene.position.board.fits_word
        with self._stoppable(scene), self.view.busy(scene, lambda: "solving the position"):
            scene.values = self.perfect_play.values(scene.position)

    def _review(self, scene: Scene) -> None:
        """Show the result of a game and its mistakes."""
        game = scene.game
        result = result_of(game, self.view.pen)
        scene.message = f"{result}, after {game.position.ply} stones"
        if not game.start.board.fits_word:
            scene.message += "; no review: the board is too large for perfect play"
            return
        if not game.moves:
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
                panel = review_panel(self.perfect_play.review(game, update), self.view.pen)
                self._reviews[id(game)] = list(game.moves), panel
            scene.review = scene.panel = self._reviews[id(game)][1]

    def _after_game(self, scene: Scene) -> None:
        """Review a finished game and follow commands until the user leaves it."""
        self._review(scene)
        scene.keys = AFTER_GAME
        has_person = scene.game.has_person
        if not (has_person or self.view.waits):
            self.view.show(scene)
            return
        while True:
            command = self._next_command(scene)
            if self._leaves(scene, command):
                return
            match command:
                case "r":
                    self._next = scene.game.swapped(derive(scene.game.seed, "rematch"))
                    return
                case "u" if has_person:
                    if self._take_back(scene):
                        scene.look_at = None
                        if not self._play_to_end(scene):
                            return
                        self._review(scene)
                        scene.keys = AFTER_GAME
                case "left" | "right":
                    self._step(scene, 1 if command == "right" else -1)
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
                    self._step(scene, 1 if command == "right" else -1)
                case _ if command.isdigit():
                    scene.error = "this is a saved game: arrows step through it, q quits"
                case _:
                    self._follow(scene, command)

    def _step(self, scene: Scene, by: int) -> None:
        """Show the position some moves earlier or later."""
        last = len(scene.game.moves)
        at = last if scene.look_at is None else scene.look_at
        at = min(max(at + by, 0), last)
        scene.look_at = None if at == last else at
        scene.values = None
        scene.panel = scene.review
        if at:
            name = self._named(scene.game, scene.game.positions[at - 1].to_move)
            column = scene.game.moves[at - 1] + 1
            scene.message = f"stone {scene.position.ply}: {name} in column {column}"
        else:
            scene.message = "the start of the game"

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


def _keys_in(game: Game) -> tuple[Key, ...]:
    return CHOOSING if game.has_person else WATCHING


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
