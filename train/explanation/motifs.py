"""Motifs: what a move does, in the terms of players.

Each is a fact about the stones on the board; where it speaks of a win, a line of moves proves it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from selfplay.game.board import Board, next_cells, winning_cells
from selfplay.game.position import Position
from selfplay.train.explanation.cells import (
    Cell,
    bits_of,
    cells_of,
    column_of,
    falls_to,
    lines_of,
    stones_behind,
)
from selfplay.train.explanation.forced_wins import (
    Line,
    forced_by,
    losing_moves,
    passed,
    won_by_force,
)

Name = Literal[
    "win",
    "misses a win",
    "only column",
    "lost",
    "allows a win",
    "block",
    "double threat",
    "forced win",
    "not below",
    "prevents a forced win",
    "odd threat",
    "threat",
    "threat above",
    "keeps an odd threat",
    "builds a line",
    "breaks a line",
    "opens lines",
    "waits",
]


@dataclass(frozen=True)
class Motif:
    """What a move does."""

    name: Name
    cells: tuple[Cell, ...] = ()
    """The cells it is about."""
    line: Line | None = None
    """The moves that prove a win, from the position on; of `prevents a forced win`, the other
    side's if it were to move."""
    stones: int = 0
    """The stones on the board that it rests on, a bitboard."""
    count: int = 0
    """The stones in the line that it builds or breaks, or the lines that it opens."""


@dataclass(frozen=True)
class Situation:
    """A move in a position, and what follows from it."""

    position: Position
    move: int
    runner_up: int | None = None

    @property
    def board(self) -> Board:
        return self.position.board

    @property
    def own(self) -> int:
        return self.position.own

    @property
    def other(self) -> int:
        return self.position.own ^ self.position.mask

    @cached_property
    def after(self) -> Position:
        return self.position.play(self.move)

    @cached_property
    def stone(self) -> int:
        return self.after.mask ^ self.position.mask

    @cached_property
    def losing(self) -> dict[int, Line]:
        """The moves after which the other side is found to win, each with the line."""
        return losing_moves(self.position)

    @cached_property
    def others(self) -> list[int]:
        return [column for column in self.position.legal_moves if column != self.move]

    @cached_property
    def threats(self) -> int:
        """The own winning cells after the move."""
        return winning_cells(self.board, self.own | self.stone) & self._empty

    @cached_property
    def dangers(self) -> int:
        """The other side's winning cells after the move."""
        return winning_cells(self.board, self.other) & self._empty

    @property
    def _empty(self) -> int:
        return self.board.full & ~self.after.mask

    @cached_property
    def free(self) -> int:
        """The cells on which the next stone can land."""
        return next_cells(self.board, self.after.mask)

    def motif(self, name: Name, cells: int, stones: int, line: Line | None = None) -> Motif:
        """A motif about cells that these stones make winning ones."""
        behind = stones_behind(self.board, stones, cells) & self.position.mask
        return Motif(name, cells_of(self.board, cells), line, behind)

    def motif_of_line(self, name: Name, start: Position, line: Line) -> Motif:
        """A motif that a line of moves proves: it is about the cell of the last."""
        for move in line[:-1]:
            start = start.play(move)
        return self.motif(name, start.play(line[-1]).mask ^ start.mask, start.own, line)

    def falling(self, cells: int) -> int:
        """The lowest of these own winning cells that falls to the side to move once the other
        columns are full, unless the other side wins below it."""
        found = [
            bit
            for bit, cell in zip(bits_of(cells), cells_of(self.board, cells), strict=True)
            if falls_to(self.board, cell, self.position.to_move)
            and not self.dangers & ((bit << 1) - (1 << cell.column * self.board.stride))
        ]
        return min(found, key=lambda bit: (bit.bit_length() - 1) % self.board.stride, default=0)


def motifs_of(situation: Situation) -> Iterator[Motif]:
    """What a move does, what matters most first. The last one always holds."""
    for find in _FINDERS:
        motif = find(situation)
        if motif is not None:
            yield motif


def _win(at: Situation) -> Motif | None:
    if at.after.winner is None:
        return None
    stones = at.own | at.stone
    cells = 0
    for line in lines_of(at.board):
        if line & at.stone and line & stones == line:
            cells |= line
    return Motif("win", cells_of(at.board, cells), (at.move,), cells & ~at.stone)


def _misses_a_win(at: Situation) -> Motif | None:
    if not at.position.winning_moves:
        return None
    wins = winning_cells(at.board, at.own) & next_cells(at.board, at.position.mask)
    return at.motif("misses a win", wins, at.own)


def _only_column(at: Situation) -> Motif | None:
    return None if at.others else Motif("only column", cells_of(at.board, at.stone))


def _lost(at: Situation) -> Motif | None:
    if len(at.losing) < len(at.position.legal_moves):
        return None
    return _failing(at, "lost")


def _allows_a_win(at: Situation) -> Motif | None:
    return _failing(at, "allows a win") if at.move in at.losing else None


def _failing(at: Situation, name: Name) -> Motif:
    return at.motif_of_line(name, at.position, at.losing[at.move])


def _block(at: Situation) -> Motif | None:
    if at.move not in at.position.blocking_moves:
        return None
    return at.motif("block", at.stone, at.other)


def _double_threat(at: Situation) -> Motif | None:
    cells = at.threats & at.free
    if not cells & (cells - 1):
        cells |= at.threats & cells << 1
    if at.dangers & at.free or not cells & (cells - 1):
        return None
    line = forced_by(at.position, at.move)
    return at.motif("double threat", cells, at.own | at.stone, line)


def _forced_win(at: Situation) -> Motif | None:
    line = forced_by(at.position, at.move)
    return None if line is None else at.motif_of_line("forced win", at.position, line)


def _only_not_below(at: Situation) -> Motif | None:
    """Where every other column is below such a cell."""
    below = _columns_handing_a_win(at)
    return _not_below(at) if len(below) == len(at.others) else None


def _not_below_like_many(at: Situation) -> Motif | None:
    """Where at least half of the other columns are, or the next best is."""
    below = _columns_handing_a_win(at)
    is_telling = 2 * len(below) >= len(at.others) or at.runner_up in below
    return _not_below(at) if is_telling else None


def _columns_handing_a_win(at: Situation) -> set[int]:
    return {column_of(at.board, cell) for cell in bits_of(_cells_above(at))}


def _not_below(at: Situation) -> Motif:
    return at.motif("not below", _cells_above(at), at.other)


def _cells_above(at: Situation) -> int:
    """The other side's winning cells that a stone in another column would make playable."""
    other_cells = next_cells(at.board, at.position.mask) & ~at.stone
    return at.dangers & other_cells << 1


def _prevents_a_forced_win(at: Situation) -> Motif | None:
    if not any(column in at.losing for column in at.others):
        return None
    other = passed(at.position)
    line = won_by_force(other)
    return None if line is None else at.motif_of_line("prevents a forced win", other, line)


def _odd_threat(at: Situation) -> Motif | None:
    made = at.threats & ~at.free & ~winning_cells(at.board, at.own)
    cell = at.falling(made)
    return at.motif("odd threat", cell, at.own | at.stone) if cell else None


def _keeps_an_odd_threat(at: Situation) -> Motif | None:
    cell = at.falling(at.threats & ~at.free & winning_cells(at.board, at.own))
    return at.motif("keeps an odd threat", cell, at.own) if cell else None


def _threat(at: Situation) -> Motif | None:
    cell = at.threats & at.free
    return at.motif("threat", cell, at.own | at.stone) if cell else None


def _threat_above(at: Situation) -> Motif | None:
    made = at.threats & ~at.free & ~winning_cells(at.board, at.own) & ~(at.dangers << 1)
    return at.motif("threat above", made & -made, at.own | at.stone) if made else None


def _builds_or_breaks(at: Situation) -> Motif | None:
    """The best line through the move with two stones or more: an own line, or one of the other
    side's that has more. Columns come last, as the other side tops them at once."""
    own = _lines_through(at, at.own | at.stone, at.other)
    other = _lines_through(at, at.other, at.own)
    if other and len(other) > len(own):
        line = max(other, key=lambda line: (line & at.other).bit_count())
        stones = line & at.other
        return Motif("breaks a line", cells_of(at.board, line), None, stones, stones.bit_count())
    if own:
        line = max(own, key=lambda line: ((line & at.own).bit_count(), not line & line >> 1))
        stones = line & at.own
        cells = cells_of(at.board, line)
        return Motif("builds a line", cells, None, stones, stones.bit_count() + 1)
    return None


def _lines_through(at: Situation, stones: int, against: int, least: int = 2) -> list[int]:
    """The lines through the move with this number of these stones, and none of the others."""
    return [
        line
        for line in lines_of(at.board)
        if line & at.stone and not line & against and (line & stones).bit_count() >= least
    ]


def _opens_lines(at: Situation) -> Motif | None:
    count = len(_lines_through(at, at.stone, at.other, 1))
    return Motif("opens lines", cells_of(at.board, at.stone), count=count) if count else None


def _waits(at: Situation) -> Motif:
    return Motif("waits", cells_of(at.board, at.stone))


_FINDERS: tuple[Callable[[Situation], Motif | None], ...] = (
    _win,
    _misses_a_win,
    _only_column,
    _lost,
    _allows_a_win,
    _block,
    _double_threat,
    _forced_win,
    _only_not_below,
    _prevents_a_forced_win,
    _odd_threat,
    _threat,
    _threat_above,
    _not_below_like_many,
    _keeps_an_odd_threat,
    _builds_or_breaks,
    _opens_lines,
    _waits,
)
"""What matters most comes first."""
