"""What a strong player sees in a move: threats that force, who runs out of safe moves, and how
the game goes on by habit.

Two ways of looking ahead, neither of which is a search: chains of threats (`chains.py`) and
continuations (`continuations.py`). All is asked of a move in the left half of the board, or of the
mirror image of one in the right half, so that mirror images are asked the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board, mirrored, next_cells, position_key, winning_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline, kernel
from selfplay.kernels.state_word import safe_stones
from selfplay.train.features.cell_sets import lowest_row, several, some
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
OF_MOVE = (
    *_MOVE,
    *_TACTICS,
    *_FORCE,
    *_THREATS,
    *_COUNTING,
    *_LINES,
    *_CONTINUED,
    *_POINTS,
)
_AT = np.cumsum(
    [
        0,
        *map(len, (_MOVE, _TACTICS, _FORCE, _THREATS, _COUNTING, _LINES, _CONTINUED)),
    ]
)
_AT_TACTICS, _AT_FORCE, _AT_THREATS, _AT_COUNTING, _AT_LINES, _AT_ENDS, _AT_POINTS = (
    int(at) for at in _AT[1:]
)
_WORTH = np.zeros((len(PHASES) + 1, _AT_POINTS), np.int64)
for _number, (_name, _width) in enumerate(OF_MOVE[:_AT_POINTS]):
    _WORTH[:, _number] = POINTS.get(_name, 0)
SCALES = {
    "lines, against the best other move": (128, 1),
    "ends, against the best other move": (64, 1),
    "points, against the best other move": (128, 4),
}
"""What is counted from a middle, and in what steps."""

_LINES_SUM, _ENDS_SUM = _AT_LINES + 18, _AT_ENDS + len(NAMES)


def points_of(stones: int, codes: Array) -> Array:
    """int64 [sight]: what each thing seen in a move counts, with so many stones on the board."""
    phase = sum(stones >= edge for edge in PHASES)
    found: Array = _WORTH[phase] * codes[:_AT_POINTS].astype(np.int64)
    return found


@inline
def _look_at_threats(
    board: Any, mine: Any, theirs: Any, mine_before: Any, theirs_before: Any, free: Any,
    suits: Any, out: Any,
) -> Any:  # fmt: skip
    at = _AT_THREATS
    for side in range(2):
        threats = (theirs if side else mine) & ~free
        good = threats & (~suits if side else suits)
        bad = threats & ~good
        out[at] = some(good, 4)
        out[at + 1] = some(bad, 4)
        out[at + 2] = lowest_row(board, good)
        out[at + 3] = lowest_row(board, bad)
        out[at + 4] = some(threats & (threats << _ONE), 2)
        at += 5
    new, taken = mine & ~mine_before & ~free, theirs_before & ~theirs
    out[at] = some(new & suits, 3)
    out[at + 1] = some(new & ~suits, 3)
    out[at + 2] = some(taken & ~suits, 3)
    out[at + 3] = some(taken & suits, 3)


@inline
def _count_out(board: Any, mine: Any, theirs: Any, mask: Any, suits: Any, out: Any) -> Any:
    """Which threat decides each column, and how many cells can be filled before one does."""
    free, empty = next_cells(board, mask), board.full & ~mask
    at = _AT_COUNTING
    safe: Any = 0
    for number in range(board.columns):
        column = board.column << np.uint64(number * board.stride)
        if not free & column:
            continue
        out[at + 7] += 1
        critical = (mine | theirs) & column & ~free
        if not critical:
            safe += np.int64(population(empty & column))
            continue
        lowest = critical & (~critical + _ONE)
        safe += np.int64(population((lowest - _ONE) & empty & column)) - 1
        if lowest & mine and lowest & theirs:
            kind = 4
        elif lowest & mine:
            kind = 0 if lowest & suits else 1
        else:
            kind = 3 if lowest & suits else 2
        out[at + kind] = min(out[at + kind] + 1, 4)
    out[at + 5] = min(safe, 63)
    out[at + 6] = safe & 1
    out[at + 8] = some(mine & theirs, 2)


@inline
def _add_up_lines(
    board: Any, own: Any, other: Any, stone: Any, free: Any, suits: Any, out: Any
) -> Any:
    """Open lines by their stones, on the board and through the stone; gives their sum."""
    at = _AT_LINES
    total = 0
    for line in board.windows:
        with_own, with_other = line & own, line & other
        if not with_other:
            if with_own:
                count = some(with_own, 3)
                out[at + count - 1] += 1
                total += 1 if count == 1 else 4 if count == 2 else 16
                if count == 2:
                    lacking = line & ~own
                    out[at + 12] += lacking & ~free == _NONE
                    out[at + 13] += lacking & ~free & suits != _NONE
                    out[at + 14] += lacking & (free << _ONE) != _NONE
                if line & stone:
                    out[at + 8] += 1
                    out[at + 10] += count > 2
                    out[at + 6] = max(out[at + 6], count - 1)
        elif not with_own:
            count = some(with_other, 3)
            out[at + 2 + count] += 1
            total -= 1 if count == 1 else 4 if count == 2 else 16
            if count == 2:
                lacking = line & ~other
                out[at + 15] += lacking & ~free == _NONE
                out[at + 16] += lacking & ~free & ~suits != _NONE
                out[at + 17] += lacking & (free << _ONE) != _NONE
        elif line & stone and with_own == stone:
            count = some(with_other, 3)
            out[at + 9] += 1
            out[at + 11] += count > 1
            out[at + 7] = max(out[at + 7], count)
    out[_LINES_SUM] = min(max(total + 128, 0), 255)
    return total


@inline
def _consider(board: Any, own: Any, mask: Any, column: Any, out: Any, sums: Any) -> Any:
    """What is seen in one move that can be made, but for what compares it with others."""
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

    out[0] = min(lowest_row(board, stone) - 1, 15)
    out[1] = min(column, board.columns - 1 - column)
    out[2] = min(stones, 63)
    out[3] = 1 - (stones & 1)
    at = _AT_TACTICS
    wins, loses_at_once = stone & mine_before != _NONE, theirs & free != _NONE
    out[at] = wins
    out[at + 1] = stone & theirs_before != _NONE
    out[at + 2] = above & theirs_before != _NONE
    out[at + 3] = above & mine_before != _NONE
    out[at + 4] = some(mine & free, 2)
    out[at + 5] = loses_at_once
    out[at + 6] = some(replies, 7)
    out[at + 7] = some(free & ~(theirs >> _ONE), 7)
    out[at + 8] = some(safe_stones(board, mask, theirs_before), 7)

    # What is certain is not asked again: `sure` is how it ends.
    at = _AT_FORCE
    sure = -1
    if wins:
        out[at], sure = 1, WON
    elif loses_at_once:
        out[at + 1], sure = 1, LOST
    else:
        parry = mine & free
        if several(parry):
            out[at], sure = 2, WON
        elif parry:
            steps = forced(board, moved, other | parry, after | parry)
            if steps:
                out[at], sure = steps + 1, WON
        if sure < 0:
            steps = forced(board, other, moved, after)
            if steps:
                out[at + 1], sure = steps, LOST
            elif not replies:
                sure = WON if empty else DRAWN
            out[at + 2] = forced(board, moved, other, after)
    _look_at_threats(board, mine, theirs, mine_before, theirs_before, free, suits, out)
    _count_out(board, mine, theirs, after, suits, out)
    sums[0] = _add_up_lines(board, moved, other, stone, free, suits, out)

    at = len(OF_MOVE)
    for row_from_top in range(board.rows):
        for k in range(board.columns):
            bit = np.uint64(k * board.stride + board.rows - 1 - row_from_top)
            out[at] = np.uint8((after >> bit) & _ONE) * (2 - np.uint8((moved >> bit) & _ONE))
            at += 1
    at = _AT_ENDS
    total = 0
    for k in range(len(AS_ARRAY)):
        end = sure
        if sure < 0:
            end = end_of(board, other, moved, after, stone, AS_ARRAY[k])
        out[at + k] = end
        total += end
    out[_ENDS_SUM] = total
    sums[1] = total
    return out[_AT_FORCE] > 0, out[_AT_FORCE + 1] > 0


@inline
def _against_others(sums: Any, open_columns: Any, column: Any, which: Any) -> Any:
    """How far a sum is above the best of the other moves, and how many are above it."""
    best, above = np.int64(-(1 << 20)), 0
    for k in range(len(open_columns)):
        if open_columns[k] and k != column:
            best = max(best, sums[k, which])
            above += sums[k, which] > sums[column, which]
    return sums[column, which] - best, min(above, 15)


@inline
def survey(board: Any, own: Any, mask: Any, out: Any) -> Any:
    """All features of all moves, uint8 [column, feature]; 0 where none can be made."""
    image_own = np.uint64(mirrored(board, own))
    image_mask = np.uint64(mirrored(board, mask))
    turned = position_key(board, image_own, image_mask) < position_key(board, own, mask)
    sums = np.zeros((board.columns, 3), np.int64)
    phase: Any = 0
    for stones in PHASES:
        phase += np.int64(population(mask)) >= stones
    open_columns = np.zeros(board.columns, np.bool_)
    forces, holds = 0, 0
    for column in range(board.columns):
        top = np.uint64(column * board.stride + board.rows - 1)
        if (mask >> top) & _ONE:
            out[column] = 0
            continue
        open_columns[column] = True
        from_right = board.columns - 1 - column
        if column > from_right or (column == from_right and turned):
            wins, loses = _consider(
                board, image_own, image_mask, from_right, out[column], sums[column]
            )
        else:
            wins, loses = _consider(board, own, mask, column, out[column], sums[column])
        forces += wins
        holds += not loses
    if turned:
        danger = forced(board, image_own ^ image_mask, image_own, image_mask)
    else:
        danger = forced(board, own ^ mask, own, mask)
    for column in range(board.columns):
        if not open_columns[column]:
            continue
        asked = out[column]
        at = _AT_FORCE
        asked[at + 3] = danger
        asked[at + 4] = min(holds - (asked[at + 1] == 0), 7)
        asked[at + 5] = forces - (asked[at] > 0) > 0
        less, above = _against_others(sums, open_columns, column, 0)
        asked[_LINES_SUM + 1] = min(max(less + 128, 0), 255)
        asked[_LINES_SUM + 2] = above
        less, above = _against_others(sums, open_columns, column, 1)
        asked[_ENDS_SUM + 1] = min(max(less + 64, 0), 127)
        asked[_ENDS_SUM + 2] = above
        for k in range(_AT_POINTS):
            sums[column, 2] += _WORTH[phase, k] * asked[k]
    for column in range(board.columns):
        if open_columns[column]:
            less, above = _against_others(sums, open_columns, column, 2)
            out[column, _AT_POINTS] = min(max(less // 4 + 128, 0), 255)
            out[column, _AT_POINTS + 1] = above


@kernel
def survey_all(board: Board, own: Array, mask: Array, out: Array) -> None:
    """uint8 [position, column, feature]"""
    for row in range(len(own)):
        survey(board, own[row], mask[row], out[row])
