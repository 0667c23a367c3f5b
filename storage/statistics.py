"""Compute statistics of a run: games, positions, duplicates, results, the teacher's columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from selfplay.arrays import Array, BoolArray
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset
from selfplay.storage.games import Games
from selfplay.storage.manifest import Manifest
from selfplay.storage.row_checks import validate_rows
from selfplay.storage.rows import NO_MOVE, NO_RESULT, Rows


@dataclass(frozen=True, slots=True)
class Results:
    """How games ended for the first player."""

    wins: int
    draws: int
    losses: int

    @classmethod
    def of(cls, outcomes: Array) -> Results:
        return cls(*(int((outcomes == outcome).sum()) for outcome in (1, 0, -1)))

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses


@dataclass(frozen=True, slots=True)
class Statistics:
    """Statistics of a run; "unique" counts a position and its mirror image once."""

    games: int
    games_without_rows: int  # won by the opponent before the first one, or split off
    positions: int
    unique_positions: int
    exact_labels: int  # positions whose move is proven to be optimal
    by_ply: dict[int, int]  # positions by number of stones
    unique_by_ply: dict[int, int]
    moves: list[int]  # how often the teacher chose each column
    results: Results
    lengths: dict[int, int]  # games by number of stones at the end
    by_first_move: dict[int, Results]
    """Results by the first move after the opening; empty where it may not be in the rows."""
    unique_openings: int | None  # None where openings are not in the rows


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """What the statistics need of a shard."""

    keys: Array
    plies: Array
    openings: Array  # the keys of the first positions of its games
    moves: Array
    exact: int
    ends: Array  # results, stones at the end and first moves of its games

    @classmethod
    def of(cls, rows: Rows, manifest: Manifest) -> Part:
        board, games = manifest.board, Games.of(rows, manifest)
        keys = rows.canonical_keys(board)
        return cls(
            keys,
            rows.ply,
            keys[games.first],
            np.bincount(rows.move, minlength=board.columns),
            int(_has_exact_label(rows, board).sum()),
            np.stack([games.result, games.stones, rows.played[games.first]]),
        )


def statistics(dataset: Dataset) -> Statistics:
    """Read a run once, a shard at a time; a key and a ply per position stay in memory."""
    manifest = dataset.manifest
    return combined(dataset, [Part.of(rows, manifest) for _, rows in dataset.rows(validate_rows)])


def combined(dataset: Dataset, parts: Sequence[Part]) -> Statistics:
    """The statistics of a run from those of its shards, in order."""
    skips_replies, has_gaps = dataset.manifest.skips_replies, dataset.manifest.has_gaps
    all_keys = _joined([part.keys for part in parts])
    all_plies = _joined([part.plies for part in parts])
    unique, at = np.unique(all_keys, return_index=True)
    ends = [part.ends for part in parts]
    result, length, first_move = np.concatenate(ends, axis=1) if ends else np.zeros((3, 0), int)
    moves = sum((part.moves for part in parts), np.zeros(dataset.board.columns, np.int64))
    return Statistics(
        games=dataset.games,
        games_without_rows=dataset.games - len(result),
        positions=len(all_keys),
        unique_positions=len(unique),
        exact_labels=sum(part.exact for part in parts),
        by_ply=_counts(all_plies),
        unique_by_ply=_counts(all_plies[at]),
        moves=moves.tolist(),
        results=Results.of(result),
        lengths=_counts(length[(result != NO_RESULT) & (length > 0)]),
        by_first_move={
            int(move): Results.of(result[first_move == move])
            for move in np.unique(first_move)
            if move != NO_MOVE and not (skips_replies or has_gaps)
        },
        unique_openings=(
            None if has_gaps else len(np.unique(_joined([part.openings for part in parts])))
        ),
    )


def _has_exact_label(rows: Rows, board: Board) -> BoolArray:
    """By row: whether the move is proven to win, or every column is proven."""
    is_open = rows.board[:, : board.columns] == 0
    wins = rows.proven[np.arange(len(rows)), rows.move] == 1
    return np.asarray(wins | (~is_open | (rows.proven != NO_RESULT)).all(axis=1))


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _counts(numbers: Array) -> dict[int, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))
