"""The board: its size, its bitboard layout, and how lines are found.

A set of cells is one integer (a bitboard), column by column from the bottom left. Every column
has a spare bit above its rows that stays empty, so that no line wraps into the next column. On
the 7x6 board:

      6 13 20 27 34 41 48    <- the spare bits
     -----------------------
      5 12 19 26 33 40 47
      4 11 18 25 32 39 46
      3 10 17 24 31 38 45
      2  9 16 23 30 37 44
      1  8 15 22 29 36 43
      0  7 14 21 28 35 42

One step up is +1; one to the right is `stride`, and the diagonals are `stride` ± 1.

The functions below work on Python integers of any size, elementwise on numpy arrays, and
compiled on 64-bit words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from operator import index
from typing import TYPE_CHECKING

from selfplay.errors import InputError, quoted

if TYPE_CHECKING:
    from selfplay.arrays import Cells

WORD_BITS = 64
SIZES = range(4, 17)
CONNECTS = range(3, 7)


@dataclass(frozen=True, slots=True)
class Board:
    """The size of a board. Hashable; compiled code sees its attributes as constants."""

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
            # numpy integers would overflow below.
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
        """Columns, rounded up to the width of a SIMD vector."""
        return 8 if self.columns <= 8 else 16

    @property
    def fits_word(self) -> bool:
        """Whether cells and spare bits fit one machine word."""
        return self.key_bits <= WORD_BITS

    @property
    def key_bits(self) -> int:
        """The bits of a set of cells, and of a position's key."""
        return self.stride * self.columns

    @property
    def key_mask(self) -> int:
        return (1 << self.key_bits) - 1

    def check_column(self, column: int) -> None:
        """Refuse a column that is not on the board; the message counts from 1."""
        if not 0 <= column < self.columns:
            raise InputError(
                f"column {column + 1} is not on the board: columns are 1 to {self.columns}"
            )


# A shift must stay below 64 bits: the longest is (connect - 1) * (stride + 1), which is less on
# every board that fits a word and is wide enough for a line.


def has_line(board: Board, stones: Cells) -> Cells:
    """Nonzero if (for arrays: where) these stones contain a complete line."""
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


def winning_cells(board: Board, stones: Cells) -> Cells:
    """The cells that would complete a line of these stones.

    Some may be taken, out of reach or off the board: mask the result. Vertical lines are
    completed only from above, because the cells below are taken.
    """
    stride = board.stride
    last = board.connect - 1
    cells = stones << 1
    for i in range(2, board.connect):
        cells &= stones << i
    if board.connect > board.columns:
        return cells
    for step in range(stride - 1, stride + 2):
        # A cell completes a line with m stones on one side and last - m on the other: the
        # union over m of below[m] & above[last - m], in Horner's form.
        above = stones >> step
        line = stones << (last * step)
        for m in range(last - 1, 0, -1):
            line = (stones << (m * step)) & (line | above)
            above &= stones >> ((last - m + 1) * step)
        cells |= line | above
    return cells


def next_cells(board: Board, mask: Cells) -> Cells:
    """The cells on which a stone can land: one for every column that is not full."""
    return (mask + board.bottom) & board.full


def position_key(board: Board, own: Cells, mask: Cells) -> Cells:
    """A unique integer per position: the own stones, and a bit above each column's top stone."""
    return own | (mask + board.bottom)


def mirrored(board: Board, cells: Cells) -> Cells:
    """The set of cells with left and right swapped."""
    column = (1 << board.stride) - 1
    image = cells & 0
    for c in range(board.columns):
        image |= ((cells >> (c * board.stride)) & column) << (
            (board.columns - 1 - c) * board.stride
        )
    return image
