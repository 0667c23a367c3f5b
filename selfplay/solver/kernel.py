"""The kernels of the exact solver: resumable negamax with a transposition table.

A search keeps its path in arrays instead of on the call stack. That is faster, and it can return
after a number of nodes, to check the clock or Ctrl-C, and resume.

In every node the side to move cannot win at once. Nodes are settled without a search if it cannot
avoid losing at once, or the board is too full for a win. Only moves that do not lose at once are
tried; a single one is made directly. Scores are bounded by the number of stones left, the lines
that either side can still complete, and the table: its entry of the position and, before any move
is tried, of the positions after it.

The table has one 64-bit word per entry, so that several searches can share it without a lock:

    63 ……… 22   21 …… 14     13 … 7    6 … 0
    tag         generation   lowest    highest score, plus 64

A key is multiplied by an odd constant, which is reversible: the upper bits of the product are the
slot, the lower ones the tag, and both together identify the key. No entry is mistaken for another
position's. Entries of earlier generations count as empty: clearing costs nothing.

Most positions are solved in a few thousand nodes, and for them a table that fits the processor's
cache is several times as fast as memory. A search starts in a small part of the table and extends
to more of it, empty, as it goes on.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from selfplay.arrays import Array, Int, Int64Array, RecordArray, UInt64Array
from selfplay.game.board import (
    Board,
    has_line,
    mirrored,
    next_cells,
    position_key,
    winning_cells,
)
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline, kernel
from selfplay.kernels.state_word import safe_stones

UNKNOWN = -128
"""In place of a score where a limit was reached."""

TAG_BITS = 42
GENERATIONS = 256
_FIRST_BITS = 16
_GROWTH_BITS = 4
_BIAS = 64
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
_ZERO, _ONE = np.uint64(0), np.uint64(1)

# With fewer empty cells searching is quicker than a table lookup: of the position itself, and of
# its successors.
_TABLED = 6
_LOOK_AHEAD = 16

# With fewer stones, mirror images share an entry.
_MIRRORED_PLIES = 12

# Fields of a node on the path.
ALPHA, BETA, LOW, HIGH, BEST, COUNT, NEXT, SIGN, THREATS = (np.uint64(i) for i in range(9))
OWN, MASK, MOVES = np.uint64(0), np.uint64(1), np.uint64(2)

COUNTERS = np.dtype(
    [
        ("nodes", np.int64),  # visited since the solver was made
        ("own", np.uint64),  # the root
        ("mask", np.uint64),
        ("depth", np.int64),  # where the path ends
        ("low", np.int64),  # the score of the root is at least
        ("high", np.int64),  # and at most
        ("searching", np.bool_),  # whether a null window is being searched
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
    """The state of a search; several searches may share the table."""

    table: UInt64Array
    """[entries]"""
    sets: UInt64Array
    """[depth, OWN | MASK | MOVES …]: sets of cells"""
    numbers: Int64Array
    """[depth, ALPHA | … | NEXT | THREATS …]: the latter per move, the threats it leaves"""
    counters: RecordArray
    """One record of `COUNTERS`."""


def least_bits(board: Board) -> int:
    """The size of the smallest table in which slot and tag identify the key."""
    return max(1, board.key_bits - TAG_BITS)


def new_memory(board: Board, table: UInt64Array) -> Memory:
    """The state of a search with an empty table, whose size is a power of two."""
    counters = np.zeros(1, COUNTERS)
    most = len(table).bit_length() - 1
    counters["most_bits"] = most
    for field in ("first_bits", "bits", "dirty"):
        counters[field] = min(most, max(least_bits(board), _FIRST_BITS))
    counters["generation"] = 1
    return Memory(table, *_path(board), counters)


def sharing_table(board: Board, memory: Memory) -> Memory:
    """The state of a concurrent search in the same table, after `use_whole_table`."""
    counters = memory.counters.copy()
    counters["nodes"] = 0
    return Memory(memory.table, *_path(board), counters)


def _path(board: Board) -> tuple[UInt64Array, Int64Array]:
    depth = board.cells + 2
    return (
        np.zeros((depth, int(MOVES) + board.columns), np.uint64),
        np.zeros((depth, int(THREATS) + board.columns), np.int64),
    )


@inline
def _slot_and_tag(
    board: Board,
    bits: np.uint64,
    generation: np.uint64,
    own: np.uint64,
    mask: np.uint64,
    canonical: bool | np.bool,
) -> tuple[np.uint64, np.uint64]:
    key = position_key(board, own, mask)
    if canonical:
        image = np.uint64(mirrored(board, own)), np.uint64(mirrored(board, mask))
        key = min(key, position_key(board, image[0], image[1]))
    product = (key * _MULTIPLIER) & board.key_mask
    rest = np.uint64(board.key_bits) - bits
    tag = product & ((_ONE << rest) - _ONE)
    return product >> rest, (tag << np.uint64(22)) | (generation << np.uint64(14))


@inline
def _entry(tag: np.uint64, low: Int, high: Int) -> np.uint64:
    return tag | (np.uint64(low + _BIAS) << np.uint64(7)) | np.uint64(high + _BIAS)


@inline
def _matches(entry: np.uint64, tag: np.uint64) -> np.bool:
    return (entry ^ tag) >> np.uint64(14) == _ZERO


@inline
def _lowest(entry: np.uint64) -> np.int64:
    return np.int64((entry >> np.uint64(7)) & np.uint64(127)) - _BIAS


@inline
def _highest(entry: np.uint64) -> np.int64:
    return np.int64(entry & np.uint64(127)) - _BIAS


@inline
def _outward(board: Board, place: int) -> np.uint64:
    """The cells of a column, counted outwards from the centre."""
    side = 1 - 2 * (place & 1)
    column = board.columns // 2 + side * ((place + 1) // 2)
    return np.uint64((1 << board.rows) - 1) << np.uint64(column * board.stride)


@inline
def _bounds(board: Board, own: np.uint64, mask: np.uint64, stones: np.int64) -> tuple[Int, Int]:
    """Static bounds of the score where neither side wins with its next stone."""
    low: Int = -((board.cells - 2 - stones) // 2)
    high: Int = (board.cells - 1 - stones) // 2
    if has_line(board, board.full ^ own ^ mask) == _ZERO:
        high = min(high, 0)
    if has_line(board, board.full ^ own) == _ZERO:
        low = max(low, 0)
    return low, high


@kernel
def begin(
    board: Board, memory: Memory, own: np.uint64, mask: np.uint64, low: int, high: int
) -> None:
    """Start a search for the score, between low and high, of a position that is not over."""
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
def search(board: Board, memory: Memory, budget: int) -> bool:
    """Search at most `budget` nodes more; whether the score is known: `low` equals `high`."""
    counters = memory.counters[0]
    left: Int = budget
    while counters.low < counters.high:
        if not counters.searching:
            # First a draw, then bisection from the middle outwards: short wins are rare.
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
        finished, score = _search_window(board, memory, min(left, _nodes_before_growth(counters)))
        spent = counters.nodes - before
        counters.spent += spent
        left -= spent
        if not finished:
            if left == 0:
                return False
            _new_generation(
                memory, min(counters.bits + np.uint64(_GROWTH_BITS), counters.most_bits)
            )
            continue
        counters.searching = False
        if score <= counters.window:
            counters.high = min(counters.high, score)
        else:
            counters.low = max(counters.low, score)
    return True


@inline
def _search_window(board: Board, memory: Memory, budget: Int) -> tuple[bool, Int]:
    """Continue the null-window search for `budget` nodes; whether finished, and the score.

    One function that unpacks its arrays once: if it passed arrays on, the compiler would count
    references at every node.
    """
    table, sets, numbers, counters = memory.table, memory.sets, memory.numbers, memory.counters[0]
    bits, generation = counters.bits, counters.generation
    depth = np.uint64(counters.depth)
    nodes = 0
    while nodes < budget:
        nodes += 1

        # Enter the node at this depth, and follow forced moves to the next one with a choice.
        own, mask = sets[depth, OWN], sets[depth, MASK]
        alpha, beta = numbers[depth, ALPHA], numbers[depth, BETA]
        sign = 1
        score: Int = 0
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
            canonical = stones < _MIRRORED_PLIES
            slot, tag = _slot_and_tag(board, bits, generation, own, mask, canonical)
            entry = table[slot] if stones < board.cells - _TABLED else _ZERO
            if _matches(entry, tag):
                low = max(low, _lowest(entry))
                high = min(high, _highest(entry))
            if low >= beta:
                settled, score = True, low
            elif high <= alpha:
                settled, score = True, high

        if not settled:
            # Sort the moves by the threats they leave; one that the table knows to cause a cutoff
            # settles the node.
            count = _ZERO
            canonical = stones + 1 < _MIRRORED_PLIES
            opponent = own ^ mask
            for place in range(board.columns):
                stone = moves & _outward(board, place)
                if stone == _ZERO:
                    continue
                after = mask | stone
                if stones < board.cells - _LOOK_AHEAD:
                    slot, tag = _slot_and_tag(board, bits, generation, opponent, after, canonical)
                    entry = table[slot]
                    if _matches(entry, tag) and -_highest(entry) >= beta:
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

        # Back up the score as far as it settles nodes.
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
                    canonical = stones < _MIRRORED_PLIES
                    slot, tag = _slot_and_tag(board, bits, generation, own, mask, canonical)
                    table[slot] = _entry(tag, low, high)
                score = best * numbers[depth, SIGN]

    counters.nodes += nodes
    counters.depth = np.int64(depth)
    return False, 0


@inline
def _nodes_before_growth(counters: np.record) -> np.int64:
    """The number of nodes before the search extends to more of the table."""
    if counters.bits == counters.most_bits:
        return np.int64(1) << np.int64(62)
    return (np.int64(4) << np.int64(counters.bits)) - counters.spent


@kernel
def forget(memory: Memory) -> None:
    """Clear the table, and use a small part of it."""
    _new_generation(memory, memory.counters[0].first_bits)


@kernel
def use_whole_table(memory: Memory) -> None:
    counters = memory.counters[0]
    if counters.bits < counters.most_bits:
        _new_generation(memory, counters.most_bits)


@inline
def _new_generation(memory: Memory, bits: np.uint64) -> None:
    """Start a new generation, in the first 2^bits entries of the table."""
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
    board: Board,
    memory: Memory,
    owns: UInt64Array,
    masks: UInt64Array,
    scores: Array,
    budget: int,
    forgets: bool,
) -> None:
    """Score positions that are not over; UNKNOWN if one takes more than `budget` nodes.

    With `forgets` the table is cleared between them.
    """
    for i in range(len(owns)):
        if forgets:
            forget(memory)
        begin(board, memory, owns[i], masks[i], -_BIAS, _BIAS)
        scores[i] = memory.counters[0].low if search(board, memory, budget) else UNKNOWN
