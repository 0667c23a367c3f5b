import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.game.board import Board
from selfplay.minimax.heuristics import COUNTS, all_lines, cell, evaluation, lines_through

BOARDS = st.builds(Board, st.integers(4, 9), st.integers(4, 9), st.integers(3, 4))


def worth(name: str, board: Board, depth: int, own: int, other: int) -> float:
    return float(evaluation(name, board, depth).lines[COUNTS * own + other])  # type: ignore[arg-type]


def test_the_worth_of_cells_on_7x6_is_the_known_table() -> None:
    grid = lines_through(Board()).reshape(7, 6).T[::-1]  # rows from the top
    assert grid.tolist() == [
        [3, 4, 5, 7, 5, 4, 3],
        [4, 6, 8, 10, 8, 6, 4],
        [5, 8, 11, 13, 11, 8, 5],
        [5, 8, 11, 13, 11, 8, 5],
        [4, 6, 8, 10, 8, 6, 4],
        [3, 4, 5, 7, 5, 4, 3],
    ]


@pytest.mark.parametrize(("size", "count"), [("7x6", 69), ("4x4", 10), ("16x16", 754)])
def test_the_number_of_runs(size: str, count: int) -> None:
    assert len(all_lines(Board.parse(size))) == count


@given(BOARDS)
def test_runs_are_distinct_straight_lines_on_the_board(board: Board) -> None:
    lines = all_lines(board)
    columns, rows = np.divmod(lines, board.rows)
    assert (cell(board, 1, 2), columns.max(), rows.max()) == (
        board.rows + 2,
        board.columns - 1,
        board.rows - 1,
    )
    assert len({frozenset(run) for run in lines.tolist()}) == len(lines)
    for steps in (np.diff(columns), np.diff(rows)):
        assert (steps == steps[:, :1]).all()
        assert set(np.unique(steps)) <= {-1, 0, 1}


def test_segments() -> None:
    board = Board()
    assert [worth("segments", board, 2, own, 0) for own in range(5)] == [0, 1, 10, 50, 512]
    assert [worth("segments", board, 2, 0, other) for other in range(5)] == [0, -1, -10, -50, -512]
    assert worth("segments", board, 2, 3, 1) == worth("segments", board, 2, 1, 1) == 0
    assert [evaluation("segments", board, depth).bonus for depth in (2, 3)] == [16, -16]


def test_threats_count_the_reply_where_the_search_ends_with_an_own_move() -> None:
    board = Board()
    assert [worth("threats", board, 2, own, 0) for own in range(5)] == [0, 1, 50, 5_000, 500_000]
    assert [worth("threats", board, 3, own, 0) for own in range(5)] == [0, 1, 50, 5_000, 500_000]
    others = [worth("threats", board, 2, 0, other) for other in range(5)]
    assert others == [0, -1, -50, -5_000, -500_000]
    others = [worth("threats", board, 3, 0, other) for other in range(5)]
    assert others == [0, -50, -5_000, -500_000, -500_000]
    assert [evaluation("threats", board, depth).divisor for depth in (1, 2, 3)] == [2, 3, 4]


def test_windows() -> None:
    board = Board()
    assert [worth("windows", board, 2, own, 0) for own in range(5)] == [0, 0, 50, 75, 100]
    assert [worth("windows", board, 2, 0, other) for other in range(5)] == [0, 0, 0, -75, 0]


def test_other_lines_are_worth_by_what_they_lack() -> None:
    assert [worth("segments", Board(7, 6, 3), 2, own, 0) for own in range(4)] == [0, 10, 50, 512]
    assert [worth("segments", Board(9, 9, 6), 2, n, 0) for n in range(7)] == [
        0, 0, 0, 1, 10, 50, 512,
    ]  # fmt: skip
