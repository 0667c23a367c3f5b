import numpy as np
import pytest

from selfplay.errors import InputError
from selfplay.game.board import CONNECTS, SIZES, Board


@pytest.mark.parametrize(
    ("size", "connect", "message"),
    [
        ("3x6", 4, "4 to 16 columns, not 3"),
        ("7x17", 4, "4 to 16 rows, not 17"),
        ("7", 4, "COLUMNSxROWS"),
        ("7x6x5", 4, "COLUMNSxROWS"),
        ("", 4, "COLUMNSxROWS"),
        ("-7x6", 4, "COLUMNSxROWS"),
        ("999x999", 4, "columns, not 999"),
        ("7x6", 2, "from 3 to 6, not 2"),
        ("7x6", 7, "from 3 to 6, not 7"),
        ("4x4", 5, "does not fit on a 4x4 board"),
    ],
)
def test_a_bad_board_is_refused(size: str, connect: int, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Board.parse(size, connect)


def test_parse_reads_what_size_writes() -> None:
    assert Board.parse(Board(16, 9).size, 4) == Board(16, 9, 4)


def test_the_layout_is_the_drawn_one() -> None:
    board = Board()
    assert board.stride == 7
    assert [bit for bit in range(49) if board.bottom >> bit & 1] == [0, 7, 14, 21, 28, 35, 42]
    assert [bit for bit in range(49) if not board.full >> bit & 1] == [6, 13, 20, 27, 34, 41, 48]


def test_no_shift_reaches_the_width_of_a_word() -> None:
    # Beyond it compiled shifts are undefined, and Python's are not: nothing else would tell.
    for columns in SIZES:
        for rows in SIZES:
            for connect in CONNECTS:
                if connect <= columns and (rows + 1) * columns <= 64:
                    board = Board(columns, rows, connect)
                    assert (connect - 1) * (board.stride + 1) < 64


def test_measures_out_of_an_array_are_whole_numbers() -> None:
    board = Board(np.int8(16), np.int8(16), np.int8(4))  # type: ignore[arg-type]
    assert board.full == Board(16, 16).full
    with pytest.raises(InputError, match=r"columns is a whole number, not 7\.0"):
        Board(7.0, 6)  # type: ignore[arg-type]


def test_which_boards_fit_one_word() -> None:
    assert Board(8, 7).fits_word
    assert not Board(8, 8).fits_word
    assert Board(12, 4).fits_word
    assert not Board(13, 4).fits_word
