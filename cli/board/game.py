"""A game in progress: its seats, its moves, and taking moves back."""

from __future__ import annotations

from dataclasses import dataclass, field

from selfplay.cli.board.draw_board import Pen
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import Decision, Player
from selfplay.registry import PlayerSpec
from selfplay.seeding import derive

_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Seat:
    """The player of one side."""

    spec: PlayerSpec
    text: str
    """The spec as the user wrote it."""
    name: str = ""

    @classmethod
    def of(cls, text: str, name: str = "") -> Seat:
        shown = "".join(sign if sign.isprintable() else " " for sign in name)
        return cls(PlayerSpec.parse(text), text.strip(), shown[:_LONGEST_NAME])

    @property
    def is_person(self) -> bool:
        return self.spec.name == "human"

    def __str__(self) -> str:
        return self.name or self.text


@dataclass
class Game:
    """A start position and the moves played since."""

    start: Position
    seats: tuple[Seat, Seat]
    seed: int = 0
    moves: list[int] = field(default_factory=list)
    decisions: list[Decision | None] = field(default_factory=list)
    """One for each move; None for a person's."""
    positions: list[Position] = field(init=False)
    """From the start to the present one."""

    def __post_init__(self) -> None:
        self.positions = [self.start]
        for move in self.moves:
            self.positions.append(self.position.play(move))
        if not self.decisions:
            self.decisions = [None] * len(self.moves)

    @property
    def position(self) -> Position:
        return self.positions[-1]

    def name(self, side: int) -> str:
        """The player of side 1 or 2, as a sentence names it."""
        seat = self.seats[side - 1]
        if seat.name or not seat.is_person:
            return str(seat)
        if all(seat.is_person for seat in self.seats):
            return ("first player", "second player")[side - 1]
        return "you"

    @property
    def has_person(self) -> bool:
        return any(seat.is_person for seat in self.seats)

    @property
    def mover(self) -> Seat:
        """The seat whose turn it is."""
        return self.seats[self.position.to_move - 1]

    def play(self, move: int, decision: Decision | None = None) -> None:
        self.positions.append(self.position.play(move))
        self.moves.append(move)
        self.decisions.append(decision)

    def take_back(self) -> None:
        """Go back to the last choice of a person; by one move, if no person plays."""
        if not self.moves:
            raise InputError("there is nothing to take back")
        if self.has_person and not any(
            self.seats[position.to_move - 1].is_person for position in self.positions[:-1]
        ):
            raise InputError("you have not moved yet: there is nothing to take back")
        while True:
            del self.positions[-1], self.moves[-1], self.decisions[-1]
            if not self.has_person or self.mover.is_person:
                return

    def last_decision(self) -> tuple[int, Decision] | None:
        """The latest decision of a player, and the number of its move."""
        for number, decision in reversed(list(enumerate(self.decisions))):
            if decision is not None:
                return number, decision
        return None

    def decision_before(self, at: int) -> tuple[int, Decision] | None:
        """The decision that led to a position, and the number of its move; None if a person made
        it, or if this is the start."""
        decision = self.decisions[at - 1] if at else None
        return None if decision is None else (at - 1, decision)

    def swapped(self, seed: int) -> Game:
        """A new game from the same start with the sides exchanged."""
        return Game(self.start, self.seats[::-1], seed)


class Players:
    """The players of a session, built when first needed."""

    def __init__(self) -> None:
        self._built: dict[tuple[PlayerSpec, Board, int], Player] = {}
        self._playing: dict[int, Game] = {}

    def of(self, game: Game, side: int) -> Player:
        """The player of side 1 or 2, told of a new game if this is one."""
        spec, board = game.seats[side - 1].spec, game.start.board
        key = spec, board, side
        if key not in self._built:
            self._built[key] = spec.build(board)
        player = self._built[key]
        if self._playing.get(side) is not game:
            self._playing[side] = game
            player.new_game(derive(game.seed, ("first player", "second player")[side - 1]))
        return player

    def reset(self) -> None:
        """Have every player start anew: what they remember of the game is out of date."""
        self._playing.clear()


def result_of(game: Game, pen: Pen) -> str:
    """The result of a game as text."""
    winner = game.position.winner
    if winner is None:
        return "a draw" if game.position.is_over else "unfinished"
    name = game.name(winner)
    return f"{pen.named(winner, name)} {'win' if name == 'you' else 'wins'}"
