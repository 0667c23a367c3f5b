"""Whether a run is what it says: its files, its footers, and every game played over again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from heapq import merge
from itertools import chain, islice

import numpy as np

from selfplay.arrays import Array, BoolArray, Int8Array
from selfplay.errors import quoted
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset, name_of
from selfplay.storage.rows import NO_MOVE, NO_RESULT, Rows
from selfplay.storage.shard import DamagedShardError, decode, file_name

_SHOWN_PER_FAULT = 3
_READ_AHEAD = 16


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not as it should be."""

    what: str
    shard: int | None = None
    game: int | None = None

    def __str__(self) -> str:
        where = "" if self.shard is None else f"{file_name(self.shard)}: "
        which = "" if self.game is None else f"game {self.game}: "
        return f"{where}{which}{self.what}"


def verify(dataset: Dataset) -> Iterator[Problem]:
    """All that is wrong with a run, shard by shard."""
    for name in dataset.strays():
        yield Problem(f"{quoted(name, 200)} does not belong to the run")
    inside = (
        Problem(what, shard, game)
        for shard, data in _files(dataset)
        for what, game in _of_shard(dataset, shard, data)
    )
    yield from merge(_gaps(dataset), inside, key=lambda problem: problem.shard or 0)


def _gaps(dataset: Dataset) -> Iterator[Problem]:
    """Shards that are missing, those side by side in one line."""
    following = 0
    for shard in [*dataset.planned_files, dataset.description.shards]:
        if shard - following == 1:
            yield Problem("it is missing", following)
        elif shard > following:
            yield Problem(f"it is missing, and all up to {file_name(shard - 1)}", following)
        following = shard + 1


def _files(dataset: Dataset) -> Iterator[tuple[int, bytes]]:
    """Every shard and its file, some read ahead: stores take their time to answer."""
    shards = iter(dataset.planned_files)

    def read(shard: int) -> bytes:
        return dataset.place.read(name_of(shard))

    with ThreadPoolExecutor(_READ_AHEAD) as pool:
        coming = deque((n, pool.submit(read, n)) for n in islice(shards, _READ_AHEAD))
        while coming:
            shard, data = coming.popleft()
            yield shard, data.result()
            coming.extend((n, pool.submit(read, n)) for n in islice(shards, 1))


def set_aside(dataset: Dataset, problems: Sequence[Problem]) -> list[str]:
    """Move files that something is wrong with out of the plan's sight; their new names."""
    bad = sorted({p.shard for p in problems if p.shard is not None})
    moved = []
    for shard in bad:
        if file_name(shard) in dataset.files:
            name = f"quarantine/{file_name(shard)}"
            dataset.place.move(name_of(shard), name)
            moved.append(name)
    return moved


def _of_shard(dataset: Dataset, shard: int, data: bytes) -> Iterator[tuple[str, int | None]]:
    try:
        footer, rows = decode(data, dataset.board)
        dataset.check(shard, footer)
    except DamagedShardError as damage:
        yield str(damage), None
        return
    if rows.fingerprint() != footer.fingerprint:
        yield "its rows are not those that were written: another fingerprint", None
    elif footer.end_game < dataset.description.games_of(shard).stop:
        yield "it lacks games: the run has been extended", None
    described = dataset.description
    yield from faults(rows, dataset.board, footer.games, skips_replies=described.skips_replies)
    if described.spec is not None and described.skips_replies:
        for game in np.unique(rows.game[rows.ply % 2 != rows.game % 2])[:_SHOWN_PER_FAULT]:
            yield "it has positions of the opponent", int(game)


def faults(
    rows: Rows, board: Board, games: range, *, skips_replies: bool = False
) -> Iterator[tuple[str, int | None]]:
    """What is wrong with the rows of these games: the fault, and in which game; the first few of
    every kind. With `skips_replies` an opponent's moves may have no rows, nor games that it has
    won before there was one."""
    checks = chain(
        position_checks(rows, board),
        label_checks(rows, board),
        _game_checks(rows, board, skips_replies=skips_replies),
    )
    for what, wrong in checks:
        bad = np.unique(rows.game[wrong])
        for game in bad[:_SHOWN_PER_FAULT]:
            yield what, int(game)
        if len(bad) > _SHOWN_PER_FAULT:
            yield f"{what}: {len(bad):,} games in all", None
    found, expected = np.unique(rows.game), np.arange(games.start, games.stop)
    if not skips_replies:
        for game in np.setdiff1d(expected, found)[:_SHOWN_PER_FAULT]:
            yield "it is missing", int(game)
    for game in np.setdiff1d(found, expected)[:_SHOWN_PER_FAULT]:
        yield "it belongs to another shard", int(game)


def refuse_impossible(rows: Rows, board: Board) -> None:
    """Refuse positions and labels that no game has: compiled code takes what it gets."""
    for what, wrong in chain(position_checks(rows, board), label_checks(rows, board)):
        if wrong.any():
            raise DamagedShardError(f"game {int(rows.game[wrong][0])}: {what}")


def position_checks(rows: Rows, board: Board) -> Iterator[tuple[str, Array]]:
    """Faults of positions, and for each the rows that have it."""
    grid = rows.board.reshape(-1, board.rows, board.columns)
    taken = grid != 0
    first, second = grid == 1, grid == 2
    lead = first.sum(axis=(1, 2)) - second.sum(axis=(1, 2))
    yield "a cell holds neither 0, 1 nor 2", _in_any_cell((grid < 0) | (grid > 2))
    yield "a stone floats", _in_any_cell(taken[:, :-1] & ~taken[:, 1:])
    yield "the stones do not alternate", (lead != 0) & (lead != 1)
    yield "the ply is not the number of stones", rows.ply != taken.sum(axis=(1, 2))
    yield "the game was over before", _has_line(first, board) | _has_line(second, board)


def label_checks(rows: Rows, board: Board) -> Iterator[tuple[str, Array]]:
    """Faults of what the teacher said."""
    is_open = rows.board.reshape(-1, board.rows, board.columns)[:, 0] == 0
    yield "the teacher's move is not legal", ~_legal(rows.move, is_open)
    yield (
        "visits of a move that is not legal, or fewer than none",
        ((rows.visits < 0) | ((rows.visits != 0) & ~is_open)).any(axis=1),
    )
    known = ~np.isnan(rows.value)
    yield (
        "a value of a move that is not legal, or beyond -1 to 1",
        (known & (~is_open | ~(np.abs(np.where(known, rows.value, 0)) <= 1))).any(axis=1),
    )
    proven = rows.proven != NO_RESULT
    yield (
        "a proven result of a move that is not legal, or none of 1, 0, -1",
        (proven & (~is_open | (np.abs(rows.proven.astype(np.int16)) > 1))).any(axis=1),
    )
    yield (
        "a value that is not what is proven",
        (proven & known & (rows.value != rows.proven)).any(axis=1),
    )


@dataclass(frozen=True, slots=True)
class LastMoves:
    """How the games of some rows go on from each, as far as rows tell."""

    after: Int8Array
    """int8 [row, row of cells, column]: with the stone that was played, where one was"""
    is_last: BoolArray
    """bool [row]: whether no other row of its game follows"""
    won: BoolArray
    """bool [row]: the move that was played ended the game with a line"""
    ended: BoolArray
    """bool [row]: the move that was played ended the game"""

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


def _game_checks(rows: Rows, board: Board, *, skips_replies: bool) -> Iterator[tuple[str, Array]]:
    """Faults in how rows of a game follow each other, and in how it ended."""
    count = len(rows)
    grid = rows.board.reshape(-1, board.rows, board.columns)
    was_played = rows.played != NO_MOVE
    is_legal = _legal(rows.played, grid[:, 0] == 0)
    yield "the move that was played is not legal", was_played & ~is_legal

    last = LastMoves.of(rows, board)
    follows = ~last.is_last
    leads_on = np.ones(count, bool)
    new = (last.after[:-1] != grid[1:]).sum(axis=(1, 2))
    leads_on[:-1] = new == 0
    if skips_replies:  # one stone of the other side's may be new, and nothing else
        reply = ((last.after[:-1] == 0) & (grid[1:] == (2 - rows.ply[:-1] % 2)[:, None, None])).sum(
            axis=(1, 2)
        )
        leads_on[:-1] |= (new == 1) & (reply == 1)
    yield "what was played does not lead to the next position", follows & ~(was_played & leads_on)
    falls = np.zeros(count, bool)
    falls[:-1] = rows.game[1:] < rows.game[:-1]
    yield "games are not in order", falls

    yield "the game goes on after its end", follows & last.ended
    decided = rows.outcome != NO_RESULT
    goes_on = last.is_last & was_played & decided & ~last.ended
    if skips_replies:
        at = np.flatnonzero(goes_on)
        wins, fills = _endings_by_reply(last.after[at], rows.ply[at], board)
        goes_on[at] = ~np.where(rows.outcome[at] == -1, wins, (rows.outcome[at] == 0) & fills)
    yield "the game stops before its end", goes_on
    yield "an outcome without a game", last.is_last & ~was_played & decided
    yield (
        "the outcome is not how the game ended",
        last.is_last & last.ended & decided & (rows.outcome != last.won),
    )
    # From a position to the next the other side is to move, or again the same.
    swaps = (rows.ply[1:] - rows.ply[:-1]) % 2 == 1
    now, then = rows.outcome[:-1], rows.outcome[1:]
    unknown = (now == NO_RESULT) | (then == NO_RESULT)
    turns = (
        follows
        & np.append(np.where(unknown, now != then, now != np.where(swaps, -then, then)), False)[
            :count
        ]
    )
    yield "the outcome changes in the course of the game", turns


def _endings_by_reply(after: Array, ply: Array, board: Board) -> tuple[Array, Array]:
    """Whether the other side has a reply that wins, and one that fills the board without."""
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
    """The rows in which it holds somewhere."""
    return np.asarray(condition.any(axis=(1, 2)))


def _legal(move: Array, is_open: Array) -> Array:
    columns = is_open.shape[1]
    inside = (move >= 0) & (move < columns)
    legal: Array = inside & is_open[np.arange(len(move)), np.where(inside, move, 0)]
    return legal


def _has_line(stones: Array, board: Board) -> Array:
    """Where a player's stones [row, cell row, column] hold a complete line."""
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
