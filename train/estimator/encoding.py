"""Values of any kind as small whole numbers, which is what trees are grown from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.train.tree.criterion import Split

Thresholds = Literal["all", "quartiles"]

MOST_VALUES = (1 << 16) - 1
"""Of one feature; one code is kept for values that were never seen."""

QUARTILES_FROM = 10
"""With more values than this, quartiles are the only thresholds, if such are wanted."""


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """The values of a feature in their order; a value's code is its place in it."""

    values: Array
    bounds: Array | None = None
    """Where values are ordered numbers: between two neighbours. A value has the code of those it
    falls among."""

    @property
    def width(self) -> int:
        return len(self.values)

    def codes(self, column: Array, dtype: Any) -> Array:
        """A column as codes; the largest number of the type for what was never seen."""
        if self.bounds is not None:
            return np.searchsorted(self.bounds, column, side="left").astype(dtype)
        places = np.searchsorted(self.values, column)
        places[places == len(self.values)] = 0
        known = self.values[places] == column
        return np.where(known, places, np.iinfo(dtype).max).astype(dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """How the columns of a table become codes."""

    features: tuple[Feature, ...]

    @classmethod
    def of(cls, columns: Sequence[Array], split: Split) -> Encoding:
        return cls(tuple(_feature(column, split) for column in columns))

    @property
    def widths(self) -> Array:
        return np.array([feature.width for feature in self.features], np.int64)

    def codes(self, columns: Sequence[Array]) -> Array:
        """Rows of codes."""
        dtype = np.uint8 if self.widths.max(initial=0) < 256 else np.uint16
        rows = len(columns[0]) if columns else 0
        found = np.empty((rows, len(columns)), dtype)
        for at, (feature, column) in enumerate(zip(self.features, columns, strict=True)):
            found[:, at] = feature.codes(column, dtype)
        return found

    def cuts(self, thresholds: Thresholds) -> Array | None:
        """Which values a threshold may stand at: all, or of many those at the quartiles."""
        if thresholds == "all":
            return None
        return np.concatenate(
            [_quartiles(np.arange(feature.width), feature.width) for feature in self.features]
        )


def quartiles_of(codes: Array, widths: Array) -> Array:
    """bool [value of any feature]: where a threshold may stand, for features of many values that
    came up at their quartiles alone."""
    return np.concatenate(
        [_quartiles(np.unique(codes[:, k]), width) for k, width in enumerate(widths.tolist())]
    )


def _quartiles(values: Array, width: int) -> Array:
    """bool [value], of a feature with these values, out of so many that there may be."""
    cut = np.ones(width, np.bool_)
    if len(values) > QUARTILES_FROM:
        cut[:] = False
        cut[values[np.array([1, 2, 3]) * len(values) // 4 - 1]] = True
    return cut


def _feature(column: Array, split: Split) -> Feature:
    values = np.unique(column)
    if split != "threshold":
        if len(values) > MOST_VALUES:
            raise InputError(
                f"a feature has {len(values):,} values, more than {MOST_VALUES:,}: cut it into "
                "bins, as `equal_frequency` does, or use split='threshold'"
            )
        return Feature(values)
    if values.dtype.kind not in "biuf":
        raise InputError(
            "split='threshold' compares numbers: for names use split='multiway' or 'equals'"
        )
    if len(values) > MOST_VALUES:
        marks = np.linspace(0, len(column), MOST_VALUES + 1)[1:-1].astype(int)
        values = np.unique(np.append(np.sort(column)[marks], values[-1]))
    wide = values.astype(np.float64)
    bounds = wide[:-1] / 2 + wide[1:] / 2
    # Between two neighbouring numbers there may be nothing: the lower one itself will do.
    return Feature(values, np.where(bounds < wide[1:], bounds, wide[:-1]))


def equal_frequency(frame: pd.DataFrame, columns: Sequence[str], bins: int = 3) -> pd.DataFrame:
    """A copy in which these columns of numbers say which part of the rows a value belongs to.

    The parts hold equally many rows, as far as equal values allow: they are always together. Of
    three the names are low, mid and high, of others `1 of 5` and so on.
    """
    if bins < 2:
        raise InputError(f"bins is a number from 2 up, not {bins}")
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError(f"there is no column {missing[0]!r}; there is: {', '.join(frame.columns)}")
    names = ["low", "mid", "high"] if bins == 3 else [f"{k + 1} of {bins}" for k in range(bins)]
    out = frame.copy()
    for column in columns:
        values = frame[column].to_numpy()
        edges = np.quantile(values, np.arange(1, bins) / bins)
        out[column] = np.array(names, object)[np.searchsorted(edges, values, side="left")]
    return out
