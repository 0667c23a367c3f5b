"""Training: from runs to a model, and its accuracy on a test set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from selfplay.arrays import Array
from selfplay.confidence import wilson
from selfplay.errors import InputError
from selfplay.notebook import table
from selfplay.storage.dataset import Dataset
from selfplay.train.choice import best_moves
from selfplay.train.columns import open_columns
from selfplay.train.config import TrainingConfig
from selfplay.train.estimator.encoding import quartiles_of
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.model import Model
from selfplay.train.training_set import (
    StoneWeights,
    TrainingSet,
    check_runs,
    held_out_keys,
    training_set_of,
)
from selfplay.train.tree.branch import Limits
from selfplay.train.tree.grower import Matrix
from selfplay.train.tree.pruning import grow_pruned, with_leaves
from selfplay.train.tree.tree import Tree
from selfplay.train.weights.fit import fit
from selfplay.train.weights.sample import is_for_tree, sample_of
from selfplay.train.weights.weights import Weights

if TYPE_CHECKING:
    from selfplay.train.tree.distributed import Part, Traffic

OnProgress = Callable[[str, int, int], None]
"""Called with the phase, how much of it is done, and of how much."""

# Positions whose moves are encoded in one go, to bound memory.
_BATCH = 1 << 18


def fitted_features(
    datasets: Sequence[Dataset],
    config: TrainingConfig,
    on_progress: OnProgress = lambda phase, done, of: None,
    threads: int | None = None,
) -> tuple[FeatureSet, float]:
    """The features of a config, with weights fitted on a sample of the runs if they have any, and
    the share of the training set that the tree is grown on.

    One process does it: the sample is bounded, and steps depend on their order.
    """
    assert config.features is not None
    board = datasets[0].board
    features = FeatureSet(config.features, board, config.perspective, config.target)
    if not features.by_move:
        return features, 1.0
    sample = sample_of(datasets, held_out_keys(board, config.evaluation_set), config.test)

    def encode(own: Array, mask: Array, weights: Weights) -> Array:
        return replace(features, weights=weights).encode(own, mask, threads)

    tell = partial(on_progress, "passes over the sample")
    weights = fit(sample, features.weighed, encode, tell)
    return replace(features, weights=weights), sample.tree_share


@dataclass(frozen=True, slots=True, repr=False)
class TrainingReport:
    """The result of a training."""

    rows: int
    unique_rows: int
    """Positions of the training set after mirroring and merging."""
    test_rows: int
    leaves: int
    depth: int
    train_accuracy: float
    test_accuracy: float | None
    """None without a test set, as the next two."""
    test_interval: tuple[float, float] | None
    constant_accuracy: float | None
    """The accuracy of always playing the open column nearest to the middle."""
    left_out: dict[str, int]
    """Positions of the runs that were not used: how many for each reason."""
    confusion: list[list[int]]
    """Test rows by the teacher's column and the model's."""
    seconds: dict[str, float]

    @property
    def facts(self) -> list[tuple[str, str]]:
        """The results with their names, for a table."""
        facts = [
            ("positions", f"{self.rows:,}, {self.test_rows:,} of them in the test set"),
            *[("left out", f"{count:,} {reason}") for reason, count in self.left_out.items()],
            ("unique training positions", f"{self.unique_rows:,}"),
            ("leaves", f"{self.leaves:,}"),
            ("depth", f"{self.depth}"),
            ("training accuracy", f"{self.train_accuracy:.1%}"),
        ]
        if self.test_interval is not None:
            low, high = self.test_interval
            facts += [
                ("test accuracy", f"{self.test_accuracy:.1%} ({low:.1%} to {high:.1%})"),
                ("always the middle column", f"{self.constant_accuracy:.1%}"),
            ]
        return facts

    @property
    def confusion_table(self) -> tuple[list[str], list[list[str]]]:
        """Its header and rows, of the teacher's column against the model's."""
        columns = range(1, len(self.confusion) + 1)
        rows = [
            [str(column), *(f"{count:,}" for count in counts)]
            for column, counts in zip(columns, self.confusion, strict=True)
        ]
        return ["teacher", *map(str, columns)], rows

    def __repr__(self) -> str:
        accuracy = "" if self.test_accuracy is None else f", test accuracy {self.test_accuracy:.1%}"
        return f"<TrainingReport: {self.rows:,} positions, {self.leaves:,} leaves{accuracy}>"

    def _repr_html_(self) -> str:
        header, rows = self.confusion_table
        return table(self.facts) + (table(rows, header) if self.test_rows else "")


@dataclass(frozen=True, slots=True)
class Scores:
    """How a tree did on the training and the test set. Those of several parts can be added up."""

    rows: int
    unique_rows: int
    train_rows: int
    train_right: int
    test_right: int
    constant_right: int
    confusion: Array
    left_out: Counter[str]

    def __add__(self, other: Scores) -> Scores:
        names = self.__slots__
        return Scores(**{name: getattr(self, name) + getattr(other, name) for name in names})


@dataclass(frozen=True, slots=True)
class Division:
    """A training set and a test set, as a config has them."""

    config: TrainingConfig
    features: FeatureSet
    rows: int
    left_out: Counter[str]
    training: TrainingSet
    test: TrainingSet
    prepared: TrainingSet
    """What the tree is grown on: the training set or a share of it, with mirror images, merged."""

    @classmethod
    def of(
        cls, rows: TrainingSet, config: TrainingConfig, features: FeatureSet, share: float
    ) -> Division:
        training, test = rows.divided(config.test, config.test_split)
        grown_on = training
        if share < 1:
            grown_on = training[is_for_tree(np.minimum(*training.keys()), share)]
        prepared = grown_on.mirrored_as(config.mirror)
        if config.duplicates == "merge":
            prepared = prepared.merged(config.max_weight)
        return cls(config, features, rows.rows, rows.left_out, training, test, prepared)

    def matrix(self, threads: int | None) -> Matrix:
        return matrix_of(self.prepared, self.features, threads)

    def evaluate(self, tree: Tree) -> Scores:
        model = _model(self.config, self.features, tree, {})
        moves = _moves(model, self.test)
        return Scores(
            rows=self.rows,
            unique_rows=len(self.prepared),
            train_rows=self.training.rows,
            train_right=int(self.training.is_accepted(_moves(model, self.training)).sum()),
            test_right=int(self.test.is_accepted(moves).sum()),
            constant_right=int(self.test.is_accepted(_middle(self.test)).sum()),
            confusion=_confusion(self.test, moves),
            left_out=self.left_out,
        )


def train_model(
    datasets: Sequence[Dataset],
    config: TrainingConfig,
    on_progress: OnProgress = lambda phase, done, of: None,
    threads: int | None = None,
    weights_by_run: Sequence[StoneWeights] | None = None,
) -> tuple[Model, TrainingReport]:
    """Train a model on runs, each with its own stone weights, if given."""
    clock = _Clock()
    tell = partial(on_progress, "positions read")
    rows = training_set_of(
        datasets,
        config.labels,
        tell,
        weights_by_run=weights_by_run,
        evaluation_set=config.evaluation_set,
    )
    clock.lap("reading")
    features, share = fitted_features(datasets, config, on_progress, threads)
    clock.lap("fitting weights")
    division = Division.of(rows, config, features, share)
    clock.lap("dividing")
    matrix = division.matrix(threads)
    if config.thresholds == "quartiles":
        matrix = replace(matrix, cuts=quartiles_of(matrix.codes, matrix.widths))
    clock.lap("features")
    tree = grow_pruned(matrix, config, threads, partial(on_progress, "rows in grown branches"))
    clock.lap("growing")
    scores = division.evaluate(tree)
    clock.lap("examining")
    report = _report(config, tree, scores, clock.laps)
    return _model(config, features, tree, _provenance(datasets, report)), report


_LOCAL_ONLY = {"prune": None, "max_weight": None, "thresholds": "all", "test_split": "position"}
"""Options that need all rows in one process, and their defaults."""


def train_distributed(
    datasets: Sequence[Dataset],
    config: TrainingConfig,
    parts: int,
    on_progress: OnProgress = lambda phase, done, of: None,
) -> tuple[Model, TrainingReport, Traffic]:
    """The same model, trained on the actors of a running Ray: each reads some of the shards."""
    from selfplay.train.tree.distributed import DistributedGrower

    for name, usual in _LOCAL_ONLY.items():
        if getattr(config, name) != usual:
            raise InputError(f"{name}={getattr(config, name)} is for one process: leave it out")
    clock = _Clock()
    runs = tuple(dataset.place.absolute for dataset in datasets)
    check_runs(datasets)
    features, share = fitted_features(datasets, config, on_progress)
    clock.lap("fitting weights")
    grower = DistributedGrower(RunPart(runs, config, features, share), parts)
    try:
        tree = grower.grow(config.criterion, config.split, Limits.of(config), on_progress)
        if config.max_leaves is not None:
            tree = with_leaves(tree, config.max_leaves, config.criterion)
        clock.lap("reading and growing")
        first, *others = grower.call("evaluate", tree)
        clock.lap("examining")
    finally:
        grower.close()
    report = _report(config, tree, sum(others, first), clock.laps)
    model = _model(config, features, tree, _provenance(datasets, report))
    return model, report, grower.traffic


@dataclass(frozen=True, slots=True)
class RunPart:
    """Loads a part of some runs in an actor."""

    runs: tuple[str, ...]
    config: TrainingConfig
    features: FeatureSet
    share: float

    def __call__(self, number: int, of: int) -> Part:
        from selfplay.train.tree.distributed import Part

        datasets = [Dataset(run) for run in self.runs]
        rows = training_set_of(
            datasets,
            self.config.labels,
            part=(number, of),
            evaluation_set=self.config.evaluation_set,
        )
        division = Division.of(rows, self.config, self.features, self.share)
        return Part(division.matrix(threads=1), division.evaluate)


def _model(
    config: TrainingConfig, features: FeatureSet, tree: Tree, provenance: Mapping[str, Any]
) -> Model:
    return Model(
        replace(tree, smoothing=float(config.smoothing)),
        features,
        config.target,
        config.mirror,
        asdict(config),
        provenance,
    )


def _report(
    config: TrainingConfig, tree: Tree, scores: Scores, seconds: dict[str, float]
) -> TrainingReport:
    test_rows = scores.rows - scores.train_rows
    if not scores.train_rows or (config.test and not test_rows):
        raise InputError(f"{scores.rows:,} positions are too few for a test set")
    accuracy = scores.test_right / test_rows if test_rows else None
    return TrainingReport(
        rows=scores.rows,
        unique_rows=scores.unique_rows,
        test_rows=test_rows,
        leaves=tree.leaves,
        depth=tree.depth,
        train_accuracy=scores.train_right / scores.train_rows,
        test_accuracy=accuracy,
        test_interval=None if accuracy is None else wilson(accuracy, test_rows),
        constant_accuracy=scores.constant_right / test_rows if test_rows else None,
        left_out=dict(scores.left_out),
        confusion=scores.confusion.tolist(),
        seconds=seconds,
    )


def _provenance(datasets: Sequence[Dataset], report: TrainingReport) -> dict[str, Any]:
    return {
        "runs": [
            {
                "run": str(dataset.place),
                "spec_hash": dataset.manifest.identity,
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
    """One row per position, labelled with a move, or per move, labelled correct or not."""
    if not features.by_move:
        return Matrix(
            codes=features.encode(training_set.own, training_set.mask, threads)[:, 0],
            widths=features.widths,
            labels=training_set.move.astype(np.uint8),
            weights=training_set.weight,
            classes=training_set.board.columns,
        )
    codes, labels, weights = [], [], []
    for start in range(0, max(1, len(training_set)), _BATCH):
        part = training_set[start : start + _BATCH]
        row, column = np.nonzero(open_columns(part.board, part.mask) & part.is_labelled)
        codes.append(features.encode(part.own, part.mask, threads)[row, column])
        labels.append(part[row].is_correct(column).astype(np.uint8))
        weights.append(part.weight[row])
    return Matrix(
        codes=np.concatenate(codes),
        widths=features.widths,
        labels=np.concatenate(labels),
        weights=np.concatenate(weights),
        classes=2,
    )


def _moves(model: Model, training_set: TrainingSet) -> Array:
    own, mask = training_set.own, training_set.mask
    return best_moves(training_set.board, own, mask, model.scores(own, mask))


def _middle(training_set: TrainingSet) -> Array:
    """The open column nearest to the middle, the left one of two."""
    columns = np.arange(training_set.board.columns)
    away = np.abs(2 * columns - (training_set.board.columns - 1))
    return np.asarray(
        np.where(open_columns(training_set.board, training_set.mask), away, 1000).argmin(axis=1)
    )


def _confusion(test: TrainingSet, moves: Array) -> Array:
    columns = test.board.columns
    # Of several correct moves, the model's counts as the teacher's.
    pairs = np.where(test.is_accepted(moves), moves, test.move) * columns + moves
    counts: Array = np.bincount(pairs, minlength=columns * columns)
    return counts.reshape(columns, columns)
