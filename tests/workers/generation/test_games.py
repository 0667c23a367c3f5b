"""A game of a run follows from its spec and its number, and is what the spec says."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from selfplay.game.openings import parse_openings
from selfplay.game.position import Position
from selfplay.registry import PlayerSpec
from selfplay.solver.solver import Limit, Solver
from selfplay.storage.rows import NO_MOVE, NO_RESULT, Rows
from selfplay.storage.spec import Spec
from selfplay.workers.generation.games import GameMaker


def maker_of(**options: object) -> GameMaker:
    spec = Spec.from_options({"teacher": "mcts:100", "opening": "2-10", "seed": 5, **options})
    return GameMaker(spec, parse_openings(spec.opening, spec.parsed_board))


def games(maker: GameMaker, count: int) -> Rows:
    return Rows.join([maker.rows(game) for game in range(count)])


def position_of(rows: Rows, row: int) -> Position:
    return Position.from_cells(rows.board[row].tolist())


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"explorer": "random"},
        {"noise": 0.3},
        {"temperature": 1.0, "temperature_plies": 5},
        {"mode": "positions"},
        {"teacher": "minimax:2", "explorer": "greedy"},
        {"explorer": "mcts:50", "opponent": "greedy"},
    ],
    ids=str,
)
def test_a_game_is_the_same_whatever_was_made_before(options: dict[str, object]) -> None:
    maker = maker_of(**options)
    forwards = [maker.rows(game).fingerprint() for game in range(6)]
    backwards = [maker_of(**options).rows(game).fingerprint() for game in reversed(range(6))]
    assert forwards == backwards[::-1]
    assert len(set(forwards)) == 6


def test_the_teacher_alone_plays_what_it_decides() -> None:
    rows = games(maker_of(), 10)
    assert (rows.move == rows.played).all()
    assert (rows.outcome != NO_RESULT).all()
    # Its tree is kept from move to move: no decision rests on more than was asked for.
    assert rows.visits.sum(axis=1).max() == 100


def test_a_rival_plays_the_other_side_and_they_change_sides() -> None:
    maker = maker_of(explorer="centre", opponent="random", opening="0")
    for game in range(4):
        rows = maker.rows(game)
        # What is labelled is what the explorer has to decide.
        assert (rows.ply % 2 == game % 2).all()
        assert rows.ply.tolist() == list(range(game % 2, game % 2 + 2 * len(rows), 2))
        for row, column in enumerate(rows.played.tolist()):
            open_columns = position_of(rows, row).legal_moves
            assert column == min(open_columns, key=lambda c: abs(c - 3))
    boards = maker.rows(0).board
    assert (
        len(
            {tuple(board) for board in maker.rows(2).board[:4].tolist()}
            - {tuple(board) for board in boards[:4].tolist()}
        )
        > 0
    )  # the opponent does not repeat itself


def test_what_a_perfect_teacher_has_judged_it_need_not_judge_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    options = {"teacher": "perfect:scores=off", "explorer": "random", "opening": "12"}
    known = games(maker_of(**options), 4)
    judged: list[Position] = []
    judge = Solver.values

    def judge_and_tell(solver: Solver, position: Position, limit: Limit) -> Any:
        judged.append(position)
        return judge(solver, position, limit)

    monkeypatch.setattr(Solver, "values", judge_and_tell)
    maker = maker_of(**options)
    maker.reuse_labels(known)
    assert games(maker, 4).fingerprint() == known.fingerprint()
    assert judged
    assert min(position.ply for position in judged) == 17
    # A row in which something is unknown is no help.
    unknown = maker_of(**options)
    unknown.reuse_labels(
        replace(known, proven=np.where(known.proven == 0, NO_RESULT, known.proven))
    )
    judged.clear()
    assert games(unknown, 4).fingerprint() == known.fingerprint()
    assert min(position.ply for position in judged) < 17


def test_labels_that_depend_on_where_they_are_made_are_not_taken_over() -> None:
    assert maker_of(teacher="perfect:scores=off").reuses_labels
    for teacher in ("perfect", "mcts:100", "perfect:scores=off,seconds=5"):
        assert not maker_of(teacher=teacher).reuses_labels


def test_the_labels_are_the_teachers_whoever_plays() -> None:
    rows = games(maker_of(explorer="random"), 10)
    assert (rows.move != rows.played).mean() > 0.5
    alone = PlayerSpec.parse("mcts:100,reuse=off").build(Spec().parsed_board)
    maker = maker_of(teacher="mcts:100,reuse=off", explorer="random")
    rows, seen = maker.rows(3), []
    # A label depends on the game's seed and its position alone, not on who moves the stones.
    noisy = maker_of(teacher="mcts:100,reuse=off", explorer="greedy").rows(3)
    assert rows.move[0] == noisy.move[0]
    assert (rows.visits[0] == noisy.visits[0]).all()
    for row in range(len(rows)):
        alone.new_game(0)
        seen.append(alone.decide(position_of(rows, row)).move == rows.move[row])
    assert np.mean(seen) > 0.4


@pytest.mark.parametrize(
    ("noise", "least", "most"), [(0.0, 0, 0), (0.2, 0.08, 0.28), (1.0, 0.7, 1)]
)
def test_noise_is_the_share_of_random_moves(noise: float, least: float, most: float) -> None:
    rows = games(maker_of(noise=noise, teacher="greedy"), 40)
    assert least <= (rows.move != rows.played).mean() <= most


def test_temperature_plays_by_visits_and_only_at_first() -> None:
    rows = games(maker_of(opening="4", temperature=1.0, temperature_plies=6), 60)
    early = rows.ply < 4 + 6
    assert (rows.move != rows.played)[early].mean() > 0.2
    assert (rows.move == rows.played)[~early].all()
    tried = rows.visits[np.arange(len(rows)), rows.played] > 0
    assert (tried | (rows.played == rows.move)).all()  # a win at once needs no visit


def test_of_positions_only_the_opening_is_labelled() -> None:
    rows = games(maker_of(mode="positions"), 8)
    assert len(rows) == 8
    assert rows.ply.min() >= 2
    assert (rows.played == NO_MOVE).all()
    assert (rows.outcome == NO_RESULT).all()
