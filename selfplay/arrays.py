"""Types for annotations: arrays by their dtype, and the numbers that kernels compute with."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

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
