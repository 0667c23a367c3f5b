"""Random boards and games for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from selfplay.game.board import Board
from selfplay.game.position import Position
from tests import oracle

boards = st.builds(
    lambda columns, rows, connect: Board(columns, rows, min(connect, max(columns, rows))),
    st.integers(4, 16),
    st.integers(4, 16),
    st.integers(3, 6),
)


@st.composite
def games(draw: st.DrawFn, on: st.SearchStrategy[Board] = boards) -> tuple[Board, list[int]]:
    """A board, and moves of a game on it that is not over before its last move."""
    board = draw(on)
    length = draw(st.integers(0, min(board.cells, 60)))
    grid, moves = oracle.empty(board), []
    for ply in range(length):
        move = draw(st.sampled_from(oracle.open_columns(board, grid)))
        moves.append(move)
        grid = oracle.drop(grid, move, 1 + ply % 2)
        if oracle.has_won(board, grid, 1 + ply % 2):
            break
    return board, moves


@st.composite
def unfinished(draw: st.DrawFn, board: Board) -> Position:
    """A position of a game that goes on."""
    _, moves = draw(games(st.just(board)))
    position = Position(board)
    for move in moves:
        after = position.play(move)
        if after.is_over:
            break
        position = after
    return position
