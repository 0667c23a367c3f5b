"""The results of a tournament beside its run: what was printed, and every game with its moves.

The run keeps the positions on which a player decided. `tournament.json` keeps what cannot be told
from them: openings, the players of each game, forfeits, time.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.storage.location import Location
from selfplay.workers.tournament.tournament import GameResult, Tournament

NAME = "tournament.json"
VERSION = 1

_MOST_BYTES = 1 << 26
_MOVES = re.compile(r"[0-9,]{0,1024}")


@dataclass(frozen=True, slots=True)
class StoredGame:
    """A game: players as numbers in the order they were given."""

    first: int
    second: int
    winner: int | None
    """1 for the first player, 2, or None for a draw."""
    moves: str
    """All columns played, the opening included."""
    forfeit: str | None
    """Why the other side won, if not on the board."""


@dataclass(frozen=True, slots=True)
class StoredTournament:
    """What `arena` printed with `--json`, and the games."""

    players: tuple[str, ...]
    board: Board
    opening: str
    standings: Mapping[str, Any]
    games: tuple[StoredGame, ...]


def store(
    place: Location,
    tournament: Tournament,
    opening: str,
    standings: Mapping[str, Any],
    results: Iterable[GameResult],
) -> None:
    """Write the file; `standings` is the record that `--json` prints."""
    content = {
        "version": VERSION,
        "players": tournament.players,
        "opening": opening,
        "standings": standings,
        "games": [_entry(tournament, result) for result in results],
    }
    place.write(NAME, json.dumps(content, separators=(",", ":")).encode())


def _entry(tournament: Tournament, result: GameResult) -> list[object]:
    fixture = tournament.fixture(result.game)
    reason = None if result.forfeit is None else result.forfeit.reason
    return [fixture.first, fixture.second, result.winner, result.moves, reason]


def read(place: Location) -> StoredTournament:
    """Read the file of a run, and check it."""
    try:
        content = json.loads(place.read(NAME, _MOST_BYTES), parse_constant=_refuse)
        return _parsed(content)
    except FileNotFoundError:
        raise InputError(
            f"{place} has no {NAME}: `selfplay arena` of this version writes one with --out"
        ) from None
    except (InputError, OSError):
        raise
    except Exception as error:  # a damaged file can hold anything
        raise InputError(f"{place}/{NAME} is damaged: {type(error).__name__}") from None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _parsed(content: Any) -> StoredTournament:
    if content["version"] != VERSION:
        raise InputError(f"its version is not {VERSION}")
    players = tuple(content["players"])
    if len(players) < 2 or not all(isinstance(name, str) for name in players):
        raise ValueError("players")
    standings = content["standings"]
    _check_standings(standings, players)
    return StoredTournament(
        players,
        Board.parse(standings["board"], standings["connect"]),
        str(content["opening"]),
        standings,
        tuple(_games(content["games"], len(players))),
    )


def _games(entries: Iterable[Any], players: int) -> Iterator[StoredGame]:
    for first, second, winner, moves, reason in entries:
        sides = first in range(players) and second in range(players) and first != second
        if not sides or winner not in (1, 2, None) or not _MOVES.fullmatch(moves):
            raise ValueError("games")
        yield StoredGame(first, second, winner, moves, None if reason is None else str(reason))


def _check_standings(standings: Any, players: tuple[str, ...]) -> None:
    """Refuse standings that a reader cannot rely on."""
    _check_numbers(standings["games"], standings["draw_rate_of_equals"], standings["seed"])
    if sorted(player["player"] for player in standings["players"]) != sorted(players):
        raise ValueError("players")
    for player in standings["players"]:
        _check_numbers(player["elo"], *(player["interval"] or ()), player["ms_per_move"] or 0)
        _check_numbers(*(forfeit["games"] for forfeit in player["forfeits"]))
        _check_tallies(player["as_first"], player["as_second"])
    for pair in standings["pairs"]:
        if pair["a"] not in players or pair["b"] not in players:
            raise ValueError("pairs")
        low, high = pair["interval"]
        _check_numbers(pair["games"], pair["distinct_games"], pair["a_score"], low, high)
        _check_tallies(pair["a_first"], pair["a_second"])
    advantage = standings["first_player_advantage"]
    _check_numbers(advantage["elo"], *(advantage["interval"] or ()))


def _check_tallies(*tallies: Any) -> None:
    for tally in tallies:
        _check_numbers(tally["wins"], tally["draws"], tally["losses"])


def _check_numbers(*values: object) -> None:
    if not all(type(value) in (int, float) for value in values):
        raise ValueError("numbers")
