"""Hints and the review of a game."""

from __future__ import annotations

import re

import pytest

from selfplay.cli.board.perfect_play import PerfectPlay
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.solver.solver import Solver
from tests.cli.command import run


def test_a_hint_is_perfect_play_and_agrees_with_the_review() -> None:
    done = run("play", "--o", "human", stdin="2\nh\n3\nq\n")
    assert "perfect play would play column 3" in done.stdout
    assert re.search(r"> 3 +win in \d+", done.stdout)
    assert re.search(r" 4 +(draw|loss)", done.stdout)


def test_without_perfect_play_a_search_gives_hints() -> None:
    done = run("play", "--o", "mcts:30", "--board", "10x10", stdin="5\nw\nh\nq\n")
    assert "perfect play takes longer here" in done.stdout
    assert "mcts:10000 would play column" in done.stdout
    seen = re.search(r"O: mcts:30 in column \d+, stone 2\n\d+ rollouts", done.stdout)
    assert seen is not None
    rows = re.findall(r"^ +>? *\d+ +(\d+) +[^\d\n]*([+-]\d.*)?$", done.stdout[seen.end() :], re.M)
    assert rows
    assert all(int(visits) >= 10 or not value for visits, value in rows)


@pytest.mark.parametrize("moves", ["112233", "4444", "17263"])
def test_results_count_the_moves_of_the_winner(moves: str) -> None:
    position = Position.parse(moves, board := Board(5, 4) if "7" not in moves else Board())
    hint = PerfectPlay().hint(position)
    assert hint is not None
    for column, result in hint.results().items():
        assert result == by_playing(position.play(column), position.to_move, Solver(board)), column


def by_playing(position: Position, side: int, solver: Solver) -> str:
    """The result after a column, by playing strongest moves to the end."""
    first = position.ply - 1
    while not position.is_over:
        strongest = solver.strongest_moves(position)
        assert strongest is not None
        position = position.play(strongest[0])
    if position.winner is None:
        return "draw"
    word = "win" if position.winner == side else "loss"
    return f"{word} in {(position.ply - first + (word == 'win')) // 2}"


def test_a_board_too_large_for_perfect_play_has_no_review() -> None:
    moves = "\n".join("1213141") + "\n"
    done = run("play", "--o", "human", "--board", "10x10", stdin=moves)
    assert "after 7 stones; no review: the board is too large" in done.stdout
