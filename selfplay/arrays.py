"""Types for annotations: arrays by their dtype, and the numbers that kernels compute with."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from selfplay.errors import InputError, quoted

Array = np.ndarray[Any, Any]
"""An array of any dtype, where the code serves several."""

BoolArray = NDArray[np.bool_]
Int8Array = NDArray[np.int8]
Int16Array = NDArray[np.int16]
Int32Array = NDArray[np.int32]
Int64Array = NDArray[np.int64]
UInt8Array = NDArray[np.uint8]
UInt64Array = NDArray[np.uint64]
Float32Array = NDArray[np.float32]
Float64Array = NDArray[np.float64]
RecordArray = NDArray[np.void]

Int = int | np.integer[Any]
Float = float | np.floating[Any]

Cells = TypeVar("Cells", int, np.uint64, Array)
"""A set of cells: Python's integer, a machine word, or an array of either."""


def bitboards(own: Any, mask: Any) -> tuple[UInt64Array, UInt64Array]:
    """Own stones and all stones as arrays of words, of any kind of whole numbers; two numbers are
    one position."""
    words = _words("own", own), _words("mask", mask)
    if len(words[0]) != len(words[1]):
        raise InputError(
            f"own has {len(words[0]):,} positions, mask {len(words[1]):,}: one number for each"
        )
    return words


def _words(name: str, numbers: Any) -> UInt64Array:
    try:
        found = np.atleast_1d(np.asarray(numbers))
        if found.dtype.kind not in "iu":  # numpy rounds numbers of mixed kinds
            found = np.atleast_1d(np.asarray(numbers, object))
        if found.ndim == 1 and (found.dtype == np.uint64 or _fit(found)):
            return found.astype(np.uint64, copy=False)
    except (TypeError, ValueError):
        pass
    wanted = f"{name} is a whole number from 0 up, of 64 bits, for each position"
    raise InputError(f"{wanted}, not {quoted(repr(numbers))}")


def _fit(numbers: Array) -> bool:
    """Whether these are whole numbers that fit a word."""
    each = numbers if numbers.dtype == object else (numbers.min(initial=0),)
    return all(isinstance(one, int | np.integer) and 0 <= one < 1 << 64 for one in each)
