"""Motifs defined anew: by trying moves, lines cell by cell, and exact scores."""

from __future__ import annotations

from collections.abc import Iterator

from selfplay.game.position import Position
from selfplay.solver.solver import Solver

DIRECTIONS = ((1, 0), (0, 1), (1, 1), (1, -1))
FAR = 8
"""More moves than the searches here find a win in."""


def passed(position: Position) -> Position:
    return Position(position.board, position.own ^ position.mask, position.mask, None)


def wins(position: Position) -> list[int]:
    return [column for column in position.legal_moves if position.play(column).winner]


def bit(position: Position, column: int, row: int) -> int:
    return 1 << (column * position.board.stride + row)


def lines_through(position: Position, column: int, row: int) -> Iterator[list[tuple[int, int]]]:
    board = position.board
    for right, up in DIRECTIONS:
        for back in range(board.connect):
            line = [
                (column + (k - back) * right, row + (k - back) * up) for k in range(board.connect)
            ]
            if all(0 <= c < board.columns and 0 <= r < board.rows for c, r in line):
                yield line


def completes(position: Position, stones: int, column: int, row: int) -> bool:
    """Whether a stone of these in an empty cell would complete a line."""
    return not position.mask & bit(position, column, row) and any(
        all(stones & bit(position, *cell) or cell == (column, row) for cell in line)
        for line in lines_through(position, column, row)
    )


def height(position: Position, column: int) -> int:
    return sum(
        bool(position.mask & bit(position, column, row)) for row in range(position.board.rows)
    )


def moves_to_win(solver: Solver, position: Position, score: int | None) -> int:
    """The own moves in which a side with this score wins; `FAR` and more if it does not."""
    if score is None or score <= 0:
        return 99
    last = position.board.cells + 1 - 2 * score  # stones before the winning move, or one more
    return (last - position.ply) // 2 + 1


class Judge:
    """A position and a move, by definition."""

    def __init__(self, solver: Solver, position: Position, move: int) -> None:
        self.position, self.move = position, move
        self.after = position.play(move)
        scores = solver.scores(position)
        self.score = scores[move]
        self.scores = scores
        self.distance = moves_to_win(solver, position, self.score)
        self.others = [column for column in position.legal_moves if column != move]
        self._solver = solver

    @property
    def is_quiet(self) -> bool:
        """No side wins at once, and the move does not lose."""
        at = self.position
        return not wins(at) and not wins(passed(at)) and (self.score or 0) >= 0

    def threat_in(self) -> int:
        """The moves in which the other side would win, were it to move."""
        other = passed(self.position)
        return moves_to_win(self._solver, other, self._solver.score(other))

    def is_below(self, column: int) -> bool:
        after = self.position.play(column)
        return not after.is_over and column in wins(after)

    def win(self) -> bool:
        return self.move in wins(self.position)

    def block(self) -> bool:
        at = self.position
        return not wins(at) and wins(passed(at)) == [self.move] and (self.score or 0) >= 0

    def double_threat(self) -> bool:
        return self.is_quiet and len(wins(passed(self.after))) > 1 and not wins(self.after)

    def forced_win(self) -> bool:
        return self.is_quiet and self.distance == 3

    def not_below(self) -> bool:
        below = [column for column in self.others if self.is_below(column)]
        return self.is_quiet and bool(below) and below == self.others and self.distance > FAR

    def prevents_a_forced_win(self) -> bool:
        return (
            self.is_quiet
            and self.threat_in() in (2, 3)
            and self.distance > FAR
            and not all(self.is_below(column) for column in self.others)
            and any(
                moves_to_win(self._solver, after, self._solver.score(after)) in (1, 2)
                for after in map(self.position.play, self.others)
            )
        )

    def odd_threats(self, position: Position, stones: int) -> set[tuple[int, int]]:
        """The cells out of reach in which these stones complete a line, in odd rows for the first
        player, even ones for the second, without one of the other side's below."""
        other = position.mask & ~stones
        rows = range(1 - self.position.to_move % 2, position.board.rows, 2)
        return {
            (column, row)
            for column in range(position.board.columns)
            for row in rows
            if row > height(position, column)
            and completes(position, stones, column, row)
            and not any(completes(position, other, column, r) for r in range(row + 1))
        }

    def _is_calm(self) -> bool:
        return self.is_quiet and self.distance > FAR and self.threat_in() > FAR

    def odd_threat(self) -> bool:
        before = self.odd_threats(self.position, self.position.own)
        now = self.odd_threats(self.after, self.after.own ^ self.after.mask)
        return self._is_calm() and bool(now - before)

    def keeps_an_odd_threat(self) -> bool:
        """And does nothing else: it makes no threat, and few columns hand the other side a win."""
        own = self.after.own ^ self.after.mask
        before = self.odd_threats(self.position, self.position.own)
        threats = {
            (column, row)
            for column in range(7)
            for row in range(6)
            if completes(self.after, own, column, row)
            and not completes(self.position, self.position.own, column, row)
        }
        below = [column for column in self.others if self.is_below(column)]
        kept = before & self.odd_threats(self.after, own)
        calm = self._is_calm() and not threats and not wins(passed(self.after))
        return calm and bool(kept) and not below
