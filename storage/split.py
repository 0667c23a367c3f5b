"""Split a run into a training set and a test set that share no position.

The split is by position, not by row: all rows of a position and of its mirror image are in the same
part. The part follows from the position alone.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from selfplay.arrays import Array
from selfplay.files import written_whole
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset
from selfplay.storage.rows import Rows, schema

_WORD = (1 << 64) - 1


def write_split(dataset: Dataset, test: float, folder: Path) -> dict[str, int]:
    """Write train.parquet and test.parquet into a folder; the number of rows in each."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "train.parquet", folder / "test.parquet"
    counts = [0, 0]
    columns = schema(dataset.board)
    with ExitStack() as files:
        writers = [
            files.enter_context(pq.ParquetWriter(files.enter_context(written_whole(path)), columns))
            for path in paths
        ]
        for _, rows in dataset.rows():
            chosen = in_test_set(rows, dataset.board, test)
            for part, which in enumerate((~chosen, chosen)):
                writers[part].write_table(rows[which].to_table(dataset.board))
                counts[part] += int(which.sum())
    return {str(path): count for path, count in zip(paths, counts, strict=True)}


def in_test_set(rows: Rows, board: Board, test: float) -> Array:
    """bool [row]: whether a row is in a test set with this fraction of the positions."""
    return uniform_hash(rows.canonical_keys(board)) < test


def uniform_hash(keys: Array) -> Array:
    """Pseudorandom numbers from 0 to 1, a function of the keys (SplitMix64's last step)."""
    if keys.dtype == object:
        keys = np.array([_folded(int(key)) for key in keys], np.uint64)
    z: Any = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)) * 2.0**-53)


def _folded(key: int) -> int:
    """A key of several machine words as one."""
    word = 0
    while key:
        word = (word * 0x2545F4914F6CDD1D + (key & _WORD)) & _WORD
        key >>= 64
    return word
