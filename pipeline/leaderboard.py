"""The leaderboard: every player's mistake rate and its scores against one opponent.

It reads the final half of the evaluation set: whoever chooses between players does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from selfplay.game.board import Board
from selfplay.game.openings import parse_openings
from selfplay.registry import PlayerSpec
from selfplay.train.evaluation.evaluation import Result, evaluate
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.workers.executors.interface import Executor, Failed
from selfplay.workers.tournament import tournament as tournaments
from selfplay.workers.tournament.standings import Pair, standings


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Whom to measure, and how."""

    players: Mapping[str, str]
    """Specs by the names that the table shows."""
    opponent: str
    games: int
    opening: str
    seed: int
    slow: Mapping[str, tuple[int, int]]
    """Games and evaluation positions of players that take seconds over a move."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the leaderboard."""

    name: str
    result: Result
    pair: Pair | None
    """Its games against the opponent; None for the opponent itself."""


@dataclass(frozen=True, slots=True)
class Progress:
    """The entries that are measured."""

    entries: tuple[Entry, ...]
    total: int
    failed: Sequence[Failed] = ()

    @property
    def is_complete(self) -> bool:
        return len(self.entries) == self.total


def measure(settings: Settings, executor: Executor, stop: Callable[[], bool]) -> Iterator[Progress]:
    """Measure the players one after another."""
    entries: tuple[Entry, ...] = ()
    final = EvaluationSet.for_board(Board()).final
    for name, spec in settings.players.items():
        games, positions = settings.slow.get(name, (settings.games, None))
        result = evaluate(name, PlayerSpec.parse(spec).build(Board()), final[:positions])
        pair = None
        if spec != settings.opponent:
            tournament = tournaments.Tournament.of(
                [spec, settings.opponent],
                Board(),
                parse_openings(settings.opening, Board()),
                games,
                settings.seed,
            )
            *_, played = tournaments.play(tournament, executor, stop)
            if not played.is_complete:
                yield Progress(entries, len(settings.players), played.failed)
                return
            (pair,) = standings(tournament, played.results).pairs
        entries = (*entries, Entry(name, result, pair))
        yield Progress(entries, len(settings.players))
