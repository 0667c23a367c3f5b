"""The games in rows: how each ended, which to look at, and what was played in a position."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from selfplay.arrays import Array, BoolArray, Int64Array
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.storage.manifest import Manifest
from selfplay.storage.row_checks import LastMoves
from selfplay.storage.rows import NO_MOVE, NO_RESULT, Rows

Players = Callable[[Int64Array], tuple[Array, Array]]
"""By game: which of some players moves first, and which second."""


@dataclass(frozen=True, slots=True, eq=False)
class Games:
    """The games of a shard as arrays [game]."""

    number: Int64Array
    first: Int64Array
    """The first row of each."""
    last: Int64Array
    result: Array
    """For the first player: 1, 0, -1; `NO_RESULT` where it was not played out."""
    stones: Array
    """At the end; 0 where nobody knows."""
    mistakes: Int64Array
    """Played moves of a proven value that another move is proven to exceed."""

    @classmethod
    def of(cls, rows: Rows, manifest: Manifest) -> Games:
        first = np.flatnonzero(rows.is_first())
        last = np.append(first[1:], len(rows))[: len(first)] - 1
        stones = rows.ply[last] + 1
        if manifest.skips_replies or manifest.has_gaps:
            ended = LastMoves.of(rows[last], manifest.board).ended
            # The last stone may be the opponent's; with gaps nobody knows.
            stones = np.where(ended, stones, 0 if manifest.has_gaps else stones + 1)
        result, second_to_move = rows.outcome[last], rows.ply[last] % 2 == 1
        result = np.where(second_to_move & (result != NO_RESULT), -result, result)
        wrong = np.append(0, np.cumsum(is_mistake(rows)))
        return cls(rows.game[first], first, last, result, stones, wrong[last + 1] - wrong[first])


def is_mistake(rows: Rows) -> BoolArray:
    """By row: whether another move is proven to be better than the played one, whose value is
    proven, too."""
    columns = rows.proven.shape[1]
    was_played = (rows.played >= 0) & (rows.played < columns)
    value = rows.proven[np.arange(len(rows)), np.where(was_played, rows.played, 0)]
    is_worse = (value != NO_RESULT) & (rows.proven.max(axis=1, initial=NO_RESULT) > value)
    return np.asarray(was_played & is_worse)


@dataclass(frozen=True, slots=True)
class Wanted:
    """Which games to look at; every part may be left open."""

    result: int | None = None
    """For the first player; `NO_RESULT` asks for games that were not played out."""
    shortest: int = 0
    longest: int | None = None
    through: Position | None = None
    """A position that the game's rows have."""
    player: int | None = None
    """As `players_of` counts."""
    has_mistakes: bool = False

    def among(self, games: Games, rows: Rows, players: Players | None) -> BoolArray:
        """By game: whether it is wanted."""
        found = games.stones >= self.shortest
        if self.longest is not None:
            found &= (games.stones > 0) & (games.stones <= self.longest)
        if self.result is not None:
            found &= games.result == self.result
        if self.has_mistakes:
            found &= games.mistakes > 0
        if self.player is not None and players is not None:
            first, second = players(games.number)
            found &= (first == self.player) | (second == self.player)
        if self.through is not None:
            at, is_image = occurrences(rows, self.through)
            has = np.zeros(len(rows) + 1, np.int64)
            has[at[~is_image] + 1] = 1
            has = np.cumsum(has)
            found &= has[games.last + 1] > has[games.first]
        return np.asarray(found)

    def rows_of(self, rows: Rows, manifest: Manifest) -> BoolArray:
        """By row: whether its game is wanted."""
        games = Games.of(rows, manifest)
        players = players_of(manifest)
        found = self.among(games, rows, players and players[1])
        return np.repeat(found, games.last - games.first + 1)


def players_of(manifest: Manifest) -> tuple[list[str], Players] | None:
    """Who plays the games, and who of them moves first in each; None if it is not known, or the
    same player moves for both sides."""
    spec = manifest.spec
    if spec is not None:
        if not manifest.skips_replies:
            return None
        names = [spec.explorer or spec.teacher, str(spec.opponent)]
        return names, lambda game: (game % 2, 1 - game % 2)
    match (manifest.source or {}).get("arena"):
        case {"players": [*named], "games_per_pair": int(games)} if len(named) > 1:
            pairs = list(combinations(range(len(named)), 2))
            if games * len(pairs) == manifest.games:  # else some games have no rows, or were not
                return list(map(str, named)), lambda game: _of_tournament(game, np.array(pairs))
    return None


def _of_tournament(game: Int64Array, pairs: Array) -> tuple[Array, Array]:
    """All pairs play an opening, with sides swapped, before any plays the next."""
    couple, is_swapped = game // 2 % len(pairs), game % 2
    return pairs[couple, is_swapped], pairs[couple, 1 - is_swapped]


def line_of(rows: Rows, board: Board) -> list[Position]:
    """The positions of a game's rows, with moves that lead there, and the one after the last move.
    A position that is not the one after the move before is reached by any moves; its `moves` are
    None if there are none."""
    line: list[Position] = []
    after: Position | None = None
    for cells, played in zip(rows.board.tolist(), rows.played.tolist(), strict=True):
        here = Position.from_cells(cells, board)
        between = None if after is None else after.moves_to(here, at_most=1)
        if after is None or between is None:
            notation = here.notation
            here = here if notation is None else Position.parse(notation, board)
        else:
            here = after if not between else after.play(between[0])
        line.append(here)
        after = here.play(played) if played in here.legal_moves else None
    return line if after is None else [*line, after]


def notation_of(position: Position) -> str | None:
    """Its moves; None where none are known, without a search for some."""
    return None if position.moves is None else position.notation


def line_or_none(rows: Rows, board: Board) -> list[Position] | None:
    """`line_of`, or None of rows that no game can have."""
    try:
        return line_of(rows, board)
    except InputError:
        return None


def occurrences(rows: Rows, position: Position) -> tuple[Int64Array, BoolArray]:
    """The rows of a position and of its mirror image, and which of them are the image."""
    at = np.flatnonzero(rows.ply == position.ply)
    is_same = (rows.board[at] == np.array(position.cells(), np.int8)).all(axis=1)
    is_image = (rows.board[at] == np.array(position.mirror().cells(), np.int8)).all(axis=1)
    found = is_same | is_image
    return at[found], ~is_same[found]


def continuations(rows: Rows, position: Position) -> list[dict[str, Any]]:
    """What was played in a position, and in its mirror image turned, by column: how often, how
    often the teacher would have, and the results for the side to move."""
    at, is_image = occurrences(rows, position)
    columns = position.board.columns

    def turned(moves: Array) -> Array:
        moves = moves[at]
        return np.where(is_image & (moves != NO_MOVE), columns - 1 - moves, moves)

    played, chosen, outcome = turned(rows.played), turned(rows.move), rows.outcome[at]
    return [
        {
            "played": int((played == column).sum()),
            "chosen": int((chosen == column).sum()),
            **{
                name: int(((played == column) & (outcome == result)).sum())
                for name, result in (("wins", 1), ("draws", 0), ("losses", -1))
            },
        }
        for column in range(columns)
    ]
