"""Positions to learn from, and positions to be examined on.

Sides are drawn by position, not by row: a position that comes up in many games, and its mirror
image, are on one side. Which one depends on the position alone.
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
from selfplay.storage.statistics import canonical_keys

_WORD = (1 << 64) - 1


def write_parts(dataset: Dataset, share: float, folder: Path) -> dict[str, int]:
    """Write train.parquet and test.parquet into a folder; how many rows went where."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = folder / "train.parquet", folder / "test.parquet"
    counts = [0, 0]
    kinds = schema(dataset.board)
    with ExitStack() as files:
        writers = [
            files.enter_context(pq.ParquetWriter(files.enter_context(written_whole(path)), kinds))
            for path in paths
        ]
        for _, rows in dataset.rows():
            chosen = is_test(rows, dataset.board, share)
            for side, which in enumerate((~chosen, chosen)):
                writers[side].write_table(rows[which].to_table(dataset.board))
                counts[side] += int(which.sum())
    return {str(path): count for path, count in zip(paths, counts, strict=True)}


def is_test(rows: Rows, board: Board, share: float) -> Array:
    """Where a row is of the test side, to which this share of positions belongs."""
    return shares(canonical_keys(rows, board)) < share


def shares(keys: Array) -> Array:
    """Numbers from 0 to 1 that look random and follow from the keys (SplitMix64's last step)."""
    if keys.dtype == object:
        keys = np.array([_folded(int(key)) for key in keys], np.uint64)
    z: Any = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)) * 2.0**-53)


def _folded(key: int) -> int:
    word = 0
    while key:
        word = (word * 0x2545F4914F6CDD1D + (key & _WORD)) & _WORD
        key >>= 64
    return word
