"""The standings of a tournament: results and ratings of every player and every pair."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from selfplay.workers.tournament.ratings import (
    HeadToHead,
    Interval,
    Ratings,
    effective_count,
    fit_ratings,
    score_interval,
)
from selfplay.workers.tournament.tournament import GameResult, Tournament


@dataclass(slots=True)
class Tally:
    """Results from one side's point of view."""

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
    """Two players and their games, from the point of view of `a`."""

    a: str
    b: str
    a_first: Tally = field(default_factory=Tally)
    a_second: Tally = field(default_factory=Tally)
    distinct: int = 0  # games with different moves
    mean_length: float = 0.0  # stones on the board at the end
    forfeits: int = 0
    score: float = 0.0
    interval: Interval = (0.0, 1.0)
    effective_openings: float = 0.0
    """Openings without repeated games that would be as much evidence."""

    @property
    def all(self) -> Tally:
        return self.a_first + self.a_second

    @property
    def games(self) -> int:
        return self.all.games


@dataclass(slots=True)
class Standing:
    """A player and the results of its games."""

    player: str
    as_first: Tally = field(default_factory=Tally)
    as_second: Tally = field(default_factory=Tally)
    elo: float = 0.0
    interval: Interval | None = None
    seconds: float = 0.0
    decisions: int = 0
    forfeits: Counter[str] = field(default_factory=Counter)  # forfeited games by reason

    @property
    def tally(self) -> Tally:
        return self.as_first + self.as_second

    @property
    def ms_per_move(self) -> float | None:
        return 1000 * self.seconds / self.decisions if self.decisions else None


@dataclass(frozen=True, slots=True)
class Standings:
    """Players by rating, and pairs with games in the order the players were given."""

    players: list[Standing]
    pairs: list[Pair]
    ratings: Ratings
    games: int
    openings: float
    """As many openings without repeated games would be as much evidence."""


def standings(tournament: Tournament, results: Iterable[GameResult]) -> Standings:
    """The standings after these results, in any order."""
    players = [Standing(player) for player in tournament.players]
    by_pair: dict[tuple[int, int], list[tuple[int, GameResult]]] = {
        pair: [] for pair in tournament.pairs
    }
    moves: dict[int, list[str]] = {}
    count = 0
    for result in sorted(results, key=lambda result: result.game):
        fixture = tournament.fixture(result.game)
        sides = fixture.first, fixture.second
        by_pair[min(sides), max(sides)].append((fixture.first, result))
        moves.setdefault(fixture.opening, []).append(result.moves)
        _add_result(players[fixture.first], players[fixture.second], result)
        count += 1
    kinds = {opening: tuple(games) for opening, games in moves.items()}
    pairs, results_by_pair = [], []
    for (a, b), games in by_pair.items():
        if games:
            pair = _pair(tournament.players[a], tournament.players[b], a, games)
            pairs.append(pair)
            weight = pair.effective_openings / (pair.games / 2)
            for first, result in games:
                kind = kinds[tournament.fixture(result.game).opening]
                results_by_pair.append(_head_to_head(first, a + b - first, result, kind, weight))
    openings = effective_count(list(kinds.values()))
    ratings = fit_ratings(len(players), results_by_pair, openings)
    for player, elo, interval in zip(players, ratings.elo, ratings.intervals, strict=True):
        player.elo, player.interval = elo, interval
    players.sort(key=lambda player: -player.elo)
    return Standings(players, pairs, ratings, count, openings)


def _add_result(first: Standing, second: Standing, result: GameResult) -> None:
    points = points_of_first(result)
    first.as_first.add(points)
    second.as_second.add(1 - points)
    for side, player in enumerate((first, second)):
        player.seconds += result.seconds[side]
        player.decisions += result.decisions[side]
    if result.forfeit is not None:
        (first, second)[result.forfeit.side - 1].forfeits[result.forfeit.reason] += 1


def points_of_first(result: GameResult) -> float:
    """The first player's score: 1, 0.5 or 0."""
    return 0.5 if result.winner is None else float(result.winner == 1)


def _pair(name: str, other: str, a: int, games: list[tuple[int, GameResult]]) -> Pair:
    """The results of two players. The two games from an opening count as one observation: its
    advantage for either side cancels out."""
    pair = Pair(name, other)
    couples: dict[int, list[tuple[float, str]]] = {}
    for first, result in games:
        points = points_of_first(result)
        if first == a:
            pair.a_first.add(points)
        else:
            points = 1 - points
            pair.a_second.add(points)
        pair.forfeits += result.forfeit is not None
        couples.setdefault(result.game // 2, []).append((points, result.moves))
    scores = [sum(points for points, _ in couple) / len(couple) for couple in couples.values()]
    kinds = [tuple(couple) for couple in couples.values()]
    pair.distinct = len({result.moves for _, result in games})
    pair.mean_length = sum(result.plies for _, result in games) / len(games)
    pair.score = pair.all.points / len(games)
    pair.interval = score_interval(scores, kinds)
    pair.effective_openings = effective_count(kinds)
    return pair


def _head_to_head(
    first: int, second: int, result: GameResult, opening: Hashable, weight: float
) -> HeadToHead:
    """A result for the ratings. Repeated games are no new evidence and weigh less."""
    counts = [weight * (result.winner == winner) for winner in (1, None, 2)]
    return HeadToHead(first, second, opening, *counts)
