"""What a tree sees of a position is what a player would say of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.train.features.cell_sets import windows
from selfplay.train.features.feature_set import OF_COLUMN, OF_POSITION, FeatureSet, SetName
from tests.strategies import unfinished

BOARD = Board()


def as_arrays(found: list[Position]) -> tuple[np.ndarray, np.ndarray]:
    return (
        np.array([position.own for position in found], np.uint64),
        np.array([position.mask for position in found], np.uint64),
    )


def seen(position: Position, move: int) -> dict[str, int]:
    """What is asked about a move, by name."""
    features = FeatureSet("move", position.board)
    codes = features.of_moves(*as_arrays([position]), np.array([move]))[0]
    assert (codes < features.widths).all()
    own = len(OF_POSITION) + len(OF_COLUMN)
    return dict(zip(features.names[:own], codes[:own].tolist(), strict=True))


@given(unfinished(BOARD), st.data())
def test_what_is_said_of_a_move_is_true(position: Position, data: st.DataObject) -> None:
    move = data.draw(st.sampled_from(position.legal_moves))
    after = position.play(move)
    found = seen(position, move)
    assert found["is open"] == 1
    assert found["wins"] == (move in position.winning_moves)
    assert found["must be blocked"] == (move in position.blocking_moves)
    assert found["stones are even"] == (position.ply % 2 == 0)
    assert found["wins at once"] == bool(position.winning_moves)
    assert found["must block"] == min(2, len(position.blocking_moves))
    assert found["row"] == sum(cell != 0 for cell in position.cells()[move :: BOARD.columns])
    if after.is_over:
        return
    if not position.winning_moves:
        assert found["leaves no win at once"] == (not after.winning_moves)
    handed = move in after.winning_moves and move not in position.blocking_moves
    if handed:
        assert found["hands the other side the cell above"] == 1
    # Were it to move once more, it would win in so many columns.
    assert found["wins next time"] == min(2, len(after.blocking_moves))
    if found["forces a win"]:
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
    absolute = FeatureSet("cells", BOARD, "absolute").of_positions(*arrays)[0]
    assert absolute.tolist() == list(cells)
    mover = FeatureSet("cells", BOARD).of_positions(*arrays)[0]
    names = {0: 0, position.to_move: 1, 3 - position.to_move: 2}
    assert mover.tolist() == [names[cell] for cell in cells]


@given(unfinished(BOARD))
def test_a_position_and_its_moves_are_seen_alike(position: Position) -> None:
    """A set of tactics says of each column what a set of moves says."""
    arrays = as_arrays([position])
    features = FeatureSet("tactics", BOARD)
    codes = features.of_positions(*arrays)[0]
    assert (codes < features.widths).all()
    named = dict(zip(features.names, codes.tolist(), strict=True))
    for move in position.legal_moves:
        for name, value in seen(position, move).items():
            assert named[name if name in named else f"column {move + 1}: {name}"] == value
    for column in set(range(BOARD.columns)) - set(position.legal_moves):
        assert named[f"column {column + 1}: is open"] == 0


@given(unfinished(BOARD), st.data())
def test_mirror_images_are_asked_the_same(position: Position, data: st.DataObject) -> None:
    move = data.draw(st.sampled_from(position.legal_moves))
    features = FeatureSet("move", BOARD)
    image = Position.from_cells(
        [position.cells()[r * 7 + 6 - c] for r in range(6) for c in range(7)], BOARD
    )
    here = features.of_moves(*as_arrays([position]), np.array([move]))[0]
    there = features.of_moves(*as_arrays([image]), np.array([6 - move]))[0]
    if move != 3:  # beside the middle column left and right change places
        assert here.tolist() == there.tolist()


@pytest.mark.parametrize(("board", "lines"), [(Board(), 69), (Board(8, 7, 5), 76)])
def test_all_lines_are_looked_at(board: Board, lines: int) -> None:
    found = windows(board)
    assert len(found) == lines
    assert {int(window).bit_count() for window in found} == {board.connect}
    assert all(int(window) & ~board.full == 0 for window in found)


def test_boards_that_are_too_large_are_refused() -> None:
    with pytest.raises(InputError, match="64 bits"):
        FeatureSet("move", Board(16, 16))


@pytest.mark.parametrize("name", ["move", "lookahead"])
def test_many_positions_are_seen_as_one_by_one(name: SetName) -> None:
    openings = RandomPlies(BOARD, 0, 30)
    some = [openings.opening(0, number) for number in range(5000)]
    own, mask = as_arrays(some)
    features = FeatureSet(name, BOARD)
    all_at_once = features.of_all_moves(own, mask)
    for at in (0, 4095, 4096, 4999):
        there = list(some[at].legal_moves)
        alone = features.of_all_moves(own[at : at + 1], mask[at : at + 1])[0]
        assert np.array_equal(all_at_once[at, there], alone[there])
