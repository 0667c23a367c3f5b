"""What a strong player sees in a move: threats that force, who runs out of safe moves, and how
the game goes on by habit.

Two ways of looking ahead, neither of which is a search:

* a chain of threats: a side threatens, the only reply is made, it threatens again. The other
  side never has a choice; the one that threatens goes where it threatens most.
* a continuation: both sides play on to the end by habit. They take a win, prevent one, give
  none away, keep their own threats, and of what is left make the move with the most points.
  What a move is worth is counted by a habit; there are two, of a bold and of a wary player.

All is asked of a move in the left half of the board, or of the mirror image of one in the right
half, so that mirror images are asked the same.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.bits import population, trailing_zeros
from selfplay.board import Board, mirrored, next_cells, position_key, winning_cells
from selfplay.compiled import board_constant, inline, kernel
from selfplay.evaluations import all_runs
from selfplay.words import safe_stones
from train.points import PHASES, POINTS

Array = np.ndarray[Any, Any]

_ONE = np.uint64(1)
_NONE = np.uint64(0)

# The points of a move, by habit: for each own threat then, and more if its row suits; for each
# threat of the other side's that this cell would have made, and more if its row suits; for a
# threat to win at once; for preventing two at once; for each line through the cell that is empty,
# has one own stone, two, one of the other side's, two; for answering right above; for a row
# that suits. Odd rows suit the first player, even ones the second.
HABITS = np.array(
    [
        [480, 320, 320, 160, 400, 500, 20, 20, 20, 20, 20, 0, 0],
        [0, 0, 0, 0, 0, 0, 20, 30, 60, 20, 40, 0, 0],
        [727, 945, 938, 772, 7238, 2393, 60, 13, 19, 135, -33, 45, 76],
    ],
    np.int64,
)
# Points of a line by own and other stones in it, four to a row: nothing where both have some.
_LINE_POINTS = np.zeros((len(HABITS), 16), np.int64)
_LINE_POINTS[:, [0, 4, 8, 1, 2]] = HABITS[:, 6:11]
_WHO = ("plain", "shaping", "forcing")
# Continuations: the habits of this side and of the other, and who answers right above where that
# is safe: nobody, the other side, this side, both.
CONTINUATIONS = (
    *((habit, habit, 0) for habit in range(len(HABITS))),
    (1, 0, 0),
    (0, 0, 1),
    (0, 0, 2),
    (0, 0, 3),
)
_CONTINUATIONS = np.array(CONTINUATIONS, np.int64)
_ANSWERING = ("", ", who answers right above", "", ", both answering right above")
_NAMES = tuple(
    f"a {_WHO[this]} player{', answering right above,' if answering == 2 else ''} "
    f"against a {_WHO[that]} one{_ANSWERING[answering]}"
    for this, that, answering in CONTINUATIONS
)
_CERTAIN = np.int64(1 << 40)
_STEPS = 10
"""The longest chain of threats."""

LOST, DRAWN, WON = 0, 3, 6
"""How a continuation ends for the side that moves: 0-2 lost, sooner to later, 4-6 won, later to
sooner."""

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
    *((f"the end, {name}", 7) for name in _NAMES),
    ("ends, added up", 7 * len(_NAMES)),
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
_LINES_SUM, _ENDS_SUM = _AT_LINES + 18, _AT_ENDS + len(_NAMES)


def windows(board: Board) -> Array:
    """All lines of so many cells as win, as sets of cells."""
    runs = [[divmod(cell, board.rows) for cell in run] for run in all_runs(board).tolist()]
    return np.array(
        [sum(1 << (column * board.stride + row) for column, row in run) for run in runs], np.uint64
    )


def odd_rows(board: Board) -> int:
    """The cells of the first, third, … row from below."""
    return sum(board.bottom << row for row in range(0, board.rows, 2))


def _windows_through(board: Board) -> Array:
    """uint64 [bit, …]: the lines through a cell, filled up with empty ones."""
    lines = windows(board).tolist()
    through = [[line for line in lines if line >> bit & 1] for bit in range(64)]
    found = np.zeros((64, max(map(len, through)) + 1), np.uint64)
    for bit, some in enumerate(through):
        found[bit, : len(some)] = some
    return found


board_constant("windows", windows)
board_constant("windows_through", _windows_through)
board_constant("lines_through", lambda board: (_windows_through(board) != 0).sum(axis=1))
board_constant("odd_rows", lambda board: np.uint64(odd_rows(board)))
board_constant("column", lambda board: np.uint64((1 << board.rows) - 1))


@inline
def _some(cells: Any, most: Any) -> Any:
    """How many cells there are, or the most that is told apart."""
    return min(np.int64(population(cells)), most)


@inline
def _several(cells: Any) -> Any:
    return cells & (cells - _ONE) != _NONE


@inline
def _lowest_row(board: Any, cells: Any) -> Any:
    """The lowest row that any of the cells is in, counted from 1; 0 if there are none."""
    row = board.bottom
    for k in range(board.rows):
        if cells & row:
            return k + 1
        row <<= _ONE
    return 0


@inline
def _chain(board: Any, own: Any, other: Any, mask: Any, first: Any) -> Any:
    """The steps in which the side to move wins by a chain of threats that begins with `first`,
    if that is not empty; 0 if it does not."""
    for step in range(_STEPS):
        empty, free = board.full & ~mask, next_cells(board, mask)
        if winning_cells(board, own) & free:
            return step + 1
        dangers = winning_cells(board, other) & empty
        moves = dangers & free
        if _several(moves):
            return 0
        if step == 0 and first:
            if moves and moves != first:
                return 0
            moves = first
        elif not moves:
            moves = free
        moves &= ~(dangers >> _ONE)
        best, chosen, parry = np.int64(-9), _NONE, _NONE
        while moves:
            stone = moves & (~moves + _ONE)
            moves ^= stone
            after = mask | stone
            wins = winning_cells(board, own | stone) & board.full & ~after
            at_once = wins & next_cells(board, after)
            if not at_once:
                continue
            if _several(at_once) or (at_once << _ONE) & wins:
                return step + 2
            worth = np.int64(population(wins))
            if (at_once << _ONE) & dangers:
                worth -= 8
            if worth > best:
                best, chosen, parry = worth, stone, at_once
        if not chosen:
            return 0
        own |= chosen
        other |= parry
        mask |= chosen | parry
    return 0


@inline
def _forced(board: Any, own: Any, other: Any, mask: Any) -> Any:
    """The fewest steps in which the side to move wins by a chain of threats; 0 if it does not."""
    free = next_cells(board, mask)
    if winning_cells(board, own) & free:
        return 1
    if winning_cells(board, other) & free:
        return _chain(board, own, other, mask, _NONE)
    best = 0
    while free:
        stone = free & (~free + _ONE)
        free ^= stone
        after = mask | stone
        if winning_cells(board, own | stone) & next_cells(board, after):
            steps = _chain(board, own, other, mask, stone)
            if steps and (best == 0 or steps < best):
                best = steps
    return best


@inline
def _points(
    board: Any, own: Any, other: Any, mask: Any, stone: Any, suits: Any, last: Any, habit: Any
) -> Any:
    """What a move is worth by a habit; more than anything if it threatens in two places."""
    after = mask | stone
    empty, free = board.full & ~after, next_cells(board, after)
    mine = winning_cells(board, own | stone) & empty
    at_once = mine & free
    if _several(at_once) or (at_once << _ONE) & mine:
        return _CERTAIN
    theirs = winning_cells(board, other | stone) & empty
    points = HABITS[habit, 0] * np.int64(population(mine))
    points += HABITS[habit, 1] * np.int64(population(mine & suits))
    points += HABITS[habit, 2] * np.int64(population(theirs))
    points += HABITS[habit, 3] * np.int64(population(theirs & ~suits))
    if at_once:
        points += HABITS[habit, 4]
    prevented = theirs & free
    if _several(prevented) or (prevented << _ONE) & theirs:
        points += HABITS[habit, 5]
    cell = np.uint64(trailing_zeros(stone))
    for k in range(board.lines_through[cell]):
        line = board.windows_through[cell, k]
        kind = (population(line & own) << np.uint64(2)) | population(line & other)
        points += _LINE_POINTS[habit, kind]
    if stone == last << _ONE:
        points += HABITS[habit, 11]
    if stone & suits:
        points += HABITS[habit, 12]
    return points


@inline
def _end(board: Any, own: Any, other: Any, mask: Any, last: Any, continuation: Any) -> Any:
    """How the game ends for the side that has just moved, which is `other`, if both play on."""
    mine, theirs = winning_cells(board, own), winning_cells(board, other)
    stones = np.int64(population(mask))
    begun = stones
    turn = 1
    while True:
        empty, free = board.full & ~mask, next_cells(board, mask)
        if not empty:
            return DRAWN
        if mine & free:
            wins = True
            break
        dangers = (theirs & empty) >> _ONE
        moves = theirs & free
        if _several(moves):
            wins = False
            break
        moves = (moves if moves else free) & ~dangers
        if not moves:
            wins = False
            break
        if moves & ~(mine >> _ONE):
            moves &= ~(mine >> _ONE)
        stone = moves
        if _several(moves):
            above = (last << _ONE) & moves
            if above and continuation[2] & turn:
                stone = above
            else:
                suits = board.full & ~board.odd_rows if stones & 1 else board.odd_rows
                best = -(_CERTAIN)
                while moves:
                    one = moves & (~moves + _ONE)
                    moves ^= one
                    points = _points(
                        board, own, other, mask, one, suits, last, continuation[2 - turn]
                    )
                    if points > best:
                        best, stone = points, one
                if best == _CERTAIN:
                    wins = True
                    break
        last = stone
        mask |= stone
        own, other = other, own | stone
        mine, theirs = theirs, winning_cells(board, other)
        turn = 3 - turn
        stones += 1
    late: Any = min((stones - begun) // 8, 2)
    return WON - late if wins == (turn == 2) else LOST + late


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
        out[at] = _some(good, 4)
        out[at + 1] = _some(bad, 4)
        out[at + 2] = _lowest_row(board, good)
        out[at + 3] = _lowest_row(board, bad)
        out[at + 4] = _some(threats & (threats << _ONE), 2)
        at += 5
    new, taken = mine & ~mine_before & ~free, theirs_before & ~theirs
    out[at] = _some(new & suits, 3)
    out[at + 1] = _some(new & ~suits, 3)
    out[at + 2] = _some(taken & ~suits, 3)
    out[at + 3] = _some(taken & suits, 3)


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
    out[at + 8] = _some(mine & theirs, 2)


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
                count = _some(with_own, 3)
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
            count = _some(with_other, 3)
            out[at + 2 + count] += 1
            total -= 1 if count == 1 else 4 if count == 2 else 16
            if count == 2:
                lacking = line & ~other
                out[at + 15] += lacking & ~free == _NONE
                out[at + 16] += lacking & ~free & ~suits != _NONE
                out[at + 17] += lacking & (free << _ONE) != _NONE
        elif line & stone and with_own == stone:
            count = _some(with_other, 3)
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

    out[0] = min(_lowest_row(board, stone) - 1, 15)
    out[1] = min(column, board.columns - 1 - column)
    out[2] = min(stones, 63)
    out[3] = 1 - (stones & 1)
    at = _AT_TACTICS
    wins, loses_at_once = stone & mine_before != _NONE, theirs & free != _NONE
    out[at] = wins
    out[at + 1] = stone & theirs_before != _NONE
    out[at + 2] = above & theirs_before != _NONE
    out[at + 3] = above & mine_before != _NONE
    out[at + 4] = _some(mine & free, 2)
    out[at + 5] = loses_at_once
    out[at + 6] = _some(replies, 7)
    out[at + 7] = _some(free & ~(theirs >> _ONE), 7)
    out[at + 8] = _some(safe_stones(board, mask, theirs_before), 7)

    # What is certain is not asked again: `sure` is how it ends.
    at = _AT_FORCE
    sure = -1
    if wins:
        out[at], sure = 1, WON
    elif loses_at_once:
        out[at + 1], sure = 1, LOST
    else:
        parry = mine & free
        if _several(parry):
            out[at], sure = 2, WON
        elif parry:
            steps = _forced(board, moved, other | parry, after | parry)
            if steps:
                out[at], sure = steps + 1, WON
        if sure < 0:
            steps = _forced(board, other, moved, after)
            if steps:
                out[at + 1], sure = steps, LOST
            elif not replies:
                sure = WON if empty else DRAWN
            out[at + 2] = _forced(board, moved, other, after)
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
    for k in range(len(_CONTINUATIONS)):
        end = sure
        if sure < 0:
            end = _end(board, other, moved, after, stone, _CONTINUATIONS[k])
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
        danger = _forced(board, image_own ^ image_mask, image_own, image_mask)
    else:
        danger = _forced(board, own ^ mask, own, mask)
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
