"""The version of the row schema, and the sizes of a row and of a shard."""

from __future__ import annotations

from selfplay.game.board import Board

SCHEMA_VERSION = 1

MOST_SHARD_BYTES = 1 << 30
"""Limit for the rows of a shard in memory: a file that claims more is refused unread."""


def row_bytes(board: Board) -> int:
    """Bytes of a row in memory."""
    return 13 + board.cells + 9 * board.columns
