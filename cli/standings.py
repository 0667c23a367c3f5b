"""The tables of a tournament, for people and for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from selfplay.workers.tournament.ratings import Interval
    from selfplay.workers.tournament.standings import Pair, Standing, Standings, Tally
    from selfplay.workers.tournament.tournament import Tournament


def players_table(found: Standings) -> Table:
    """Every player with its rating, the best one first."""
    from selfplay.cli.drawing import plain_table

    header = ["", "Elo", "95 % conf.", "won", "drawn", "lost", "ms a move"]
    has_forfeits = any(player.forfeits for player in found.players)
    rows = []
    for player in found.players:
        row = [
            player.player,
            _points(player.elo),
            " to ".join(map(_points, player.interval)),
            *_results(player.tally),
            "" if player.ms_per_move is None else f"{player.ms_per_move:,.3f}",
        ]
        rows.append(row + [f"{player.forfeits.total():,}"] * has_forfeits)
    return plain_table(header + ["forfeited"] * has_forfeits, rows)


def pairs_table(found: Standings) -> Table:
    """Every pair that has met: all its games, and those with either side first."""
    from selfplay.cli.drawing import plain_table

    rows = []
    for pair in found.pairs:
        rows.append(
            (
                f"{pair.a} - {pair.b}",
                *_results(pair.all),
                f"{pair.score:.1%}",
                _shares(pair.interval),
                f"{pair.distinct:,}",
                f"{pair.mean_length:.1f}",
            )
        )
        for what, tally in (("first", pair.a_first), ("second", pair.a_second)):
            score = f"{tally.points / tally.games:.1%}" if tally.games else ""
            rows.append((f"  as {what}", *_results(tally), score, "", "", ""))
    header = ("", "won", "drawn", "lost", "score", "95 % conf.", "distinct", "stones")
    return plain_table(header, rows)


def _results(tally: Tally) -> tuple[str, str, str]:
    return f"{tally.wins:,}", f"{tally.draws:,}", f"{tally.losses:,}"


def _points(elo: float) -> str:
    return f"{round(elo):+,d}"


def _shares(interval: Interval) -> str:
    return f"{interval[0]:.1%} to {interval[1]:.1%}"


def remarks(tournament: Tournament, found: Standings) -> Iterator[str]:
    """What has to be known to read the tables right."""
    ratings = found.ratings
    low, high = map(_points, ratings.advantage_interval)
    yield (
        f"to move first is worth {_points(ratings.advantage)} Elo ({low} to {high}); "
        f"of equals {ratings.draw_rate:.1%} of games are drawn"
    )
    if any(pair.distinct < pair.games for pair in found.pairs):
        yield "games that repeat others are no new evidence: the intervals allow for that"
    for player in found.players:
        results = player.tally
        if results.games and results.games in (results.wins, results.losses):
            what = "won" if results.wins else "lost"
            yield f"{player.player} {what} every game: its distance from the others is a guess"
    for player in found.players:
        for reason, count in player.forfeits.most_common(3):
            yield f"{player.player} forfeited {_games(count)}: {reason}"
        others = sum(count for _, count in player.forfeits.most_common()[3:])
        if others:
            yield f"{player.player} forfeited {_games(others)} for other reasons"
    timed = tournament.timed_players
    if timed:
        yield f"played by the clock, so that no game need repeat itself: {', '.join(timed)}"


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count:,} games"


def as_record(tournament: Tournament, found: Standings) -> dict[str, Any]:
    """All of it in the words of `--json`."""
    ratings = found.ratings
    return {
        "board": tournament.board.size,
        "connect": tournament.board.connect,
        "seed": tournament.seed,
        "games": found.games,
        "games_total": tournament.games,
        "repeatable": tournament.is_repeatable,
        "pairs": [_pair_record(pair) for pair in found.pairs],
        "players": [_player_record(player) for player in found.players],
        "first_player_advantage": {
            "elo": ratings.advantage,
            "interval": ratings.advantage_interval,
        },
        "draw_rate_of_equals": ratings.draw_rate,
    }


def _pair_record(pair: Pair) -> dict[str, Any]:
    return {
        "a": pair.a,
        "b": pair.b,
        "games": pair.games,
        "distinct_games": pair.distinct,
        "a_first": _tally_record(pair.a_first),
        "a_second": _tally_record(pair.a_second),
        "a_score": pair.score,
        "interval": pair.interval,
        "mean_length": pair.mean_length,
        "forfeits": pair.forfeits,
    }


def _player_record(player: Standing) -> dict[str, Any]:
    return {
        "player": player.player,
        "elo": player.elo,
        "interval": player.interval,
        "as_first": _tally_record(player.as_first),
        "as_second": _tally_record(player.as_second),
        "ms_per_move": player.ms_per_move,
        "forfeits": [
            {"reason": reason, "games": count} for reason, count in player.forfeits.most_common()
        ],
    }


def _tally_record(tally: Tally) -> dict[str, int]:
    return {"wins": tally.wins, "draws": tally.draws, "losses": tally.losses}
