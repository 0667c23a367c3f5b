"""The examination: how often a player keeps the value of the game, where it can be lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from time import perf_counter

from selfplay.game.position import Position
from selfplay.players import Player
from selfplay.seeding import derive
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.evaluation.statistics import wilson

PHASES = {"up to 15 stones": range(16), "16-25": range(16, 26), "26 and more": range(26, 257)}


@dataclass(slots=True)
class Tally:
    """Answers to some of the questions."""

    positions: int = 0
    optimal: int = 0
    contested: int = 0
    mistakes: int = 0
    """Of the contested ones."""

    @property
    def optimal_share(self) -> float:
        return self.optimal / self.positions if self.positions else 0.0

    @property
    def mistake_rate(self) -> float:
        return self.mistakes / self.contested if self.contested else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """In which the true rate of mistakes is, 19 times out of 20."""
        return wilson(self.mistake_rate, self.contested)

    @property
    def optimal_interval(self) -> tuple[float, float]:
        return wilson(self.optimal_share, self.positions)


@dataclass(slots=True)
class Result:
    """How a player did."""

    player: str
    all: Tally = field(default_factory=Tally)
    by_phase: dict[str, Tally] = field(default_factory=lambda: {name: Tally() for name in PHASES})
    regret: int = 0
    """Steps from win over draw to loss that were given away, in all."""
    could_win: int = 0
    """Positions with a win in one."""
    missed_wins: int = 0
    could_blunder: int = 0
    """Positions in which some moves let the other side win at once, and others do not."""
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


def examine(
    name: str,
    player: Player,
    questions: EvaluationSet,
    tell: Callable[[int, int], None] = lambda done, of: None,
) -> Result:
    """Ask a player all questions."""
    result = Result(name)
    phases = {ply: phase for phase, plies in PHASES.items() for ply in plies}
    for number, position in enumerate(questions.positions()):
        player.new_game(derive(0, "examination", number))
        start = perf_counter()
        move = player.decide(position).move
        result.seconds += perf_counter() - start
        values, best = questions.values[number], int(questions.best[number])
        lost = best - int(values[move])
        contested = bool(questions.contested[number])
        for tally in (result.all, result.by_phase[phases[position.ply]]):
            tally.positions += 1
            tally.optimal += lost == 0
            tally.contested += contested
            tally.mistakes += lost > 0
        result.regret += lost
        _look_one_ahead(result, position, move)
        tell(number + 1, len(questions))
    return result


def _look_one_ahead(result: Result, position: Position, move: int) -> None:
    if wins := position.winning_moves:
        result.could_win += 1
        result.missed_wins += move not in wins
        return
    unsafe = {column for column in position.legal_moves if position.play(column).winning_moves}
    if unsafe and len(unsafe) < len(position.legal_moves):
        result.could_blunder += 1
        result.blunders += move in unsafe
