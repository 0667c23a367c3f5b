"""What a tree sees of a position: small numbers, each with a name that a player understands.

A set of features has a name and a version, which stand in the model. One compiled function works
them out, for training and for play. Two sets see a position as a whole:

    cells     what is in every cell
    tactics   the same, and for every column what a player sees there

and two see a position and a move in it, which is what a tree of candidates asks about:

    move      what a player sees in that column, and beside it
    lookahead what a strong player sees in the move, and how it compares with others
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.game.board import Board, next_cells, winning_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline, kernel
from selfplay.kernels.state_word import safe_stones
from selfplay.machine import usable_cores
from selfplay.train.features.cell_sets import some
from selfplay.train.features.lookahead import OF_MOVE, survey_all

Perspective = Literal["mover", "absolute"]

VERSION = 2

# Positions that a thread looks at in one go.
_PORTION = 1 << 12

_ONE = np.uint64(1)
_NONE = np.uint64(0)

CELLS, TACTICS, MOVE, LOOKAHEAD = range(4)
_KINDS = {"cells": CELLS, "tactics": TACTICS, "move": MOVE, "lookahead": LOOKAHEAD}
SetName = Literal["cells", "tactics", "move", "lookahead"]

# A question about one column: its name, and how many answers it has.
OF_COLUMN = (
    ("is open", 2),
    ("wins", 2),
    ("must be blocked", 2),
    ("hands the other side the cell above", 2),
    ("gives up an own threat above", 2),
    ("leaves no win at once", 2),
    ("row", 16),
    ("new threats", 4),
    ("wins next time", 3),
    ("forces a win", 2),
    ("new threats in odd rows", 3),
    ("new threats in even rows", 3),
    ("own stones in the best line through it", 4),
    ("other stones in the best line through it", 4),
    ("open lines through it", 8),
    ("open lines of the other side through it", 8),
    ("new threats one above another", 2),
    ("the reply threatens to win", 3),
)
# And about the position.
OF_POSITION = (
    ("stones are even", 2),
    ("own threats in odd rows", 4),
    ("own threats in even rows", 4),
    ("other threats in odd rows", 4),
    ("other threats in even rows", 4),
    ("columns that leave no win at once", 8),
    ("wins at once", 2),
    ("must block", 3),
    ("the lowest own threat in an odd row", 8),
    ("the lowest other threat in an odd row", 8),
    ("stones", 8),
)

COLUMN_WIDTH, POSITION_WIDTH = len(OF_COLUMN), len(OF_POSITION)


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """A way to look at positions."""

    name: SetName
    board: Board
    perspective: Perspective = "mover"

    def __post_init__(self) -> None:
        if not self.board.fits_word:
            raise InputError(
                f"trees look at boards that fit 64 bits, (rows + 1) x columns; {self.board.size} "
                "does not"
            )

    @property
    def number(self) -> int:
        """What stands for it in compiled code."""
        return _KINDS[self.name]

    @property
    def by_move(self) -> bool:
        """Whether a move is looked at, or the position as a whole."""
        return self.name in ("move", "lookahead")

    @property
    def sees_no_sides(self) -> bool:
        """Whether mirror images look the same: of two, one says all."""
        return self.name == "lookahead"

    @property
    def names(self) -> tuple[str, ...]:
        """What each feature is called, in board language."""
        return tuple(name for name, _ in self._questions())

    @property
    def widths(self) -> Array:
        """int64 [feature]: how many values it may have."""
        return np.array([width for _, width in self._questions()], np.int64)

    def _questions(self) -> list[tuple[str, int]]:
        board = self.board
        if self.name == "move":
            beside = [
                (f"{where}: {name}", width)
                for where in ("the column further in", "the column further out")
                for name, width in OF_COLUMN
            ]
            from_edge = [("columns from the edge", (board.columns + 1) // 2)]
            return [*OF_POSITION, *OF_COLUMN, *from_edge, *beside]
        cells = [
            (f"the cell in column {column + 1}, row {row + 1}", 3)
            for row in reversed(range(board.rows))
            for column in range(board.columns)
        ]
        if self.name == "cells":
            return cells
        if self.name == "lookahead":
            return [*OF_MOVE, *((f"{name}, the move to the left", 3) for name, _ in cells)]
        columns = [
            (f"column {column + 1}: {name}", width)
            for column in range(board.columns)
            for name, width in OF_COLUMN
        ]
        return [*cells, *OF_POSITION, *columns]

    def of_positions(self, own: Array, mask: Array) -> Array:
        """uint8 [position, feature]"""
        out = np.empty((len(own), len(self.names)), np.uint8)
        absolute = self.perspective == "absolute"
        _look_at_all(self.board, own, mask, self.number, absolute, out)
        return out

    def of_moves(self, own: Array, mask: Array, columns: Array) -> Array:
        """uint8 [row, feature], of a column in each position"""
        return self.of_all_moves(own, mask)[np.arange(len(own)), columns]

    def of_all_moves(self, own: Array, mask: Array, threads: int | None = None) -> Array:
        """uint8 [position, column, feature]; of no meaning where a column is full"""
        out = np.empty((len(own), self.board.columns, len(self.names)), np.uint8)
        look_at_moves = survey_all if self.name == "lookahead" else _consider_all

        def look_from(start: int) -> None:
            part = slice(start, start + _PORTION)
            look_at_moves(self.board, own[part], mask[part], out[part])

        if len(own) <= _PORTION:
            look_from(0)
        else:
            with ThreadPoolExecutor(threads or usable_cores()) as pool:
                list(pool.map(look_from, range(0, len(own), _PORTION)))
        return out


@inline
def _of_position(board: Any, own: Any, mask: Any, out: Any, at: Any) -> Any:
    """The questions about a position, in the order of OF_POSITION."""
    other = own ^ mask
    empty = board.full & ~mask
    mine, theirs = winning_cells(board, own) & empty, winning_cells(board, other) & empty
    free = next_cells(board, mask)
    odd, even = board.odd_rows, board.full & ~board.odd_rows
    stones = np.int64(population(mask))
    out[at] = 1 - stones % 2
    out[at + 1] = some(mine & odd & ~free, 3)
    out[at + 2] = some(mine & even & ~free, 3)
    out[at + 3] = some(theirs & odd & ~free, 3)
    out[at + 4] = some(theirs & even & ~free, 3)
    out[at + 5] = some(safe_stones(board, mask, theirs), 7)
    out[at + 6] = (mine & free) != 0
    out[at + 7] = some(theirs & free, 2)
    out[at + 8] = _lowest_row(board, mine & odd & ~free)
    out[at + 9] = _lowest_row(board, theirs & odd & ~free)
    out[at + 10] = min(stones // 6, 7)


@inline
def _lowest_row(board: Any, cells: Any) -> Any:
    """The lowest row that any of the cells is in, counted from 1; 0 if there are none."""
    for row in range(board.rows):
        if cells & (board.bottom << np.uint64(row)):
            return min(row + 1, 7)
    return 0


@inline
def _of_column(board: Any, own: Any, mask: Any, column: Any, out: Any, at: Any) -> Any:
    """The questions about one column, in the order of OF_COLUMN; all 0 if it is full."""
    for k in range(18):
        out[at + k] = 0
    cells = np.uint64((1 << board.rows) - 1) << (np.uint64(column) * np.uint64(board.stride))
    cell = next_cells(board, mask) & cells
    if cell == _NONE:
        return
    other, empty = own ^ mask, board.full & ~mask
    mine, theirs = winning_cells(board, own) & empty, winning_cells(board, other) & empty
    above = (cell << _ONE) & board.full
    out[at] = 1
    out[at + 1] = (cell & mine) != 0
    out[at + 2] = (cell & theirs) != 0
    out[at + 3] = (above & theirs) != 0
    out[at + 4] = (above & mine) != 0
    out[at + 5] = (cell & safe_stones(board, mask, theirs)) != 0
    row = 0
    while not cell & (board.bottom << np.uint64(row)):
        row += 1
    out[at + 6] = row
    # The position after the move, still seen by the side that made it.
    with_it, full = own | cell, mask | cell
    after = winning_cells(board, with_it) & board.full & ~full
    new = after & ~mine
    free = next_cells(board, full)
    out[at + 7] = some(new, 3)
    threats = np.int64(population(after & free))
    out[at + 8] = min(threats, 2)
    out[at + 9] = _forces_a_win(board, with_it, full, after & free, theirs & free)
    out[at + 10] = some(new & board.odd_rows & ~free, 2)
    out[at + 11] = some(new & ~board.odd_rows & ~free, 2)
    best, best_other, lines, lines_other = 0, 0, 0, 0
    for window in board.windows:
        if window & cell:
            if not window & other:
                lines += 1
                best = max(best, some(window & own, 3))
            if not window & own:
                lines_other += 1
                best_other = max(best_other, some(window & other, 3))
    out[at + 12] = best
    out[at + 13] = best_other
    out[at + 14] = min(lines, 7)
    out[at + 15] = min(lines_other, 7)
    out[at + 16] = (after & (after << _ONE) & (new | (new << _ONE))) != 0
    # The other side's best answer right above, or anywhere: does it threaten to win?
    worst = 0
    replies = free
    while replies:
        reply = replies & (~replies + _ONE)
        replies ^= reply
        theirs_then = winning_cells(board, other | reply) & board.full & ~(full | reply)
        worst = max(worst, some(theirs_then & next_cells(board, full | reply), 2))
    out[at + 17] = worst


@inline
def _forces_a_win(board: Any, own: Any, mask: Any, threats: Any, dangers: Any) -> Any:
    """Whether the side that has just moved wins whatever the other side does: it threatens in
    two places, or in one, and wins after the forced reply."""
    if dangers or not threats:
        return False
    if threats & (threats - _ONE):
        return True
    full = mask | threats
    other = own ^ full  # the reply is forced
    free = next_cells(board, full)
    if winning_cells(board, own) & free:
        return True
    forced = winning_cells(board, other) & free
    if not forced or forced & (forced - _ONE):
        return False
    # The reply threatens in its turn: parrying it may make two threats at once.
    own_then, mask_then = own | forced, full | forced
    free = next_cells(board, mask_then)
    if winning_cells(board, other) & free:
        return False
    wins = winning_cells(board, own_then) & free
    return (wins & (wins - _ONE)) != 0


@inline
def _cells(board: Any, own: Any, mask: Any, absolute: Any, out: Any) -> Any:
    """What is in every cell, row by row from the top left: 0 nothing, 1 a stone of the side to
    move, or of the first player, 2 one of the other's."""
    first = own ^ mask if absolute and np.int64(population(mask)) % 2 else own
    at = 0
    for row in range(board.rows - 1, -1, -1):
        for column in range(board.columns):
            bit = np.uint64(column * board.stride + row)
            out[at] = np.uint8((mask >> bit) & _ONE) * (2 - np.uint8((first >> bit) & _ONE))
            at += 1


@inline
def look(board: Any, own: Any, mask: Any, kind: Any, absolute: Any, out: Any) -> Any:
    """All features of a position as a whole."""
    _cells(board, own, mask, absolute, out)
    if kind == TACTICS:
        _of_position(board, own, mask, out, board.cells)
        at = board.cells + POSITION_WIDTH
        for column in range(board.columns):
            _of_column(board, own, mask, column, out, at + column * COLUMN_WIDTH)


@kernel
def _look_at_all(
    board: Board, own: Array, mask: Array, kind: int, absolute: bool, out: Array
) -> None:
    for row in range(len(own)):
        look(board, own[row], mask[row], kind, absolute, out[row])


@inline
def consider(board: Any, own: Any, mask: Any, column: Any, out: Any) -> Any:
    """All features of a move in a position."""
    _of_position(board, own, mask, out, 0)
    at = POSITION_WIDTH
    _of_column(board, own, mask, column, out, at)
    at += COLUMN_WIDTH
    out[at] = min(column, board.columns - 1 - column)
    # Neighbours by their distance from the middle: the mirror image asks the same.
    inner = 1 if 2 * column < board.columns - 1 else -1
    for k in range(2):
        beside = column + (inner if k == 0 else -inner)
        start = at + 1 + k * COLUMN_WIDTH
        if 0 <= beside < board.columns:
            _of_column(board, own, mask, beside, out, start)
        else:
            for i in range(COLUMN_WIDTH):
                out[start + i] = 0


@kernel
def _consider_all(board: Board, own: Array, mask: Array, out: Array) -> None:
    for row in range(len(own)):
        for column in range(board.columns):
            consider(board, own[row], mask[row], column, out[row, column])
