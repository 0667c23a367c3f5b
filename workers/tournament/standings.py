"""How players stand: what the results of a tournament come to, pair by pair and for each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from selfplay.workers.tournament.ratings import (
    Interval,
    Meeting,
    Ratings,
    effective,
    rate,
    score_interval,
)
from selfplay.workers.tournament.tournament import GameResult, Tournament


@dataclass(slots=True)
class Tally:
    """Games as somebody sees them."""

    wins: int = 0
    draws: int = 0
    losses: int = 0

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def points(self) -> float:
        return self.wins + self.draws / 2

    def add(self, points: float) -> None:
        if points == 1:
            self.wins += 1
        elif points == 0:
            self.losses += 1
        else:
            self.draws += 1

    def __add__(self, other: Tally) -> Tally:
        return Tally(self.wins + other.wins, self.draws + other.draws, self.losses + other.losses)


@dataclass(slots=True)
class Pair:
    """Two players and their games, as the first of them sees it."""

    a: str
    b: str
    a_first: Tally = field(default_factory=Tally)
    a_second: Tally = field(default_factory=Tally)
    distinct: int = 0
    """Games that differ in their moves."""
    mean_length: float = 0.0
    """Stones on the board at the end."""
    forfeits: int = 0
    score: float = 0.0
    interval: Interval = (0.0, 1.0)
    worth: float = 0.0
    """How many couples of different games say as much as these."""

    @property
    def all(self) -> Tally:
        return self.a_first + self.a_second

    @property
    def games(self) -> int:
        return self.all.games


@dataclass(slots=True)
class Standing:
    """A player, and what became of all its games."""

    player: str
    as_first: Tally = field(default_factory=Tally)
    as_second: Tally = field(default_factory=Tally)
    elo: float = 0.0
    interval: Interval = (0.0, 0.0)
    seconds: float = 0.0
    decisions: int = 0
    forfeits: Counter[str] = field(default_factory=Counter)
    """Why it forfeited games, and how many."""

    @property
    def tally(self) -> Tally:
        return self.as_first + self.as_second

    @property
    def ms_per_move(self) -> float | None:
        return 1000 * self.seconds / self.decisions if self.decisions else None


@dataclass(frozen=True, slots=True)
class Standings:
    """All of them: players by their rating, and pairs that have met, in the order named."""

    players: list[Standing]
    pairs: list[Pair]
    ratings: Ratings
    games: int


def standings(tournament: Tournament, results: Iterable[GameResult]) -> Standings:
    """What these results come to, whatever the order they came in."""
    players = [Standing(player) for player in tournament.players]
    by_pair: dict[tuple[int, int], list[tuple[int, GameResult]]] = {
        pair: [] for pair in tournament.pairs
    }
    count = 0
    for result in sorted(results, key=lambda result: result.game):
        fixture = tournament.fixture(result.game)
        sides = fixture.first, fixture.second
        by_pair[min(sides), max(sides)].append((fixture.first, result))
        _reckon(players[fixture.first], players[fixture.second], result)
        count += 1
    pairs, meetings = [], []
    for (a, b), games in by_pair.items():
        if games:
            pair = _pair(tournament.players[a], tournament.players[b], a, games)
            pairs.append(pair)
            meetings += _meetings(a, b, pair)
    ratings = rate(len(players), meetings)
    for player, elo, interval in zip(players, ratings.elo, ratings.intervals, strict=True):
        player.elo, player.interval = elo, interval
    players.sort(key=lambda player: -player.elo)
    return Standings(players, pairs, ratings, count)


def _reckon(first: Standing, second: Standing, result: GameResult) -> None:
    points = points_of_first(result)
    first.as_first.add(points)
    second.as_second.add(1 - points)
    for side, player in enumerate((first, second)):
        player.seconds += result.seconds[side]
        player.decisions += result.decisions[side]
    if result.forfeit is not None:
        (first, second)[result.forfeit.side - 1].forfeits[result.forfeit.reason] += 1


def points_of_first(result: GameResult) -> float:
    """What a game brought whoever was first."""
    return 0.5 if result.winner is None else float(result.winner == 1)


def _pair(name: str, other: str, a: int, games: list[tuple[int, GameResult]]) -> Pair:
    """The games of two players. The unit of the score are the two from an opening: what it is
    worth to either side goes into both."""
    found = Pair(name, other)
    couples: dict[int, list[tuple[float, str]]] = {}
    for first, result in games:
        points = points_of_first(result)
        if first == a:
            found.a_first.add(points)
        else:
            points = 1 - points
            found.a_second.add(points)
        found.forfeits += result.forfeit is not None
        couples.setdefault(result.game // 2, []).append((points, result.moves))
    scores = [sum(points for points, _ in couple) / len(couple) for couple in couples.values()]
    kinds = [tuple(couple) for couple in couples.values()]
    found.distinct = len({result.moves for _, result in games})
    found.mean_length = sum(result.plies for _, result in games) / len(games)
    found.score = found.all.points / len(games)
    found.interval = score_interval(scores, kinds)
    found.worth = effective(kinds)
    return found


def _meetings(a: int, b: int, pair: Pair) -> list[Meeting]:
    """The games for the ratings. What was played over again says nothing new, and counts less."""
    weight = pair.worth / (pair.games / 2)
    return [
        Meeting(first, second, tally.wins * weight, tally.draws * weight, tally.losses * weight)
        for first, second, tally in (
            (a, b, pair.a_first),
            (b, a, Tally(pair.a_second.losses, pair.a_second.draws, pair.a_second.wins)),
        )
    ]
