from itertools import islice

import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.enumeration import plies, positions_after


def test_distinct_positions_are_as_many_as_published() -> None:
    found = [len(own) for own, _ in islice(plies(Board()), 9)]
    assert found == [1, 7, 49, 238, 1120, 4263, 16422, 54859, 184275]


def test_the_4x4_board_has_the_published_total() -> None:
    assert sum(len(own) for own, _ in plies(Board(4, 4))) == 161_029


@pytest.mark.parametrize("board", [Board(), Board(9, 8)], ids=str)
def test_with_mirror_images_the_canonical_positions_are_all(board: Board) -> None:
    every = {p.key() for p in positions_after(board, 3)}
    canonical = positions_after(board, 3, canonical=True)
    assert {k for p in canonical for k in (p.key(), p.mirror().key())} == every
    assert len({p.key(canonical=True) for p in canonical}) == len(canonical)


def test_finished_positions_can_be_left_out() -> None:
    board = Board(4, 4, 3)
    every, unfinished = positions_after(board, 5), positions_after(board, 5, unfinished=True)
    assert {p for p in every if not p.is_over} == set(unfinished) != set(every)


def test_too_many_to_list_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.game.enumeration.MAX_POSITIONS", 1000)
    with pytest.raises(InputError, match=r"with 8 stones there are too many positions"):
        positions_after(Board(16, 16), 8)
