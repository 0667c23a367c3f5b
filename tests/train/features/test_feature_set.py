"""Features are what their names say, in every set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.errors import InputError
from selfplay.game.board import Board, mirrored
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.train.config import Features, Target
from selfplay.train.features.cell_sets import windows
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.features.lookahead import TACTICS
from tests.strategies import unfinished

BOARD = Board()


def as_arrays(found: list[Position]) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.array([position.own for position in found], np.uint64),
        np.array([position.mask for position in found], np.uint64),
    )


def tactics_of(position: Position, move: int) -> dict[str, int]:
    """The features of a move by name."""
    features = FeatureSet("tactics", position.board)
    codes = features.encode(*as_arrays([position]))[0, move]
    assert (codes < features.widths).all()
    return dict(zip(features.names, codes.tolist(), strict=True))


@given(unfinished(BOARD), st.data())
def test_what_is_said_of_a_move_is_true(position: Position, data: st.DataObject) -> None:
    move = data.draw(st.sampled_from(position.legal_moves))
    after = position.play(move)
    found = tactics_of(position, move)
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
    # Were it to move once more, it would win in so many columns.
    assert found["wins next time"] == min(2, len(after.blocking_moves))
    if 0 < found["forces a win, in steps"] <= 3:
        for reply in after.legal_moves:
            then = after.play(reply)
            assert not then.is_over
            assert wins_within(then, 3), (position, move, reply)


def wins_within(position: Position, plies: int) -> bool:
    """Whether the side to move wins in so many plies, whatever the other does."""
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
    """Tactics of a position have the tactics of every move, and lookahead begins with them."""
    arrays = as_arrays([position])
    features = FeatureSet("tactics", BOARD, target="move")
    codes = features.encode(*arrays)[0, 0]
    assert (codes < features.widths).all()
    named = dict(zip(features.names, codes.tolist(), strict=True))
    lookahead = FeatureSet("lookahead", BOARD)
    assert lookahead.names[: len(TACTICS)] == FeatureSet("tactics", BOARD).names
    for move in position.legal_moves:
        found = tactics_of(position, move)
        for name, value in found.items():
            assert named[f"column {move + 1}: {name}"] == value
        assert lookahead.encode(*arrays)[0, move, : len(TACTICS)].tolist() == [*found.values()]
    for column in set(range(BOARD.columns)) - set(position.legal_moves):
        assert not any(named[f"column {column + 1}: {name}"] for name, _ in TACTICS)


@given(unfinished(BOARD))
def test_mirror_images_are_encoded_alike(position: Position) -> None:
    own, mask = as_arrays([position])
    features = FeatureSet("tactics", BOARD)
    here = features.encode(own, mask)[0]
    there = features.encode(mirrored(BOARD, own), mirrored(BOARD, mask))[0]
    assert np.array_equal(here, there[::-1])


@pytest.mark.parametrize(("board", "lines"), [(Board(), 69), (Board(8, 7, 5), 76)])
def test_all_lines_are_looked_at(board: Board, lines: int) -> None:
    found = windows(board)
    assert len(found) == lines
    assert {int(window).bit_count() for window in found} == {board.connect}
    assert all(int(window) & ~board.full == 0 for window in found)


def test_boards_that_are_too_large_are_refused() -> None:
    with pytest.raises(InputError, match="64 bits"):
        FeatureSet("tactics", Board(16, 16))


@pytest.mark.parametrize(("name", "target"), [("cells", "candidate"), ("lookahead", "move")])
def test_sets_that_do_not_suit_the_target_are_refused(name: Features, target: Target) -> None:
    with pytest.raises(InputError, match="do not go together"):
        FeatureSet(name, BOARD, target=target)


@pytest.mark.parametrize(
    ("name", "target"), [("cells", "move"), ("tactics", "move"), ("tactics", "candidate"),
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
