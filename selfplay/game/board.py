"""The board: its measures, its bit layout, and the rules of a line.

A set of cells is one integer, column by column from the bottom left. Every column has one
bit more than it has rows; that bit stays empty, so that no line runs over a column's top
into the next column. On the 7x6 board:

      6 13 20 27 34 41 48    <- the spare bits
     -----------------------
      5 12 19 26 33 40 47
      4 11 18 25 32 39 46
      3 10 17 24 31 38 45
      2  9 16 23 30 37 44
      1  8 15 22 29 36 43
      0  7 14 21 28 35 42

One step up is +1; one to the right is `stride`, and the diagonals are `stride` ± 1.

The functions here are written once and serve three times: on Python's own integers of any
size, elementwise on numpy arrays, and compiled, where a board fits one machine word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import index
from typing import Any

from selfplay.errors import InputError, quoted

WORD_BITS = 64
SIZES = range(4, 17)
CONNECTS = range(3, 7)


@dataclass(frozen=True, slots=True)
class Board:
    """The measures of a board. Frozen and hashable; compiled code sees them as constants."""

    columns: int = 7
    rows: int = 6
    connect: int = 4
    stride: int = field(init=False, repr=False, compare=False)
    """Bits from a cell to its right-hand neighbour."""
    bottom: int = field(init=False, repr=False, compare=False)
    """The lowest cell of every column."""
    full: int = field(init=False, repr=False, compare=False)
    """Every cell."""

    def __post_init__(self) -> None:
        for name in ("columns", "rows", "connect"):
            # Numbers out of an array overflow where a set of cells is built: take their values.
            try:
                object.__setattr__(self, name, index(getattr(self, name)))
            except TypeError:
                raise InputError(f"{name} is a whole number, not {getattr(self, name)!r}") from None
        for name, value in (("columns", self.columns), ("rows", self.rows)):
            if value not in SIZES:
                raise InputError(f"a board has {SIZES[0]} to {SIZES[-1]} {name}, not {value}")
        if self.connect not in CONNECTS:
            raise InputError(
                f"connect is a number from {CONNECTS[0]} to {CONNECTS[-1]}, not {self.connect}"
            )
        if self.connect > max(self.columns, self.rows):
            raise InputError(f"a line of {self.connect} does not fit on a {self.size} board")
        stride = self.rows + 1
        bottom = sum(1 << (column * stride) for column in range(self.columns))
        object.__setattr__(self, "stride", stride)
        object.__setattr__(self, "bottom", bottom)
        object.__setattr__(self, "full", bottom * ((1 << self.rows) - 1))

    @classmethod
    def parse(cls, size: str, connect: int = 4) -> Board:
        """A board from its size as people write it, columns x rows: `7x6`."""
        match = re.fullmatch(r"\s*([0-9]{1,3})\s*[xX×]\s*([0-9]{1,3})\s*", size)
        if match is None:
            raise InputError(f"a board is written COLUMNSxROWS, such as 7x6, not {quoted(size)}")
        return cls(int(match[1]), int(match[2]), connect)

    @property
    def size(self) -> str:
        return f"{self.columns}x{self.rows}"

    def __str__(self) -> str:
        return f"{self.size} connect {self.connect}"

    @property
    def cells(self) -> int:
        return self.columns * self.rows

    @property
    def lanes(self) -> int:
        """Columns rounded up to what a node of a search tree holds side by side."""
        return 8 if self.columns <= 8 else 16

    @property
    def fits_word(self) -> bool:
        """Whether every cell and spare bit fits one machine word."""
        return self.stride * self.columns <= WORD_BITS

    def check_column(self, column: int) -> None:
        """Refuse a 0-based column that is not on the board, in a person's 1-based words."""
        if not 0 <= column < self.columns:
            raise InputError(
                f"column {column + 1} is not on the board: columns are 1 to {self.columns}"
            )


# `Any` below stands for an int, an array of them, or a compiled word; and for a `Board` or
# what the compiler knows of one. No shift may reach the 64 bits of a word: the longest is
# (connect - 1) * (stride + 1), which is less wherever a line fits across a board that fits.


def has_line(board: Any, stones: Any) -> Any:
    """Whether (for arrays: where) these stones hold a complete line; nonzero if so."""
    stride = board.stride
    lines = stones & (stones >> 1)
    for i in range(2, board.connect):
        lines &= stones >> i
    if board.connect > board.columns:
        return lines
    for step in range(stride - 1, stride + 2):
        line = stones & (stones >> step)
        for i in range(2, board.connect):
            line &= stones >> (i * step)
        lines |= line
    return lines


def winning_cells(board: Any, stones: Any) -> Any:
    """The cells that would complete a line of these stones.

    Free, playable or on the board is not asked here: mask the result with what matters. In
    its own column a stone completes a line only from above, for below it all is taken.
    """
    stride = board.stride
    last = board.connect - 1
    cells = stones << 1
    for i in range(2, board.connect):
        cells &= stones << i
    if board.connect > board.columns:
        return cells
    for step in range(stride - 1, stride + 2):
        # A cell completes a line with m stones on its one side and last - m on its other,
        # for some m: the sum over m of below[m] & above[last - m], in Horner's form.
        above = stones >> step
        line = stones << (last * step)
        for m in range(last - 1, 0, -1):
            line = (stones << (m * step)) & (line | above)
            above &= stones >> ((last - m + 1) * step)
        cells |= line | above
    return cells


def next_cells(board: Any, mask: Any) -> Any:
    """The cell on which a stone would land, for every column that has room."""
    return (mask + board.bottom) & board.full


def position_key(board: Any, own: Any, mask: Any) -> Any:
    """One integer for one position: the own stones, and a bit above each column's top stone."""
    return own | (mask + board.bottom)


def mirrored(board: Any, cells: Any) -> Any:
    """The set of cells with left and right exchanged."""
    column = (1 << board.stride) - 1
    image = cells & 0
    for c in range(board.columns):
        image |= ((cells >> (c * board.stride)) & column) << (
            (board.columns - 1 - c) * board.stride
        )
    return image
