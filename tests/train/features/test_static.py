"""What is on the board after a move is what its features say."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.game.board import Board, mirrored
from selfplay.game.position import Position
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.features.static import AT, STATIC
from tests.strategies import unfinished
from tests.train.features.test_feature_set import as_arrays

BOARD = Board()


def static_of(position: Position, move: int) -> dict[str, int]:
    """The features of a move by name."""
    features = FeatureSet("static", position.board)
    codes = features.encode(*as_arrays([position]))[0, move]
    assert (codes < features.widths).all()
    return dict(zip(features.names, codes.tolist(), strict=True))


@given(unfinished(BOARD), st.data())
def test_what_is_said_of_a_move_is_true(position: Position, data: st.DataObject) -> None:
    move = data.draw(st.sampled_from(position.legal_moves))
    after = position.play(move)
    found = static_of(position, move)
    assert found["wins"] == (move in position.winning_moves)
    assert found["blocks"] == (move in position.blocking_moves)
    assert found["stones"] == position.ply
    assert found["the first player moves"] == (position.ply % 2 == 0)
    assert found["columns from the edge"] == min(move, BOARD.columns - 1 - move)
    assert found["row"] == sum(cell != 0 for cell in position.cells()[move :: BOARD.columns])
    if after.is_over:
        return
    assert found["the other side wins at once"] == bool(after.winning_moves)
    assert found["open columns"] == len(after.legal_moves)
    if move in after.winning_moves and move not in position.blocking_moves:
        assert found["hands the other side the cell above"] == 1
    # The number of columns in which a second move in a row would win.
    assert found["wins next time"] == min(2, len(after.blocking_moves))


@given(unfinished(BOARD))
def test_mirror_images_are_encoded_alike(position: Position) -> None:
    own, mask = as_arrays([position])
    features = FeatureSet("static", BOARD)
    here = features.encode(own, mask)[0]
    there = features.encode(mirrored(BOARD, own), mirrored(BOARD, mask))[0]
    assert np.array_equal(here, there[::-1])


def test_an_unknown_feature_is_an_error() -> None:
    assert STATIC[AT.wins_next_time][0] == "wins next time"
    with pytest.raises(AttributeError):
        _ = AT.wins_next_tme
