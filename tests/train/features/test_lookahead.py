"""What a strong player sees in a move is so."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from hashlib import sha256
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay.game.board import Board, mirrored
from selfplay.game.position import Position
from selfplay.solver.solver import Solver
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.features.feature_set import FeatureSet
from tests.strategies import unfinished
from tests.train.weights.definitions import some_weights

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
        if 0 < found["forces a win, in steps"] <= 3 and not after.is_over:
            for reply in after.legal_moves:
                then = after.play(reply)
                assert not then.is_over
                assert wins_within(then, 3), (position, move, reply)


def wins_within(position: Position, plies: int) -> bool:
    """Whether the side to move can force a win within this many plies."""
    if position.winning_moves:
        return True
    if plies < 3:
        return False
    for move in position.legal_moves:
        after = position.play(move)
        if after.is_over or after.winning_moves:
            continue
        if all(
            not after.play(reply).is_over and wins_within(after.play(reply), plies - 2)
            for reply in after.legal_moves
        ):
            return True
    return False


@pytest.mark.parametrize("board", [BOARD, Board(8, 7), Board(6, 5)], ids=str)
@settings(max_examples=30)
@given(st.data())
def test_mirror_images_are_seen_alike(board: Board, data: st.DataObject) -> None:
    position = data.draw(unfinished(board))
    own = np.array([position.own, mirrored(board, position.own)], np.uint64)
    mask = np.array([position.mask, mirrored(board, position.mask)], np.uint64)
    features = FeatureSet("lookahead", board)
    here, there = replace(features, weights=some_weights(features)).encode(own, mask)
    assert np.array_equal(here, there[::-1])


def test_features_are_what_they_were(golden: Callable[[str, Any], None]) -> None:
    """Names, widths and values of all moves in the evaluation set: models in files rely on them."""
    questions = EvaluationSet.load()
    features = replace(LOOKAHEAD, weights=some_weights(LOOKAHEAD))
    names = repr((features.names, features.widths.tolist())).encode()
    codes = features.encode(questions.own, questions.mask)
    assert (codes.shape, codes.dtype) == ((5000, 7, len(features.names)), np.uint8)
    assert (codes < features.widths).all()
    found = {"names": names, "values": codes.tobytes()}
    golden("lookahead", {name: sha256(data).hexdigest() for name, data in found.items()})
