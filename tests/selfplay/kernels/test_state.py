"""Both compiled representations of a game, held against the oracle move by move."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.kernels.jit import kernel
from selfplay.kernels.rollouts import CAREFUL, UNIFORM, WIN_FIRST, rollouts
from selfplay.kernels.state import (
    can_win,
    copy,
    is_among,
    is_full,
    is_open,
    load,
    pack,
    play,
    safe_moves,
    scratch,
    wins_with,
)
from tests import oracle
from tests.strategies import games

# One word exactly filled; one bit too many; as large as it gets; every length of line; and a
# tall board on which lines do not fit across.
BOARDS = [
    Board(),
    Board(4, 4, 3),
    Board(8, 7),
    Board(8, 8),
    Board(5, 12, 5),
    Board(16, 16, 6),
]


@kernel
def facts(board: Any, packed: Any, moves: Any) -> Any:
    """Per ply: for every column is_open + 2 * wins_with + 4 * safe; then can_win and is_full."""
    state = copy(board, load(board, packed), scratch(board))
    found = np.zeros((len(moves) + 1, board.columns + 2), np.int64)
    for ply in range(len(moves) + 1):
        safe = safe_moves(board, state)
        for column in range(board.columns):
            if is_open(board, state, column):
                found[ply, column] = 1 + 2 * wins_with(board, state, column)
            if not can_win(board, state):
                found[ply, column] += 4 * is_among(board, safe, column)
        found[ply, board.columns] = can_win(board, state)
        found[ply, board.columns + 1] = is_full(board, state)
        if ply < len(moves):
            state = play(board, state, moves[ply])
    return found


def expected_facts(board: Board, grid: oracle.Grid, mover: int) -> list[int]:
    free = oracle.open_columns(board, grid)
    wins = oracle.winning_columns(board, grid, mover)
    safe = [] if wins else oracle.safe_columns(board, grid, mover)
    columns = [(c in free) + 2 * (c in wins) + 4 * (c in safe) for c in range(board.columns)]
    return [*columns, bool(wins), not free]


@pytest.mark.parametrize("board", BOARDS, ids=str)
@settings(max_examples=12)
@given(st.data())
def test_the_compiled_rules_are_the_oracles(board: Board, data: st.DataObject) -> None:
    _, moves = data.draw(games(st.just(board)))
    start = data.draw(st.integers(0, len(moves)))
    position = Position(board)
    for move in moves[:start]:
        position = position.play(move)
    found = facts(board, pack(position), np.array(moves[start:], np.int64))
    # The oracle takes its time with large boards.
    for ply in range(start, len(moves) + 1, 1 if board.cells < 100 else 24):
        grid = oracle.play_all(board, moves[:ply])
        if ply < len(moves) or not oracle.has_won(board, grid, 2 - ply % 2):
            assert found[ply - start].tolist() == expected_facts(board, grid, 1 + ply % 2)


@kernel
def count_sequences(board: Any, packed: Any, length: int) -> int:
    """Sequences of so many moves in which at most the last one wins."""
    root = load(board, packed)
    room = scratch(board)
    moves = np.zeros(length, np.int64)
    count = 0
    depth = 0
    while depth >= 0:
        if moves[depth] == board.columns:
            depth -= 1
            if depth >= 0:
                moves[depth] += 1
            continue
        state = copy(board, root, room)
        for i in range(depth):
            state = play(board, state, moves[i])
        column = moves[depth]
        if is_open(board, state, column):
            if depth == length - 1:
                count += 1
            elif not wins_with(board, state, column):
                depth += 1
                moves[depth] = 0
                continue
        moves[depth] += 1
    return count


@pytest.mark.parametrize(
    ("length", "count"),
    [(1, 7), (2, 49), (3, 343), (4, 2401), (5, 16807), (6, 117649), (7, 823536), (8, 5673234)],
)
def test_move_sequences_are_as_many_as_published(length: int, count: int) -> None:
    board = Board()
    assert count_sequences(board, pack(Position(board)), length) == count


@pytest.mark.parametrize(
    ("policy", "name"), [(CAREFUL, "careful"), (WIN_FIRST, "win-first"), (UNIFORM, "uniform")]
)
@pytest.mark.parametrize("board", [Board(), Board(8, 8, 5)], ids=str)
def test_rollouts_have_the_expected_mean(board: Board, policy: int, name: str) -> None:
    position, expected = _nearly_full(board, name)
    count = 200_000
    points, _ = rollouts(board, pack(position), count, np.uint64(7), policy)
    # Five standard deviations of a coin: the seed is fixed, so it passes always or never.
    assert abs(points / 2 / count - float(expected)) < 5 * 0.5 / count**0.5


def _nearly_full(board: Board, policy: str) -> tuple[Position, Fraction]:
    """A position with eight cells free from which games differ, and what they bring."""
    for game in range(1000):
        position = RandomPlies(board, board.cells - 8, board.cells - 8).opening(3, game)
        moves = position.moves or ()
        grid = oracle.play_all(board, moves)
        expected = oracle.expected_points(board, grid, position.to_move, policy)
        if 0 < expected < 1:
            return position, expected
    raise AssertionError("no such position")
