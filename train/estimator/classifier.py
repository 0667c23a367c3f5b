"""ID3 as a scikit-learn estimator."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from html import escape
from numbers import Real
from typing import Any, Self

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.train.config import Criterion, Split, Thresholds, check_growth
from selfplay.train.estimator.encoding import Encoding
from selfplay.train.tree.exports import Wording, as_svg, as_text
from selfplay.train.tree.grower import Matrix
from selfplay.train.tree.importances import gain_importances
from selfplay.train.tree.pruning import grow_pruned

# Fractional weights become integers: about a millionth of the largest is one step.
_STEPS = 1 << 20

_DEPTH_IN_NOTEBOOK = 3


class NotFittedError(ValueError, AttributeError):
    """A prediction was requested before `fit`."""


class ID3Classifier:
    """An ID3 decision tree.

    `split` is `threshold` (up to a number or above it; with `thresholds="quartiles"` only at the
    quartiles of features with many values), `equals` (one value against the rest) or `multiway` (a
    branch for every value, as in ID3). Names need one of the latter two.

    Rows count by weight, also for `min_samples_leaf` and `min_samples_split`. `class_weight` is a
    weight for each class, or `balanced`: every class counts the same.

    Among equal gains the first feature is taken, then its first value: the order of the rows does
    not matter. A row with an unseen value ends at the node that tests it.

    `prune` is the share of the rows held out for reduced-error pruning, chosen by their content.
    """

    def __init__(
        self,
        *,
        criterion: Criterion = "entropy",
        split: Split = "threshold",
        thresholds: Thresholds = "all",
        max_depth: int | None = None,
        min_samples_split: int = 2,
        min_samples_leaf: int = 1,
        min_gain: float = 0.0,
        max_leaves: int | None = None,
        prune: float | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        threads: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.split = split
        self.thresholds = thresholds
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_gain = min_gain
        self.max_leaves = max_leaves
        self.prune = prune
        self.class_weight = class_weight
        self.threads = threads

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:  # noqa: N803
        check_growth(self)
        columns, names = _columns(X)
        rows = len(columns[0])
        labels = _labels(y, rows)
        self.classes_, numbers = np.unique(labels, return_inverse=True)
        if len(self.classes_) > 256:
            raise ValueError(f"there are {len(self.classes_):,} classes; 256 is the most")
        by_row = _sample_weights(sample_weight, rows)
        if self.class_weight is not None:
            by_row = by_row * _class_weights(self.class_weight, self.classes_, numbers)[numbers]
        weights, self.unit_ = _as_integers(by_row)
        self.n_features_in_ = len(columns)
        if names is not None:
            self.feature_names_in_ = np.array(names, object)
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_
        self.encoding_ = Encoding.of([column[weights > 0] for column in columns], self.split)
        matrix = Matrix(
            codes=self.encoding_.codes(columns),
            widths=self.encoding_.widths,
            labels=numbers.astype(np.uint8),
            weights=weights,
            classes=len(self.classes_),
            cuts=self.encoding_.cuts(self.thresholds) if self.split == "threshold" else None,
            unit=self.unit_,
        )
        self.tree_ = grow_pruned(matrix[weights > 0], self, self.threads)
        return self

    def predict(self, X: Any) -> Array:  # noqa: N803
        codes = self._codes(X)
        return np.asarray(self.classes_[self.tree_.predict(codes)])

    def predict_proba(self, X: Any) -> Array:  # noqa: N803
        codes = self._codes(X)
        return self.tree_.probabilities(codes)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:  # noqa: N803
        """The accuracy on these rows."""
        return float(np.average(self.predict(X) == np.asarray(y), weights=sample_weight))

    def apply(self, X: Any) -> Array:  # noqa: N803
        """The node where each row ends."""
        codes = self._codes(X)
        return self.tree_.leaf_of(codes).astype(np.int64)

    def decision_path(self, X: Any) -> Any:  # noqa: N803
        """The nodes that each row passes, as a sparse matrix [row, node]."""
        try:
            from scipy.sparse import csr_matrix  # type: ignore[import-untyped]
        except ImportError:
            raise InputError("decision_path needs scipy: pip install scipy") from None
        at = self.apply(X)
        rows, count = np.arange(len(at)), len(at)
        paths: list[tuple[Array, Array]] = [(rows, at)]
        while len(rows := rows[at > 0]):
            at = self.tree_.parent[at[at > 0]]
            paths.append((rows, at))
        passed = tuple(np.concatenate(part) for part in zip(*paths, strict=True))
        ones = np.ones(len(passed[0]), np.int64)
        return csr_matrix((ones, passed), shape=(count, len(self.tree_)))

    @property
    def feature_importances_(self) -> Array:
        """The share of each feature in the decrease of impurity."""
        self._check_is_fitted()
        return gain_importances(self.tree_, self.criterion, self.n_features_in_)

    def to_text(self, max_depth: int | None = None, **names: Sequence[str] | None) -> str:
        """The tree as text; `feature_names` and `class_names` may be given."""
        return as_text(self.tree_, self._wording(**names), max_depth)

    def to_svg(self, max_depth: int | None = None, **names: Sequence[str] | None) -> str:
        """The tree as an SVG image; `feature_names` and `class_names` may be given."""
        return as_svg(self.tree_, self._wording(**names), max_depth)

    def _repr_html_(self) -> str:
        if not hasattr(self, "tree_"):
            return f"<code>{escape(repr(self))}</code>"
        return f"<code>{escape(repr(self))}</code>{self.to_svg(_DEPTH_IN_NOTEBOOK)}"

    def to_sklearn(self) -> Any:
        """The tree as scikit-learn's `DecisionTreeClassifier`, for tools that draw or explain one.
        Only for split=threshold. It compares numbers rounded to float32."""
        from selfplay.train.estimator.sklearn_export import as_sklearn

        self._check_is_fitted()
        return as_sklearn(self)

    def get_depth(self) -> int:
        return self.tree_.depth

    def get_n_leaves(self) -> int:
        return self.tree_.leaves

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return {name: getattr(self, name) for name in _parameters()}

    def set_params(self, **parameters: Any) -> Self:
        for name, value in parameters.items():
            if name not in _parameters():
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}; "
                    f"valid parameters are: {_parameters()}"
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = type(self)().get_params()
        given = {k: v for k, v in self.get_params().items() if v != defaults[k]}
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in given.items())})"

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "tree_")

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(),
            input_tags=InputTags(string=True, categorical=True),
        )

    def _wording(
        self,
        feature_names: Sequence[str] | None = None,
        class_names: Sequence[str] | None = None,
    ) -> Wording:
        self._check_is_fitted()
        return Wording.of(self, feature_names, class_names)

    def _check_is_fitted(self) -> None:
        if not hasattr(self, "tree_"):
            raise _not_fitted(f"This {type(self).__name__} instance is not fitted yet: call 'fit'")

    def _codes(self, X: Any) -> Array:  # noqa: N803
        self._check_is_fitted()
        columns, names = _columns(X)
        _check_names(getattr(self, "feature_names_in_", None), names)
        if len(columns) != self.n_features_in_:
            raise ValueError(
                f"X has {len(columns)} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
        return self.encoding_.codes(columns)


def _parameters() -> list[str]:
    return sorted(name for name in inspect.signature(ID3Classifier).parameters)


def _not_fitted(message: str) -> Exception:
    try:
        from sklearn.exceptions import NotFittedError as Known
    except ImportError:
        return NotFittedError(message)
    return Known(message)  # type: ignore[no-any-return]


def _columns(table: Any) -> tuple[list[Array], list[str] | None]:
    """The columns of a table, and their names if it has any."""
    if hasattr(table, "toarray") and hasattr(table, "nnz"):
        raise TypeError("Sparse data was passed, but dense data is required: use X.toarray()")
    if hasattr(table, "columns") and hasattr(table, "iloc"):
        columns = [np.asarray(table.iloc[:, k]) for k in range(table.shape[1])]
        texts = [isinstance(name, str) for name in table.columns]
        if any(texts) and not all(texts):
            raise TypeError(
                "Feature names are only supported if all input features have string names"
            )
        names = list(table.columns) if texts and all(texts) else None
    else:
        array = np.asarray(table)
        if array.dtype.kind == "c":
            raise ValueError("Complex data not supported")
        if array.ndim != 2:
            raise ValueError(
                f"Expected 2D array, got {array.ndim}D array instead. Reshape your data: a row "
                "for each sample, a column for each feature"
            )
        columns, names = [array[:, k] for k in range(array.shape[1])], None
    rows = len(columns[0]) if columns else 0
    if not columns:
        raise _empty("feature", np.asarray(table).shape)
    if not rows:
        raise _empty("sample", (0, len(columns)))
    return [_column(column) for column in columns], names


def _empty(what: str, shape: tuple[int, ...]) -> ValueError:
    return ValueError(
        f"Found array with 0 {what}(s) (shape={shape}) while a minimum of 1 is required."
    )


def _column(column: Array) -> Array:
    """A column as finite numbers, or as strings."""
    if column.dtype.kind == "O":
        kinds = {type(value) for value in column}
        if all(issubclass(kind, str) for kind in kinds):
            return column.astype(str)
        try:
            column = column.astype(np.float64)
        except TypeError as error:
            raise TypeError(f"argument must be a string or a number: {error}") from None
        except ValueError:
            raise ValueError("a column has numbers and names: make it one or the other") from None
    if column.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        what = "NaN" if np.isnan(column).any() else "infinity"
        raise ValueError(f"Input X contains {what}")
    return column


def _labels(y: Any, rows: int) -> Array:
    if y is None:
        raise ValueError("requires y to be passed, but the target y is None")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        _warn_of_column()
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    if len(labels) != rows:
        raise ValueError(
            f"Found input variables with inconsistent numbers of samples: {[rows, len(labels)]}"
        )
    if labels.dtype.kind == "f":
        if not np.isfinite(labels).all():
            what = "NaN" if np.isnan(labels).any() else "infinity"
            raise ValueError(f"Input y contains {what}")
        if (labels != np.round(labels)).any():
            raise ValueError("Unknown label type: continuous. Classes are names or whole numbers")
    return labels


def _warn_of_column() -> None:
    category: type[Warning] = UserWarning
    with suppress(ImportError):
        from sklearn.exceptions import DataConversionWarning

        category = DataConversionWarning
    message = "A column-vector y was passed when a 1d array was expected"
    warnings.warn(message, category, stacklevel=4)


def _sample_weights(given: Any, rows: int) -> Array:
    if given is None:
        return np.ones(rows, np.int64)
    weights = np.asarray(given)
    if weights.ndim == 0:
        weights = np.full(rows, weights)
    if weights.ndim != 1:
        raise ValueError("Sample weights must be 1D array or scalar")
    if len(weights) != rows:
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(rows,)}!")
    if not np.isfinite(weights.astype(np.float64)).all() or (weights < 0).any():
        raise ValueError("Input sample_weight contains NaN, infinity or a number below 0")
    if not weights.any():
        raise ValueError("all of sample_weight is zero")
    return weights


def _class_weights(given: Any, classes: Array, numbers: Array) -> Array:
    """float64 [class]: a class that is not named counts 1."""
    if isinstance(given, str) and given == "balanced":
        return np.asarray(len(numbers) / (len(classes) * np.bincount(numbers)))
    if not isinstance(given, Mapping):
        raise InputError(f"class_weight is 'balanced', a weight by class, or None, not {given!r}")
    for weight in given.values():
        if not (isinstance(weight, Real) and 0 <= float(weight) < float("inf")):
            raise InputError(f"a class_weight is a number from 0 up, not {weight!r}")
    named = classes.tolist()
    strange = [name for name in given if name not in named]
    if strange and any(name not in given for name in named):  # a part of the rows may lack a class
        raise InputError(f"class_weight has {strange[0]!r}; the classes are {named}")
    weights = np.array([given.get(name, 1.0) for name in named], np.float64)
    if not weights.any():
        raise InputError("class_weight is 0 for every class")
    return weights


def _as_integers(weights: Array) -> tuple[Array, float]:
    """Weights as integers, and what a weight of 1 became."""
    whole = (weights == np.round(weights)).all()
    unit = 1.0 if whole else float(_STEPS / weights.max())
    scaled = weights if whole else np.round(weights * unit)
    return scaled.astype(np.int64), unit


def _check_names(expected: Any, given: Sequence[str] | None) -> None:
    if expected is not None and given is not None and list(expected) != list(given):
        raise ValueError(
            "The feature names should match those that were passed during fit: "
            f"{', '.join(expected)}"
        )
