"""What is in a run, in numbers: games, positions, repetitions, results, the teacher's columns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board, mirrored, position_key
from selfplay.storage.dataset import Dataset
from selfplay.storage.rows import NO_MOVE, NO_RESULT, Rows
from selfplay.storage.verify import LastMoves, refuse_impossible


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
    """Numbers of a run. Positions and openings count once with their mirror images where they
    are called unique."""

    games: int
    games_without_rows: int
    """An opponent won them before there was anything to label."""
    positions: int
    unique_positions: int
    by_ply: dict[int, int]
    """Positions by the stones on the board."""
    unique_by_ply: dict[int, int]
    moves: list[int]
    """How often the teacher chose each column."""
    results: Results
    lengths: dict[int, int]
    """Games by the stones on the board at their end."""
    by_first_move: dict[int, Results]
    """Results by the first move after the opening; nothing of runs in which an opponent may have
    made it."""
    unique_openings: int


def statistics(dataset: Dataset) -> Statistics:
    """Read a run once, a shard at a time; what is kept is a number or two a position."""
    board, skips_replies = dataset.board, dataset.description.skips_replies
    moves = np.zeros(board.columns, np.int64)
    keys, plies, openings, ends = [], [], [], []
    for _, rows in dataset.rows(refuse_impossible):
        moves += np.bincount(rows.move, minlength=board.columns)
        keys.append(canonical_keys(rows, board))
        plies.append(rows.ply)
        first = np.flatnonzero(np.append(True, rows.game[1:] != rows.game[:-1])[: len(rows)])
        last = np.append(first[1:], len(rows))[: len(first)] - 1
        stones = rows.ply[last] + 1
        if skips_replies:  # the last stone may be the opponent's
            stones += ~LastMoves.of(rows[last], board).ended
        openings.append(keys[-1][first])
        second_to_move = rows.ply[last] % 2 == 1
        outcome = np.where(
            rows.outcome[last] == NO_RESULT,
            NO_RESULT,
            np.where(second_to_move, -rows.outcome[last], rows.outcome[last]),
        )
        ends.append(np.stack([outcome, stones, rows.played[first]]))
    all_keys, all_plies = _joined(keys), _joined(plies)
    unique, at = np.unique(all_keys, return_index=True)
    outcome, length, first_move = np.concatenate(ends, axis=1) if ends else np.zeros((3, 0), int)
    played_out = outcome != NO_RESULT
    return Statistics(
        games=dataset.games,
        games_without_rows=dataset.games - len(outcome),
        positions=len(all_keys),
        unique_positions=len(unique),
        by_ply=_counts(all_plies),
        unique_by_ply=_counts(all_plies[at]),
        moves=moves.tolist(),
        results=Results.of(outcome),
        lengths=_counts(length[played_out]),
        by_first_move={
            int(move): Results.of(outcome[first_move == move])
            for move in np.unique(first_move)
            if move != NO_MOVE and not skips_replies
        },
        unique_openings=len(np.unique(_joined(openings))),
    )


def canonical_keys(rows: Rows, board: Board) -> Array:
    """One number for each position, the same for its mirror image: Python's integers where the
    board does not fit a machine word."""
    own, mask = rows.stones(board)
    keys = position_key(board, own, mask)
    images = position_key(board, mirrored(board, own), mirrored(board, mask))
    return np.asarray(np.minimum(keys, images))


def _joined(parts: list[Array]) -> Array:
    return np.concatenate(parts) if parts else np.zeros(0, np.int64)


def _counts(numbers: Array) -> dict[int, int]:
    values, counts = np.unique(numbers, return_counts=True)
    return dict(zip(values.tolist(), counts.tolist(), strict=True))
