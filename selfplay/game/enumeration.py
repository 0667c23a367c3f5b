"""Enumerate all positions of a board, ply by ply."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from selfplay.arrays import Array, BoolArray
from selfplay.errors import InputError
from selfplay.game.board import Board, has_line, mirrored, next_cells, position_key
from selfplay.game.position import Position

MAX_POSITIONS = 1_000_000


def canonical_keys(board: Board, own: Array, mask: Array) -> Array:
    """One key for each position, the same for its mirror image."""
    images = position_key(board, mirrored(board, own), mirrored(board, mask))
    return np.asarray(np.minimum(position_key(board, own, mask), images))


def plies(board: Board, *, canonical: bool = False) -> Iterator[tuple[Array, Array]]:
    """For 0, 1, 2 … stones: the own stones and all stones of every distinct position.

    With `canonical`, mirror images count once. Boards larger than a machine word take arrays of
    Python integers.
    """
    number = np.uint64 if board.fits_word else object
    own, mask = np.zeros(1, number), np.zeros(1, number)
    while len(own):
        yield own, mask
        ongoing = _is_ongoing(board, own, mask)
        own, mask = own[ongoing], mask[ongoing]
        after: list[tuple[Array, Array]] = []
        for column in range(board.columns):
            cells = ((1 << board.rows) - 1) << (column * board.stride)
            stone = next_cells(board, mask) & cells
            has_room = stone != 0
            after.append(((own ^ mask)[has_room], (mask | stone)[has_room]))
        own = np.concatenate([o for o, _ in after])
        mask = np.concatenate([m for _, m in after])
        keys = (canonical_keys if canonical else position_key)(board, own, mask)
        _, first = np.unique(keys, return_index=True)
        own, mask = own[first], mask[first]


def positions_after(
    board: Board, ply: int, *, canonical: bool = False, unfinished: bool = False
) -> Sequence[Position]:
    """All distinct positions with `ply` stones, sorted by key; refused if they exceed memory."""
    for stones, (own, mask) in enumerate(plies(board, canonical=canonical)):
        # About half of all moves transpose into a position that another one reaches.
        if stones < ply and len(own) * board.columns > 2 * MAX_POSITIONS:
            raise InputError(
                f"with {ply} stones there are too many positions on a {board.size} board to "
                f"list: already {len(own):,} with {stones}"
            )
        if stones == ply:
            if unfinished:
                ongoing = _is_ongoing(board, own, mask)
                own, mask = own[ongoing], mask[ongoing]
            return [Position(board, int(o), int(m), None) for o, m in zip(own, mask, strict=True)]
    return []


def _is_ongoing(board: Board, own: Array, mask: Array) -> BoolArray:
    return np.asarray((has_line(board, own ^ mask) == 0) & (mask != board.full), bool)
