"""Equally rated moves: which of them a tree plays, and why."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board, next_cells, winning_cells
from selfplay.game.position import Position

LOSING, QUIET, WINNING = range(3)
"""Moves that let the other side win at once, others, and those that win at once."""


def best_moves(board: Board, own: Array, mask: Array, scores: Array) -> Array:
    """int64 [position]: the moves that a tree with these scores plays."""
    best = scores == scores.max(axis=1, keepdims=True)
    columns = range(board.columns)
    grades = np.stack(_grades(board, own, mask, columns), axis=1)
    nearness = [_nearness(board, column) for column in columns]
    preferred = grades * (board.columns + 1) + nearness
    return np.asarray(np.where(best, preferred, -1).argmax(axis=1))


def best_move(position: Position, ties: list[int]) -> int:
    """Of equally rated columns, from the left, the one that a tree plays."""
    return _ranked(position, ties)[0][-1]


def decided_by(position: Position, ties: list[int]) -> str:
    """What decides between two or more."""
    (grade, near, _), (next_grade, next_near, _), *_ = _ranked(position, ties)
    if grade > next_grade:
        return "winning at once" if grade == WINNING else "not losing at once"
    return "the middle, the left of two" if near == next_near else "nearness to the middle"


def _ranked(position: Position, ties: list[int]) -> list[tuple[int, int, int]]:
    """The grade, nearness and column of each, the one that is played first."""
    board = position.board
    grades = _grades(board, position.own, position.mask, ties)
    ranked = [(grade, _nearness(board, k), k) for grade, k in zip(grades, ties, strict=True)]
    return sorted(ranked, key=lambda found: (-found[0], -found[1]))


def _grades(board: Board, own: Any, mask: Any, columns: Iterable[int]) -> list[Any]:
    """Of these columns: for a position in Python's integers, or elementwise for arrays."""
    cells = next_cells(board, mask)
    wins, replies = winning_cells(board, own) & cells, winning_cells(board, own ^ mask)
    grades = []
    for column in columns:
        cell = cells & (((1 << board.rows) - 1) << (column * board.stride))
        is_winning = wins & cell != 0
        is_losing = replies & next_cells(board, mask | cell) != 0
        grades.append(QUIET + is_winning - (is_losing > is_winning))
    return grades


def _nearness(board: Board, column: int) -> int:
    """To the middle."""
    return board.columns - abs(2 * column - (board.columns - 1))
