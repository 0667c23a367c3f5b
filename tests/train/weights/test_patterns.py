"""The state of a pattern says what is in its cells, and all lines are in patterns."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from selfplay.arrays import Array
from selfplay.game.board import Board, mirrored
from selfplay.game.position import Position
from selfplay.kernels.jit import kernel
from selfplay.minimax.heuristics import all_lines
from selfplay.train.weights.patterns import low_bits, patterns_of, starts, state_of, states
from tests.strategies import unfinished
from tests.train.weights.definitions import states_of

BOARDS = [
    Board(), Board(8, 7), Board(6, 5), Board(7, 6, 5), Board(8, 7, 3), Board(4, 12, 5),
    Board(9, 6, 6), Board(12, 4, 5), Board(7, 4),
]  # fmt: skip


@kernel
def _states(board: Any, other: Any, taken: Any, out: Array) -> None:
    low = low_bits(board, other, taken)
    for pattern in range(len(board.pattern_size)):
        out[pattern] = state_of(board, pattern, taken, low)


def found_in(position: Position) -> list[int]:
    """The states on the board and on its mirror image, which were found by compiled code."""
    board = position.board
    out = np.zeros((2, len(patterns_of(board))), np.int64)
    _states(board, np.uint64(position.own), np.uint64(position.mask), out[0])
    image = mirrored(board, position.own), mirrored(board, position.mask)
    _states(board, *map(np.uint64, image), out[1])
    return [int(state) for state in out.ravel()]


@pytest.mark.parametrize("board", [Board(), Board(8, 7, 3), Board(12, 4, 5)], ids=str)
@settings(max_examples=30)
@given(st.data())
def test_a_state_is_what_is_in_the_cells(board: Board, data: st.DataObject) -> None:
    position = data.draw(unfinished(board))
    found = found_in(position)
    assert Counter(found) == Counter(states_of(position))
    assert all(state < states(board) for state in found)


@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_every_line_is_in_a_pattern_or_its_image(board: Board) -> None:
    known: set[frozenset[tuple[int, int]]] = set()
    for pattern in patterns_of(board):
        assert len(set(pattern.cells)) == len(pattern.cells) <= 8
        if pattern.is_straight:
            for start in range(len(pattern.cells) - board.connect + 1):
                line = pattern.cells[start : start + board.connect]
                image = frozenset((board.columns - 1 - column, row) for column, row in line)
                known |= {frozenset(line), image}
    columns, rows = (part.tolist() for part in np.divmod(all_lines(board), board.rows))
    lines = {frozenset(zip(*line, strict=True)) for line in zip(columns, rows, strict=True)}
    missing = lines - known
    # Diagonals of so few rows cannot be gathered.
    assert not missing or board.rows - 1 < board.connect
    assert known <= lines


def test_blocks_are_on_the_usual_board() -> None:
    patterns = patterns_of(Board())
    blocks = [pattern for pattern in patterns if not pattern.is_straight]
    assert (len(patterns), len(blocks)) == (35, 19)
    assert starts(Board())[-1] == sum(4 ** len(pattern.cells) for pattern in patterns)
