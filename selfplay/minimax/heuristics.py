"""What a position looks like to a player who cannot search to the end of the game.

Every evaluation goes by the runs: the lines of `connect` cells on which somebody may yet win.
What a run is worth depends on how many stones of either side it holds, so that an evaluation
is a table over these two numbers, and little besides. Values are for the player who searches.

segments   runs with one side's stones only, less the opponent's, and a bonus for the turn
threats    the same, steeper; less the longer it takes; ahead by a stone for whose turn it is
windows    own runs from two stones up; of the opponent's only those about to be completed
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import numpy as np

from selfplay.game.board import Board

Array = np.ndarray[Any, Any]

Name = Literal["segments", "threats", "windows"]

# By how many stones a run lacks; one that lacks more is worth nothing.
_SEGMENTS = (512, 50, 10, 1)
_THREATS = (500_000, 5_000, 50, 1)
_WINDOWS = (100, 75, 50)
_OPEN_THREE = 75
_TURN = 16

COUNTS = 8
"""The table's place for a run with so many own and so many other stones: COUNTS * own + other."""


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """(the sum over all runs and all cells + bonus) / divisor, a depth ahead."""

    runs: Array
    """float64 [COUNTS * own stones + other stones]: what a run is worth."""
    cells: Array
    """float64 [cell]: what an own stone is worth that the search puts there."""
    bonus: float = 0.0
    divisor: float = 1.0


def evaluation(name: Name, board: Board, depth: int, *, cells: bool = False) -> Evaluation:
    """What is to be made of positions `depth` plies after the one in question."""
    odd = depth % 2 == 1  # then it is the other side's turn
    runs = np.zeros(COUNTS * COUNTS)
    own, other = runs[::COUNTS], runs[:COUNTS]  # of runs that the one or the other has alone
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
                # Whose turn it is may add a stone to any run: what a search that ends with an
                # own move would be blind to.
                other[1 : board.connect] = other[2 : board.connect + 1]
            divisor = depth + 1
        case "windows":
            own[:] = _by_stones(_WINDOWS, board)
            other[board.connect - 1] = -_OPEN_THREE
    runs[0] = 0.0
    worth = runs_through(board) if cells else np.zeros(board.cells)
    return Evaluation(runs, worth, bonus, divisor)


def _by_stones(by_lack: tuple[int, ...], board: Board) -> Array:
    """A run's worth by its stones, from its worth by what it lacks."""
    worth = np.zeros(COUNTS)
    for lack, value in enumerate(by_lack):
        if lack < board.connect:
            worth[board.connect - lack] = value
    return worth


def cell(board: Board, column: int, row: int) -> int:
    """The number of a cell: column by column, from the bottom."""
    return column * board.rows + row


@cache
def all_runs(board: Board) -> Array:
    """int64 [run, connect]: the cells of every line that wins."""
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
def runs_through(board: Board) -> Array:
    """float64 [cell]: how many runs go through it, which is most in the centre."""
    return np.bincount(all_runs(board).ravel(), minlength=board.cells).astype(np.float64)
