"""Which move a tree plays: two rules come before its ratings, and nearness to the middle after.

It takes a win at once, and else leaves the other side none if it can. Trees learn to keep the
value of the game, not to end it soon.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board, next_cells, winning_cells
from selfplay.game.position import Position
from selfplay.train.columns import open_columns

LOSING, QUIET, WINNING = range(3)
"""Moves that let the other side win at once, others, and those that win at once."""


def allowed_moves(board: Board, own: Array, mask: Array) -> Array:
    """bool [position, column]: the moves that the two rules leave to the ratings."""
    grades = np.stack(_grades(board, own, mask, range(board.columns)), axis=1)
    return _highest(grades, open_columns(board, mask))


def best_moves(board: Board, own: Array, mask: Array, scores: Array) -> Array:
    """int64 [position]: the moves that a tree with these scores plays."""
    return best_of_images(board, scores, allowed_moves(board, own, mask))[:, 0]


def best_of_images(board: Board, scores: Array, allowed: Array) -> Array:
    """int64 [position, 2]: the moves that a tree with these scores plays in each position, and in
    its mirror image, where the right column of two is the left one. Only moves that the rules
    leave are compared: the scores of others may be anything."""
    columns = range(board.columns)
    nearness = np.array([_nearness(board, column) for column in columns])
    rank = np.where(_highest(scores, allowed), nearness, -1)
    from_right = board.columns - 1 - rank[:, ::-1].argmax(axis=1)
    return np.stack((rank.argmax(axis=1), from_right), axis=1)


def _highest(numbers: Array, among: Array) -> Array:
    """bool [position, column]: the columns with the highest number, at least 0, among some."""
    found = np.where(among, numbers, -1)
    return np.asarray(among & (found == found.max(axis=1, keepdims=True)))


def best_move(position: Position, scores: Sequence[float]) -> int:
    """The move that a tree with these scores plays."""
    return _ranked(position, scores)[0][-1]


def decided_by(position: Position, scores: Sequence[float]) -> str | None:
    """What else than its rating decides for the move; None if that does."""
    best, *others = _ranked(position, scores)
    overruled = [other for other in others if other[0] < best[0]]
    ties = [other for other in others if other[:2] == best[:2]]
    is_middle = any(other[2] == best[2] for other in ties)
    nearness = "the middle, the left of two" if is_middle else "nearness to the middle"
    for found, what in (
        ([other for other in overruled if other[1] > best[1]], f"higher, but {_RULES[best[0]]}"),
        ([other for other in overruled if other[1] == best[1]], f"the same, but {_RULES[best[0]]}"),
        (ties, f"the same: {nearness} decides"),
    ):
        if found:
            columns = ", ".join(str(column) for column in sorted(other[-1] + 1 for other in found))
            return f"column {columns} is rated {what}"
    return None


_RULES = ("", "lets the other side win at once", "this one wins at once")


def _ranked(position: Position, scores: Sequence[float]) -> list[tuple[int, float, int, int]]:
    """The grade, score, nearness and column of each legal move, the one that is played first."""
    board, legal = position.board, position.legal_moves
    ranked = [
        (grade, scores[k], _nearness(board, k), k)
        for grade, k in zip(grades(position), legal, strict=True)
    ]
    return sorted(ranked, key=lambda found: (-found[0], -found[1], -found[2], found[3]))


def grades(position: Position) -> list[int]:
    """LOSING, QUIET or WINNING, for each legal move."""
    return _grades(position.board, position.own, position.mask, position.legal_moves)


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
