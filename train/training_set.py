"""What a tree learns from: the positions of runs, each once, with the moves that are right."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from selfplay.arrays import Array, Int64Array, UInt64Array
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board, mirrored, next_cells, position_key, winning_cells
from selfplay.storage.dataset import Dataset
from selfplay.storage.rows import NO_RESULT, Rows
from selfplay.storage.split import shares
from selfplay.storage.verify import refuse_impossible
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.model import Mirror

TestSplit = Literal["position", "row"]
Duplicates = Literal["merge", "keep"]
Labels = Literal["teacher", "optimal"]
"""What is right: the teacher's move, or every move that keeps the value of the game."""

StoneWeights = tuple[tuple[int, int], ...]
"""Up to so many stones, a row counts so many times; of two that apply, the one for fewer."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Positions and the right moves, and how often each came up."""

    board: Board
    own: UInt64Array
    """uint64 [row]: the stones of the side to move"""
    mask: UInt64Array
    """uint64 [row]: all stones"""
    move: Int64Array
    """int64 [row]: a right move"""
    right: Int64Array
    """int64 [row]: all of them, as a set of columns"""
    left_out: Int64Array
    """int64 [row]: a set of columns, neither right nor wrong"""
    weight: Int64Array
    """int64 [row]"""

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, which: Any) -> TrainingSet:
        return TrainingSet(self.board, *(getattr(self, name)[which] for name in _ARRAYS))

    @property
    def rows(self) -> int:
        return int(self.weight.sum())

    @property
    def told_columns(self) -> Array:
        """bool [row, column]: whether it is told that the column is right, or wrong."""
        found: Array = self.left_out[:, None] >> np.arange(self.board.columns) & 1 == 0
        return found

    def is_right(self, columns: Array) -> Array:
        """bool [row]: whether this column is told to be right."""
        found: Array = self.right >> columns & 1 != 0
        return found

    def will_do(self, columns: Array) -> Array:
        """bool [row]: whether this column is not told to be wrong."""
        found: Array = (self.right | self.left_out) >> columns & 1 != 0
        return found

    def keys(self) -> tuple[Array, Array]:
        """A number for each position, and that of its mirror image."""
        board = self.board
        image = mirrored(board, self.own), mirrored(board, self.mask)
        return position_key(board, self.own, self.mask), position_key(board, *image)

    def turned(self) -> TrainingSet:
        """The mirror images."""
        board = self.board
        return TrainingSet(
            board,
            mirrored(board, self.own),
            mirrored(board, self.mask),
            board.columns - 1 - self.move,
            _turned(self.right, board.columns),
            _turned(self.left_out, board.columns),
            self.weight,
        )

    def mirrored_as(self, mirror: Mirror) -> TrainingSet:
        """With mirror images as well, or of each pair one, or as they are."""
        if mirror == "augment":
            return _joined([self, self.turned()])
        if mirror == "canonical":
            keys, images = self.keys()
            other = self.turned()
            turn = images < keys
            return TrainingSet(
                self.board,
                np.where(turn, other.own, self.own),
                np.where(turn, other.mask, self.mask),
                np.where(turn, other.move, self.move),
                np.where(turn, other.right, self.right),
                np.where(turn, other.left_out, self.left_out),
                self.weight,
            )
        return self

    def merged(self, max_weight: int | None = None) -> TrainingSet:
        """Every position with a move once, as heavy as it is often, or less."""
        if not len(self):
            return self
        keys = position_key(self.board, self.own, self.mask)
        order = np.lexsort((self.right, keys))
        keys, right = keys[order], self.right[order]
        is_first = np.append(True, (keys[1:] != keys[:-1]) | (right[1:] != right[:-1]))
        starts = np.flatnonzero(is_first)
        found = self[order[starts]]
        weight = np.add.reduceat(self.weight[order], starts)
        return replace(
            found, weight=weight if max_weight is None else np.minimum(weight, max_weight)
        )

    def weighted(self, stone_weights: StoneWeights) -> TrainingSet:
        """With rows that count several times: those of positions with few stones."""
        stones = np.bitwise_count(self.mask).astype(np.int64)
        times = np.ones(len(self), np.int64)
        for most, weight in sorted(stone_weights, reverse=True):
            times[stones <= most] = weight
        found = replace(self, weight=self.weight * times)
        return found[found.weight > 0]

    def divided(self, test: float, by: TestSplit) -> tuple[TrainingSet, TrainingSet]:
        """To learn from, and to be examined on."""
        if by == "row":
            mark = round(len(self) * (1 - test))
            chosen = np.arange(len(self)) >= mark
        else:
            chosen = shares(np.minimum(*self.keys())) < test
        return self[~chosen], self[chosen]


_ARRAYS = ("own", "mask", "move", "right", "left_out", "weight")


def parse_emphasis(text: str) -> StoneWeights:
    """`9:30,13:10`: rows with up to 9 stones count 30 times, those with up to 13 ten times."""
    found = []
    for part in text.split(",") if text.strip() else []:
        match = re.fullmatch(r"\s*([0-9]{1,3}):([0-9]{1,6})\s*", part)
        if match is None:
            raise InputError(
                "stone weights are written STONES:TIMES, such as 9:30,13:10, not "
                f"{quoted(part.strip())}"
            )
        found.append((int(match[1]), int(match[2])))
    return tuple(sorted(found))


def _joined(parts: Sequence[TrainingSet]) -> TrainingSet:
    return TrainingSet(
        parts[0].board,
        *(np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS),
    )


def _turned(columns: Array, count: int) -> Array:
    """Sets of columns as a mirror shows them."""
    found = np.zeros_like(columns)
    for column in range(count):
        found |= (columns >> column & 1) << (count - 1 - column)
    return found


def training_set_of(
    datasets: Sequence[Dataset],
    labels: Labels = "teacher",
    tell: Callable[[int, int], None] = lambda done, of: None,
    part: tuple[int, int] = (0, 1),
    weights_by_run: Sequence[StoneWeights] | None = None,
) -> TrainingSet:
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
    parts = [TrainingSet(board, nothing, nothing, *np.zeros((4, 0), np.int64))]
    asked = _asked_later(board)
    done = 0
    for number, (dataset, shard) in enumerate((d, s) for d in datasets for s in d.shards()):
        if number % part[1] != part[0]:
            continue
        rows = dataset.read(shard, check=refuse_impossible)
        found = _by_value(rows, board) if labels == "optimal" else _by_teacher(rows, board)
        if weights_by_run is not None:
            found = found.weighted(weights_by_run[datasets.index(dataset)])
        parts.append(found[~np.isin(np.minimum(*found.keys()), asked)])
        done += len(rows)
        tell(done, total)
    training_set = _joined(parts)
    if not len(training_set) and part == (0, 1):
        raise InputError(
            "there are no positions to learn from: for labels=optimal a teacher has to know what "
            "every column is worth, as perfect does, and one has to be worse"
        )
    return training_set


def _by_teacher(rows: Rows, board: Board) -> TrainingSet:
    move = rows.move.astype(np.int64)
    ones = np.ones(len(rows), np.int64)
    return TrainingSet(board, *rows.stones(board), move, 1 << move, 0 * ones, ones)


def _by_value(rows: Rows, board: Board) -> TrainingSet:
    """Where the value of every move is known, and some move is a mistake.

    Nobody should put off a win: where one is at hand, other moves that win are left out.
    """
    own, mask = rows.stones(board)
    wins = _winning(board, own, mask)
    top = rows.board.reshape(-1, board.rows, board.columns)[:, 0]
    is_open, is_known = top == 0, rows.proven != NO_RESULT
    best = np.where(is_known, rows.proven, -2).max(axis=1, keepdims=True)
    keeps = is_known & (rows.proven == best)
    chosen = (is_known == is_open).all(axis=1) & (keeps != is_open).any(axis=1)
    is_right = keeps & (wins | ~wins.any(axis=1, keepdims=True))
    bits = 1 << np.arange(board.columns)
    found = TrainingSet(
        board,
        own,
        mask,
        is_right.argmax(axis=1).astype(np.int64),
        (is_right * bits).sum(axis=1),
        ((keeps & ~is_right) * bits).sum(axis=1),
        np.ones(len(own), np.int64),
    )
    return found[chosen]


def _winning(board: Board, own: Array, mask: Array) -> Array:
    """bool [row, column]: whether the move wins at once."""
    found = np.zeros((len(own), board.columns), np.bool_)
    cells, there = np.uint64((1 << board.rows) - 1), winning_cells(board, own)
    for column in range(board.columns):
        stone = next_cells(board, mask) & (cells << np.uint64(column * board.stride))
        found[:, column] = there & stone != 0
    return found


def _asked_later(board: Board) -> Array:
    """The positions of the examination, each by its number or that of its mirror image."""
    questions = EvaluationSet.load()
    if questions.board != board:
        return np.zeros(0, np.uint64)
    image = mirrored(board, questions.own), mirrored(board, questions.mask)
    found: Array = np.minimum(
        position_key(board, questions.own, questions.mask), position_key(board, *image)
    )
    return found
