"""The features of a move: threats that force, zugzwang, open lines, and how playouts end.

Nothing searches: threat sequences (`threat_search.py`) and playouts (`playouts.py`) follow one line
of play. A move in the right half of the board is encoded as its mirror image, so that mirror images
have the same features. The tactical features come first: alone they are the set `tactics`.
"""

from __future__ import annotations

import re
from collections import namedtuple
from typing import Any

import numpy as np

from selfplay.game.board import mirrored, next_cells, position_key, winning_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline
from selfplay.kernels.state_word import safe_stones
from selfplay.train.features.cell_sets import count_up_to, encode_cells, lowest_row, several
from selfplay.train.features.move_weights import PHASES, POINTS
from selfplay.train.features.playouts import AS_ARRAY, DRAWN, LOST, NAMES, WON, end_of
from selfplay.train.features.threat_search import forced

_ONE = np.uint64(1)
_NONE = np.uint64(0)

_MOVE = (
    ("row", 16),
    ("columns from the edge", 16),
    ("stones", 64),
    ("the first player moves", 2),
)
_TACTICS = (
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
_FORCE = (
    ("forces a win, in steps", 14),
    ("the other side then forces a win, in steps", 14),
    ("threatens to force a win, in steps", 14),
    ("the other side threatens to force a win, in steps", 14),
    ("other moves that are not lost by force", 8),
    ("another move forces a win", 2),
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
_LINES = (
    *((f"{whose} open lines with {stones}", 256) for whose in ("own", "other") for stones in "123"),
    ("own stones in the best line through it", 4),
    ("other stones in the best line through it", 4),
    ("own open lines through it", 64),
    ("other open lines through it", 64),
    ("own open lines with 2 and more through it", 64),
    ("other open lines with 2 and more through it", 64),
    *(
        (f"{whose} open lines with 2, {what}", 256)
        for whose in ("own", "other")
        for what in ("to be filled at once", "a row that suits missing", "a cell above missing")
    ),
    ("lines, added up", 256),
    ("lines, against the best other move", 256),
    ("better moves by lines", 16),
)
_CONTINUED = (
    *((f"the end, {name}", 7) for name in NAMES),
    ("ends, added up", 7 * len(NAMES)),
    ("ends, against the best other move", 128),
    ("better moves by ends", 16),
)
_POINTS = (
    ("points, against the best other move", 256),
    ("better moves by points", 16),
)
TACTICS = (*_MOVE, *_TACTICS, *_FORCE, *_THREATS, *_COUNTING)
OF_MOVE = (*TACTICS, *_LINES, *_CONTINUED, *_POINTS)
"""The features of a move in their order: names in board language, and how many values each has."""

Index = namedtuple("Index", [re.sub(r"\W+", "_", name) for name, _ in OF_MOVE])  # type: ignore[misc]
AT: Any = Index(*range(len(OF_MOVE)))
"""The place of each feature, by its name with underscores."""

_FIRST_END = AT.ends_added_up - len(NAMES)
_WEIGHED = AT.points_against_the_best_other_move
"""The number of features with points; the others follow from these points."""
_WORTH = np.zeros((len(PHASES) + 1, _WEIGHED), np.int64)
for _name, _points in POINTS.items():
    _WORTH[:, [name for name, _ in OF_MOVE[:_WEIGHED]].index(_name)] = _points
_LINES_SUM, _ENDS_SUM, _POINTS_SUM = range(3)
_SCALES = ((128, 1), (64, 1), (128, 4))
"""The code of a margin of 0, and the step, of each sum."""
SCALES = {
    f"{what}, against the best other move": scale
    for what, scale in zip(("lines", "ends", "points"), _SCALES, strict=True)
}


def meaning_of(name: str, width: int) -> str:
    """What the values of a feature mean."""
    if width == 2:
        return "0 no, 1 yes"
    if name in SCALES:
        middle, step = SCALES[name]
        return f"a margin: {middle} is 0, a step is {step}"
    if name == "lines, added up":
        return "a sum: 128 is 0"
    if name == "ends, added up":
        return f"the sum of the ends of {len(NAMES)} playouts"
    if name.startswith("the end, "):
        return "0 to 2 lost, soon to late; 3 drawn; 4 to 6 won, late to soon"
    if name.endswith("in steps"):
        return "0 no; else the steps"
    if "lowest threat" in name:
        return "0 none; else its row, from 1 at the bottom"
    if name in ("row", "columns from the edge"):
        return f"from 0 at the {'bottom' if name == 'row' else 'edge'}"
    return f"a number up to {width - 1}"


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
def _encode_lines(
    board: Any, own: Any, other: Any, stone: Any, free: Any, suits: Any, out: Any
) -> Any:
    """Open lines by their stones, on the board and through the stone; returns their sum."""
    total = 0
    for line in board.windows:
        with_own, with_other = line & own, line & other
        if not with_other:
            if with_own:
                count = count_up_to(with_own, 3)
                out[AT.own_open_lines_with_1 + count - 1] += 1
                total += 1 if count == 1 else 4 if count == 2 else 16
                if count == 2:
                    missing = line & ~own
                    out[AT.own_open_lines_with_2_to_be_filled_at_once] += missing & ~free == _NONE
                    out[AT.own_open_lines_with_2_a_row_that_suits_missing] += (
                        missing & ~free & suits != _NONE
                    )
                    out[AT.own_open_lines_with_2_a_cell_above_missing] += (
                        missing & (free << _ONE) != _NONE
                    )
                if line & stone:
                    out[AT.own_open_lines_through_it] += 1
                    out[AT.own_open_lines_with_2_and_more_through_it] += count > 2
                    best = AT.own_stones_in_the_best_line_through_it
                    out[best] = max(out[best], count - 1)
        elif not with_own:
            count = count_up_to(with_other, 3)
            out[AT.other_open_lines_with_1 + count - 1] += 1
            total -= 1 if count == 1 else 4 if count == 2 else 16
            if count == 2:
                missing = line & ~other
                out[AT.other_open_lines_with_2_to_be_filled_at_once] += missing & ~free == _NONE
                out[AT.other_open_lines_with_2_a_row_that_suits_missing] += (
                    missing & ~free & ~suits != _NONE
                )
                out[AT.other_open_lines_with_2_a_cell_above_missing] += (
                    missing & (free << _ONE) != _NONE
                )
        elif line & stone and with_own == stone:
            count = count_up_to(with_other, 3)
            out[AT.other_open_lines_through_it] += 1
            out[AT.other_open_lines_with_2_and_more_through_it] += count > 1
            best = AT.other_stones_in_the_best_line_through_it
            out[best] = max(out[best], count)
    out[AT.lines_added_up] = min(max(total + 128, 0), 255)
    return total


@inline
def _encode_playouts(
    board: Any, own: Any, other: Any, mask: Any, stone: Any, certain: Any, out: Any
) -> Any:
    """How each playout ends, or the certain end of all; returns their sum."""
    total = 0
    for k in range(len(AS_ARRAY)):
        end = certain
        if certain < 0:
            end = end_of(board, other, own, mask, stone, AS_ARRAY[k])
        out[_FIRST_END + k] = end
        total += end
    out[AT.ends_added_up] = total
    return total


@inline
def _encode_move(
    board: Any, own: Any, mask: Any, column: Any, tactics_only: Any, out: Any, sums: Any
) -> Any:
    """Everything but comparisons with other moves; whether it wins by force, or loses."""
    out[:] = 0
    other = own ^ mask
    stone = next_cells(board, mask) & (
        board.column << (np.uint64(column) * np.uint64(board.stride))
    )
    stones = np.int64(population(mask))
    suits = board.full & ~board.odd_rows if stones & 1 else board.odd_rows
    before = board.full & ~mask
    mine_before = winning_cells(board, own) & before
    theirs_before = winning_cells(board, other) & before
    moved, after = own | stone, mask | stone
    empty, free = board.full & ~after, next_cells(board, after)
    mine, theirs = winning_cells(board, moved) & empty, theirs_before & empty
    above = (stone << _ONE) & board.full
    replies = safe_stones(board, after, mine)

    out[AT.row] = min(lowest_row(board, stone) - 1, 15)
    out[AT.columns_from_the_edge] = min(column, board.columns - 1 - column)
    out[AT.stones] = min(stones, 63)
    out[AT.the_first_player_moves] = 1 - (stones & 1)
    wins, loses_at_once = stone & mine_before != _NONE, theirs & free != _NONE
    out[AT.wins] = wins
    out[AT.blocks] = stone & theirs_before != _NONE
    out[AT.hands_the_other_side_the_cell_above] = above & theirs_before != _NONE
    out[AT.gives_up_an_own_threat_above] = above & mine_before != _NONE
    out[AT.wins_next_time] = count_up_to(mine & free, 2)
    out[AT.the_other_side_wins_at_once] = loses_at_once
    out[AT.replies_that_leave_no_win_at_once] = count_up_to(replies, 7)
    out[AT.safe_moves_next_time] = count_up_to(free & ~(theirs >> _ONE), 7)
    out[AT.moves_now_that_leave_no_win_at_once] = count_up_to(
        safe_stones(board, mask, theirs_before), 7
    )

    # Where the end is certain, no playout is needed.
    certain = -1
    if wins:
        out[AT.forces_a_win_in_steps], certain = 1, WON
    elif loses_at_once:
        out[AT.the_other_side_then_forces_a_win_in_steps], certain = 1, LOST
    else:
        parry = mine & free
        if several(parry):
            out[AT.forces_a_win_in_steps], certain = 2, WON
        elif parry:
            steps = forced(board, moved, other | parry, after | parry)
            if steps:
                out[AT.forces_a_win_in_steps], certain = steps + 1, WON
        if certain < 0:
            steps = forced(board, other, moved, after)
            if steps:
                out[AT.the_other_side_then_forces_a_win_in_steps], certain = steps, LOST
            elif not replies:
                certain = WON if empty else DRAWN
            out[AT.threatens_to_force_a_win_in_steps] = forced(board, moved, other, after)
    _encode_threats(board, mine, theirs, mine_before, theirs_before, free, suits, out)
    _encode_zugzwang(board, mine, theirs, after, suits, out)
    if not tactics_only:
        sums[_LINES_SUM] = _encode_lines(board, moved, other, stone, free, suits, out)
        sums[_ENDS_SUM] = _encode_playouts(board, moved, other, after, stone, certain, out)
        encode_cells(board, moved, after, out[len(OF_MOVE) :])
    return (
        out[AT.forces_a_win_in_steps] > 0,
        out[AT.the_other_side_then_forces_a_win_in_steps] > 0,
    )


@inline
def _against_others(sums: Any, which: Any, is_open: Any, column: Any) -> Any:
    """The code of the margin over the best other move, and how many moves are better."""
    best, better = np.int64(-(1 << 20)), 0
    for k in range(len(is_open)):
        if is_open[k] and k != column:
            best = max(best, sums[k, which])
            better += sums[k, which] > sums[column, which]
    middle, step = _SCALES[which]
    margin = (sums[column, which] - best) // step + middle
    return min(max(margin, 0), 2 * middle - 1), min(better, 15)


@inline
def encode_moves(board: Any, own: Any, mask: Any, tactics_only: Any, out: Any) -> Any:
    """All features of all moves, uint8 [column, feature]; 0 where a column is full."""
    image_own = np.uint64(mirrored(board, own))
    image_mask = np.uint64(mirrored(board, mask))
    turned = position_key(board, image_own, image_mask) < position_key(board, own, mask)
    sums = np.zeros((board.columns, 3), np.int64)
    is_open = np.zeros(board.columns, np.bool_)
    wins, not_lost = 0, 0
    for column in range(board.columns):
        top = np.uint64(column * board.stride + board.rows - 1)
        if (mask >> top) & _ONE:
            out[column] = 0
            continue
        is_open[column] = True
        own_seen, mask_seen, column_seen = own, mask, column
        from_right = board.columns - 1 - column
        if column > from_right or (column == from_right and turned):
            own_seen, mask_seen, column_seen = image_own, image_mask, from_right
        is_won, is_lost = _encode_move(
            board, own_seen, mask_seen, column_seen, tactics_only, out[column], sums[column]
        )
        wins += is_won
        not_lost += not is_lost
    if turned:
        danger = forced(board, image_own ^ image_mask, image_own, image_mask)
    else:
        danger = forced(board, own ^ mask, own, mask)
    for column in range(board.columns):
        if is_open[column]:
            row = out[column]
            is_won = row[AT.forces_a_win_in_steps] > 0
            is_lost = row[AT.the_other_side_then_forces_a_win_in_steps] > 0
            row[AT.the_other_side_threatens_to_force_a_win_in_steps] = danger
            row[AT.other_moves_that_are_not_lost_by_force] = min(not_lost - (not is_lost), 7)
            row[AT.another_move_forces_a_win] = wins - is_won > 0
    if not tactics_only:
        _encode_comparisons(mask, sums, is_open, out)


@inline
def _encode_comparisons(mask: Any, sums: Any, is_open: Any, out: Any) -> Any:
    phase: Any = 0
    for stones in PHASES:
        phase += np.int64(population(mask)) >= stones
    for column in range(len(is_open)):
        if is_open[column]:
            row = out[column]
            row[AT.lines_against_the_best_other_move], row[AT.better_moves_by_lines] = (
                _against_others(sums, _LINES_SUM, is_open, column)
            )
            row[AT.ends_against_the_best_other_move], row[AT.better_moves_by_ends] = (
                _against_others(sums, _ENDS_SUM, is_open, column)
            )
            for k in range(_WEIGHED):
                sums[column, _POINTS_SUM] += _WORTH[phase, k] * row[k]
    for column in range(len(is_open)):
        if is_open[column]:
            row = out[column]
            row[AT.points_against_the_best_other_move], row[AT.better_moves_by_points] = (
                _against_others(sums, _POINTS_SUM, is_open, column)
            )
