"""Cells and lines of a board, for explanations: sets of cells as bitboards, cells as pairs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from selfplay.game.board import Board
from selfplay.game.position import FIRST


class Cell(NamedTuple):
    """A cell, counted from 0 from the left and from the bottom."""

    column: int
    row: int


def bits_of(cells: int) -> Iterator[int]:
    """The cells of a set, each as a set, from the lowest bit."""
    while cells:
        bit = cells & -cells
        yield bit
        cells ^= bit


def column_of(board: Board, bit: int) -> int:
    return (bit.bit_length() - 1) // board.stride


def cells_of(board: Board, cells: int) -> tuple[Cell, ...]:
    return tuple(Cell(*divmod(bit.bit_length() - 1, board.stride)) for bit in bits_of(cells))


@lru_cache(maxsize=8)
def lines_of(board: Board) -> tuple[int, ...]:
    """The cells of every line on the board."""
    last = board.connect - 1
    lines = []
    for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
        for column in range(board.columns - right * last):
            for row in range(board.rows):
                if 0 <= row + up * last < board.rows:
                    start, step = column * board.stride + row, right * board.stride + up
                    lines.append(sum(1 << (start + k * step) for k in range(board.connect)))
    return tuple(lines)


def stones_behind(board: Board, stones: int, cells: int) -> int:
    """Those of these stones that make the cells winning ones."""
    found = 0
    for line in lines_of(board):
        gap = line & ~stones
        if gap and gap & cells == gap and gap & (gap - 1) == 0:
            found |= line & stones
    return found


def falls_to(board: Board, cell: Cell, side: int) -> bool:
    """Whether this side gets the cell if all other columns are full: first players get odd rows,
    counted from 1, on boards with an even number of rows."""
    before = (board.columns - 1) * board.rows + cell.row
    return (before % 2 == 0) == (side == FIRST)
