"""What the page of a tournament asks for: its standings, and the games of a pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from selfplay.errors import InputError, printable, quoted, without_keys
from selfplay.web.asked import Answer, Asked
from selfplay.web.records import Record

if TYPE_CHECKING:
    from selfplay.workers.tournament.stored import StoredGame, StoredTournament

Tournaments = Mapping[str, str]
"""Runs of tournaments by the names that a page has for them."""

MOST_PLAYERS = 40
"""In the cross table: the best."""
GAMES = 50
"""On a part of the list."""
_REFERENCE = "perfect"


@dataclass(frozen=True, slots=True)
class TournamentQuestion(Asked):
    """A tournament."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class GamesQuestion(Asked):
    """Two players of a tournament, and the number of the first of their games to answer with."""

    name: str = ""
    a: str = ""
    b: str = ""
    start: int = 0


def tournament(question: TournamentQuestion, tournaments: Tournaments) -> Record:
    """What `arena --json` printed, of the best players if there are many; which play perfectly."""
    found = _stored(question.name, tournaments)
    standings = dict(found.standings)
    shown = [player["player"] for player in standings["players"]][:MOST_PLAYERS]
    standings["players"] = standings["players"][:MOST_PLAYERS]
    standings["pairs"] = [
        pair for pair in standings["pairs"] if pair["a"] in shown and pair["b"] in shown
    ]
    return {
        "name": question.name,
        "opening": found.opening,
        "players_total": len(found.players),
        "reference": [p["player"] for p in standings["players"] if _is_perfect(p)],
        "standings": standings,
    }


def games(question: GamesQuestion, tournaments: Tournaments) -> Record:
    """The games of a pair in the order of their openings, some at a time."""
    found = _stored(question.name, tournaments)
    for player in (question.a, question.b):
        if player not in found.players:
            raise InputError(f"nobody called {quoted(player)} played in this tournament")
    if question.start < 0:
        raise InputError("start counts from 0")
    pair = {found.players.index(question.a), found.players.index(question.b)}
    chosen = [game for game in found.games if {game.first, game.second} == pair]
    part = chosen[question.start : question.start + GAMES]
    return {
        "a": question.a,
        "b": question.b,
        "start": question.start,
        "page": GAMES,
        "total": len(chosen),
        "board": found.board.size,
        "connect": found.board.connect,
        "games": [_game_record(found, game) for game in part],
    }


ANSWERS = {
    "tournament": Answer(TournamentQuestion, "tournaments", tournament),
    "games": Answer(GamesQuestion, "tournaments", games),
}
"""The questions about tournaments."""


def _is_perfect(standing: Record) -> bool:
    """Whether it played perfectly; who forfeits games did not."""
    name: str = standing["player"]
    return name.partition(":")[0].strip() == _REFERENCE and not standing["forfeits"]


def _game_record(found: StoredTournament, game: StoredGame) -> Record:
    sides = (found.players[game.first], found.players[game.second])
    return {
        "first": sides[0],
        "second": sides[1],
        "winner": None if game.winner is None else sides[game.winner - 1],
        "moves": game.moves,
        "stones": len(game.moves.split(",") if found.board.columns > 9 else game.moves),
        "forfeit": None if game.forfeit is None else printable(without_keys(game.forfeit)),
    }


def _stored(name: str, tournaments: Tournaments) -> StoredTournament:
    if name not in tournaments:
        known = f"there are {', '.join(tournaments)}" if tournaments else "none was named"
        raise InputError(f"the page has no tournament {quoted(name)}; {known}")
    try:
        return _read(tournaments[name])
    except (InputError, OSError):  # they say where the file is, which is nobody's business
        raise InputError(
            f"the results of {name} cannot be read: `selfplay arena` of this version writes them, "
            "with --out"
        ) from None


@lru_cache(maxsize=4)
def _read(place: str) -> StoredTournament:
    from selfplay.storage.location import Location
    from selfplay.workers.tournament.stored import read

    return read(Location(place))
