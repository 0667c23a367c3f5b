"""Evaluation of a player: how often its move keeps the game value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter

from selfplay.confidence import wilson
from selfplay.game.position import Position
from selfplay.players import Player
from selfplay.seeding import derive
from selfplay.solver.mistakes import MistakesByPhase
from selfplay.train.evaluation.positions import ILLEGAL, EvaluationSet


@dataclass(slots=True)
class Result(MistakesByPhase):
    """The mistakes of a player, and how long it took."""

    player: str
    regret: int = 0
    """Sum of the steps given away: win to draw is one, win to loss two."""
    could_win: int = 0
    """Positions with a win in one."""
    missed_wins: int = 0
    could_blunder: int = 0
    """Positions where some moves, but not all, allow a win in one."""
    blunders: int = 0
    seconds: float = 0.0

    @property
    def mean_regret(self) -> float:
        return self.regret / self.all.positions if self.all.positions else 0.0

    @property
    def missed_wins_interval(self) -> tuple[float, float]:
        return wilson(self.missed_wins / max(1, self.could_win), self.could_win)

    @property
    def blunders_interval(self) -> tuple[float, float]:
        return wilson(self.blunders / max(1, self.could_blunder), self.could_blunder)

    @property
    def microseconds_per_move(self) -> float:
        return 1e6 * self.seconds / max(1, self.all.positions)


def evaluate(
    name: str,
    player: Player,
    evaluation_set: EvaluationSet,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> Result:
    """Evaluate a player on all positions of a set."""
    result = Result(name)
    for number, position in enumerate(evaluation_set.positions()):
        player.new_game(derive(0, "examination", number))
        start = perf_counter()
        move = player.decide(position).move
        result.seconds += perf_counter() - start
        values = evaluation_set.values[number].tolist()
        legal = [value for value in values if value != ILLEGAL]
        result.add(position.ply, legal, values[move])
        result.regret += max(legal) - values[move]
        _count_tactical_errors(result, position, move)
        on_progress(number + 1, len(evaluation_set))
    return result


def _count_tactical_errors(result: Result, position: Position, move: int) -> None:
    if wins := position.winning_moves:
        result.could_win += 1
        result.missed_wins += move not in wins
        return
    unsafe = {column for column in position.legal_moves if position.play(column).winning_moves}
    if unsafe and len(unsafe) < len(position.legal_moves):
        result.could_blunder += 1
        result.blunders += move in unsafe
