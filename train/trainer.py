"""Training: from the positions of runs to a model, and how well it knows those it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset
from selfplay.train.estimator.encoding import Thresholds, quartiles_of
from selfplay.train.evaluation.statistics import wilson
from selfplay.train.features.feature_set import FeatureSet, Perspective
from selfplay.train.model import MOST_SMOOTHING, Mirror, Model, Target
from selfplay.train.training_set import (
    Duplicates,
    Labels,
    StoneWeights,
    TestSplit,
    TrainingSet,
    training_set_of,
)
from selfplay.train.tree.criterion import Criterion, Split
from selfplay.train.tree.grower import Limits, Matrix, grow
from selfplay.train.tree.pruning import reduced_error, with_leaves
from selfplay.train.tree.tree import Tree

if TYPE_CHECKING:
    from selfplay.train.tree.distributed import Part, Traffic

Tell = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is, and of how much."""

# Moves are considered for so many positions at a time, to keep memory bounded.
_AT_ONCE = 1 << 18


Features = Literal["cells", "tactics", "lookahead"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """How a model is made of rows."""

    features: Features | None = None
    """Of the position as a whole for a tree of moves: tactics, if not given. A tree of candidates
    looks at its moves, with lookahead unless tactics are asked for."""
    perspective: Perspective = "mover"
    target: Target = "candidate"
    labels: Labels = "teacher"
    mirror: Mirror = "augment"
    criterion: Criterion = "entropy"
    split: Split = "threshold"
    thresholds: Thresholds = "all"
    """Where thresholds may stand: anywhere, or at the quartiles of features of many values."""
    max_depth: int | None = None
    min_samples_leaf: int = 20
    smoothing: float = 400.0
    """With how many rows like those above it each node is filled up: small leaves then say no more
    than they know. Rows count as often as elsewhere: mirror images and merged ones, too."""
    min_gain: float = 0.0
    max_leaves: int | None = None
    prune: float | None = None
    duplicates: Duplicates = "merge"
    max_weight: int | None = None
    """However often a position comes up, it counts so many times at most."""
    test: float = 0.2
    """The share to be examined on; 0 learns from all."""
    test_split: TestSplit = "position"

    def __post_init__(self) -> None:
        if self.features is None:
            usual = "lookahead" if self.target == "candidate" else "tactics"
            object.__setattr__(self, "features", usual)
        for name, kind in (
            ("features", Features),
            ("perspective", Perspective),
            ("target", Target),
            ("labels", Labels),
            ("mirror", Mirror),
            ("criterion", Criterion),
            ("split", Split),
            ("thresholds", Thresholds),
            ("duplicates", Duplicates),
            ("test_split", TestSplit),
        ):
            if getattr(self, name) not in get_args(kind):
                known = ", ".join(get_args(kind))
                raise InputError(f"{name} is one of {known}, not {getattr(self, name)!r}")
        if self.features == "lookahead" and self.target != "candidate":
            raise InputError("features=lookahead are of moves: they are for target=candidate")
        if self.thresholds != "all" and self.split != "threshold":
            raise InputError("thresholds=quartiles are for split=threshold")
        if self.labels == "optimal" and self.target != "candidate":
            raise InputError("labels=optimal are for target=candidate: several moves may be right")
        for name, least in (
            ("max_depth", 0),
            ("min_samples_leaf", 1),
            ("max_leaves", 1),
            ("max_weight", 1),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} is a number from {least} up, not {value}")
        if self.max_weight is not None and (self.duplicates, self.labels) != ("merge", "optimal"):
            raise InputError("max_weight is for duplicates=merge and labels=optimal")
        if not 0 <= self.test < 1:
            raise InputError(f"test is a share from 0 up, below 1, not {self.test:g}")
        if self.prune is not None and not 0 < self.prune < 1:
            raise InputError(f"prune is a share between 0 and 1, not {self.prune:g}")
        if not 0 <= self.smoothing <= MOST_SMOOTHING:
            raise InputError(
                f"smoothing is a number from 0 to {MOST_SMOOTHING:,.0f}, not {self.smoothing:g}"
            )
        if not self.min_gain >= 0:
            raise InputError(f"min_gain is a number from 0 up, not {self.min_gain:g}")

    def features_on(self, board: Board) -> FeatureSet:
        if self.target == "candidate" and self.features != "lookahead":
            return FeatureSet("move", board, self.perspective)
        assert self.features is not None
        return FeatureSet(self.features, board, self.perspective)


@dataclass(frozen=True, slots=True)
class TrainingReport:
    """What came of a training."""

    rows: int
    unique_rows: int
    """Different positions with a move, mirror images as the recipe has them."""
    test_rows: int
    leaves: int
    depth: int
    train_accuracy: float
    test_accuracy: float | None
    """None where nothing was left to be examined on, as the next two."""
    test_interval: tuple[float, float] | None
    constant_accuracy: float | None
    """Of an answer that is always the middle column, or the open one next to it."""
    confusion: list[list[int]]
    """Test rows by the teacher's column and by the model's."""
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True)
class Marks:
    """How a model did on some rows. Those of several parts can be added up."""

    rows: int
    unique_rows: int
    train_rows: int
    train_right: int
    test_right: int
    constant_right: int
    confusion: Array

    def __add__(self, other: Marks) -> Marks:
        names = self.__slots__
        return Marks(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True)
class Course:
    """Rows to learn from and rows to be examined on, as a recipe has them."""

    recipe: TrainingConfig
    rows: int
    seen: TrainingSet
    unseen: TrainingSet
    taught: TrainingSet

    @classmethod
    def of(cls, training_set: TrainingSet, recipe: TrainingConfig) -> Course:
        seen, unseen = training_set.divided(recipe.test, recipe.test_split)
        taught = seen.mirrored_as(recipe.mirror)
        if recipe.duplicates == "merge":
            taught = taught.merged(recipe.max_weight)
        return cls(recipe, training_set.rows, seen, unseen, taught)

    def matrix(self, threads: int | None) -> Matrix:
        """What a tree is grown from."""
        return matrix_of(self.taught, self.recipe.features_on(self.seen.board), threads)

    def marks(self, tree: Tree) -> Marks:
        """How the tree does on all of it."""
        model, seen, unseen = _model(self.recipe, self.seen.board, tree, {}), self.seen, self.unseen
        answers = _answers(model, unseen)
        return Marks(
            rows=self.rows,
            unique_rows=len(self.taught),
            train_rows=self.seen.rows,
            train_right=int(seen.will_do(_answers(model, seen)).sum()),
            test_right=int(unseen.will_do(answers).sum()),
            constant_right=int(unseen.will_do(_middle(unseen)).sum()),
            confusion=_confusion(unseen, answers),
        )


def train_model(
    datasets: Sequence[Dataset],
    recipe: TrainingConfig,
    tell: Tell = lambda what, done, of: None,
    threads: int | None = None,
    weights_by_run: Sequence[StoneWeights] | None = None,
) -> tuple[Model, TrainingReport]:
    """Grow a tree of the positions in some runs, each with stone weights of its own, if given."""
    clock = _Clock()
    training_set = training_set_of(
        datasets, recipe.labels, partial(tell, "rows read"), weights_by_run=weights_by_run
    )
    clock.lap("reading")
    course = Course.of(training_set, recipe)
    clock.lap("dividing")
    matrix = course.matrix(threads)
    clock.lap("features")
    tree = _grown(matrix, recipe, threads, partial(tell, "rows in grown branches"))
    clock.lap("growing")
    marks = course.marks(tree)
    clock.lap("examining")
    report = _report(recipe, tree, marks, clock.laps)
    return _model(recipe, training_set.board, tree, _provenance(datasets, report)), report


_OF_ONE_PROCESS = {"prune": None, "max_weight": None, "thresholds": "all", "test_split": "position"}
"""What has to be as usual where rows are spread."""


def train_distributed(
    datasets: Sequence[Dataset],
    recipe: TrainingConfig,
    parts: int,
    tell: Tell = lambda what, done, of: None,
) -> tuple[Model, TrainingReport, Traffic]:
    """The same over so many actors of a Ray that runs: each reads some of the shards."""
    from selfplay.train.tree.distributed import DistributedGrower

    for name, usual in _OF_ONE_PROCESS.items():
        if getattr(recipe, name) != usual:
            raise InputError(f"{name}={getattr(recipe, name)} is for one process: leave it out")
    clock = _Clock()
    spread = DistributedGrower(RunPart(tuple(d.place.absolute for d in datasets), recipe), parts)
    try:
        limits = Limits(
            max_depth=recipe.max_depth,
            min_samples_leaf=recipe.min_samples_leaf,
            min_gain=recipe.min_gain,
        )
        tree = spread.grow(recipe.criterion, recipe.split, limits, tell)
        if recipe.max_leaves is not None:
            tree = with_leaves(tree, recipe.max_leaves, recipe.criterion)
        clock.lap("reading and growing")
        first, *others = spread.ask("examine", tree)
        clock.lap("examining")
    finally:
        spread.dismiss()
    report = _report(recipe, tree, sum(others, first), clock.laps)
    return (
        _model(recipe, datasets[0].board, tree, _provenance(datasets, report)),
        report,
        spread.traffic,
    )


@dataclass(frozen=True, slots=True)
class RunPart:
    """One part of the rows of some runs, for an actor."""

    runs: tuple[str, ...]
    recipe: TrainingConfig

    def __call__(self, number: int, of: int) -> Part:
        from selfplay.train.tree.distributed import Part

        datasets = [Dataset(run) for run in self.runs]
        training_set = training_set_of(datasets, self.recipe.labels, part=(number, of))
        course = Course.of(training_set, self.recipe)
        return Part(course.matrix(threads=1), course.marks)


def _model(
    recipe: TrainingConfig, board: Board, tree: Tree, provenance: Mapping[str, Any]
) -> Model:
    return Model(
        replace(tree, smoothing=float(recipe.smoothing)),
        recipe.features_on(board),
        recipe.target,
        recipe.mirror,
        asdict(recipe),
        provenance,
    )


def _report(
    recipe: TrainingConfig, tree: Tree, marks: Marks, seconds: dict[str, float]
) -> TrainingReport:
    test_rows = marks.rows - marks.train_rows
    if not marks.train_rows or (recipe.test and not test_rows):
        raise InputError(f"{marks.rows:,} positions are too few to be divided")
    accuracy = marks.test_right / test_rows if test_rows else None
    return TrainingReport(
        rows=marks.rows,
        unique_rows=marks.unique_rows,
        test_rows=test_rows,
        leaves=tree.leaves,
        depth=tree.depth,
        train_accuracy=marks.train_right / marks.train_rows,
        test_accuracy=accuracy,
        test_interval=None if accuracy is None else wilson(accuracy, test_rows),
        constant_accuracy=marks.constant_right / test_rows if test_rows else None,
        confusion=marks.confusion.tolist(),
        seconds=seconds,
    )


def _provenance(datasets: Sequence[Dataset], report: TrainingReport) -> dict[str, Any]:
    return {
        "runs": [
            {
                "run": str(dataset.place),
                "spec_hash": dataset.description.identity,
                "fingerprint": dataset.fingerprint,
                "positions": dataset.positions,
            }
            for dataset in datasets
        ],
        "test_accuracy": report.test_accuracy,
        "train_accuracy": report.train_accuracy,
        "rows": report.rows,
        "made_with": {name: version(name) for name in ("selfplay", "numpy", "numba")},
    }


class _Clock:
    def __init__(self) -> None:
        self.laps: dict[str, float] = {}
        self._start = perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self.laps[name] = now - self._start
        self._start = now


def matrix_of(
    training_set: TrainingSet, features: FeatureSet, threads: int | None = None
) -> Matrix:
    """What a tree is grown from: positions and their moves, or moves and whether they were made."""
    if not features.by_move:
        return Matrix(
            codes=features.of_positions(training_set.own, training_set.mask),
            widths=features.widths,
            labels=training_set.move.astype(np.uint8),
            weights=training_set.weight,
            classes=training_set.board.columns,
        )
    codes, labels, weights = [], [], []
    for start in range(0, max(1, len(training_set)), _AT_ONCE):
        part = training_set[start : start + _AT_ONCE]
        row, column = np.nonzero(_open_columns(part) & part.told_columns)
        codes.append(features.of_all_moves(part.own, part.mask, threads)[row, column])
        labels.append(part[row].is_right(column).astype(np.uint8))
        weights.append(part.weight[row])
    return Matrix(
        codes=np.concatenate(codes),
        widths=features.widths,
        labels=np.concatenate(labels),
        weights=np.concatenate(weights),
        classes=2,
    )


def _open_columns(training_set: TrainingSet) -> Array:
    """bool [row, column]"""
    board = training_set.board
    tops = [1 << (column * board.stride + board.rows - 1) for column in range(board.columns)]
    found: Array = (training_set.mask[:, None] & np.array(tops, np.uint64)) == 0
    return found


def _grown(
    matrix: Matrix, recipe: TrainingConfig, threads: int | None, tell: Callable[[int, int], None]
) -> Tree:
    limits = Limits(
        max_depth=recipe.max_depth,
        min_samples_leaf=recipe.min_samples_leaf,
        min_gain=recipe.min_gain,
    )
    grown = partial(
        grow,
        criterion=recipe.criterion,
        split=recipe.split,
        limits=limits,
        threads=threads,
        tell=tell,
    )
    if recipe.thresholds == "quartiles":
        matrix = replace(matrix, cuts=quartiles_of(matrix.codes, matrix.widths))
    if recipe.prune is not None:
        kept, other = matrix.divided(recipe.prune)
        tree = reduced_error(grown(kept), other.codes, other.labels, other.weights)
    else:
        tree = grown(matrix)
    if recipe.max_leaves is not None:
        tree = with_leaves(tree, recipe.max_leaves, recipe.criterion)
    return tree


def _answers(model: Model, training_set: TrainingSet) -> Array:
    found: Array = model.scores(training_set.own, training_set.mask).argmax(axis=1)
    return found


def _middle(training_set: TrainingSet) -> Array:
    """The open column that is nearest to the middle, the left one of two."""
    columns = np.arange(training_set.board.columns)
    away = np.abs(2 * columns - (training_set.board.columns - 1))
    found: Array = np.where(_open_columns(training_set), away, 1000).argmin(axis=1)
    return found


def _confusion(training_set: TrainingSet, answers: Array) -> Array:
    columns = training_set.board.columns
    # Of several right moves, the one that was answered is the one that was asked for.
    pairs = np.where(training_set.will_do(answers), answers, training_set.move) * columns + answers
    counts: Array = np.bincount(pairs, minlength=columns * columns)
    return counts.reshape(columns, columns)
