"""Points are sums of weights, and what a short search finds is so."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.features.short_search import DEPTHS, FAR, WON
from selfplay.train.weights.weights import Weights
from tests.strategies import unfinished
from tests.train.features.test_feature_set import as_arrays
from tests.train.weights.definitions import (
    Known,
    best_points,
    feature_points,
    pattern_points,
    some_weights,
)

BOARDS = [Board(), Board(6, 5)]


def weighed(name: str, board: Board) -> FeatureSet:
    features = FeatureSet(name, board)  # type: ignore[arg-type]
    return replace(features, weights=some_weights(features))


def coded(points: int) -> int:
    """As it is encoded."""
    return min(max(points // 2 + 128, 0), 254)


def check(what: str, points: dict[int, int], found: dict[int, dict[str, int]]) -> None:
    """How the moves compare by these points."""
    for move, own in points.items():
        others = [points[other] for other in points if other != move]
        best = max(others, default=-2 * WON)
        assert found[move][f"{what}, against the best other move"] == coded(own - best)
        assert found[move][f"better moves by {what}"] == sum(other > own for other in others)


def seen(features: FeatureSet, position: Position) -> dict[int, dict[str, int]]:
    codes = features.encode(*as_arrays([position]))[0]
    return {
        move: dict(zip(features.names, codes[move].tolist(), strict=True))
        for move in position.legal_moves
    }


def check_all(features: FeatureSet, position: Position, found: dict[int, dict[str, int]]) -> None:
    """The points of all features before."""
    assert features.weights is not None
    everything = {
        move: feature_points(features.weights, position, [*codes.values()][: features.weighed])
        for move, codes in found.items()
    }
    check("all points", everything, found)


@pytest.mark.parametrize("board", BOARDS, ids=str)
@settings(max_examples=40)
@given(st.data())
def test_static_points_are_those_of_the_board_after_the_move(
    board: Board, data: st.DataObject
) -> None:
    features, position = weighed("static", board), data.draw(unfinished(board))
    found = seen(features, position)
    assert features.weights is not None
    points = {move: pattern_points(features.weights, position.play(move)) for move in found}
    for move, own in points.items():
        assert found[move]["points"] == coded(own)
    check("points", points, found)
    check_all(features, position, found)


@pytest.mark.parametrize("board", BOARDS, ids=str)
@settings(max_examples=6, deadline=None)
@given(st.data())
def test_lookahead_points_are_those_after_best_play(board: Board, data: st.DataObject) -> None:
    features, position = weighed("lookahead", board), data.draw(unfinished(board))
    found, points = seen(features, position), dict.fromkeys(position.legal_moves, 0)
    assert features.weights is not None
    for depth in DEPTHS:
        by_move, known = {}, Known()
        for move in position.legal_moves:
            after = position.play(move)
            by_move[move] = WON - after.ply
            if not after.winner:
                by_move[move] = -best_points(features.weights, after, depth - 1, known)
        most = max(by_move.values())
        for move, own in by_move.items():
            points[move] += max(own, most - FAR)
    points = {move: own // len(DEPTHS) for move, own in points.items()}
    name = f"points after {' and '.join(map(str, DEPTHS))} moves of best play"
    for move, own in points.items():
        assert found[move][name] == coded(own)
    check(name, points, found)
    check_all(features, position, found)


@pytest.mark.parametrize("board", [*BOARDS, Board(8, 7, 3), Board(12, 4, 6)], ids=str)
@pytest.mark.parametrize("name", ["static", "lookahead"])
def test_weights_are_read_as_they_were_written(board: Board, name: str) -> None:
    features = weighed(name, board)
    assert features.weights is not None
    data = features.weights.to_bytes()
    assert len(data) == Weights.size(board, features.weighed)
    again = Weights.from_bytes(data, board, features.weighed)
    for one, other in zip(again, features.weights, strict=True):
        assert (one.dtype, one.shape) == (other.dtype, other.shape)
        assert np.array_equal(one, other)
    for wrong in (data[:-2], data + bytes(2), b""):
        with pytest.raises(InputError, match="its weights are not as many as its features"):
            Weights.from_bytes(wrong, board, features.weighed)
