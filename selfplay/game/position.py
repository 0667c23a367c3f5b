"""A position: a board with a side to move."""

from __future__ import annotations

import operator
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from selfplay.errors import InputError, quoted
from selfplay.game.board import (
    Board,
    has_line,
    mirrored,
    next_cells,
    position_key,
    winning_cells,
)
from selfplay.notebook import board_svg

FIRST, SECOND = 1, 2
SYMBOLS = ".XO"

_MAX_DEAD_ENDS = 10_000


@dataclass(frozen=True, slots=True, repr=False)
class Position:
    """An immutable position. Equality compares board and stones, not the moves that led there."""

    board: Board = field(default_factory=Board)
    own: int = 0
    """The stones of the side to move."""
    mask: int = 0
    """The stones of both."""
    moves: tuple[int, ...] | None = field(default=(), compare=False)
    """The columns played, 0-based; None where only the stones are known."""

    @classmethod
    def parse(cls, text: str, board: Board | None = None) -> Position:
        """The position after the columns played, 1-based: `44352`; `4,4,11` on wide boards."""
        position = cls(board or Board())
        for number, move in enumerate(_parse_moves(text, position.board), 1):
            try:
                position = position.play(move)
            except InputError as error:
                raise InputError(f"{quoted(text.strip())}, move {number}: {error}") from None
        return position

    @classmethod
    def from_cells(
        cls, cells: Sequence[int], board: Board | None = None, *, signed: bool = False
    ) -> Position:
        """The position with these cells, in the order of `cells`.

        Floating stones, wrong numbers of stones, and lines that the last move cannot have completed
        are refused. The position may still be unreachable: then `notation` is None.
        """
        board = board or Board()
        if len(cells) != board.cells:
            raise InputError(f"a {board.size} board has {board.cells} cells, not {len(cells)}")
        codes = {0: 0, 1: FIRST, -1: SECOND} if signed else {0: 0, 1: FIRST, 2: SECOND}
        stones = {FIRST: 0, SECOND: 0}
        for index, code in enumerate(cells):
            if code not in codes:
                known = ", ".join(map(str, codes))
                raise InputError(f"cell {index} holds {code!r}; a cell holds one of {known}")
            if codes[code]:
                stones[codes[code]] |= 1 << _bit_of_cell(board, index)
        mask = stones[FIRST] | stones[SECOND]
        if mask & ~((mask << 1) | board.bottom):
            raise InputError("a stone floats: each stands on the bottom or on another stone")
        counts = stones[FIRST].bit_count(), stones[SECOND].bit_count()
        if counts[0] - counts[1] not in (0, 1):
            raise InputError(
                f"{counts[0]} stones of the first player and {counts[1]} of the second: "
                "the first has as many as the second, or one more"
            )
        mover = FIRST if counts[0] == counts[1] else SECOND
        _check_lines(board, mask, stones[mover], stones[FIRST + SECOND - mover])
        return cls(board, stones[mover], mask, None)

    @property
    def ply(self) -> int:
        """Stones on the board."""
        return self.mask.bit_count()

    @property
    def to_move(self) -> int:
        """The side to move: 1, the first player, or 2."""
        return FIRST if self.ply % 2 == 0 else SECOND

    @property
    def winner(self) -> int | None:
        """The winner: 1, 2, or None."""
        return FIRST + SECOND - self.to_move if self._lost else None

    @property
    def winning_line(self) -> tuple[int, ...]:
        """The cells of the winning line, or lines, as indices into `cells`."""
        if not self._lost:
            return ()
        board, stones = self.board, self.own ^ self.mask
        found = 0
        for step in (1, board.stride - 1, board.stride, board.stride + 1):
            run = sum(1 << (k * step) for k in range(board.connect))
            for bit in range(board.stride * board.columns):
                if stones & run << bit == run << bit:
                    found |= run << bit
        return tuple(i for i in range(board.cells) if found >> _bit_of_cell(board, i) & 1)

    @property
    def is_draw(self) -> bool:
        return self.mask == self.board.full and not self._lost

    @property
    def is_over(self) -> bool:
        return self.mask == self.board.full or self._lost

    @property
    def _lost(self) -> bool:
        # Only the last move can have completed a line.
        return bool(has_line(self.board, self.own ^ self.mask))

    @property
    def legal_moves(self) -> tuple[int, ...]:
        """The columns, 0-based, that can be played; empty if the game is over."""
        if self._lost:
            return ()
        return self._columns_of(next_cells(self.board, self.mask))

    @property
    def winning_moves(self) -> tuple[int, ...]:
        """The columns in which the side to move wins at once."""
        return self._completing(self.own)

    @property
    def blocking_moves(self) -> tuple[int, ...]:
        """The columns in which the opponent threatens to win."""
        return self._completing(self.own ^ self.mask)

    def _completing(self, stones: int) -> tuple[int, ...]:
        if self._lost:
            return ()
        return self._columns_of(
            winning_cells(self.board, stones) & next_cells(self.board, self.mask)
        )

    def _columns_of(self, cells: int) -> tuple[int, ...]:
        return tuple(
            column
            for column in range(self.board.columns)
            if cells >> (column * self.board.stride) & ((1 << self.board.rows) - 1)
        )

    def play(self, move: int) -> Position:
        """The position after a move in this column, 0-based."""
        board = self.board
        move = operator.index(move)
        board.check_column(move)
        if self._lost:
            raise InputError("the game is over: there is a line")
        column = ((1 << board.rows) - 1) << (move * board.stride)
        stone = next_cells(board, self.mask) & column
        if not stone:
            raise InputError(f"column {move + 1} is full")
        moves = None if self.moves is None else (*self.moves, move)
        return Position(board, self.own ^ self.mask, self.mask | stone, moves)

    def moves_to(self, later: Position, *, at_most: int) -> tuple[int, ...] | None:
        """At most `at_most` moves from here to a later position; None if there are none."""
        if later.board != self.board or self.mask & ~later.mask:
            return None
        if self.mask == later.mask:
            return () if self.own == later.own else None
        if at_most == 0:
            return None
        for move in self.legal_moves:
            after = self.play(move)
            rest = after.moves_to(later, at_most=at_most - 1)
            if rest is not None:
                return (move, *rest)
        return None

    def mirror(self) -> Position:
        """The mirror image: left and right swapped."""
        board = self.board
        moves = None if self.moves is None else tuple(board.columns - 1 - m for m in self.moves)
        return Position(board, mirrored(board, self.own), mirrored(board, self.mask), moves)

    def key(self, *, canonical: bool = False) -> int:
        """A unique number; with `canonical`, mirror images have the same."""
        key = position_key(self.board, self.own, self.mask)
        return min(key, self.mirror().key()) if canonical else key

    def cells(self, *, signed: bool = False) -> tuple[int, ...]:
        """Row by row from the top left: 0 empty, 1 first player, 2 (or `signed`: -1) second."""
        second = -1 if signed else SECOND
        first_stones = self.own if self.to_move == FIRST else self.own ^ self.mask
        return tuple(
            (FIRST if first_stones >> bit & 1 else second) if self.mask >> bit & 1 else 0
            for bit in (_bit_of_cell(self.board, index) for index in range(self.board.cells))
        )

    @property
    def notation(self) -> str | None:
        """The moves as `parse` reads them. If only the stones are known, any moves that lead
        there; None if none are found."""
        moves = _find_moves(self) if self.moves is None else self.moves
        return None if moves is None else format_moves(moves, self.board)

    def render(self) -> str:
        """The board as plain text: X the first player, O the second, columns numbered below."""
        width = len(str(self.board.columns))
        cells = self.cells()
        lines = [
            " ".join(
                SYMBOLS[code].rjust(width) for code in cells[start : start + self.board.columns]
            )
            for start in range(0, self.board.cells, self.board.columns)
        ]
        numbers = " ".join(str(c + 1).rjust(width) for c in range(self.board.columns))
        return "\n".join([*lines, numbers])

    def top_cell(self, column: int) -> int:
        """The index in `cells` of the topmost stone of a column that has one."""
        cells = self.cells()
        return next(i for i in range(column, len(cells), self.board.columns) if cells[i])

    def __repr__(self) -> str:
        if self.moves is None or len(self.moves) != self.ply:
            return f"Position({self.board!r}, own={self.own}, mask={self.mask}, moves=None)"
        board = "" if self.board == Board() else f", {self.board!r}"
        return f"Position.parse({format_moves(self.moves, self.board)!r}{board})"

    def _repr_html_(self) -> str:
        last = self.top_cell(self.moves[-1]) if self.moves else None
        side = ("red", "yellow")[self.to_move - 1]
        state = f"{side} to move"
        if self.is_over:
            winner = {None: "a draw", FIRST: "red has won", SECOND: "yellow has won"}
            state = winner[self.winner]
        board = board_svg(self.board.columns, self.cells(), last, self.winning_line)
        return f"{board}<div>{self if self.moves else ''} {state}</div>"

    def __str__(self) -> str:
        if self.moves is None:
            return self.render()
        return format_moves(self.moves, self.board)


def format_moves(moves: Sequence[int], board: Board) -> str:
    """Moves, 0-based, in notation."""
    return ("," if board.columns > 9 else "").join(str(move + 1) for move in moves)


def _parse_moves(text: str, board: Board) -> list[int]:
    text = text.strip()
    if not text:
        return []
    if board.columns <= 9:
        if not re.fullmatch(r"[0-9]+", text):
            raise InputError(
                f"{quoted(text)} is not a position: "
                "write the columns played as digits, such as 44352"
            )
        return [int(digit) - 1 for digit in text]
    if not re.fullmatch(r"[0-9]{1,4}(\s*,\s*[0-9]{1,4})*", text):
        raise InputError(
            f"{quoted(text)} is not a position: on a board wider than 9 write the columns played "
            "with commas between them, such as 4,4,11"
        )
    return [int(number) - 1 for number in text.split(",")]


def _find_moves(position: Position) -> tuple[int, ...] | None:
    """Find moves that lead to a position, by taking back stones.

    Reachable positions are solved at once. Unreachable ones can rarely be proven so: the search
    gives up.
    """
    board = position.board
    dead_ends: set[int] = set()

    def moves_to(own: int, mask: int) -> tuple[int, ...] | None:
        if mask == 0:
            return ()
        if mask in dead_ends or len(dead_ends) > _MAX_DEAD_ENDS:
            return None
        waiting = own ^ mask
        for column in range(board.columns):
            cells = ((1 << board.rows) - 1) << (column * board.stride)
            top = mask & cells & ~(mask >> 1)
            if top & waiting and not has_line(board, own) and not has_line(board, waiting ^ top):
                moves = moves_to(waiting ^ top, mask ^ top)
                if moves is not None:
                    return (*moves, column)
        dead_ends.add(mask)
        return None

    return moves_to(position.own, position.mask)


def _bit_of_cell(board: Board, index: int) -> int:
    row_from_top, column = divmod(index, board.columns)
    return column * board.stride + board.rows - 1 - row_from_top


def _check_lines(board: Board, mask: int, mover: int, waiting: int) -> None:
    if has_line(board, mover):
        who = "both players have" if has_line(board, waiting) else "the side to move has"
        raise InputError(f"{who} won already: a game ends with its first line")
    if not has_line(board, waiting):
        return
    tops = mask & ~(mask >> 1)
    for column in range(board.columns):
        top = tops & (((1 << board.rows) - 1) << (column * board.stride))
        if top & waiting and not has_line(board, waiting ^ top):
            return
    raise InputError("these lines cannot all come from the last move: a game ends with its first")
