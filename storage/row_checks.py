"""Check rows: legal positions, valid labels, and games that follow the rules move by move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board
from selfplay.game.position import format_moves
from selfplay.storage.rows import NO_MOVE, NO_RESULT, Rows
from selfplay.storage.shard import DamagedShardError

SHOWN_PER_FAULT = 3


def faults(
    rows: Rows,
    board: Board,
    games: range,
    *,
    skips_replies: bool = False,
    has_gaps: bool = False,
) -> Iterator[tuple[str, int | None]]:
    """Faults in the rows of these games, each with its game: the first few of every kind.

    With `skips_replies`, an opponent's moves need no rows, nor do games that it won before the
    first row. With `has_gaps`, any row may be missing.
    """
    checks = chain(
        position_checks(rows, board),
        label_checks(rows, board),
        _game_checks(rows, board, skips_replies=skips_replies, has_gaps=has_gaps),
    )
    for what, wrong in checks:
        bad = np.unique(rows.game[wrong])
        for game in bad[:SHOWN_PER_FAULT]:
            yield what, int(game)
        if len(bad) > SHOWN_PER_FAULT:
            yield f"{what}: {len(bad):,} games in all", None
    present, expected = np.unique(rows.game), np.arange(games.start, games.stop)
    if not (skips_replies or has_gaps):
        for game in np.setdiff1d(expected, present)[:SHOWN_PER_FAULT]:
            yield "it is missing", int(game)
    for game in np.setdiff1d(present, expected)[:SHOWN_PER_FAULT]:
        yield "it belongs to another shard", int(game)


def validate_rows(rows: Rows, board: Board) -> None:
    """Refuse impossible positions and labels: compiled code does not check its input."""
    for what, wrong in chain(position_checks(rows, board), label_checks(rows, board)):
        if wrong.any():
            raise DamagedShardError(f"game {int(rows.game[wrong][0])}: {what}")


def position_checks(rows: Rows, board: Board) -> Iterator[tuple[str, Array]]:
    """Possible faults of positions, each with a bool [row] of where it occurs."""
    grid = rows.board.reshape(-1, board.rows, board.columns)
    taken, first, second = grid != 0, grid == 1, grid == 2
    lead = first.sum(axis=(1, 2)) - second.sum(axis=(1, 2))
    yield "a cell holds neither 0, 1 nor 2", _in_any_cell((grid < 0) | (grid > 2))
    yield "a stone floats", _in_any_cell(taken[:, :-1] & ~taken[:, 1:])
    yield "the stones do not alternate", (lead != 0) & (lead != 1)
    yield "the ply is not the number of stones", rows.ply != taken.sum(axis=(1, 2))
    yield "the game was over before", _has_line(first, board) | _has_line(second, board)


def label_checks(rows: Rows, board: Board) -> Iterator[tuple[str, Array]]:
    """Possible faults of the teacher's labels, each with a bool [row] of where it occurs."""
    is_open = rows.board.reshape(-1, board.rows, board.columns)[:, 0] == 0
    known, proven = ~np.isnan(rows.value), rows.proven != NO_RESULT
    bad_visits = (rows.visits < 0) | ((rows.visits != 0) & ~is_open)
    bad_value = known & (~is_open | ~(np.abs(np.where(known, rows.value, 0)) <= 1))
    bad_proven = proven & (~is_open | (np.abs(rows.proven.astype(np.int16)) > 1))
    yield "the teacher's move is not legal", ~_legal(rows.move, is_open)
    yield "visits of an illegal move, or negative visits", bad_visits.any(axis=1)
    yield "a value of an illegal move, or beyond -1 to 1", bad_value.any(axis=1)
    yield "a proven result of an illegal move, or not 1, 0 or -1", bad_proven.any(axis=1)
    contradicts = proven & known & (rows.value != rows.proven)
    yield "a value differs from the proven result", contradicts.any(axis=1)


@dataclass(frozen=True, slots=True)
class LastMoves:
    """What the played move of each row leads to."""

    after: Array  # int8 [row, row of cells, column]: the board with the played stone, if any
    is_last: Array  # bool [row]: it is the last row of its game
    won: Array  # bool [row]: the played move completed a line
    ended: Array  # bool [row]: the played move ended the game

    @classmethod
    def of(cls, rows: Rows, board: Board) -> LastMoves:
        grid = rows.board.reshape(-1, board.rows, board.columns)
        heights = (grid != 0).sum(axis=1)
        number = np.flatnonzero(_legal(rows.played, heights < board.rows))
        column = rows.played[number].astype(np.int64)
        after = grid.copy()
        after[number, board.rows - 1 - heights[number, column], column] = 1 + rows.ply[number] % 2
        is_last = np.ones(len(rows), bool)
        is_last[:-1] = rows.game[1:] != rows.game[:-1]
        was_played = rows.played != NO_MOVE
        won = was_played & (_has_line(after == 1, board) | _has_line(after == 2, board))
        ended = was_played & (won | (after != 0).all(axis=(1, 2)))
        return cls(after, is_last, won, ended)


def changed_game(before: Rows, after: Rows, board: Board) -> str | None:
    """What is different in the first game whose rows are; None if all are the same."""
    for game in np.union1d(before.game, after.game).tolist():
        was, now = before[before.game == game], after[after.game == game]
        if was.fingerprint() == now.fingerprint():
            continue
        played, plays = (format_moves(rows.played.tolist(), board) for rows in (was, now))
        if played != plays:
            return f"game {game:,} was {played} and is {plays} now"
        name = next(
            name
            for (name, old), (_, new) in zip(was.columns(), now.columns(), strict=True)
            if old.tobytes() != new.tobytes()
        )
        return f"game {game:,} has another {name} now"
    return None


def _game_checks(
    rows: Rows, board: Board, *, skips_replies: bool, has_gaps: bool
) -> Iterator[tuple[str, Array]]:
    """Possible faults in a game's course and result, each with a bool [row] of where it occurs."""
    count = len(rows)
    grid = rows.board.reshape(-1, board.rows, board.columns)
    was_played = rows.played != NO_MOVE
    is_legal = _legal(rows.played, grid[:, 0] == 0)
    yield "the played move is not legal", was_played & ~is_legal

    last = LastMoves.of(rows, board)
    follows = ~last.is_last
    changed = last.after[:-1] != grid[1:]
    leads_on = ~_in_any_cell(changed)
    if skips_replies:  # a reply is one new stone of the opponent
        stones = grid[1:] == (2 - rows.ply[:-1] % 2)[:, None, None]
        reply = changed & (last.after[:-1] == 0) & stones
        leads_on |= (changed.sum(axis=(1, 2)) == 1) & _in_any_cell(reply)
    leads_on = was_played & np.append(leads_on, True)[:count]
    if not has_gaps:
        yield "the played move does not lead to the next position", follows & ~leads_on
    yield "games are not in order", np.append(rows.game[1:] < rows.game[:-1], False)[:count]

    yield "the game goes on after its end", follows & last.ended
    decided = rows.outcome != NO_RESULT
    goes_on = last.is_last & was_played & decided & ~last.ended
    if skips_replies:
        at = np.flatnonzero(goes_on)
        wins, fills = _endings_by_reply(last.after[at], rows.ply[at], board)
        goes_on[at] = ~np.where(rows.outcome[at] == -1, wins, (rows.outcome[at] == 0) & fills)
    if not has_gaps:
        yield "the game stops before its end", goes_on
    yield "an outcome without a played move", last.is_last & ~was_played & decided
    yield (
        "the outcome is not the result of the game",
        last.is_last & last.ended & decided & (rows.outcome != last.won),
    )
    # The outcome changes its sign with the side to move.
    swaps = (rows.ply[1:] - rows.ply[:-1]) % 2 == 1
    now, then = rows.outcome[:-1], rows.outcome[1:]
    unknown = (now == NO_RESULT) | (then == NO_RESULT)
    differs = np.where(unknown, now != then, now != np.where(swaps, -then, then))
    yield "the outcome changes during the game", follows & np.append(differs, False)[:count]


def _endings_by_reply(after: Array, ply: Array, board: Board) -> tuple[Array, Array]:
    """bool [row] each: the other side can win with its reply; it can fill the board without."""
    wins, fills = np.zeros(len(after), bool), np.zeros(len(after), bool)
    heights = (after != 0).sum(axis=1)
    for column in range(board.columns):
        at = np.flatnonzero(heights[:, column] < board.rows)
        then = after[at]
        stone = 2 - ply[at] % 2
        then[np.arange(len(at)), board.rows - 1 - heights[at, column], column] = stone
        won = _has_line(then == stone[:, None, None], board)
        wins[at] |= won
        fills[at] |= ~won & (then != 0).all(axis=(1, 2))
    return wins, fills


def _in_any_cell(condition: Array) -> Array:
    return np.asarray(condition.any(axis=(1, 2)))


def _legal(move: Array, is_open: Array) -> Array:
    columns = is_open.shape[1]
    inside = (move >= 0) & (move < columns)
    legal: Array = inside & is_open[np.arange(len(move)), np.where(inside, move, 0)]
    return legal


def _has_line(stones: Array, board: Board) -> Array:
    """bool [row]: the stones [row, row of cells, column] hold a complete line."""
    found = np.zeros(len(stones), bool)
    reach = board.connect - 1
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        height, width = board.rows - down * reach, board.columns - abs(right) * reach
        if height <= 0 or width <= 0:
            continue
        line = None
        for step in range(board.connect):
            top = step * down
            left = step * right if right >= 0 else reach - step
            part = stones[:, top : top + height, left : left + width]
            line = part if line is None else line & part
        if line is not None:
            found |= line.any(axis=(1, 2))
    return found
