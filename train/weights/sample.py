"""The positions that weights are fitted on: a sample of some runs, by shards."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board
from selfplay.game.enumeration import canonical_keys
from selfplay.seeding import derive
from selfplay.storage.dataset import Dataset
from selfplay.storage.row_checks import validate_rows
from selfplay.storage.rows import NO_RESULT, Rows
from selfplay.storage.split import uniform_hash
from selfplay.train.columns import open_columns, winning_columns

MOST = 2_000_000
"""Positions in a sample: more improve the weights hardly, and take memory."""


_DIVIDED_FROM = 50_000
"""Positions from where on patterns and trees learn from different ones."""
_TREE_SHARE = 0.15


@dataclass(frozen=True, slots=True)
class Sample:
    """Distinct positions and what their teachers say of the moves."""

    board: Board
    own: Array
    """uint64 [position]: the stones of the side to move"""
    mask: Array
    """uint64 [position]: all stones"""
    values: Array
    """float32 [position, column]: from -1 to 1, exact where that is known; NaN where nothing is"""
    best: Array
    """bool [position, column]: the best moves, or the teacher's"""

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, which: Any) -> Sample:
        arrays = (self.own, self.mask, self.values, self.best)
        return Sample(self.board, *(array[which] for array in arrays))

    @property
    def keys(self) -> Array:
        """uint64 [position]: the same for mirror images."""
        return canonical_keys(self.board, self.own, self.mask)

    @property
    def tree_share(self) -> float:
        """The share of the positions that a tree is grown on.

        On what its patterns have learned from, they look better than they are, and the tree trusts
        them too much; of few positions all are needed for both.
        """
        return _TREE_SHARE if len(self) >= _DIVIDED_FROM else 1.0

    @property
    def is_contested(self) -> Array:
        """bool [position]: whether there is a move that is not best."""
        return np.asarray((open_columns(self.board, self.mask) != self.best).any(axis=1))

    def in_order(self, seed: int) -> Array:
        """An order of the positions that follows from them and the seed."""
        return np.argsort(uniform_hash(self.keys ^ np.uint64(derive("order", seed))), kind="stable")


def is_for_tree(keys: Array, share: float) -> Array:
    """bool [position]: which of the positions with these keys are in the share for the tree."""
    return np.asarray(uniform_hash(keys ^ np.uint64(derive("tree", 0))) < share)


def sample_of(datasets: Sequence[Dataset], held_out: Array, test: float) -> Sample:
    """Whole shards in an order that follows from their runs' rows, until there are enough
    positions: it matters not in which order the runs are given.

    Left out are the test set and the positions with these canonical keys.
    """
    board = datasets[0].board
    shards = [
        (derive("shard", dataset.fingerprint, shard), dataset, shard)
        for dataset in datasets
        for shard in dataset.shards()
    ]
    parts: list[Sample] = []
    for _, dataset, shard in sorted(shards, key=lambda found: found[0]):
        if sum(map(len, parts)) >= MOST:
            break
        part = _labelled(dataset.read(shard, check=validate_rows), board)
        keys = part.keys
        parts.append(part[~np.isin(keys, held_out) & (uniform_hash(keys) >= test)])
    whole = Sample(
        board,
        *(np.concatenate([getattr(part, name) for part in parts]) for name in _ARRAYS),
    )
    # Of mirror images and repetitions the first is kept.
    _, first = np.unique(whole.keys, return_index=True)
    return whole[first]


_ARRAYS = ("own", "mask", "values", "best")


def _labelled(rows: Rows, board: Board) -> Sample:
    own, mask = rows.stones(board)
    is_open, is_exact = open_columns(board, mask), rows.proven != NO_RESULT
    values = np.where(is_exact, rows.proven, rows.value).astype(np.float32)
    values[~is_open] = np.nan
    known = (is_exact == is_open).all(axis=1)
    value = np.where(is_exact, rows.proven, -2).max(axis=1, keepdims=True)
    keeps = is_exact & (rows.proven == value)
    wins = winning_columns(board, own, mask)
    keeps &= wins | ~wins.any(axis=1, keepdims=True)  # a win is not to be put off
    played = np.arange(board.columns) == rows.move[:, None]
    return Sample(board, own, mask, values, np.where(known[:, None], keeps, played))
