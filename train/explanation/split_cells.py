"""The cells that a split speaks about, to be marked on a board."""

from __future__ import annotations

import re

from selfplay.game.board import Board, mirrored, next_cells, position_key, winning_cells
from selfplay.game.position import Position
from selfplay.train.explanation.cells import Cell, cells_of

_CELL = re.compile(r"the cell in column (\d+), row (\d+)")
_OF_COLUMN = re.compile(r"column (\d+): (.+)")


def is_seen_mirrored(position: Position, move: int) -> bool:
    """Whether a tree that rates moves sees the mirror image: the move is to its left."""
    board = position.board
    from_right = board.columns - 1 - move
    if move != from_right:
        return move > from_right
    image = (mirrored(board, cells) for cells in (position.own, position.mask))
    return position_key(board, *image) < position.key()


def cells_of_feature(
    name: str, position: Position, move: int, *, is_mirrored: bool
) -> tuple[Cell, ...]:
    """The cells on the board that the feature of this name is about, for a move; none if it
    counts or compares moves."""
    board, last = position.board, position.board.columns - 1
    if found := _OF_COLUMN.fullmatch(name):
        move, name = int(found[1]) - 1, found[2]
        move = last - move if is_mirrored else move
    if found := _CELL.match(name):
        column, row = int(found[1]) - 1, int(found[2]) - 1
        return (Cell(last - column if is_mirrored else column, row),)
    if move not in position.legal_moves:
        return ()
    return cells_of(board, _meant(board, position.own, position.mask, move, name))


def _meant(board: Board, own: int, mask: int, move: int, name: str) -> int:
    """The cells of a static feature, as `encode_static` finds them."""
    stone = next_cells(board, mask) & (((1 << board.rows) - 1) << (move * board.stride))
    after = mask | stone
    empty, free = board.full & ~after, next_cells(board, after)
    mine_before, theirs_before = winning_cells(board, own), winning_cells(board, own ^ mask)
    mine, theirs = winning_cells(board, own | stone) & empty, theirs_before & empty
    above = (stone << 1) & board.full
    odd = sum(board.bottom << row for row in range(0, board.rows, 2))
    suits = board.full & ~odd if mask.bit_count() & 1 else odd
    meant = {
        "row": stone,
        "columns from the edge": stone,
        "wins": stone & mine_before,
        "blocks": stone & theirs_before,
        "hands the other side the cell above": above & theirs_before,
        "gives up an own threat above": above & mine_before,
        "wins next time": mine & free,
        "the other side wins at once": theirs & free,
        "cells that both threaten": mine & theirs,
        "new threats in rows that suit": mine & ~mine_before & ~free & suits,
        "new threats in other rows": mine & ~mine_before & ~free & ~suits,
        "threats taken in rows that suit the other side": theirs_before & stone & ~suits,
        "threats taken in rows that do not": theirs_before & stone & suits,
    }
    for whose, threats, good in (
        ("own", mine & ~free, suits),
        ("other", theirs & ~free, board.full & ~suits),
    ):
        stacked = threats & (threats << 1)
        meant |= {
            f"{whose} threats in rows that suit": threats & good,
            f"{whose} threats in other rows": threats & ~good,
            f"{whose} lowest threat in a row that suits": _lowest(board, threats & good),
            f"{whose} lowest threat in another row": _lowest(board, threats & ~good),
            f"{whose} threats one above another": stacked | stacked >> 1,
        }
    return meant.get(name, 0)


def _lowest(board: Board, cells: int) -> int:
    """Those in the lowest row that has any."""
    rows = (cells & (board.bottom << row) for row in range(board.rows))
    return next(filter(None, rows), 0)
