"""Play the games of a run: the explorer moves from an opening on, the teacher labels positions."""

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

# Later positions are solved faster than they are looked up.
_MOST_STONES_REUSED = 16


class GameMaker:
    """Plays any game of a run. A game follows from the spec and its number alone."""

    def __init__(self, spec: Spec, openings: Openings) -> None:
        self.spec = spec
        self.openings = openings
        self.rollouts = 0  # rollouts of the teacher so far
        self._teacher = PlayerSpec.parse(spec.teacher).build(spec.parsed_board)
        # A teacher who also explores searches once, and keeps its tree from move to move.
        self._explorer = self._build(spec.explorer)
        self._opponent = self._build(spec.opponent)

    def _build(self, name: str | None) -> Player | None:
        if name is None or self.spec.mode == "positions":
            return None
        return PlayerSpec.parse(name).build(self.spec.parsed_board)

    @property
    def reuses_labels(self) -> bool:
        """Whether the teacher's labels depend on the position alone, so that they can be reused."""
        return isinstance(self._teacher, PerfectPlayer) and self._teacher.may_be_told

    def reuse_labels(self, rows: Rows) -> None:
        """Give the teacher its labels from another run."""
        assert isinstance(self._teacher, PerfectPlayer)
        board = self.spec.parsed_board
        own, mask = rows.stones(board)
        is_open = rows.board.reshape(-1, board.rows, board.columns)[:, 0] == 0
        is_known = ((rows.proven != NO_RESULT) == is_open).all(axis=1)
        early = np.flatnonzero(is_known & (np.bitwise_count(mask) <= _MOST_STONES_REUSED))
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
        for role, player in (("explorer", self._explorer), ("opponent", self._opponent)):
            if player is not None:
                player.new_game(derive(seed, role))
        opponents_side = 2 - game % 2
        opening = self.openings.opening(spec.seed, game)
        if spec.mode == "positions":
            return rows_of_game(
                game, spec.parsed_board, [opening], [self._label(opening)], finished=False
            )
        rng = Stream(derive(seed, "chance"))
        positions, labels, played = [], [], []
        position = opening
        while not position.is_over:
            plies = position.ply - opening.ply
            if self._opponent is not None and position.to_move == opponents_side:
                # No label: the training set is for the explorer's moves.
                move = self._choose(position, self._opponent.decide(position), plies, rng)
            else:
                label = self._label(position)
                decision = label if self._explorer is None else self._explorer.decide(position)
                move = self._choose(position, decision, plies, rng)
                positions.append(position)
                labels.append(label)
                played.append(move)
            position = position.play(move)
        return rows_of_game(
            game, spec.parsed_board, positions, labels, played, position.winner, finished=True
        )

    def _label(self, position: Position) -> Decision:
        label = self._teacher.decide(position)
        self.rollouts += label.rollouts
        return label

    def _choose(self, position: Position, decision: Decision, plies: int, rng: Stream) -> int:
        """The player's move, or a random one by the spec's noise and temperature."""
        spec = self.spec
        if spec.noise and rng.uniform() < spec.noise:
            return rng.choice(position.legal_moves)
        if plies < spec.temperature_plies and decision.visits is not None:
            return _sample_move(decision, spec.temperature, rng)
        return decision.move


def _sample_move(decision: Decision, temperature: float, rng: Stream) -> int:
    """A column with a probability in proportion to visits^(1/temperature)."""
    visits = decision.visits or ()
    most = max(visits)
    if most == 0:  # decided without a search
        return decision.move
    weights = [(count / most) ** (1 / temperature) for count in visits]
    left = rng.uniform() * sum(weights)
    for column, weight in enumerate(weights):
        left -= weight
        if left < 0:
            return column
    return decision.move
