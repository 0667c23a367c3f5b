"""The games of a run: an opening, an explorer who plays on from it, a teacher who labels."""

from __future__ import annotations

import numpy as np

from selfplay.game.board import position_key
from selfplay.game.openings import Openings
from selfplay.game.position import Position
from selfplay.players import Decision, Player
from selfplay.registry import PlayerSpec
from selfplay.seeding import Stream, derive
from selfplay.solver.player import PerfectPlayer
from selfplay.storage.labelling import rows_of_game
from selfplay.storage.rows import NO_RESULT, Rows
from selfplay.storage.spec import Spec

# With more stones than this, to judge a position anew takes no time.
_WORTH_RECALLING = 16


class GameMaker:
    """Makes any game of a run. A game follows from the spec and its number alone."""

    def __init__(self, spec: Spec, openings: Openings) -> None:
        self.spec = spec
        self.openings = openings
        self.rollouts = 0
        """Games that searches have played out for the labels so far."""
        self._teacher = PlayerSpec.parse(spec.teacher).build(spec.geometry)
        # One player in both roles searches once, and keeps its tree from move to move.
        self._explorer: Player | None = None
        if spec.explorer is not None and spec.mode == "games":
            self._explorer = PlayerSpec.parse(spec.explorer).build(spec.geometry)
        self._rival: Player | None = None
        if spec.opponent is not None and spec.mode == "games":
            self._rival = PlayerSpec.parse(spec.opponent).build(spec.geometry)

    @property
    def recalls(self) -> bool:
        """Whether labels are the same wherever they are made, so that they may be taken over."""
        return isinstance(self._teacher, PerfectPlayer) and self._teacher.may_be_told

    def recall(self, rows: Rows) -> None:
        """Take over labels that the teacher has made elsewhere."""
        assert isinstance(self._teacher, PerfectPlayer)
        board = self.spec.geometry
        own, mask = rows.stones(board)
        is_open = rows.board.reshape(-1, board.rows, board.columns)[:, 0] == 0
        is_known = ((rows.proven != NO_RESULT) == is_open).all(axis=1)
        early = np.flatnonzero(is_known & (np.bitwise_count(mask) <= _WORTH_RECALLING))
        keys = position_key(board, own, mask)[early].tolist()
        values = [
            tuple(None if value == NO_RESULT else value for value in columns)
            for columns in rows.proven[early].tolist()
        ]
        self._teacher.remember(zip(keys, values, strict=True))

    def rows(self, game: int) -> Rows:
        """The labelled positions of one game."""
        spec = self.spec
        seed = derive(spec.seed, "game", game)
        self._teacher.new_game(derive(seed, "teacher"))
        if self._explorer is not None:
            self._explorer.new_game(derive(seed, "explorer"))
        if self._rival is not None:
            self._rival.new_game(derive(seed, "opponent"))
        opponents_side = 2 - game % 2
        opening = self.openings.opening(spec.seed, game)
        if spec.mode == "positions":
            return rows_of_game(
                game, spec.geometry, [opening], [self._label(opening)], finished=False
            )
        chance = Stream(derive(seed, "chance"))
        positions, labels, played = [], [], []
        position = opening
        while not position.is_over:
            plies = position.ply - opening.ply
            if self._rival is not None and position.to_move == opponents_side:
                # What a opponent should do is not what the explorer is to learn.
                move = self._played(position, self._rival.decide(position), plies, chance)
            else:
                label = self._label(position)
                decision = label if self._explorer is None else self._explorer.decide(position)
                move = self._played(position, decision, plies, chance)
                positions.append(position)
                labels.append(label)
                played.append(move)
            position = position.play(move)
        return rows_of_game(
            game, spec.geometry, positions, labels, played, position.winner, finished=True
        )

    def _label(self, position: Position) -> Decision:
        label = self._teacher.decide(position)
        self.rollouts += label.rollouts
        return label

    def _played(self, position: Position, decision: Decision, plies: int, chance: Stream) -> int:
        """The explorer's move, or one by chance, as the spec has it."""
        spec = self.spec
        if spec.noise and chance.uniform() < spec.noise:
            return chance.choice(position.legal_moves)
        if plies < spec.temperature_plies and decision.visits is not None:
            return _in_proportion(decision, spec.temperature, chance)
        return decision.move


def _in_proportion(decision: Decision, temperature: float, chance: Stream) -> int:
    """A column with the probability visits^(1/temperature)."""
    visits = decision.visits or ()
    most = max(visits)
    if most == 0:  # decided without a search
        return decision.move
    weights = [(count / most) ** (1 / temperature) for count in visits]
    mark = chance.uniform() * sum(weights)
    for column, weight in enumerate(weights):
        mark -= weight
        if mark < 0:
            return column
    return decision.move
