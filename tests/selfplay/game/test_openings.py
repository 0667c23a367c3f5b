from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from selfplay.errors import InputError
from selfplay.game import openings
from selfplay.game.board import Board
from selfplay.game.enumeration import positions_after
from selfplay.game.openings import RandomPlies, parse_openings
from selfplay.game.position import Position
from tests.strategies import boards


@given(boards, st.integers(0, 2**64), st.integers(0, 2**40))
def test_an_opening_is_never_over_and_always_the_same(board: Board, seed: int, game: int) -> None:
    most = min(20, board.cells - 1)
    opening = RandomPlies(board, 0, most).opening(seed, game)
    assert not opening.is_over
    assert opening.ply <= most
    assert RandomPlies(board, 0, most).opening(seed, game) == opening


def test_the_number_of_plies_is_uniform() -> None:
    plies = Counter(RandomPlies(Board(), 2, 5).opening(1, game).ply for game in range(4000))
    assert sorted(plies) == [2, 3, 4, 5]
    assert all(900 < count < 1100 for count in plies.values())


def test_the_moves_are_uniform() -> None:
    firsts = Counter(RandomPlies(Board(), 1, 1).opening(1, game).moves for game in range(7000))
    assert sorted(firsts) == [(column,) for column in range(7)]
    assert all(850 < count < 1150 for count in firsts.values())


def test_games_and_seeds_differ() -> None:
    openings = RandomPlies(Board(), 12, 12)
    assert len({openings.opening(1, game) for game in range(100)}) == 100
    assert openings.opening(1, 0) != openings.opening(2, 0)


def test_where_no_game_lasts_so_long_the_opening_is_shorter() -> None:
    # Nobody avoids three in a row on 36 cells for 35 plies.
    opening = RandomPlies(Board(6, 6, 3), 35, 35).opening(1, 0)
    assert not opening.is_over
    assert opening.ply < 35


def test_every_position_comes_once_before_any_comes_again() -> None:
    openings = parse_openings("all:2", Board())
    size = openings.distinct()
    assert size == 25  # 49 positions, one of them its own mirror image
    for first in (0, size):
        keys = {openings.opening(5, first + i).key(canonical=True) for i in range(size)}
        assert len(keys) == size
    assert [openings.opening(5, i) for i in range(size)] != [
        openings.opening(5, size + i) for i in range(size)
    ]


def test_a_file_of_positions_is_dealt_out(tmp_path: Path) -> None:
    path = tmp_path / "openings.txt"
    path.write_text("# my openings\n44\n\n  435 \n")
    openings = parse_openings(f"file:{path}", Board())
    assert {str(openings.opening(1, game)) for game in range(2)} == {"44", "435"}
    assert openings.opening(1, 10**12) in {openings.opening(1, 0), openings.opening(1, 1)}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("44\n448\n", "line 2: '448', move 3: column 8"),
        ("1212121\n", "line 1: '1212121' is a finished game"),
        ("# nothing\n", "holds no positions"),
        ("44\n\xff\n", "not a text file"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "openings.txt"
    path.write_text(text, encoding="latin-1")
    with pytest.raises(InputError, match=message):
        parse_openings(f"file:{path}", Board())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "openings are written"),
        ("five", "openings are written"),
        ("5-", "openings are written"),
        ("-5", "openings are written"),
        ("file:", "openings are written"),
        ("all:2-3", "openings are written"),
        ("6-4", "not 6-4"),
        ("0-42", "leaves no game"),
        ("all:9", "all:8 is the most"),
        ("file:/nowhere/at/all", "No such file"),
        ("file:/", "cannot read openings"),
    ],
)
def test_bad_openings_are_refused(text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_openings(text, Board())


def test_all_openings_are_enumerated_once_and_only_when_used(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    board, calls = Board(5, 6), []

    def counting(*args: Any, **options: Any) -> Sequence[Position]:
        calls.append(args)
        return positions_after(*args, **options)

    monkeypatch.setattr(openings, "positions_after", counting)
    named = [parse_openings("all:8", board) for _ in range(3)]
    assert not calls
    assert len({each.opening(1, 2) for each in named}) == len(calls) == 1
