"""Heuristics: the value of a position where the search ends before the game does.

An evaluation is a sum over all lines of `connect` cells. A line's value depends on how many
stones of either side it holds: a table over these two numbers. Values are for the player who
searches.

segments   lines with stones of one side only, own minus opponent's, and a bonus for the turn
threats    the same, steeper; divided by the depth; counts the opponent's next stone if it moves
windows    own lines from two stones up; the opponent's only if one stone is missing
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import numpy as np

from selfplay.arrays import Float64Array, Int64Array
from selfplay.game.board import Board

Name = Literal["segments", "threats", "windows"]

# By the number of missing stones; lines that miss more are worth nothing.
_SEGMENTS = (512, 50, 10, 1)
_THREATS = (500_000, 5_000, 50, 1)
_WINDOWS = (100, 75, 50)
_OPEN_THREE = 75
_TURN = 16

COUNTS = 8
"""The table's index for a line is COUNTS * own stones + opponent's stones."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """(the sum over all lines and cells + bonus) / divisor."""

    lines: Float64Array
    """[COUNTS * own stones + opponent's stones]: the value of a line."""
    cells: Float64Array
    """[cell]: the value of an own stone that the search puts there."""
    bonus: float = 0.0
    divisor: float = 1.0


def evaluation(name: Name, board: Board, depth: int, *, cells: bool = False) -> Evaluation:
    """The evaluation of positions `depth` plies after the root."""
    odd = depth % 2 == 1  # then it is the opponent's turn
    lines = np.zeros(COUNTS * COUNTS)
    own, other = lines[::COUNTS], lines[:COUNTS]  # lines with stones of one side only
    bonus, divisor = 0.0, 1.0
    match name:
        case "segments":
            own[:] = _by_stones(_SEGMENTS, board)
            other[:] = -own
            bonus = -_TURN if odd else _TURN
        case "threats":
            own[:] = _by_stones(_THREATS, board)
            other[:] = -own
            if odd:
                # The opponent may add a stone to any line next: the search ends before that.
                other[1 : board.connect] = other[2 : board.connect + 1]
            divisor = depth + 1
        case "windows":
            own[:] = _by_stones(_WINDOWS, board)
            other[board.connect - 1] = -_OPEN_THREE
    lines[0] = 0.0
    worth = lines_through(board) if cells else np.zeros(board.cells)
    return Evaluation(lines, worth, bonus, divisor)


def _by_stones(by_lack: tuple[int, ...], board: Board) -> Float64Array:
    """A line's value by its stones, from its value by missing stones."""
    worth = np.zeros(COUNTS)
    for lack, value in enumerate(by_lack):
        if lack < board.connect:
            worth[board.connect - lack] = value
    return worth


def cell(board: Board, column: int, row: int) -> int:
    """The index of a cell: column by column, from the bottom."""
    return column * board.rows + row


@cache
def all_lines(board: Board) -> Int64Array:
    """[line, connect]: the cells of every line."""
    found = []
    for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
        for column in range(board.columns):
            for row in range(board.rows):
                ends = column + right * (board.connect - 1), row + up * (board.connect - 1)
                if ends[0] < board.columns and 0 <= ends[1] < board.rows:
                    found.append(
                        [
                            cell(board, column + right * i, row + up * i)
                            for i in range(board.connect)
                        ]
                    )
    return np.array(found, np.int64)


@cache
def lines_through(board: Board) -> Float64Array:
    """[cell]: the number of lines through it, which is highest in the centre."""
    return np.bincount(all_lines(board).ravel(), minlength=board.cells).astype(np.float64)
