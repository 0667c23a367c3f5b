"""The opening book of the exact solver: the scores of all positions with few stones.

A file of it holds arrays and nothing that could be executed (numpy's `.npz`):

    board    columns, rows, connect
    plies    positions with up to so many stones are in it
    steps    the keys of the positions, smallest first, each less the one before
    scores   the score of each, for the side to move

A position and its mirror image are one; games that are over are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any
from zipfile import ZipFile

import numpy as np

from selfplay.errors import InputError, quoted
from selfplay.files import read_bounded, write_whole
from selfplay.game.board import Board
from selfplay.game.position import Position

Array = np.ndarray[Any, Any]

_MOST_BYTES = 1 << 28
SHIPPED = Path(__file__).parent / "books"


@dataclass(frozen=True, slots=True, eq=False)
class Book:
    """Known scores, by the position's canonical key."""

    board: Board
    plies: int
    keys: Array
    """uint64, in ascending order"""
    scores: Array
    """int8"""

    @classmethod
    def load(cls, path: Path) -> Book:
        """Read a book from a file; what is no book is refused."""
        try:
            data = BytesIO(read_bounded(path, _MOST_BYTES, "book"))
            with ZipFile(data) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
                    raise InputError("unpacked it is too large")
            with np.load(data, allow_pickle=False) as arrays:
                board = Board(*arrays["board"].tolist())
                steps = np.asarray(arrays["steps"])
                keys = np.cumsum(steps, dtype=np.uint64)
                book = cls(board, int(arrays["plies"]), keys, np.asarray(arrays["scores"]))
        except FileNotFoundError:
            raise InputError(f"there is no book {path}") from None
        except Exception as error:  # there is no end to what a damaged archive can raise
            raise InputError(f"{path} is not a book: {quoted(str(error), 200)}") from None
        if steps.dtype != np.uint64 or (keys[1:] <= keys[:-1]).any():
            raise InputError(f"{path} is not a book: its keys are not in order")
        if book.scores.dtype != np.int8 or book.scores.shape != keys.shape or keys.ndim != 1:
            raise InputError(f"{path} is not a book: as many scores as positions are needed")
        return book

    def save(self, path: Path) -> None:
        """Write the file; it is there in one piece or not at all."""
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
        """The score for the side to move; None of a position that is not in the book."""
        if position.ply > self.plies:
            return None
        key = np.uint64(position.key(canonical=True))
        at = int(np.searchsorted(self.keys, key))
        return int(self.scores[at]) if at < len(self.keys) and self.keys[at] == key else None


@cache
def shipped_book(board: Board) -> Book | None:
    """The book for this board that comes with the package, if there is one."""
    path = SHIPPED / f"{board.size}-{board.connect}.npz"
    return Book.load(path) if path.exists() else None
