"""The results of a tournament: tables for people, a JSON record for programs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from selfplay.workers.tournament.ratings import Interval
    from selfplay.workers.tournament.standings import Pair, Standing, Standings, Tally
    from selfplay.workers.tournament.tournament import Tournament


def players_table(standings: Standings) -> Table:
    """Every player with its rating, the best first."""
    from selfplay.cli.rendering import plain_table

    header = ["", "Elo", "95 % conf.", "won", "drawn", "lost", "ms per move"]
    has_forfeits = any(player.forfeits for player in standings.players)
    rows = []
    for player in standings.players:
        row = [
            player.player,
            _elo(player.elo),
            _range(player.interval),
            *_results(player.tally),
            "" if player.ms_per_move is None else f"{player.ms_per_move:,.3f}",
        ]
        rows.append(row + [f"{player.forfeits.total():,}"] * has_forfeits)
    return plain_table(header + ["forfeited"] * has_forfeits, rows)


def pairs_table(standings: Standings) -> Table:
    """Every pair that has met: all its games, and those with either side first."""
    from selfplay.cli.rendering import plain_table

    rows: list[tuple[str, ...]] = []
    for pair in standings.pairs:
        low, high = pair.interval
        rows.append(
            (
                f"{pair.a} - {pair.b}",
                *_results(pair.all),
                f"{pair.score:.1%}",
                f"{low:.1%} to {high:.1%}",
                f"{pair.distinct:,}",
                f"{pair.mean_length:.1f}",
            )
        )
        for side, tally in (("first", pair.a_first), ("second", pair.a_second)):
            score = f"{tally.points / tally.games:.1%}" if tally.games else ""
            rows.append((f"  as {side}", *_results(tally), score, "", "", ""))
    header = ("", "won", "drawn", "lost", "score", "95 % conf.", "distinct", "stones")
    return plain_table(header, rows)


def _results(tally: Tally) -> tuple[str, str, str]:
    return f"{tally.wins:,}", f"{tally.draws:,}", f"{tally.losses:,}"


def _elo(points: float) -> str:
    return f"{round(points):+,d}"


def _range(interval: Interval | None) -> str:
    return "unknown" if interval is None else " to ".join(map(_elo, interval))


def remarks(tournament: Tournament, standings: Standings) -> Iterator[str]:
    """Notes below the tables: what the numbers do not show by themselves."""
    from selfplay.workers.tournament.ratings import FEWEST_OPENINGS

    ratings = standings.ratings
    if ratings.advantage_interval is None:
        yield (
            f"confidence intervals of Elo are unknown: they need {FEWEST_OPENINGS} openings that "
            f"lead to different games; these count as {standings.openings:.2g}"
        )
    else:
        yield (
            f"moving first is worth {_elo(ratings.advantage)} Elo "
            f"({_range(ratings.advantage_interval)}); "
            f"equal players draw {ratings.draw_rate:.1%} of their games"
        )
    if any(pair.distinct < pair.games for pair in standings.pairs):
        yield "identical games count only once in the confidence intervals"
    for player in standings.players:
        results = player.tally
        if results.games and results.games in (results.wins, results.losses):
            what = "won" if results.wins else "lost"
            yield f"{player.player} {what} every game: its rating is only a rough estimate"
    for player in standings.players:
        for reason, count in player.forfeits.most_common(3):
            yield f"{player.player} forfeited {_games(count)}: {reason}"
        others = sum(count for _, count in player.forfeits.most_common()[3:])
        if others:
            yield f"{player.player} forfeited {_games(others)} for other reasons"
    if timed := tournament.timed_players:
        yield f"not reproducible, because of players with a time limit: {', '.join(timed)}"


def _games(count: int) -> str:
    return "1 game" if count == 1 else f"{count:,} games"


def as_record(tournament: Tournament, standings: Standings) -> dict[str, Any]:
    """The results for `--json`."""
    ratings = standings.ratings
    return {
        "board": tournament.board.size,
        "connect": tournament.board.connect,
        "seed": tournament.seed,
        "games": standings.games,
        "games_total": tournament.games,
        "repeatable": tournament.is_repeatable,
        "pairs": [_pair_record(pair) for pair in standings.pairs],
        "players": [_player_record(player) for player in standings.players],
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
    forfeits = player.forfeits.most_common()
    return {
        "player": player.player,
        "elo": player.elo,
        "interval": player.interval,
        "as_first": _tally_record(player.as_first),
        "as_second": _tally_record(player.as_second),
        "ms_per_move": player.ms_per_move,
        "forfeits": [{"reason": reason, "games": count} for reason, count in forfeits],
    }


def _tally_record(tally: Tally) -> dict[str, int]:
    return {"wins": tally.wins, "draws": tally.draws, "losses": tally.losses}
