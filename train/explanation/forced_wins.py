"""Wins by force, with the moves that prove them: threats that leave the other side one reply each,
after at most one move that is no threat.

The search tries every sequence of threats, the shortest first, up to a number of positions. What it
finds is certain; that it finds nothing says little.
"""

from __future__ import annotations

from selfplay.game.board import Board, next_cells, winning_cells
from selfplay.game.position import Position
from selfplay.train.explanation.cells import bits_of, column_of

_MOST_STEPS = 10
_MOST_POSITIONS = 150

Line = tuple[int, ...]
"""Moves from a position on, 0-based."""


class _Search:
    """One search: it ends without a result when it has seen too many positions."""

    def __init__(self, board: Board) -> None:
        self.board = board
        self.positions = 0
        self.is_cut = False
        """Whether a sequence was left because it is too long."""

    def win(self, own: int, other: int, steps: int) -> Line | None:
        """Moves by which the side to move wins with at most this many of its own."""
        board, mask = self.board, own | other
        self.positions += 1
        free = next_cells(board, mask)
        if wins := winning_cells(board, own) & free:
            return (column_of(board, wins & -wins),)
        if steps == 1 or self.positions > _MOST_POSITIONS:
            self.is_cut = True
            return None
        dangers = winning_cells(board, other) & free
        if dangers & (dangers - 1):
            return None
        for stone in bits_of(dangers or free):
            after = next_cells(board, mask | stone)
            threats = winning_cells(board, own | stone) & after
            if not threats or winning_cells(board, other) & after:
                continue
            reply = threats & -threats
            rest = self.win(own | stone, other | reply, steps - 1)
            if rest is not None:
                return (column_of(board, stone), column_of(board, reply), *rest)
        return None


def forced_win(position: Position) -> Line | None:
    """The moves of a win by threats for the side to move, the shortest; None if none is found."""
    search = _Search(position.board)
    for steps in range(1, _MOST_STEPS + 1):
        search.is_cut = False
        line = search.win(position.own, position.own ^ position.mask, steps)
        if line is not None or not search.is_cut or search.positions > _MOST_POSITIONS:
            return line
    return None


def forced_by(position: Position, move: int) -> Line | None:
    """The moves of a win by force that begins with this one, against the longest defence: whatever
    the reply, threats win. None if none is found."""
    after = position.play(move)
    if after.is_over:
        return (move,) if after.winner else None
    if after.winning_moves:
        return None
    longest: Line = ()
    for reply in sorted(after.legal_moves, key=lambda column: column not in after.blocking_moves):
        line = forced_win(after.play(reply))
        if line is None:
            return None
        if 1 + len(line) > len(longest):
            longest = (reply, *line)
    return (move, *longest)


def won_by_force(position: Position) -> Line | None:
    """The moves of a win by force for the side to move: by threats alone, else after one move that
    is no threat. None if none is found."""
    line = forced_win(position)
    if line is not None:
        return line
    lines = (forced_by(position, move) for move in position.legal_moves)
    return min((line for line in lines if line is not None), key=len, default=None)


def losing_moves(position: Position) -> dict[int, Line]:
    """The moves after which the other side is found to win by force, each with the line."""
    found = {}
    for move in position.legal_moves:
        after = position.play(move)
        line = None if after.is_over else won_by_force(after)
        if line is not None:
            found[move] = (move, *line)
    return found


def passed(position: Position) -> Position:
    """The same stones with the other side to move."""
    return Position(position.board, position.own ^ position.mask, position.mask, None)


def own_moves(line: Line) -> int:
    """The moves of the side that begins, in a line of moves."""
    return (len(line) + 1) // 2
