"""Patterns: groups of cells whose contents together have a learned weight.

They are all straight rows of cells that can hold a line, and blocks of eight cells.
Two bits tell what a cell is: whether it is taken, and a low bit for the other side's stones and
for cells where the next stone may land.

Every pattern is looked at on the board and on its mirror image: of two patterns that are mirror
images, one is enough, and images of a position get the same points.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board, next_cells
from selfplay.kernels.jit import board_constant, inline

CELLS = ("out of reach", "playable", "own", "other")
"""What a cell is, by its two bits."""
_LONGEST = 7
_BLOCKS = (4, 2), (2, 4)
"""Columns and rows."""

Cells = tuple[tuple[int, int], ...]
"""Columns and rows, from 0 at the bottom left, in the order of a state's bits."""


class Pattern(NamedTuple):
    """A pattern, and how a multiplication gathers the bits of its cells side by side."""

    cells: Cells
    is_straight: bool
    """Whether its cells are in one row."""
    first: int
    """The lowest bit of its cells."""
    bits: int
    """All of them, from that bit on."""
    factor: int
    shift: int
    """Down from where they are gathered."""


@cache
def patterns_of(board: Board) -> tuple[Pattern, ...]:
    """The patterns of a board; those that no multiplication gathers are left out."""
    known: set[frozenset[tuple[int, int]]] = set()
    found = []
    for orders, is_straight in _places(board):
        cells = frozenset(orders[0])
        if cells in known:
            continue
        known |= {cells, frozenset((board.columns - 1 - column, row) for column, row in cells)}
        gathered = (_gathered(board, order, is_straight) for order in orders)
        found += [one for one in gathered if one is not None][:1]
    return tuple(found)


@cache
def starts(board: Board) -> Array:
    """int64 [pattern + 1]: where its states begin among those of all patterns."""
    return np.cumsum([0, *(1 << (2 * len(pattern.cells)) for pattern in patterns_of(board))])


def lines_in(board: Board) -> Array:
    """int64 [pattern]: how many lines it can hold; of a block none count."""
    return np.array([
        len(one.cells) - board.connect + 1 if one.is_straight else 0 for one in patterns_of(board)
    ], np.int64)  # fmt: skip


def _places(board: Board) -> Iterator[tuple[list[Cells], bool]]:
    """The cells of all patterns in the orders they may have, and whether they are in one row."""
    for right, up in ((1, 0), (0, 1), (1, 1), (1, -1)):
        step = right * board.stride + up
        longest = _LONGEST if step == 1 else min(_LONGEST, step)
        for column in range(board.columns):
            for row in range(board.rows):
                if _is_on(board, column - right, row - up):
                    continue  # not the end of its row
                cells: list[tuple[int, int]] = []
                while _is_on(board, column + len(cells) * right, row + len(cells) * up):
                    cells.append((column + len(cells) * right, row + len(cells) * up))
                size = min(len(cells), longest)
                if size >= board.connect:
                    last = len(cells) - size
                    for start in sorted({*range(0, last, size - board.connect + 1), last}):
                        part = tuple(cells[start : start + size])
                        yield [part, part[::-1]], True
    for columns, rows in _BLOCKS:
        for column in range(board.columns - columns + 1):
            for row in range(board.rows - rows + 1):
                yield (
                    [
                        tuple((column + c, row + r) for c in order for r in range(rows))
                        for order in permutations(range(columns))
                    ],
                    False,
                )


def _is_on(board: Board, column: int, row: int) -> bool:
    return 0 <= column < board.columns and 0 <= row < board.rows


def _gathered(board: Board, cells: Cells, is_straight: bool) -> Pattern | None:
    """The pattern with its cells in this order; None if no multiplication gathers them."""
    places = [column * board.stride + row for column, row in cells]
    bits = [place - min(places) for place in places]
    moves = [k - bit for k, bit in enumerate(bits)]
    shift = -min(moves)
    terms = {move + shift for move in moves}
    landed = [bit + term for bit in bits for term in terms]
    # Others may land above, but neither among them nor, in sum, as high as them.
    below = sum(1 << bit for bit in landed if bit < shift)
    among = sum(shift <= bit < shift + len(bits) for bit in landed)
    if below >= 1 << shift or among != len(bits) or shift + len(bits) > 64:
        return None
    return Pattern(
        cells,
        is_straight,
        min(places),
        sum(1 << bit for bit in bits),
        sum(1 << term for term in terms) & ((1 << 64) - 1),
        shift,
    )


def _numbers(name: str) -> Any:
    return lambda board: np.array([getattr(one, name) for one in patterns_of(board)], np.uint64)


for _name in ("first", "bits", "factor", "shift"):
    board_constant(f"pattern_{_name}", _numbers(_name))
board_constant(
    "pattern_size",
    lambda board: np.array([len(pattern.cells) for pattern in patterns_of(board)], np.uint64),
)
board_constant("pattern_start", starts)


def states(board: Board) -> int:
    """How many states all patterns together have."""
    return int(starts(board)[-1])


@inline
def low_bits(board: Any, other: Any, taken: Any) -> Any:
    """The low bit of every cell, where `other` are stones of the side to move."""
    return other | next_cells(board, taken)


@inline
def state_of(board: Any, pattern: Any, taken: Any, low: Any) -> Any:
    """The state of a pattern among those of all patterns."""
    cells = _gather(board, pattern, taken) << board.pattern_size[pattern]
    return board.pattern_start[pattern] + np.int64(cells | _gather(board, pattern, low))


@inline
def line_state(taken: Any, low: Any, place: Any, connect: Any) -> Any:
    """The state of the line at a place of a straight pattern, by the bits of its cells."""
    line = (1 << connect) - 1
    return (((taken >> place) & line) << connect) | ((low >> place) & line)


@inline
def _gather(board: Any, pattern: Any, stones: Any) -> Any:
    cells = (stones >> board.pattern_first[pattern]) & board.pattern_bits[pattern]
    gathered = (cells * board.pattern_factor[pattern]) >> board.pattern_shift[pattern]
    return gathered & ((np.uint64(1) << board.pattern_size[pattern]) - np.uint64(1))
