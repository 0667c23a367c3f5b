"""Where the positions of an evaluation set come from: play of several kinds, good and bad."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.game.position import FIRST, Position
from selfplay.players import Player
from selfplay.registry import PlayerSpec
from selfplay.seeding import Stream, derive

SOURCES = ("random", "sensible", "search", "greedy", "people")
"""In turn:

    random     random moves
    sensible   sensible play
    search     a search with few iterations against itself
    greedy     greedy against that search
    people     each side wins and blocks, and likes moves that build lines, but does not see what
               the other side can do next
"""

_SEARCH = "mcts:200"
_NOISE = 0.1
_RANDOM_PLIES = 4
"""Games of players begin with up to this number of random plies; else they would repeat."""
_FIRST_CHOICE = 0.6
"""How often people play the move they like best, and of the others the next."""
_ATTEMPTS = 20


@dataclass(frozen=True)
class Candidates:
    """Positions by number, without end. Each follows from the seed and its number alone."""

    board: Board
    plies: range
    """The numbers of stones."""
    seed: int

    def __post_init__(self) -> None:
        # With a single cell left there is nothing to choose.
        most = self.board.cells - 2
        if not 0 <= self.plies.start < self.plies.stop <= most + 1:
            raise InputError(
                f"plies are a range such as 8-30, up to {most} on a {self.board.size} board, "
                f"not {self.plies.start}-{self.plies.stop - 1}"
            )

    def position(self, number: int) -> tuple[Position, str] | None:
        """A position and its source; None if games of this kind end before."""
        source = SOURCES[number % len(SOURCES)]
        seed = derive(self.seed, "evaluation set", number)
        stream = Stream(seed)
        ply = self.plies[stream.below(len(self.plies))]
        if source in ("random", "sensible"):
            play = RandomPlies(self.board, ply, ply, sensible=source == "sensible")
            position = play.opening(seed, number)
        else:
            games = (self._play(source, ply, stream) for _ in range(_ATTEMPTS))
            position = next((p for p in games if not p.is_over), Position(self.board))
        return (position, source) if position.ply == ply else None

    @cached_property
    def _search(self) -> Player:
        return PlayerSpec.parse(_SEARCH).build(self.board)

    @cached_property
    def _greedy(self) -> Player:
        return PlayerSpec.parse("greedy").build(self.board)

    def _play(self, source: str, plies: int, stream: Stream) -> Position:
        """A game between players, cut off after `plies`."""
        for player in (self._search, self._greedy):
            player.new_game(stream.bits())
        random_plies, greedy_side = stream.below(_RANDOM_PLIES + 1), FIRST + stream.below(2)
        position = Position(self.board)
        while position.ply < plies and not position.is_over:
            if position.ply < random_plies or stream.uniform() < _NOISE:
                move = stream.choice(position.legal_moves)
            elif source == "people":
                move = self._as_people_do(position, stream)
            else:
                is_greedy = source == "greedy" and position.to_move == greedy_side
                move = (self._greedy if is_greedy else self._search).decide(position).move
            position = position.play(move)
        return position

    def _as_people_do(self, position: Position, stream: Stream) -> int:
        if moves := position.winning_moves or position.blocking_moves:
            return stream.choice(moves)
        liked = self._greedy.decide(position).evaluations or ()
        moves = tuple(sorted(position.legal_moves, key=lambda move: -(liked[move] or 0.0)))
        for move in moves[:-1]:
            if stream.uniform() < _FIRST_CHOICE:
                return move
        return moves[-1]
