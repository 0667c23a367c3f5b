"""A game at a board: who sits where, what was played, and how to take it back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from selfplay.cli.drawing import PLAYER_NAMES
from selfplay.errors import InputError
from selfplay.game.position import Position
from selfplay.players import Decision, Player
from selfplay.registry import PlayerSpec
from selfplay.seeding import derive

_LONGEST_NAME = 40


@dataclass(frozen=True, slots=True)
class Seat:
    """Who plays one of the sides."""

    spec: PlayerSpec
    text: str
    """The spec as it was given."""
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
    """What was played from a position on, up to now."""

    start: Position
    seats: tuple[Seat, Seat]
    seed: int = 0
    moves: list[int] = field(default_factory=list)
    decisions: list[Decision | None] = field(default_factory=list)
    """One for each move; None where a person made it."""
    positions: list[Position] = field(init=False)
    """From the start to what stands on the board now."""

    def __post_init__(self) -> None:
        self.positions = [self.start]
        for move in self.moves:
            self.positions.append(self.position.play(move))
        if not self.decisions:
            self.decisions = [None] * len(self.moves)

    @property
    def position(self) -> Position:
        return self.positions[-1]

    @property
    def names(self) -> list[str]:
        """The sides, each with who plays it."""
        return [
            side if str(seat) == side else f"{side} ({seat})"
            for side, seat in zip(PLAYER_NAMES.values(), self.seats, strict=True)
        ]

    @property
    def mover(self) -> Seat:
        """Who is to move."""
        return self.seats[self.position.to_move - 1]

    def play(self, move: int, decision: Decision | None = None) -> None:
        self.positions.append(self.position.play(move))
        self.moves.append(move)
        self.decisions.append(decision)

    def take_back(self) -> None:
        """Back to where a person last chose; one move, where no person plays."""
        if not self.moves:
            raise InputError("there is nothing to take back")
        people = any(seat.is_person for seat in self.seats)
        least = next((k for k in range(len(self.moves)) if self._is_persons(k)), None)
        if people and least is None:
            raise InputError("there is nothing of yours to take back")
        while True:
            del self.positions[-1], self.moves[-1], self.decisions[-1]
            if not people or self.mover.is_person:
                return

    def _is_persons(self, number: int) -> bool:
        return self.seats[self.positions[number].to_move - 1].is_person

    def last_of(self, is_wanted: Callable[[Decision], bool]) -> tuple[int, Decision] | None:
        """The latest decision of a kind, and which move it was."""
        for number in reversed(range(len(self.decisions))):
            decision = self.decisions[number]
            if decision is not None and is_wanted(decision):
                return number, decision
        return None

    def swapped(self, seed: int) -> Game:
        """The same from the start, with the sides exchanged."""
        return Game(self.start, self.seats[::-1], seed)


class Players:
    """Those who think for themselves, made when they are first needed."""

    def __init__(self, make: Callable[[PlayerSpec], Player]) -> None:
        self._make = make
        self._made: dict[tuple[PlayerSpec, int], Player] = {}
        self._playing: dict[int, Game] = {}

    def on(self, game: Game, side: int) -> Player:
        """Who plays this side, 1 or 2, ready for this game."""
        key = game.seats[side - 1].spec, side
        if key not in self._made:
            self._made[key] = self._make(key[0])
        player = self._made[key]
        if self._playing.get(side) is not game:
            self._playing[side] = game
            player.new_game(derive(game.seed, ("first player", "second player")[side - 1]))
        return player

    def forget(self) -> None:
        """What they remember of the game is no longer true."""
        self._playing.clear()


def result_of(position: Position, names: Sequence[str]) -> str:
    """How a game ended, in words."""
    if position.winner is None:
        return "a draw" if position.is_over else "unfinished"
    return f"{names[position.winner - 1]} wins"
