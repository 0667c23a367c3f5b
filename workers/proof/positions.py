"""Positions of a walk as arrays: mirror images share a row, which says which of them arise.

A level is the positions in which the player is asked, by the number of stones. Its moves and all
replies lead to the next level, two stones on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.arrays import Array, BoolArray
from selfplay.game.board import Board, has_line, mirrored, next_cells, position_key
from selfplay.game.position import Position

ITSELF, IMAGE = np.uint8(1), np.uint8(2)
"""Of a position and its mirror image, the one with the lower key, and the other."""

ASKED = np.dtype([("key", "<u8"), ("images", "u1"), ("bound", "i1")])
"""A position in which the player is asked: the lower key of it and its mirror image, which of the
two arise, and what its value is at least."""


def stones_of(board: Board, keys: Array) -> tuple[Array, Array]:
    """The own stones and all stones of positions with these keys."""
    mask = np.zeros(len(keys), np.uint64)
    for column in range(board.columns):
        at = np.uint64(column * board.stride)
        cells = (keys >> at) & np.uint64((1 << board.stride) - 1)
        for step in (1, 2, 4, 8, 16):
            cells |= cells >> np.uint64(step)
        mask |= (cells >> np.uint64(1)) << at
    return keys & mask, mask


def stone_in(board: Board, mask: Array, columns: Array) -> Array:
    """The stone that a move in each position's column adds; 0 where the column is full."""
    cells = np.uint64((1 << board.rows) - 1) << (columns * board.stride).astype(np.uint64)
    return np.asarray(next_cells(board, mask) & cells)


def is_over(board: Board, own: Array, mask: Array) -> BoolArray:
    return np.asarray((has_line(board, own ^ mask) != 0) | (mask == board.full))


def asked(board: Board, own: Array, mask: Array, images: Any, bound: Any) -> Array:
    """Rows of positions in which `images` of each arise: of the position as it is given, or of its
    mirror image."""
    key = position_key(board, own, mask)
    image = position_key(board, mirrored(board, own), mirrored(board, mask))
    given = np.broadcast_to(np.asarray(images, np.uint8), key.shape)
    turned = ((given & ITSELF) << 1) | ((given & IMAGE) >> 1)
    rows = np.empty(len(key), ASKED)
    rows["key"] = np.minimum(key, image)
    rows["images"] = np.where(key == image, ITSELF, np.where(key < image, given, turned))
    rows["bound"] = bound
    return rows


def unique(rows: Array) -> Array:
    """The rows in the order of their keys, those of one position made one."""
    if not len(rows):
        return rows
    rows = rows[np.argsort(rows["key"], kind="stable")]
    first = np.flatnonzero(np.append(True, rows["key"][1:] != rows["key"][:-1]))
    found = rows[first]
    found["images"] = np.bitwise_or.reduceat(rows["images"], first)
    found["bound"] = np.maximum.reduceat(rows["bound"], first)
    return found


def after_replies(board: Board, own: Array, mask: Array, images: Any, bound: Array) -> Array:
    """Where the player is asked after every reply that does not end the game."""
    parts = [np.empty(0, ASKED)]
    images = np.broadcast_to(np.asarray(images, np.uint8), own.shape)
    for column in range(board.columns):
        stone = stone_in(board, mask, np.full(len(mask), column))
        own_after, mask_after = own ^ mask, mask | stone
        goes_on = (stone != 0) & ~is_over(board, own_after, mask_after)
        rows = asked(
            board, own_after[goes_on], mask_after[goes_on], images[goes_on], bound[goes_on]
        )
        parts.append(rows)
    return unique(np.concatenate(parts))


def first_level(start: Position, side: int, value: int) -> Array:
    """Where the player of this side is asked first; `value` is that of the start for it."""
    board = start.board
    own, mask = np.array([start.own], np.uint64), np.array([start.mask], np.uint64)
    bound = np.array([value], np.int8)
    if start.to_move == side:
        return asked(board, own, mask, ITSELF, bound)
    return after_replies(board, own, mask, ITSELF, bound)
