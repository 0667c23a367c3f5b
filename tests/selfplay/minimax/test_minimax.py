"""Minimax, against a plain one that knows nothing of the kernel; and greedy."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.match import match
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.minimax.heuristics import COUNTS, all_lines, cell, evaluation, lines_through
from selfplay.minimax.kernel import CHOICE, LEAST_WIN, WON
from selfplay.minimax.player import GreedyPlayer, MinimaxOptions, MinimaxPlayer
from selfplay.players import Decision
from selfplay.registry import PlayerSpec
from selfplay.solver.solver import Solver

BOARDS = [Board(), Board(5, 4), Board(4, 5, 3), Board(9, 8, 5)]


def plain(
    position: Position, root: Position, levels: int, name: str, cells: float
) -> tuple[float, float]:
    """The value for the side to move, and how many leaves there are; `cells` is the worth, to
    the side to move at the root, of the cells on the way."""
    board = root.board
    if position.winner is not None:
        return -(WON - position.ply), 0
    if position.is_over:
        return 0.0, 0
    gone = position.ply - root.ply
    mine = position.to_move == root.to_move
    if gone == levels:
        grid = np.array(position.cells()).reshape(board.rows, board.columns)[::-1].T.ravel()
        own = (grid == root.to_move)[all_lines(board)].sum(axis=1)
        other = ((grid != 0) & (grid != root.to_move))[all_lines(board)].sum(axis=1)
        rule = evaluation(name, board, levels, cells=True)  # type: ignore[arg-type]
        value = (rule.lines[COUNTS * own + other].sum() + cells + rule.bonus) / rule.divisor
        return (value if mine else -value), 1
    best, leaves = -np.inf, 0.0
    for move in position.legal_moves:
        free = position.cells()[move :: board.columns].count(0)
        worth = lines_through(board)[cell(board, move, board.rows - free)] * (1 if mine else -1)
        value, below = plain(position.play(move), root, levels, name, cells + worth)
        best, leaves = max(best, -value), leaves + below
    return best, leaves


def value_of(decision: Decision) -> float:
    assert decision.evaluations is not None
    assert decision.proven is not None
    proven = decision.proven[decision.move]
    evaluated = decision.evaluations[decision.move]
    return np.inf * proven if proven else evaluated or 0.0


@settings(deadline=None, max_examples=20)
@given(
    st.sampled_from(BOARDS),
    st.integers(0, 12),
    st.integers(0, 1000),
    st.integers(1, 4),
    st.sampled_from(["segments", "threats", "windows"]),
)
def test_every_setting_finds_the_value_of_plain_minimax(
    board: Board, ply: int, game: int, depth: int, name: str
) -> None:
    root = RandomPlies(board, ply, ply).opening(6, game)
    depth = min(depth, 2 if board.columns > 7 else depth)
    if root.ply + depth >= board.cells:
        return
    expected, leaves = plain(root, root, depth, name, 0.0)
    if abs(expected) >= LEAST_WIN:
        expected = np.inf * np.sign(expected)
    flags = ["on", "off"]
    for pruning, skip, incremental, order in itertools.product(
        flags, flags, flags, ["centre", "left"]
    ):
        spec = (
            f"minimax:{depth},eval={name},cells=on,pruning={pruning},skip_empty={skip},"
            f"incremental={incremental},order={order}"
        )
        decision = player(spec, board).decide(root)
        assert value_of(decision) == pytest.approx(expected), spec
        assert decision.depth == depth
        if pruning == "off":
            assert decision.leaves == leaves
            if skip == incremental == "off":
                assert decision.lines == leaves * len(all_lines(board))
        else:
            assert decision.leaves <= leaves
    deepened = player(f"minimax:seconds=60,eval={name},cells=on", board)
    deepened._deepest = depth
    assert value_of(deepened.decide(root)) == pytest.approx(expected)


_players: dict[tuple[str, Board], MinimaxPlayer] = {}


def player(spec: str, board: Board) -> MinimaxPlayer:
    """Players are kept: that one search leaves nothing behind for the next is tested, too."""
    if (spec, board) not in _players:
        built = PlayerSpec.parse(spec).build(board)
        assert isinstance(built, MinimaxPlayer)
        _players[spec, board] = built
    _players[spec, board]._deepest = _players[spec, board].options.depth or board.cells
    return _players[spec, board]


def test_what_is_proven_is_true() -> None:
    judge = Solver()
    proven = 0
    for game in range(40):
        position = RandomPlies(Board(), 26, 36).opening(8, game)
        scores = judge.scores(position)
        for spec in ("minimax:5", "minimax:5,pruning=off", "minimax:42", "minimax:seconds=0.05"):
            decision = player(spec, Board()).decide(position)
            for claim, score in zip(decision.proven or (), scores, strict=True):
                if claim is not None:
                    assert score is not None
                    assert claim == np.sign(score), spec
                    proven += 1
    assert proven > 100


@pytest.mark.parametrize(("text", "move"), [("112233", 3), ("11223", 3), ("445566", 2)])
def test_a_win_is_taken_and_a_loss_put_off(text: str, move: int) -> None:
    for name in ("segments", "threats", "windows"):
        for depth in (2, 3, 6):
            spec = f"minimax:{depth},eval={name}"
            assert player(spec, Board()).decide(Position.parse(text)).move == move, spec


def test_the_sooner_win_and_the_later_loss_are_preferred() -> None:
    judge = Solver()
    checked = 0
    for game in range(60):
        position = RandomPlies(Board(), 24, 34).opening(9, game)
        strongest = judge.strongest_moves(position)
        decision = player("minimax:18", Board()).decide(position)
        assert strongest is not None
        assert decision.move in strongest
        checked += len(strongest) < len(position.legal_moves)
    assert checked > 30


def test_a_search_does_not_depend_on_how_it_is_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = player("minimax:5", Board()).decide(Position.parse("4453"))
    monkeypatch.setattr("selfplay.minimax.player._SLICE", 7)
    cut = player("minimax:5", Board()).decide(Position.parse("4453"))
    assert cut == replace(whole, seconds=cut.seconds)


def test_the_clock_is_kept_and_a_decided_position_needs_none_of_it() -> None:
    board = Board(16, 16)
    decision = player("minimax:seconds=0.2,eval=threats", board).decide(Position(board))
    assert decision.depth >= 4
    assert 0.15 < decision.seconds < 2
    decision = player("minimax:seconds=1000", Board()).decide(Position.parse("112233"))
    assert (decision.move, decision.depth) == (3, 1)


def test_a_search_cut_short_prefers_what_it_has_not_seen_to_what_is_lost() -> None:
    stopped = player("minimax:seconds=1", Board())
    stopped._search(Position(), 2, None)
    stopped._memory.values[:] = np.inf
    stopped._memory.values[3], stopped._memory.exact[:] = -LEAST_WIN, False
    stopped._memory.integers[0, CHOICE] = 3
    assert stopped._result(Position(), 9).move in (2, 4)
    stopped._memory.values[:] = -LEAST_WIN
    assert stopped._result(Position(), 9).move == 3


def test_counts_of_the_published_search() -> None:
    """16x16, four plies: 16^4 leaves, and all 754 lines at each."""
    board = Board(16, 16)
    spec = "minimax:4,pruning=off,skip_empty=off,incremental=off"
    everything = player(spec, board).decide(Position(board))
    assert (everything.leaves, everything.lines) == (16**4, 16**4 * 754)
    best = player("minimax:4,incremental=off", board).decide(Position(board))
    assert best.lines < 270_248
    assert value_of(best) == value_of(everything)


def test_greedy_takes_the_best_cell_and_looks_at_nobody() -> None:
    greedy = GreedyPlayer(Board())
    greedy.new_game(1)
    assert greedy.decide(Position()).move == 3
    assert greedy.decide(Position.parse("112233")).move == 3


def test_what_greedy_thinks_of_its_moves_never_falls() -> None:
    greedy, random = GreedyPlayer(Board()), PlayerSpec.parse("random").build(Board())
    record = match(greedy, random, Position(), seed=3)
    worths = [
        decision.evaluations[decision.move]
        for decision in record.decisions[::2]
        if decision.evaluations and decision.evaluations[decision.move] is not None
    ]
    assert len(worths) > 2
    assert worths == sorted(worths)  # type: ignore[type-var]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"depth": 0}, "depth is a number from 1 to 256, not 0"),
        ({"depth": 3, "seconds": 1.0}, "depth or seconds, not both"),
        ({"seconds": float("nan")}, "seconds is a time above 0"),
        ({"eval": "vibes"}, "eval is one of segments, threats, windows, not 'vibes'"),
        ({"order": "right"}, "order is one of centre, left"),
        ({"seconds": 1.0, "pruning": False}, "always prunes"),
        ({"memory": 0}, "memory is a number of MB"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MinimaxOptions(**options)  # type: ignore[arg-type]
