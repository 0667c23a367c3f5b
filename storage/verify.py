"""Whether a run is what it says: its files, its footers, and every game played over again."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice

import numpy as np

from selfplay.board import Board
from storage.dataset import Dataset, name_of
from storage.rows import NO_MOVE, NO_RESULT, Array, Rows, schema
from storage.shard import DamagedShardError, decode, file_name

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
        yield Problem(f"{name} does not belong to the run")
    for shard, data in _files(dataset):
        for what, game in _of_shard(dataset, shard, data):
            yield Problem(what, shard, game)


def _files(dataset: Dataset) -> Iterator[tuple[int, bytes | None]]:
    """Every shard of the plan and its file, some read ahead: stores take their time to answer."""
    shards = iter(range(dataset.description.shards))

    def read(shard: int) -> bytes | None:
        if file_name(shard) not in dataset.files:
            return None
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


def _of_shard(dataset: Dataset, shard: int, data: bytes | None) -> Iterator[tuple[str, int | None]]:
    if data is None:
        yield "it is missing", None
        return
    try:
        footer, table = decode(data)
        dataset.check(shard, footer)
    except DamagedShardError as damage:
        yield str(damage), None
        return
    if not table.schema.equals(schema(dataset.board)):
        yield "its columns are not those of a run", None
        return
    rows = Rows.from_table(table)
    if len(rows) != footer.rows:
        yield f"it has {len(rows)} rows, and its footer says {footer.rows}", None
    elif rows.fingerprint() != footer.fingerprint:
        yield "its rows are not those that were written: another fingerprint", None
    elif footer.end_game < dataset.description.games_of(shard).stop:
        yield "it lacks games: the run has been extended", None
    yield from faults(rows, dataset.board, range(footer.first_game, footer.end_game))


def faults(rows: Rows, board: Board, games: range) -> Iterator[tuple[str, int | None]]:
    """What is wrong with the rows of these games: the fault, and in which game; the first few of
    every kind."""
    for what, wrong in _checks(rows, board):
        bad = np.unique(rows.game[wrong])
        for game in bad[:_SHOWN_PER_FAULT]:
            yield what, int(game)
        if len(bad) > _SHOWN_PER_FAULT:
            yield f"{what}: {len(bad):,} games in all", None
    found, expected = np.unique(rows.game), np.arange(games.start, games.stop)
    for game in np.setdiff1d(expected, found)[:_SHOWN_PER_FAULT]:
        yield "it is missing", int(game)
    for game in np.setdiff1d(found, expected)[:_SHOWN_PER_FAULT]:
        yield "it belongs to another shard", int(game)


def _checks(rows: Rows, board: Board) -> Iterator[tuple[str, Array]]:
    """Faults, and for each the rows that have it."""
    grid = rows.board.reshape(-1, board.rows, board.columns)
    taken = grid != 0
    stones = taken.sum(axis=(1, 2))
    first, second = grid == 1, grid == 2
    lead = first.sum(axis=(1, 2)) - second.sum(axis=(1, 2))
    mover = (1 + lead).clip(1, 2).astype(np.int8)
    heights = taken.sum(axis=1)
    is_open = heights < board.rows

    yield "a cell holds neither 0, 1 nor 2", _in_any_cell((grid < 0) | (grid > 2))
    yield "a stone floats", _in_any_cell(taken[:, :-1] & ~taken[:, 1:])
    yield "the stones do not alternate", (lead != 0) & (lead != 1)
    yield "the ply is not the number of stones", rows.ply != stones
    yield "the game was over before", _has_line(first, board) | _has_line(second, board)

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

    yield from _checks_of_games(rows, board, grid, mover, heights, is_open)


def _checks_of_games(
    rows: Rows, board: Board, grid: Array, mover: Array, heights: Array, is_open: Array
) -> Iterator[tuple[str, Array]]:
    count = len(rows)
    was_played = rows.played != NO_MOVE
    legal = _legal(rows.played, is_open)
    yield "the move that was played is not legal", was_played & ~legal

    # Every position with the stone that was played, where one was.
    number = np.flatnonzero(was_played & legal)
    column = rows.played[number].astype(np.int64)
    after = grid.copy()
    after[number, board.rows - 1 - heights[number, column], column] = mover[number]

    follows = np.zeros(count, bool)  # whether the next row is of the same game
    follows[:-1] = rows.game[1:] == rows.game[:-1]
    leads_on = np.ones(count, bool)
    leads_on[:-1] = (after[:-1] == grid[1:]).all(axis=(1, 2))
    yield "what was played does not lead to the next position", follows & ~(was_played & leads_on)
    falls = np.zeros(count, bool)
    falls[:-1] = rows.game[1:] < rows.game[:-1]
    yield "games are not in order", falls

    won = _has_line(after == 1, board) | _has_line(after == 2, board)
    ended = was_played & (won | (after != 0).all(axis=(1, 2)))
    yield "the game goes on after its end", follows & ended
    decided = rows.outcome != NO_RESULT
    yield "the game stops before its end", ~follows & was_played & decided & ~ended
    yield "an outcome without a game", ~follows & ~was_played & decided
    result = np.where(won, 1, 0)
    yield (
        "the outcome is not how the game ended",
        ~follows & ended & (decided & (rows.outcome != result)),
    )
    turns = follows & np.append(
        np.where(
            (rows.outcome[:-1] == NO_RESULT) | (rows.outcome[1:] == NO_RESULT),
            rows.outcome[:-1] != rows.outcome[1:],
            rows.outcome[:-1] != -rows.outcome[1:],
        ),
        False,
    )
    yield "the outcome changes in the course of the game", turns


def _in_any_cell(condition: Array) -> Array:
    """The rows in which it holds somewhere."""
    return np.asarray(condition.reshape(len(condition), -1).any(axis=1))


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
