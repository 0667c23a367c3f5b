"""The kernels of the exact solver: negamax that can be stopped and taken up again.

A search keeps its path in arrays instead of on the call stack. That makes it faster, and it can
return after so many nodes, to look at a clock or at Ctrl-C, and go on where it was.

A position that is entered is one in which the side to move cannot win at once. Settled without
a node below are those in which it cannot help losing at once, or the board is too full for
anybody to win. Of the other moves only those are tried that do not lose at once; a single one
is made without further ado. What bounds a score: the number of stones left, the lines that
either side can still complete, and what the table holds of the position and, before any of its
moves is tried, of the positions after them.

The table has one 64-bit word an entry, so that several searches may share it without a lock:

    63 ……… 22   21 …… 14     13 … 7    6 … 0
    tag         generation   lowest    highest score, plus 64

A key is spread by an odd multiplication, which loses nothing: the upper bits of the product are
the slot, the lower ones the tag, and both together are the key. An entry is never mistaken for
another position's. Entries of earlier generations count as empty: forgetting costs nothing.

Most positions are settled in a few thousand nodes, and for them a table that stays in the
processor's cache is several times as fast as memory. A search begins in a small part of the
table and takes more of it, empty, as it goes on.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selfplay.game.board import (
    Board,
    has_line,
    mirrored,
    next_cells,
    position_key,
    winning_cells,
)
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import board_constant, inline, kernel
from selfplay.kernels.state_word import safe_stones

Array = np.ndarray[Any, Any]

UNKNOWN = -128
"""In place of a score where a limit was reached."""

TAG_BITS = 42
GENERATIONS = 256
_FIRST_BITS = 16
_GROWTH_BITS = 4
_BIAS = 64
_SPREAD = np.uint64(0x9E3779B97F4A7C15)
_ZERO, _ONE = np.uint64(0), np.uint64(1)

# With so few empty cells it is quicker to search than to look up in memory: the position
# itself, and the positions one move on.
_TABLED = 6
_LOOK_AHEAD = 16

# With so few stones mirror images are worth finding in the table.
_MIRRORED_PLIES = 12

# Fields of a node on the path.
ALPHA, BETA, LOW, HIGH, BEST, COUNT, NEXT, SIGN, THREATS = (np.uint64(i) for i in range(9))
OWN, MASK, MOVES = np.uint64(0), np.uint64(1), np.uint64(2)

COUNTERS = np.dtype(
    [
        ("nodes", np.int64),  # entered since the solver was made
        ("own", np.uint64),  # the root
        ("mask", np.uint64),
        ("depth", np.int64),  # where the path ends
        ("low", np.int64),  # the score of the root is at least
        ("high", np.int64),  # and at most
        ("searching", np.bool_),  # whether a window is being searched
        ("window", np.int64),  # its lower end; it is one wide
        ("generation", np.uint64),
        ("bits", np.uint64),  # the part of the table in use has 2^bits entries
        ("first_bits", np.uint64),  # at first
        ("most_bits", np.uint64),  # and at most
        ("spent", np.int64),  # nodes since that part was empty
        ("dirty", np.uint64),  # it had at most 2^dirty entries since all was cleared
    ]
)


class Memory(NamedTuple):
    """What a search works on; the table may be shared with others."""

    table: Array
    """uint64 [entries]"""
    sets: Array
    """uint64 [depth, OWN | MASK | MOVES …]: sets of cells"""
    numbers: Array
    """int64 [depth, ALPHA | … | NEXT, then for each move how many cells then threaten]"""
    counters: Array
    """One record of `COUNTERS`."""


def least_bits(board: Board) -> int:
    """The smallest table in which slot and tag make up the whole key."""
    return max(1, key_bits(board) - TAG_BITS)


def key_bits(board: Board) -> int:
    return board.stride * board.columns


board_constant("key_bits", key_bits)
board_constant("key_mask", lambda board: np.uint64((1 << key_bits(board)) - 1))


def new_memory(board: Board, table: Array) -> Memory:
    """Memory around an empty table, whose size is a power of two."""
    counters = np.zeros(1, COUNTERS)
    most = len(table).bit_length() - 1
    counters["most_bits"] = most
    for field in ("first_bits", "bits", "dirty"):
        counters[field] = min(most, max(least_bits(board), _FIRST_BITS))
    counters["generation"] = 1
    return Memory(table, *_path(board), counters)


def beside(board: Board, memory: Memory) -> Memory:
    """Memory for another search, at the same time in the same table, all of which is in use."""
    counters = memory.counters.copy()
    counters["nodes"] = 0
    return Memory(memory.table, *_path(board), counters)


def _path(board: Board) -> tuple[Array, Array]:
    depth = board.cells + 2
    return (
        np.zeros((depth, int(MOVES) + board.columns), np.uint64),
        np.zeros((depth, int(THREATS) + board.columns), np.int64),
    )


@inline
def _slot_and_tag(board: Any, bits: Any, generation: Any, own: Any, mask: Any, few: Any) -> Any:
    key = position_key(board, own, mask)
    if few:
        image = np.uint64(mirrored(board, own)), np.uint64(mirrored(board, mask))
        key = min(key, position_key(board, image[0], image[1]))
    spread = (key * _SPREAD) & board.key_mask
    rest = np.uint64(board.key_bits) - bits
    tag = spread & ((_ONE << rest) - _ONE)
    return spread >> rest, (tag << np.uint64(22)) | (generation << np.uint64(14))


@inline
def _entry(tag: Any, low: Any, high: Any) -> Any:
    return tag | (np.uint64(low + _BIAS) << np.uint64(7)) | np.uint64(high + _BIAS)


@inline
def _is_of(entry: Any, tag: Any) -> Any:
    return (entry ^ tag) >> np.uint64(14) == _ZERO


@inline
def _lowest(entry: Any) -> Any:
    return np.int64((entry >> np.uint64(7)) & np.uint64(127)) - _BIAS


@inline
def _highest(entry: Any) -> Any:
    return np.int64(entry & np.uint64(127)) - _BIAS


@inline
def _outward(board: Any, place: Any) -> Any:
    """The cells of a column, counted from the centre out."""
    side = 1 - 2 * (place & 1)
    column = board.columns // 2 + side * ((place + 1) // 2)
    return np.uint64((1 << board.rows) - 1) << np.uint64(column * board.stride)


@inline
def _bounds(board: Any, own: Any, mask: Any, stones: Any) -> Any:
    """What can be said at once where neither side wins with its next stone."""
    low = -((board.cells - 2 - stones) // 2)
    high = (board.cells - 1 - stones) // 2
    if has_line(board, board.full ^ own ^ mask) == _ZERO:
        high = min(high, 0)
    if has_line(board, board.full ^ own) == _ZERO:
        low = max(low, 0)
    return low, high


@kernel
def begin(board: Any, memory: Any, own: Any, mask: Any, low: Any, high: Any) -> None:
    """Ask for the score of a position that is not over, if it lies between low and high."""
    counters = memory.counters[0]
    stones = np.int64(population(mask))
    if winning_cells(board, own) & next_cells(board, mask):
        counters.low = counters.high = (board.cells + 1 - stones) // 2
    else:
        counters.low = max(low, -((board.cells - stones) // 2))
        counters.high = min(high, (board.cells - 1 - stones) // 2)
    counters.searching = False
    counters.own, counters.mask = own, mask


@kernel
def work(board: Any, memory: Any, budget: Any) -> Any:
    """Search for so many nodes more; whether the score is known: `low` and `high` then meet."""
    counters = memory.counters[0]
    left = budget
    while counters.low < counters.high:
        if not counters.searching:
            # A draw first, then halving from the middle outwards: short wins are rare.
            low, high = counters.low, counters.high
            window = low + (high - low) // 2
            if window <= 0 and low // 2 < window:
                window = -((-low) // 2)
            elif window >= 0 and high // 2 > window:
                window = high // 2
            counters.window = min(max(window, low), high - 1)
            counters.depth = 0
            counters.searching = True
            memory.sets[0, OWN], memory.sets[0, MASK] = counters.own, counters.mask
            memory.numbers[0, ALPHA], memory.numbers[0, BETA] = counters.window, counters.window + 1
        before = counters.nodes
        finished, score = _search(board, memory, min(left, _room(counters)))
        spent = counters.nodes - before
        counters.spent += spent
        left -= spent
        if not finished:
            if left == 0:
                return False
            _renew(memory, min(counters.bits + np.uint64(_GROWTH_BITS), counters.most_bits))
            continue
        counters.searching = False
        if score <= counters.window:
            counters.high = min(counters.high, score)
        else:
            counters.low = max(counters.low, score)
    return True


@inline
def _search(board: Any, memory: Any, budget: Any) -> Any:
    """Go on with the window being searched, for so many nodes; whether done, and the score.

    One function, and its arrays taken out of the tuple once: where arrays are handed on, the
    compiler counts references at every node.
    """
    table, sets, numbers, counters = memory.table, memory.sets, memory.numbers, memory.counters[0]
    bits, generation = counters.bits, counters.generation
    depth = np.uint64(counters.depth)
    nodes = 0
    while nodes < budget:
        nodes += 1

        # Enter the node that the arrays hold at this depth, by single moves as far as they go.
        own, mask = sets[depth, OWN], sets[depth, MASK]
        alpha, beta = numbers[depth, ALPHA], numbers[depth, BETA]
        sign = 1
        score = 0
        settled = False
        while True:
            stones = np.int64(population(mask))
            moves = safe_stones(board, mask, winning_cells(board, own ^ mask))
            if moves == _ZERO:
                settled, score = True, -((board.cells - stones) // 2)
                break
            if stones >= board.cells - 2:
                settled, score = True, 0
                break
            if moves & (moves - _ONE):
                break
            own, mask = own ^ mask, mask | moves
            alpha, beta = -beta, -alpha
            sign = -sign

        if not settled:
            low, high = _bounds(board, own, mask, stones)
            few = stones < _MIRRORED_PLIES
            slot, tag = _slot_and_tag(board, bits, generation, own, mask, few)
            entry = table[slot] if stones < board.cells - _TABLED else _ZERO
            if _is_of(entry, tag):
                low = max(low, _lowest(entry))
                high = min(high, _highest(entry))
            if low >= beta:
                settled, score = True, low
            elif high <= alpha:
                settled, score = True, high

        if not settled:
            # Order the moves by the cells that then threaten; one whose position is known to
            # be good enough settles the node.
            count = _ZERO
            few = stones + 1 < _MIRRORED_PLIES
            opponent = own ^ mask
            for place in range(board.columns):
                stone = moves & _outward(board, place)
                if stone == _ZERO:
                    continue
                after = mask | stone
                if stones < board.cells - _LOOK_AHEAD:
                    slot, tag = _slot_and_tag(board, bits, generation, opponent, after, few)
                    entry = table[slot]
                    if _is_of(entry, tag) and -_highest(entry) >= beta:
                        settled, score = True, -_highest(entry)
                        break
                threats = np.int64(
                    population(winning_cells(board, own | stone) & board.full & ~after)
                )
                at = count
                while at > _ZERO and numbers[depth, THREATS + at - _ONE] < threats:
                    numbers[depth, THREATS + at] = numbers[depth, THREATS + at - _ONE]
                    sets[depth, MOVES + at] = sets[depth, MOVES + at - _ONE]
                    at -= _ONE
                numbers[depth, THREATS + at] = threats
                sets[depth, MOVES + at] = stone
                count += _ONE

        if not settled:
            sets[depth, OWN], sets[depth, MASK] = own, mask
            numbers[depth, ALPHA], numbers[depth, BETA] = alpha, beta
            numbers[depth, LOW], numbers[depth, HIGH] = low, high
            numbers[depth, BEST] = UNKNOWN
            numbers[depth, COUNT] = count
            numbers[depth, NEXT] = 1
            numbers[depth, SIGN] = sign
            depth += _ONE
            sets[depth, OWN], sets[depth, MASK] = opponent, mask | sets[depth - _ONE, MOVES]
            numbers[depth, ALPHA], numbers[depth, BETA] = -beta, -max(alpha, low)
            continue

        # Hand the score up, as far as it settles nodes there.
        score *= sign
        while settled:
            if depth == _ZERO:
                counters.nodes += nodes
                return True, score
            depth -= _ONE
            best = max(numbers[depth, BEST], -score)
            number = np.uint64(numbers[depth, NEXT])
            own, mask = sets[depth, OWN], sets[depth, MASK]
            alpha, beta = numbers[depth, ALPHA], numbers[depth, BETA]
            if best < beta and number < np.uint64(numbers[depth, COUNT]):
                numbers[depth, BEST] = best
                numbers[depth, NEXT] = np.int64(number + _ONE)
                stone = sets[depth, MOVES + number]
                alpha = max(alpha, best)
                depth += _ONE
                sets[depth, OWN], sets[depth, MASK] = own ^ mask, mask | stone
                numbers[depth, ALPHA], numbers[depth, BETA] = -beta, -alpha
                settled = False
            else:
                low, high = numbers[depth, LOW], numbers[depth, HIGH]
                if best > alpha:
                    low = max(low, best)
                if best < beta:
                    high = min(high, best)
                stones = np.int64(population(mask))
                if stones < board.cells - _TABLED:
                    few = stones < _MIRRORED_PLIES
                    slot, tag = _slot_and_tag(board, bits, generation, own, mask, few)
                    table[slot] = _entry(tag, low, high)
                score = best * numbers[depth, SIGN]

    counters.nodes += nodes
    counters.depth = np.int64(depth)
    return False, 0


@inline
def _room(counters: Any) -> Any:
    """How many nodes more before the search takes more of the table."""
    if counters.bits == counters.most_bits:
        return np.int64(1) << np.int64(62)
    return (np.int64(4) << np.int64(counters.bits)) - counters.spent


@kernel
def forget(memory: Any) -> None:
    """Begin anew, in a small part of the table."""
    _renew(memory, memory.counters[0].first_bits)


@kernel
def widen(memory: Any) -> None:
    """Use all of the table from now on."""
    counters = memory.counters[0]
    if counters.bits < counters.most_bits:
        _renew(memory, counters.most_bits)


@inline
def _renew(memory: Any, bits: Any) -> None:
    """Begin a new generation, in the first 2^bits entries of the table."""
    counters = memory.counters[0]
    counters.generation += _ONE
    if counters.generation == np.uint64(GENERATIONS):
        counters.generation = _ONE
        memory.table[: _ONE << counters.dirty] = 0
        counters.dirty = _ZERO
    counters.bits = np.uint64(bits)
    counters.dirty = max(counters.dirty, counters.bits)
    counters.spent = 0


@kernel
def score_all(
    board: Any, memory: Any, owns: Any, masks: Any, scores: Any, budget: Any, afresh: Any
) -> None:
    """The score of each position that is not over, in so many nodes each or UNKNOWN.

    With `afresh` nothing found for one is used for the next.
    """
    for i in range(len(owns)):
        if afresh:
            forget(memory)
        begin(board, memory, owns[i], masks[i], -_BIAS, _BIAS)
        scores[i] = memory.counters[0].low if work(board, memory, budget) else UNKNOWN
