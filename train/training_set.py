"""The training set: the positions of runs and their correct moves."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from selfplay.arrays import Array, UInt64Array
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board, mirrored, position_key
from selfplay.storage.dataset import Dataset
from selfplay.storage.row_checks import validate_rows
from selfplay.storage.rows import NO_RESULT, Rows
from selfplay.storage.split import uniform_hash
from selfplay.train.columns import open_columns, winning_columns
from selfplay.train.config import Labels, Mirror, TestSplit
from selfplay.train.evaluation.positions import EvaluationSet, bundled
from selfplay.wording import counted

UNKNOWN = "without the value of every move"
UNCONTESTED = "without a mistake to make"
HELD_OUT = "in the evaluation set"

StoneWeights = tuple[tuple[int, int], ...]
"""(stones, weight): the weight of rows with up to this many stones; the first that applies."""


@dataclass(frozen=True, slots=True, eq=False)
class TrainingSet:
    """Positions, their correct moves and their weights."""

    board: Board
    own: UInt64Array
    """uint64 [row]: the stones of the side to move"""
    mask: UInt64Array
    """uint64 [row]: all stones"""
    move: Array
    """int64 [row]: a correct move"""
    right: Array
    """int64 [row]: all correct moves, a set of columns"""
    unlabelled: Array
    """int64 [row]: moves without a label, a set of columns"""
    weight: Array
    """int64 [row]"""
    left_out: Counter[str] = field(default_factory=Counter, kw_only=True)
    """The positions of the runs that are not in it: how many for each reason."""

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, which: Any) -> TrainingSet:
        return TrainingSet(self.board, *(getattr(self, name)[which] for name in _ARRAYS))

    @property
    def rows(self) -> int:
        return int(self.weight.sum())

    @property
    def is_labelled(self) -> Array:
        """bool [row, column]: whether the move is labelled correct or wrong."""
        return np.asarray(self.unlabelled[:, None] >> np.arange(self.board.columns) & 1 == 0)

    def is_correct(self, columns: Array) -> Array:
        """bool [row]: whether this move is labelled correct."""
        return np.asarray(self.right >> columns & 1 != 0)

    def is_accepted(self, columns: Array) -> Array:
        """bool [row]: whether this move is not labelled wrong."""
        return np.asarray((self.right | self.unlabelled) >> columns & 1 != 0)

    def keys(self) -> tuple[Array, Array]:
        """The key of each position, and of its mirror image."""
        return _keys(self.board, self.own, self.mask)

    def mirrored(self) -> TrainingSet:
        """The mirror images."""
        board = self.board
        return TrainingSet(
            board,
            mirrored(board, self.own),
            mirrored(board, self.mask),
            board.columns - 1 - self.move,
            _mirrored_columns(self.right, board.columns),
            _mirrored_columns(self.unlabelled, board.columns),
            self.weight,
        )

    def mirrored_as(self, mirror: Mirror) -> TrainingSet:
        """With mirror images added, with one of each pair, or unchanged."""
        if mirror == "augment":
            return _joined([self, self.mirrored()])
        if mirror == "canonical":
            keys, images = self.keys()
            image, chosen = self.mirrored(), images < keys
            pairs = ((getattr(image, name), getattr(self, name)) for name in _ARRAYS)
            return TrainingSet(self.board, *(np.where(chosen, *pair) for pair in pairs))
        return self

    def merged(self, max_weight: int | None = None) -> TrainingSet:
        """Each position and label once, with the sum of the weights up to `max_weight`."""
        if not len(self):
            return self
        keys = position_key(self.board, self.own, self.mask)
        order = np.lexsort((self.right, keys))
        keys, right = keys[order], self.right[order]
        is_first = np.append(True, (keys[1:] != keys[:-1]) | (right[1:] != right[:-1]))
        starts = np.flatnonzero(is_first)
        weight = np.add.reduceat(self.weight[order], starts)
        if max_weight is not None:
            weight = np.minimum(weight, max_weight)
        return replace(self[order[starts]], weight=weight)

    def weighted(self, stone_weights: StoneWeights) -> TrainingSet:
        """With rows weighted by their stones; rows of weight 0 are dropped."""
        stones = np.bitwise_count(self.mask).astype(np.int64)
        times = np.ones(len(self), np.int64)
        for most, weight in sorted(stone_weights, reverse=True):
            times[stones <= most] = weight
        return replace(self, weight=self.weight * times)[self.weight * times > 0]

    def divided(self, test: float, by: TestSplit) -> tuple[TrainingSet, TrainingSet]:
        """The training part and the test part."""
        if by == "row":
            chosen = np.arange(len(self)) >= round(len(self) * (1 - test))
        else:
            chosen = uniform_hash(np.minimum(*self.keys())) < test
        return self[~chosen], self[chosen]


_ARRAYS = ("own", "mask", "move", "right", "unlabelled", "weight")


def parse_stone_weights(text: str) -> StoneWeights:
    """`9:30,13:10`: rows with up to 9 stones count 30 times, those with up to 13 ten times."""
    weights = []
    for part in text.split(",") if text.strip() else []:
        match = re.fullmatch(r"\s*([0-9]{1,3}):([0-9]{1,6})\s*", part)
        if match is None:
            raise InputError(
                "stone weights are written STONES:TIMES, such as 9:30,13:10, not "
                f"{quoted(part.strip())}"
            )
        weights.append((int(match[1]), int(match[2])))
    return tuple(sorted(weights))


def _keys(board: Board, own: Array, mask: Array) -> tuple[Array, Array]:
    image = mirrored(board, own), mirrored(board, mask)
    return position_key(board, own, mask), position_key(board, *image)


def _joined(parts: Sequence[TrainingSet]) -> TrainingSet:
    return TrainingSet(
        parts[0].board,
        *(np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS),
    )


def _mirrored_columns(columns: Array, count: int) -> Array:
    """The mirror images of sets of columns."""
    image = np.zeros_like(columns)
    for column in range(count):
        image |= (columns >> column & 1) << (count - 1 - column)
    return image


def training_set_of(
    datasets: Sequence[Dataset],
    labels: Labels = "teacher",
    on_progress: Callable[[int, int], None] = lambda done, of: None,
    part: tuple[int, int] = (0, 1),
    weights_by_run: Sequence[StoneWeights] | None = None,
    evaluation_set: str | None = None,
) -> TrainingSet:
    """The rows of some runs in their order, or one part of so many, by shards.

    Positions of the board's bundled evaluation set, and of the file `evaluation_set`, are left out,
    as are their mirror images.
    """
    total = check_runs(datasets)
    board = datasets[0].board
    nothing = np.zeros(0, np.uint64)
    parts = [TrainingSet(board, nothing, nothing, *np.zeros((4, 0), np.int64))]
    held_out = held_out_keys(board, evaluation_set)
    left_out: Counter[str] = Counter()
    done = 0
    for number, (dataset, shard) in enumerate((d, s) for d in datasets for s in d.shards()):
        if number % part[1] != part[0]:
            continue
        rows = dataset.read(shard, check=validate_rows)
        labelled = _by_value(rows, board) if labels == "optimal" else _by_teacher(rows, board)
        left_out += labelled.left_out
        if weights_by_run is not None:
            labelled = labelled.weighted(weights_by_run[datasets.index(dataset)])
        is_held_out = np.isin(np.minimum(*labelled.keys()), held_out)
        left_out[HELD_OUT] += int(is_held_out.sum())
        parts.append(labelled[~is_held_out])
        done += len(rows)
        on_progress(done, total)
    training_set = replace(_joined(parts), left_out=+left_out)
    if not len(training_set) and part == (0, 1):
        needed = "contested positions and a teacher that knows the value of every move, as perfect"
        raise InputError(
            f"there are no positions to learn from: {left_out_text(training_set.left_out)}"
            + (f"; labels=optimal needs {needed} does" if labels == "optimal" else "")
        )
    return training_set


def check_runs(datasets: Sequence[Dataset]) -> int:
    """How many positions the runs have; refused if no tree can learn from them."""
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
        raise InputError(f"trees need boards that fit 64 bits; {board.size} does not")
    return total


def left_out_text(left_out: Mapping[str, int]) -> str:
    """How many positions of the runs are not in a training set, and why."""
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in left_out.items())
    total = counted(sum(left_out.values()), "position")
    return f"{total} left out ({reasons})" if left_out else f"{total} left out"


def refuse_repeated(datasets: Sequence[Dataset]) -> None:
    """Refuse runs with the same rows: they would count twice."""
    seen: dict[str, Dataset] = {}
    for dataset in datasets:
        first = seen.setdefault(dataset.fingerprint, dataset)
        if first is not dataset and dataset.positions:
            raise InputError(
                f"{first.place} and {dataset.place} have the same rows (fingerprint "
                f"{dataset.fingerprint}): give one of them"
            )


def _by_teacher(rows: Rows, board: Board) -> TrainingSet:
    move = rows.move.astype(np.int64)
    ones = np.ones(len(rows), np.int64)
    return TrainingSet(board, *rows.stones(board), move, 1 << move, 0 * ones, ones)


def _by_value(rows: Rows, board: Board) -> TrainingSet:
    """Contested positions where the value of every move is known.

    Where a move wins at once, other winning moves have no label: a win is not to be put off.
    """
    own, mask = rows.stones(board)
    wins = winning_columns(board, own, mask)
    is_open, is_known = open_columns(board, mask), rows.proven != NO_RESULT
    best = np.where(is_known, rows.proven, -2).max(axis=1, keepdims=True)
    keeps = is_known & (rows.proven == best)
    is_exact = (is_known == is_open).all(axis=1)
    chosen = is_exact & (keeps != is_open).any(axis=1)
    is_correct = keeps & (wins | ~wins.any(axis=1, keepdims=True))
    bits = 1 << np.arange(board.columns)
    labelled = TrainingSet(
        board,
        own,
        mask,
        is_correct.argmax(axis=1).astype(np.int64),
        (is_correct * bits).sum(axis=1),
        ((keeps & ~is_correct) * bits).sum(axis=1),
        np.ones(len(own), np.int64),
    )
    unknown = int((~is_exact).sum())
    left_out = Counter({UNKNOWN: unknown, UNCONTESTED: len(rows) - unknown - int(chosen.sum())})
    return replace(labelled[chosen], left_out=left_out)


def held_out_keys(board: Board, file: str | None) -> Array:
    """The positions of both halves of the evaluation sets, each by the smaller of its keys."""
    given = None if file is None else EvaluationSet.for_board(board, Path(file))
    held_out = [found.keys for found in (bundled(board), given) if found is not None]
    return np.concatenate([np.zeros(0, np.uint64), *held_out])
