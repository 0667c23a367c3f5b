"""Features are what their names say, in every set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.train.config import Features, Target
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.features.static import STATIC
from tests.strategies import unfinished

BOARD = Board()


def as_arrays(found: list[Position]) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.array([position.own for position in found], np.uint64),
        np.array([position.mask for position in found], np.uint64),
    )


@given(unfinished(BOARD))
def test_cells_are_those_of_the_board(position: Position) -> None:
    arrays = as_arrays([position])
    cells = position.cells()
    absolute = FeatureSet("cells", BOARD, "absolute", "move").encode(*arrays)[0, 0]
    assert absolute.tolist() == list(cells)
    mover = FeatureSet("cells", BOARD, target="move").encode(*arrays)[0, 0]
    names = {0: 0, position.to_move: 1, 3 - position.to_move: 2}
    assert mover.tolist() == [names[cell] for cell in cells]


@given(unfinished(BOARD))
def test_a_position_and_its_moves_are_seen_alike(position: Position) -> None:
    """Each column of a position has the features of its move, and sets of moves begin with them."""
    arrays = as_arrays([position])
    features = FeatureSet("static", BOARD, target="move")
    codes = features.encode(*arrays)[0, 0]
    assert (codes < features.widths).all()
    columns = codes[BOARD.cells :].reshape(BOARD.columns, len(STATIC))
    for name in ("static", "lookahead"):
        of_moves = FeatureSet(name, BOARD)  # type: ignore[arg-type]
        assert of_moves.names[: len(STATIC)] == tuple(name for name, _ in STATIC)
        assert np.array_equal(of_moves.encode(*arrays)[0, :, : len(STATIC)], columns)
    assert features.names[BOARD.cells] == f"column 1: {STATIC[0][0]}"
    for column in set(range(BOARD.columns)) - set(position.legal_moves):
        assert not columns[column].any()


def test_boards_that_are_too_large_are_refused() -> None:
    with pytest.raises(InputError, match="64 bits"):
        FeatureSet("static", Board(16, 16))


@pytest.mark.parametrize(("name", "target"), [("cells", "candidate"), ("lookahead", "move")])
def test_sets_that_do_not_suit_the_target_are_refused(name: Features, target: Target) -> None:
    with pytest.raises(InputError, match="do not go together"):
        FeatureSet(name, BOARD, target=target)


@pytest.mark.parametrize(
    ("name", "target"), [("cells", "move"), ("static", "move"), ("static", "candidate"),
                         ("lookahead", "candidate")],
)  # fmt: skip
def test_many_positions_are_seen_as_one_by_one(name: Features, target: Target) -> None:
    openings = RandomPlies(BOARD, 0, 30)
    some = [openings.opening(0, number) for number in range(5000)]
    own, mask = as_arrays(some)
    features = FeatureSet(name, BOARD, target=target)
    all_at_once = features.encode(own, mask)
    for at in (0, 4095, 4096, 4999):
        alone = features.encode(own[at : at + 1], mask[at : at + 1])[0]
        assert np.array_equal(all_at_once[at], alone)
