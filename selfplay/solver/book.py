"""The opening book of the exact solver: the scores of all positions with few stones.

The file is numpy's `.npz`, which contains arrays and nothing executable:

    board    columns, rows, connect
    plies    the maximum number of stones
    steps    the sorted keys of the positions, each minus the previous one
    scores   the score of each, for the side to move

Mirror images count once; finished games are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from selfplay.arrays import Int8Array, UInt64Array
from selfplay.errors import InputError, quoted
from selfplay.files import read_bounded, write_whole
from selfplay.game.board import Board
from selfplay.game.position import Position

_MOST_BYTES = 1 << 28
SHIPPED = Path(__file__).parent / "books"


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """Known scores, by the position's canonical key."""

    board: Board
    plies: int
    keys: UInt64Array
    """In ascending order."""
    scores: Int8Array

    @classmethod
    def load(cls, path: Path) -> Book:
        """Read a book, and check it."""
        try:
            data = BytesIO(read_bounded(path, _MOST_BYTES, "book"))
            with ZipFile(data) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
                    raise InputError("it is too large when unpacked")
            with np.load(data, allow_pickle=False) as arrays:
                board = Board(*arrays["board"].tolist())
                steps = np.asarray(arrays["steps"])
                keys = np.cumsum(steps, dtype=np.uint64)
                book = cls(board, int(arrays["plies"]), keys, np.asarray(arrays["scores"]))
        except FileNotFoundError:
            raise InputError(f"there is no book {path}") from None
        except Exception as error:  # a damaged archive can raise anything
            raise InputError(f"{path} is not a book: {quoted(str(error), 200)}") from None
        if steps.dtype != np.uint64 or (keys[1:] <= keys[:-1]).any():
            raise InputError(f"{path} is not a book: its keys are not sorted")
        if book.scores.dtype != np.int8 or book.scores.shape != keys.shape or keys.ndim != 1:
            raise InputError(f"{path} is not a book: it needs one score per position")
        return book

    def save(self, path: Path) -> None:
        """Write the file atomically."""
        data = BytesIO()
        np.savez_compressed(
            data,
            board=np.array([self.board.columns, self.board.rows, self.board.connect], np.int8),
            plies=np.array(self.plies, np.int8),
            steps=np.diff(self.keys, prepend=np.uint64(0)),
            scores=self.scores,
        )
        write_whole(path, data.getvalue())

    def score(self, position: Position) -> int | None:
        """The score for the side to move; None if the position is not in the book."""
        if position.ply > self.plies:
            return None
        key = np.uint64(position.key(canonical=True))
        at = int(np.searchsorted(self.keys, key))
        return int(self.scores[at]) if at < len(self.keys) and self.keys[at] == key else None


@cache
def shipped_book(board: Board) -> Book | None:
    """The bundled book of this board, if there is one."""
    path = SHIPPED / f"{board.size}-{board.connect}.npz"
    return Book.load(path) if path.exists() else None
