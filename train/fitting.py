"""Training: from the positions of runs to a model, and how well it knows those it has not seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from importlib.metadata import version
from time import perf_counter
from typing import Any, Literal, get_args

import numpy as np

from selfplay.errors import InputError
from storage.dataset import Dataset
from train.criterion import Criterion, Split
from train.features import FeatureSet, Perspective
from train.grower import Limits, Matrix, grow
from train.intervals import wilson
from train.lessons import Duplicates, Lessons, TestSplit, lessons_of
from train.model import Mirror, Model, Target
from train.pruning import reduced_error, with_leaves

Array = np.ndarray[Any, Any]

# Moves are considered for so many positions at a time, to keep memory bounded.
_AT_ONCE = 1 << 18


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """How a model is made of rows."""

    features: Literal["cells", "tactics"] = "tactics"
    """Of the position as a whole; a tree of candidates looks at its moves."""
    perspective: Perspective = "mover"
    target: Target = "candidate"
    mirror: Mirror = "augment"
    criterion: Criterion = "entropy"
    split: Split = "threshold"
    max_depth: int | None = None
    min_samples_leaf: int = 20
    min_gain: float = 0.0
    max_leaves: int | None = None
    prune: float | None = None
    duplicates: Duplicates = "merge"
    test: float = 0.2
    test_split: TestSplit = "position"

    def __post_init__(self) -> None:
        for name, kind in (
            ("features", Literal["cells", "tactics"]),
            ("perspective", Perspective),
            ("target", Target),
            ("mirror", Mirror),
            ("criterion", Criterion),
            ("split", Split),
            ("duplicates", Duplicates),
            ("test_split", TestSplit),
        ):
            if getattr(self, name) not in get_args(kind):
                known = ", ".join(get_args(kind))
                raise InputError(f"{name} is one of {known}, not {getattr(self, name)!r}")
        for name, least in (("max_depth", 0), ("min_samples_leaf", 1), ("max_leaves", 1)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} is a number from {least} up, not {value}")
        for name in ("test", "prune"):
            value = getattr(self, name)
            if value is not None and not 0 < value < 1:
                raise InputError(f"{name} is a share between 0 and 1, not {value:g}")
        if not self.min_gain >= 0:
            raise InputError(f"min_gain is a number from 0 up, not {self.min_gain:g}")


@dataclass(frozen=True, slots=True)
class Report:
    """What came of a training."""

    rows: int
    unique_rows: int
    """Different positions with a move, mirror images as the recipe has them."""
    test_rows: int
    leaves: int
    depth: int
    train_accuracy: float
    test_accuracy: float
    test_interval: tuple[float, float]
    constant_accuracy: float
    """Of an answer that is always the middle column, or the open one next to it."""
    confusion: list[list[int]]
    """Test rows by the teacher's column and by the model's."""
    seconds: dict[str, float]


def train(
    datasets: Sequence[Dataset],
    recipe: Recipe,
    tell: Callable[[int, int], None] = lambda done, of: None,
    threads: int | None = None,
) -> tuple[Model, Report]:
    """Grow a tree of the positions in some runs."""
    seconds: dict[str, float] = {}
    clock = _Clock(seconds)
    lessons = lessons_of(datasets, tell)
    clock.lap("reading")
    seen, unseen = lessons.divided(recipe.test, recipe.test_split)
    if not (len(seen) and len(unseen)):
        raise InputError(f"{len(lessons):,} positions are too few to be divided")
    taught = seen.mirrored_as(recipe.mirror)
    if recipe.duplicates == "merge":
        taught = taught.merged()
    clock.lap("dividing")
    features = FeatureSet(
        "move" if recipe.target == "candidate" else recipe.features,
        lessons.board,
        recipe.perspective,
    )
    matrix = matrix_of(taught, features)
    clock.lap("features")
    tree = _grown(matrix, recipe, threads)
    clock.lap("growing")
    model = Model(tree, features, recipe.target, recipe.mirror, asdict(recipe))
    answers = _answers(model, unseen)
    accuracy = _share(answers == unseen.move, unseen.weight)
    report = Report(
        rows=lessons.rows,
        unique_rows=len(taught),
        test_rows=unseen.rows,
        leaves=tree.leaves,
        depth=tree.depth,
        train_accuracy=_share(_answers(model, seen) == seen.move, seen.weight),
        test_accuracy=accuracy,
        test_interval=wilson(accuracy, unseen.rows),
        constant_accuracy=_share(_middle(unseen) == unseen.move, unseen.weight),
        confusion=_confusion(unseen, answers),
        seconds=seconds,
    )
    clock.lap("examining")
    provenance = {
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
    return Model(tree, features, recipe.target, recipe.mirror, asdict(recipe), provenance), report


class _Clock:
    def __init__(self, laps: dict[str, float]) -> None:
        self._laps, self._start = laps, perf_counter()

    def lap(self, name: str) -> None:
        now = perf_counter()
        self._laps[name] = now - self._start
        self._start = now


def matrix_of(lessons: Lessons, features: FeatureSet) -> Matrix:
    """What a tree is grown from: positions and their moves, or moves and whether they were made."""
    if features.name != "move":
        return Matrix(
            codes=features.of_positions(lessons.own, lessons.mask),
            widths=features.widths,
            labels=lessons.move.astype(np.uint8),
            weights=lessons.weight,
            classes=lessons.board.columns,
        )
    codes, labels, weights = [], [], []
    for start in range(0, len(lessons), _AT_ONCE):
        part = lessons[start : start + _AT_ONCE]
        row, column = np.nonzero(_open_columns(part))
        codes.append(features.of_moves(part.own[row], part.mask[row], column))
        labels.append((part.move[row] == column).astype(np.uint8))
        weights.append(part.weight[row])
    return Matrix(
        codes=np.concatenate(codes),
        widths=features.widths,
        labels=np.concatenate(labels),
        weights=np.concatenate(weights),
        classes=2,
    )


def _open_columns(lessons: Lessons) -> Array:
    """bool [row, column]"""
    board = lessons.board
    tops = [1 << (column * board.stride + board.rows - 1) for column in range(board.columns)]
    found: Array = (lessons.mask[:, None] & np.array(tops, np.uint64)) == 0
    return found


def _grown(matrix: Matrix, recipe: Recipe, threads: int | None) -> Any:
    limits = Limits(
        max_depth=recipe.max_depth,
        min_samples_leaf=recipe.min_samples_leaf,
        min_gain=recipe.min_gain,
    )
    if recipe.prune is None:
        tree = grow(matrix, recipe.criterion, recipe.split, limits, threads)
    else:
        kept, other = matrix.divided(recipe.prune)
        tree = grow(kept, recipe.criterion, recipe.split, limits, threads)
        tree = reduced_error(tree, other.codes, other.labels, other.weights)
    if recipe.max_leaves is not None:
        tree = with_leaves(tree, recipe.max_leaves, recipe.criterion)
    return tree


def _answers(model: Model, lessons: Lessons) -> Array:
    found: Array = model.scores(lessons.own, lessons.mask).argmax(axis=1)
    return found


def _middle(lessons: Lessons) -> Array:
    """The open column that is nearest to the middle, the left one of two."""
    columns = np.arange(lessons.board.columns)
    away = np.abs(2 * columns - (lessons.board.columns - 1))
    found: Array = np.where(_open_columns(lessons), away, 1000).argmin(axis=1)
    return found


def _share(right: Array, weight: Array) -> float:
    return float(np.average(right, weights=weight))


def _confusion(lessons: Lessons, answers: Array) -> list[list[int]]:
    columns = lessons.board.columns
    pairs = lessons.move * columns + answers
    counts = np.bincount(pairs, lessons.weight, minlength=columns * columns)
    table: list[list[int]] = counts.astype(int).reshape(columns, columns).tolist()
    return table
