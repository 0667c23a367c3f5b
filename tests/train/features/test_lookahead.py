"""What a strong player sees in a move is so."""

from __future__ import annotations

from functools import cache
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from selfplay.game.board import Board, mirrored
from selfplay.game.position import Position
from selfplay.solver.solver import Solver
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.features.lookahead import AT, OF_MOVE
from selfplay.train.features.move_weights import PHASES, POINTS
from selfplay.train.features.playouts import DRAWN
from tests.strategies import unfinished

BOARD = Board()
LOOKAHEAD = FeatureSet("lookahead", BOARD)


@cache
def solver() -> Solver:
    return Solver(BOARD, memory=16, threads=1)


def seen(position: Position) -> dict[int, dict[str, int]]:
    """What is asked about each move, by name."""
    codes = LOOKAHEAD.encode(
        np.array([position.own], np.uint64), np.array([position.mask], np.uint64)
    )[0]
    assert (codes < LOOKAHEAD.widths).all()
    return {
        move: dict(zip(LOOKAHEAD.names, codes[move].tolist(), strict=True))
        for move in position.legal_moves
    }


@given(unfinished(BOARD))
def test_what_is_said_to_be_forced_is_forced(position: Position) -> None:
    if position.ply < 16:  # the solver would take long
        return
    for move, found in seen(position).items():
        after = position.play(move)
        value = solver().value(after)
        assert value is not None
        if found["forces a win, in steps"]:
            assert value == -1
        if found["the other side then forces a win, in steps"]:
            assert value == 1
        assert found["wins"] == (move in position.winning_moves)
        # Where nothing is left to choose, every way of going on ends as it must.
        if BOARD.cells - after.ply <= 1:
            ends = [end for name, end in found.items() if name.startswith("the end, ")]
            assert {(end > DRAWN) - (end < DRAWN) for end in ends} == {-value}


@given(unfinished(BOARD))
def test_mirror_images_are_seen_alike(position: Position) -> None:
    own = np.array([position.own, mirrored(BOARD, position.own)], np.uint64)
    mask = np.array([position.mask, mirrored(BOARD, position.mask)], np.uint64)
    here, there = LOOKAHEAD.encode(own, mask)
    assert np.array_equal(here, there[::-1])


@given(unfinished(BOARD), st.data())
def test_points_are_added_up(position: Position, data: st.DataObject) -> None:
    assume(len(position.legal_moves) > 1)
    phase = sum(position.ply >= stones for stones in PHASES)
    points = {
        move: sum(POINTS[name][phase] * found.get(name, 0) for name in POINTS)
        for move, found in seen(position).items()
    }
    move = data.draw(st.sampled_from(position.legal_moves))
    found = seen(position)[move]
    others = [points[other] for other in points if other != move]
    assert found["better moves by points"] == sum(other > points[move] for other in others)
    less = (points[move] - max(others)) // 4
    assert found["points, against the best other move"] == min(max(less + 128, 0), 255)


def test_every_point_is_for_something() -> None:
    assert set(POINTS) <= {name for name, _ in OF_MOVE}


def test_features_are_what_the_bundled_model_was_trained_on() -> None:
    """Names, widths and values of all moves in the evaluation set: models in files rely on them."""
    questions = EvaluationSet.load()
    names = repr((LOOKAHEAD.names, LOOKAHEAD.widths.tolist())).encode()
    assert sha256(names).hexdigest() == (
        "13d5b32be63e1a4e4247f37e73b511c202e0c48f2356a7b9162c291eb9337001"
    )
    codes = LOOKAHEAD.encode(questions.own, questions.mask)
    assert (codes.shape, codes.dtype) == ((5000, 7, 117), np.uint8)
    assert sha256(codes.tobytes()).hexdigest() == (
        "b15674c159287c0262b430971ad4fce675c62a2d2fa9cf920a7b555eac31cea9"
    )


def test_an_unknown_feature_is_an_error() -> None:
    assert LOOKAHEAD.names[AT.wins_next_time] == "wins next time"
    with pytest.raises(AttributeError):
        _ = AT.wins_next_tme
