"""Encoding: feature values of any kind as small integers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.train.config import Split, Thresholds

MAX_VALUES = (1 << 16) - 1
"""Per feature; one code is reserved for unseen values."""

QUARTILES_FROM = 10
"""Features with more values than this use quartiles, if `thresholds` says so."""


@dataclass(frozen=True, slots=True, eq=False)
class Feature:
    """The sorted values of a feature; the code of a value is its index."""

    values: Array
    bounds: Array | None = None
    """For numbers: the midpoints between neighbours; a value has the code of its interval."""

    @property
    def width(self) -> int:
        return len(self.values)

    def codes(self, column: Array, dtype: Any) -> Array:
        """A column as codes; an unseen value becomes the maximum of the type."""
        if self.bounds is not None:
            return np.searchsorted(self.bounds, column, side="left").astype(dtype)
        places = np.searchsorted(self.values, column)
        places[places == len(self.values)] = 0
        known = self.values[places] == column
        return np.where(known, places, np.iinfo(dtype).max).astype(dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Encoding:
    """The features of a table."""

    features: tuple[Feature, ...]

    @classmethod
    def of(cls, columns: Sequence[Array], split: Split) -> Encoding:
        return cls(tuple(_feature(column, split) for column in columns))

    @property
    def widths(self) -> Array:
        return np.array([feature.width for feature in self.features], np.int64)

    def codes(self, columns: Sequence[Array]) -> Array:
        dtype = np.uint8 if self.widths.max(initial=0) < 256 else np.uint16
        rows = len(columns[0]) if columns else 0
        found = np.empty((rows, len(columns)), dtype)
        for at, (feature, column) in enumerate(zip(self.features, columns, strict=True)):
            found[:, at] = feature.codes(column, dtype)
        return found

    def cuts(self, thresholds: Thresholds) -> Array | None:
        """Which values may be thresholds; None: all."""
        if thresholds == "all":
            return None
        return np.concatenate(
            [_quartiles(np.arange(feature.width), feature.width) for feature in self.features]
        )


def quartiles_of(codes: Array, widths: Array) -> Array:
    """bool [value of any feature]: which may be thresholds: quartiles, where many values occur."""
    return np.concatenate(
        [_quartiles(np.unique(codes[:, k]), width) for k, width in enumerate(widths.tolist())]
    )


def _quartiles(values: Array, width: int) -> Array:
    """bool [value], of a feature with these values out of `width`."""
    cut = np.ones(width, np.bool_)
    if len(values) > QUARTILES_FROM:
        cut[:] = False
        cut[values[np.array([1, 2, 3]) * len(values) // 4 - 1]] = True
    return cut


def _feature(column: Array, split: Split) -> Feature:
    values = np.unique(column)
    if split != "threshold":
        if len(values) > MAX_VALUES:
            raise InputError(
                f"a feature has {len(values):,} values, more than {MAX_VALUES:,}: cut it into "
                "bins, as `equal_frequency` does, or use split='threshold'"
            )
        return Feature(values)
    if values.dtype.kind not in "biuf":
        raise InputError(
            "split='threshold' compares numbers: for names use split='multiway' or 'equals'"
        )
    if len(values) > MAX_VALUES:
        marks = np.linspace(0, len(column), MAX_VALUES + 1)[1:-1].astype(int)
        values = np.unique(np.append(np.sort(column)[marks], values[-1]))
    wide = values.astype(np.float64)
    bounds = wide[:-1] / 2 + wide[1:] / 2
    # Floats may have no midpoint: then the lower one is the bound.
    return Feature(values, np.where(bounds < wide[1:], bounds, wide[:-1]))


def equal_frequency(frame: pd.DataFrame, columns: Sequence[str], bins: int = 3) -> pd.DataFrame:
    """Replace columns of numbers by bins of about equally many rows.

    Three bins are named low, mid and high, others `1 of 5` and so on. Equal values share a bin.
    """
    if bins < 2:
        raise InputError(f"bins is a number from 2 up, not {bins}")
    missing = [column for column in columns if column not in frame.columns]
    if missing:
        raise InputError(f"there is no column {missing[0]!r}, only {', '.join(frame.columns)}")
    names = ["low", "mid", "high"] if bins == 3 else [f"{k + 1} of {bins}" for k in range(bins)]
    out = frame.copy()
    for column in columns:
        values = frame[column].to_numpy()
        edges = np.quantile(values, np.arange(1, bins) / bins)
        out[column] = np.array(names, object)[np.searchsorted(edges, values, side="left")]
    return out
