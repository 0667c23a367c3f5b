from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.enumeration import plies
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.solver import kernel
from selfplay.solver.solver import Limit, Solver, best_of, strongest_of
from tests import oracle


def plain_score(board: Board, grid: oracle.Grid, mover: int) -> int:
    """Full-depth minimax by the oracle's rules."""

    @cache
    def score(grid: oracle.Grid, mover: int) -> int:
        stones = sum(map(len, grid))
        best = None
        for move in oracle.open_columns(board, grid):
            after = oracle.drop(grid, move, mover)
            if oracle.has_won(board, after, mover):
                return (board.cells + 1 - stones) // 2
            value = -score(after, 3 - mover)
            best = value if best is None else max(best, value)
        return 0 if best is None else best

    return score(grid, mover)


def late_positions(board: Board, empty: int, count: int) -> list[Position]:
    openings = RandomPlies(board, board.cells - empty, board.cells - empty)
    return [openings.opening(5, game) for game in range(count)]


@pytest.mark.parametrize("connect", [3, 4])
def test_every_position_of_the_4x4_board(connect: int) -> None:
    """Scores by going back from the last ply: a maximum over successors, nothing else."""
    board = Board(4, 4, connect)
    solver = Solver(board, memory=1)
    known: dict[Position, int] = {}
    checked = 0
    for own, mask in reversed(list(plies(board))):
        positions = [Position(board, int(o), int(m), None) for o, m in zip(own, mask, strict=True)]
        scores = np.zeros(len(positions), np.int64)
        going_on = np.array([not position.is_over for position in positions], bool)
        found = np.zeros(int(going_on.sum()), np.int64)
        kernel.score_all(
            board, solver._memory, own[going_on], mask[going_on], found, 1 << 40, False
        )
        scores[going_on] = found
        for position, score in zip(positions, scores.tolist(), strict=True):
            if position.winner is not None:
                known[position] = -((board.cells + 2 - position.ply) // 2)
            elif position.is_over:
                known[position] = 0
            else:
                known[position] = max(-known[position.play(m)] for m in position.legal_moves)
                assert score == known[position], position.render()
                checked += 1
    assert checked > (50_000 if connect == 4 else 10_000)


@pytest.mark.parametrize(
    ("board", "empty"),
    [(Board(5, 4), 9), (Board(4, 5), 9), (Board(6, 5, 5), 7), (Board(8, 7, 5), 5), (Board(), 9)],
    ids=str,
)
def test_scores_are_those_of_plain_minimax(board: Board, empty: int) -> None:
    solver = Solver(board, memory=1)
    for position in late_positions(board, empty, 40):
        grid = oracle.play_all(board, position.moves or ())
        assert solver.score(position) == plain_score(board, grid, position.to_move)


@given(st.integers(0, 10**6), st.integers(14, 30))
def test_a_score_is_minus_the_best_of_the_successors(game: int, ply: int) -> None:
    solver = shared_solver()
    position = RandomPlies(Board(), ply, ply).opening(1, game)
    score, scores = solver.score(position), solver.scores(position)
    assert score == max(s for s in scores if s is not None)
    for move in position.legal_moves:
        after = solver.score(position.play(move))
        assert after is not None
        assert scores[move] == -after
    assert solver.score(position.mirror()) == score
    assert solver.scores(position.mirror()) == scores[::-1]
    assert solver.value(position) == (score > 0) - (score < 0)  # type: ignore[operator]
    best, strongest = solver.best_moves(position), solver.strongest_moves(position)
    assert best is not None
    assert strongest is not None
    assert set(strongest) <= set(best)


@cache
def shared_solver() -> Solver:
    return Solver()


@pytest.mark.parametrize("size", ["4x4", "5x4", "4x5"])
def test_small_boards_are_draws(size: str) -> None:
    assert Solver(Board.parse(size), memory=16).score(Position(Board.parse(size))) == 0


def test_a_full_column_has_no_score() -> None:
    scores = shared_solver().scores(Position.parse("11111144444433"))
    assert [column for column, score in enumerate(scores) if score is None] == [0, 3]


def test_a_finished_game_has_a_score() -> None:
    # X has won with the seventh stone: worth (42 + 1 - 6) // 2 to X.
    assert shared_solver().score(Position.parse("1212121")) == -18
    assert shared_solver().score(Position.parse("121212")) == 18


def test_best_and_strongest() -> None:
    assert best_of((None, 3, 1, 0, -2)) == (1, 2)
    assert strongest_of((None, 3, 1, 0, -2)) == (1,)
    assert best_of((-5, -1, None)) == (0, 1)
    assert strongest_of((-5, -1, None)) == (1,)
    assert best_of(None) is strongest_of(None) is None


def test_a_limit_is_unknown_and_never_a_guess() -> None:
    solver = Solver(Board(), memory=1, book=None)
    position = Position.parse("44")
    assert solver.score(position, Limit(nodes=1000)) is None
    assert solver.value(position, Limit(nodes=1000)) is None
    assert solver.scores(position, Limit(nodes=1000)) == (None,) * 7
    assert solver.best_moves(position, Limit(nodes=1000)) is None
    assert solver.score(position, Limit(seconds=0.01)) is None
    assert solver.best_moves(position, Limit(seconds=0.01)) is None


def test_a_search_in_pieces_finds_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    position = Position.parse("44444321122")
    whole, pieces = Solver(Board(), memory=8), Solver(Board(), memory=8)
    expected = whole.score(position)
    monkeypatch.setattr("selfplay.solver.solver._SLICE", 101)
    assert pieces.score(position) == expected
    assert pieces.nodes == whole.nodes > 1000


def test_side_by_side_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    position = Position.parse("44444321122")
    alone = Solver(Board(), threads=1).scores(position)
    monkeypatch.setattr("selfplay.solver.solver._SERIAL_NODES", 1)
    assert Solver(Board(), threads=4).scores(position) == alone


@pytest.mark.parametrize("memory", [1, 8])
def test_a_small_table_changes_no_score(memory: int) -> None:
    solver = Solver(Board(), memory=memory)
    for game in range(20):
        position = RandomPlies(Board(), 15, 20).opening(2, game)
        solver.forget()
        assert solver.score(position) == shared_solver().score(position)


def test_generations_come_round() -> None:
    solver = Solver(Board(), memory=1)
    positions = [RandomPlies(Board(), 24, 24).opening(2, game) for game in range(10)]
    expected = [solver.score(position) for position in positions]
    for _ in range(60):
        for position, score in zip(positions, expected, strict=True):
            solver.forget()
            assert solver.score(position) == score


def test_boards_beyond_a_word_are_refused() -> None:
    with pytest.raises(InputError, match="boards that fit 64 bits"):
        Solver(Board(8, 8))
    with pytest.raises(InputError, match="this solver is for 7x6"):
        shared_solver().score(Position(Board(4, 4)))


@pytest.mark.parametrize("limit", [{"nodes": 0}, {"seconds": 0.0}, {"seconds": float("nan")}])
def test_bad_limits_are_refused(limit: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Limit(**limit)  # type: ignore[arg-type]
