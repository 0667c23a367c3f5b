"""Compute statistics of a run: games, positions, duplicates, results, the teacher's columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from selfplay.arrays import Array, BoolArray
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset
from selfplay.storage.row_checks import LastMoves, validate_rows
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


def statistics(dataset: Dataset) -> Statistics:
    """Read a run once, a shard at a time; a key and a ply per position stay in memory."""
    board, skips_replies = dataset.board, dataset.manifest.skips_replies
    has_gaps = dataset.manifest.has_gaps
    moves = np.zeros(board.columns, np.int64)
    keys, plies, openings, ends = [], [], [], []
    exact = 0
    for _, rows in dataset.rows(validate_rows):
        moves += np.bincount(rows.move, minlength=board.columns)
        exact += int(_has_exact_label(rows, board).sum())
        keys.append(rows.canonical_keys(board))
        plies.append(rows.ply)
        first = np.flatnonzero(rows.is_first())
        last = np.append(first[1:], len(rows))[: len(first)] - 1
        stones = rows.ply[last] + 1
        if skips_replies or has_gaps:
            ended = LastMoves.of(rows[last], board).ended
            # The last stone may be the opponent's; with gaps nobody knows.
            stones = np.where(ended, stones, 0 if has_gaps else stones + 1)
        openings.append(keys[-1][first])
        outcome, second_to_move = rows.outcome[last], rows.ply[last] % 2 == 1
        outcome = np.where(second_to_move & (outcome != NO_RESULT), -outcome, outcome)
        ends.append(np.stack([outcome, stones, rows.played[first]]))
    all_keys, all_plies = _joined(keys), _joined(plies)
    unique, at = np.unique(all_keys, return_index=True)
    outcome, length, first_move = np.concatenate(ends, axis=1) if ends else np.zeros((3, 0), int)
    return Statistics(
        games=dataset.games,
        games_without_rows=dataset.games - len(outcome),
        positions=len(all_keys),
        unique_positions=len(unique),
        exact_labels=exact,
        by_ply=_counts(all_plies),
        unique_by_ply=_counts(all_plies[at]),
        moves=moves.tolist(),
        results=Results.of(outcome),
        lengths=_counts(length[(outcome != NO_RESULT) & (length > 0)]),
        by_first_move={
            int(move): Results.of(outcome[first_move == move])
            for move in np.unique(first_move)
            if move != NO_MOVE and not (skips_replies or has_gaps)
        },
        unique_openings=None if has_gaps else len(np.unique(_joined(openings))),
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
