"""What a tree learns from: the positions of runs, each once, with the moves that were chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from selfplay.board import Board, mirrored, position_key
from selfplay.errors import InputError
from storage.dataset import Dataset
from storage.split import shares
from train.model import Mirror

Array = np.ndarray[Any, Any]
TestSplit = Literal["position", "order"]
Duplicates = Literal["merge", "keep"]


@dataclass(frozen=True, slots=True, eq=False)
class Lessons:
    """Positions and moves, and how often each came up."""

    board: Board
    own: Array
    """uint64 [row]: the stones of the side to move"""
    mask: Array
    """uint64 [row]: all stones"""
    move: Array
    """int64 [row]"""
    weight: Array
    """int64 [row]"""

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, which: Any) -> Lessons:
        return Lessons(
            self.board, self.own[which], self.mask[which], self.move[which], self.weight[which]
        )

    @property
    def rows(self) -> int:
        return int(self.weight.sum())

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
        return Lessons(found.board, found.own, found.mask, found.move, weight)

    def divided(self, test: float, by: TestSplit) -> tuple[Lessons, Lessons]:
        """To learn from, and to be examined on."""
        if by == "order":
            mark = round(len(self) * (1 - test))
            chosen = np.arange(len(self)) >= mark
        else:
            chosen = shares(np.minimum(*self.keys())) < test
        return self[~chosen], self[chosen]


def _joined(parts: Sequence[Lessons]) -> Lessons:
    return Lessons(
        parts[0].board,
        *(
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("own", "mask", "move", "weight")
        ),
    )


def lessons_of(
    datasets: Sequence[Dataset],
    tell: Callable[[int, int], None] = lambda done, of: None,
    part: tuple[int, int] = (0, 1),
) -> Lessons:
    """The rows of some runs in their order; or one part of so many, which are dealt by shards."""
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
    parts = [Lessons(board, nothing, nothing, *np.zeros((2, 0), np.int64))]
    done = 0
    for number, (dataset, shard) in enumerate((d, s) for d in datasets for s in d.shards()):
        if number % part[1] != part[0]:
            continue
        rows = dataset.read(shard)
        own, mask = rows.stones(board)
        move = rows.move.astype(np.int64)
        parts.append(Lessons(board, own, mask, move, np.ones(len(rows), np.int64)))
        done += len(rows)
        tell(done, total)
    return _joined(parts)
