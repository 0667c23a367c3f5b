"""Static features of a move: what is on the board after it; nothing is played on.

A move in the right half of the board is encoded as its mirror image, so that mirror images have
the same features.
"""

from __future__ import annotations

import re
from collections import namedtuple
from typing import Any

import numpy as np

from selfplay.game.board import next_cells, winning_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline
from selfplay.kernels.state_word import safe_stones
from selfplay.train.features.cell_sets import count_up_to, lowest_row

_ONE = np.uint64(1)
_NONE = np.uint64(0)

_MOVE = (
    ("row", 16),
    ("columns from the edge", 16),
    ("stones", 64),
    ("the first player moves", 2),
)
_AT_ONCE = (
    ("wins", 2),
    ("blocks", 2),
    ("hands the other side the cell above", 2),
    ("gives up an own threat above", 2),
    ("wins next time", 3),
    ("the other side wins at once", 2),
    ("replies that leave no win at once", 8),
    ("safe moves next time", 8),
    ("moves now that leave no win at once", 8),
)
_THREATS = (
    *(
        (f"{whose} {what}", width)
        for whose in ("own", "other")
        for what, width in (
            ("threats in rows that suit", 5),
            ("threats in other rows", 5),
            ("lowest threat in a row that suits", 17),
            ("lowest threat in another row", 17),
            ("threats one above another", 3),
        )
    ),
    ("new threats in rows that suit", 4),
    ("new threats in other rows", 4),
    ("threats taken in rows that suit the other side", 4),
    ("threats taken in rows that do not", 4),
)
_COUNTING = (
    ("columns first decided by an own threat in a row that suits", 5),
    ("columns first decided by an own threat in another row", 5),
    ("columns first decided by the other's threat in a row that suits it", 5),
    ("columns first decided by the other's threat in another row", 5),
    ("columns first decided by threats of both", 5),
    ("safe cells left", 64),
    ("safe cells left are odd", 2),
    ("open columns", 16),
    ("cells that both threaten", 3),
)
STATIC = (*_MOVE, *_AT_ONCE, *_THREATS, *_COUNTING)
"""Names in board language, and how many values each has."""


def places_of(names: Any) -> Any:
    """The place of each feature, by its name with underscores."""
    index = namedtuple("Index", [re.sub(r"\W+", "_", name) for name, _ in names])  # type: ignore[misc]
    return index(*range(len(names)))


AT = places_of(STATIC)


@inline
def _threat_features(board: Any, threats: Any, suits: Any) -> Any:
    good, bad = threats & suits, threats & ~suits
    return (
        count_up_to(good, 4),
        count_up_to(bad, 4),
        lowest_row(board, good),
        lowest_row(board, bad),
        count_up_to(threats & (threats << _ONE), 2),
    )


@inline
def _encode_threats(
    board: Any, mine: Any, theirs: Any, mine_before: Any, theirs_before: Any, free: Any,
    suits: Any, out: Any,
) -> Any:  # fmt: skip
    (
        out[AT.own_threats_in_rows_that_suit],
        out[AT.own_threats_in_other_rows],
        out[AT.own_lowest_threat_in_a_row_that_suits],
        out[AT.own_lowest_threat_in_another_row],
        out[AT.own_threats_one_above_another],
    ) = _threat_features(board, mine & ~free, suits)
    (
        out[AT.other_threats_in_rows_that_suit],
        out[AT.other_threats_in_other_rows],
        out[AT.other_lowest_threat_in_a_row_that_suits],
        out[AT.other_lowest_threat_in_another_row],
        out[AT.other_threats_one_above_another],
    ) = _threat_features(board, theirs & ~free, ~suits)
    new, taken = mine & ~mine_before & ~free, theirs_before & ~theirs
    out[AT.new_threats_in_rows_that_suit] = count_up_to(new & suits, 3)
    out[AT.new_threats_in_other_rows] = count_up_to(new & ~suits, 3)
    out[AT.threats_taken_in_rows_that_suit_the_other_side] = count_up_to(taken & ~suits, 3)
    out[AT.threats_taken_in_rows_that_do_not] = count_up_to(taken & suits, 3)


@inline
def _encode_zugzwang(board: Any, mine: Any, theirs: Any, mask: Any, suits: Any, out: Any) -> Any:
    """Which threat decides each column, and how many cells can be filled before one does."""
    free, empty = next_cells(board, mask), board.full & ~mask
    safe: Any = 0
    for number in range(board.columns):
        column = board.column << np.uint64(number * board.stride)
        if not free & column:
            continue
        out[AT.open_columns] += 1
        critical = (mine | theirs) & column & ~free
        if not critical:
            safe += np.int64(population(empty & column))
            continue
        lowest = critical & (~critical + _ONE)
        safe += np.int64(population((lowest - _ONE) & empty & column)) - 1
        if lowest & mine and lowest & theirs:
            at = AT.columns_first_decided_by_threats_of_both
        elif lowest & mine:
            at = AT.columns_first_decided_by_an_own_threat_in_another_row
            if lowest & suits:
                at = AT.columns_first_decided_by_an_own_threat_in_a_row_that_suits
        else:
            at = AT.columns_first_decided_by_the_other_s_threat_in_a_row_that_suits_it
            if lowest & suits:
                at = AT.columns_first_decided_by_the_other_s_threat_in_another_row
        out[at] = min(out[at] + 1, 4)
    out[AT.safe_cells_left] = min(safe, 63)
    out[AT.safe_cells_left_are_odd] = safe & 1
    out[AT.cells_that_both_threaten] = count_up_to(mine & theirs, 2)


@inline
def encode_static(board: Any, own: Any, mask: Any, column: Any, stone: Any, out: Any) -> None:
    """The features of the stone in this column."""
    other = own ^ mask
    stones = np.int64(population(mask))
    suits = board.full & ~board.odd_rows if stones & 1 else board.odd_rows
    before = board.full & ~mask
    mine_before = winning_cells(board, own) & before
    theirs_before = winning_cells(board, other) & before
    moved, after = own | stone, mask | stone
    empty, free = board.full & ~after, next_cells(board, after)
    mine, theirs = winning_cells(board, moved) & empty, theirs_before & empty
    above = (stone << _ONE) & board.full

    out[AT.row] = min(lowest_row(board, stone) - 1, 15)
    out[AT.columns_from_the_edge] = min(column, board.columns - 1 - column)
    out[AT.stones] = min(stones, 63)
    out[AT.the_first_player_moves] = 1 - (stones & 1)
    out[AT.wins] = stone & mine_before != _NONE
    out[AT.blocks] = stone & theirs_before != _NONE
    out[AT.hands_the_other_side_the_cell_above] = above & theirs_before != _NONE
    out[AT.gives_up_an_own_threat_above] = above & mine_before != _NONE
    out[AT.wins_next_time] = count_up_to(mine & free, 2)
    out[AT.the_other_side_wins_at_once] = theirs & free != _NONE
    out[AT.replies_that_leave_no_win_at_once] = count_up_to(safe_stones(board, after, mine), 7)
    out[AT.safe_moves_next_time] = count_up_to(free & ~(theirs >> _ONE), 7)
    out[AT.moves_now_that_leave_no_win_at_once] = count_up_to(
        safe_stones(board, mask, theirs_before), 7
    )
    _encode_threats(board, mine, theirs, mine_before, theirs_before, free, suits, out)
    _encode_zugzwang(board, mine, theirs, after, suits, out)
