"""What a tree learns from: the positions of runs, each once, with the moves that are right."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from selfplay.board import Board, mirrored, position_key
from selfplay.errors import InputError
from storage.dataset import Dataset
from storage.rows import NO_RESULT, Rows
from storage.split import shares
from train.model import Mirror
from train.questions import Questions

Array = np.ndarray[Any, Any]
TestSplit = Literal["position", "order"]
Duplicates = Literal["merge", "keep"]
Labels = Literal["teacher", "optimal"]
"""What is right: the teacher's move, or every move that keeps the value of the game."""


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """Positions and the right moves, and how often each came up."""

    board: Board
    own: Array
    """uint64 [row]: the stones of the side to move"""
    mask: Array
    """uint64 [row]: all stones"""
    move: Array
    """int64 [row]: a right move"""
    right: Array
    """int64 [row]: all of them, as a set of columns"""
    weight: Array
    """int64 [row]"""

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, which: Any) -> Lessons:
        return Lessons(self.board, *(getattr(self, name)[which] for name in _ARRAYS))

    @property
    def rows(self) -> int:
        return int(self.weight.sum())

    def is_right(self, columns: Array) -> Array:
        """bool [row]: whether this column is right."""
        found: Array = self.right >> columns & 1 != 0
        return found

    def keys(self) -> tuple[Array, Array]:
        """A number for each position, and that of its mirror image."""
        board = self.board
        image = mirrored(board, self.own), mirrored(board, self.mask)
        return position_key(board, self.own, self.mask), position_key(board, *image)

    def turned(self) -> Lessons:
        """The mirror images."""
        board = self.board
        return Lessons(
            board,
            mirrored(board, self.own),
            mirrored(board, self.mask),
            board.columns - 1 - self.move,
            _turned(self.right, board.columns),
            self.weight,
        )

    def mirrored_as(self, mirror: Mirror) -> Lessons:
        """With mirror images as well, or of each pair one, or as they are."""
        if mirror == "augment":
            return _joined([self, self.turned()])
        if mirror == "canonical":
            keys, images = self.keys()
            other = self.turned()
            turn = images < keys
            return Lessons(
                self.board,
                np.where(turn, other.own, self.own),
                np.where(turn, other.mask, self.mask),
                np.where(turn, other.move, self.move),
                np.where(turn, other.right, self.right),
                self.weight,
            )
        return self

    def merged(self) -> Lessons:
        """Every position with a move once, as heavy as it is often."""
        if not len(self):
            return self
        keys = position_key(self.board, self.own, self.mask)
        order = np.lexsort((self.move, keys))
        keys, moves = keys[order], self.move[order]
        is_first = np.append(True, (keys[1:] != keys[:-1]) | (moves[1:] != moves[:-1]))
        starts = np.flatnonzero(is_first)
        found = self[order[starts]]
        weight = np.add.reduceat(self.weight[order], starts)
        return replace(found, weight=weight)

    def divided(self, test: float, by: TestSplit) -> tuple[Lessons, Lessons]:
        """To learn from, and to be examined on."""
        if by == "order":
            mark = round(len(self) * (1 - test))
            chosen = np.arange(len(self)) >= mark
        else:
            chosen = shares(np.minimum(*self.keys())) < test
        return self[~chosen], self[chosen]


_ARRAYS = ("own", "mask", "move", "right", "weight")


def _joined(parts: Sequence[Lessons]) -> Lessons:
    return Lessons(
        parts[0].board,
        *(np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS),
    )


def _turned(columns: Array, count: int) -> Array:
    """Sets of columns as a mirror shows them."""
    found = np.zeros_like(columns)
    for column in range(count):
        found |= (columns >> column & 1) << (count - 1 - column)
    return found


def lessons_of(
    datasets: Sequence[Dataset],
    labels: Labels = "teacher",
    tell: Callable[[int, int], None] = lambda done, of: None,
    part: tuple[int, int] = (0, 1),
) -> Lessons:
    """The rows of some runs in their order; or one part of so many, which are dealt by shards.

    Positions of the examination are left out: whoever has learned them by heart proves nothing.
    """
    board = datasets[0].board
    for dataset in datasets[1:]:
        if dataset.board != board:
            raise InputError(
                f"{datasets[0].place} is of {board}, {dataset.place} of {dataset.board}: one tree "
                "plays on one board"
            )
    total = sum(dataset.positions for dataset in datasets)
    if not total:
        raise InputError("there are no positions to learn from")
    if not board.fits_word:
        raise InputError(f"a tree plays on boards that fit 64 bits; {board.size} does not")
    nothing = np.zeros(0, np.uint64)
    parts = [Lessons(board, nothing, nothing, *np.zeros((3, 0), np.int64))]
    asked = _asked_later(board)
    done = 0
    for number, (dataset, shard) in enumerate((d, s) for d in datasets for s in d.shards()):
        if number % part[1] != part[0]:
            continue
        rows = dataset.read(shard)
        found = _by_value(rows, board) if labels == "optimal" else _by_teacher(rows, board)
        parts.append(found[~np.isin(np.minimum(*found.keys()), asked)])
        done += len(rows)
        tell(done, total)
    lessons = _joined(parts)
    if not len(lessons) and part == (0, 1):
        raise InputError(
            "there are no positions to learn from: for labels=optimal a teacher has to know what "
            "every column is worth, as perfect does, and one has to be worse"
        )
    return lessons


def _by_teacher(rows: Rows, board: Board) -> Lessons:
    move = rows.move.astype(np.int64)
    return Lessons(board, *rows.stones(board), move, 1 << move, np.ones(len(rows), np.int64))


def _by_value(rows: Rows, board: Board) -> Lessons:
    """Where the value of every move is known, and some move is a mistake."""
    top = rows.board.reshape(-1, board.rows, board.columns)[:, 0]
    is_open, is_known = top == 0, rows.proven != NO_RESULT
    best = np.where(is_known, rows.proven, -2).max(axis=1)
    is_right = is_known & (rows.proven == best[:, None])
    chosen = (is_known == is_open).all(axis=1) & (is_right != is_open).any(axis=1)
    is_right = is_right[chosen]
    own, mask = rows.stones(board)
    return Lessons(
        board,
        own[chosen],
        mask[chosen],
        is_right.argmax(axis=1).astype(np.int64),
        (is_right << np.arange(board.columns)).sum(axis=1).astype(np.int64),
        np.ones(len(is_right), np.int64),
    )


def _asked_later(board: Board) -> Array:
    """The positions of the examination, each by its number or that of its mirror image."""
    questions = Questions.load()
    if questions.board != board:
        return np.zeros(0, np.uint64)
    image = mirrored(board, questions.own), mirrored(board, questions.mask)
    found: Array = np.minimum(
        position_key(board, questions.own, questions.mask), position_key(board, *image)
    )
    return found
