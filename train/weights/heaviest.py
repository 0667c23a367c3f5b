"""Which learned weights matter: by how much they move the points of moves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.openings import parse_openings
from selfplay.kernels.jit import kernel
from selfplay.train.columns import open_columns
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.weights.patterns import low_bits, patterns_of, state_of
from selfplay.train.weights.weights import stone_in

_POSITIONS = 2_000
_SEED = 1


@dataclass(frozen=True, slots=True)
class HeavyFeature:
    """A feature and the standard deviation of its points, by phase; None where there is no move."""

    name: str
    points: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class HeavyPattern:
    """A pattern and the standard deviation of its points."""

    cells: tuple[tuple[int, int], ...]
    """Columns and rows, from 1 at the bottom left."""
    points: float

    @property
    def name(self) -> str:
        (left, low), (right, high) = min(self.cells), max(self.cells)
        if len(self.cells) == (right - left + 1) * (high - low + 1) and low < high and left < right:
            return f"columns {left} to {right}, rows {low} to {high}"
        return f"column {left}, row {low} to column {right}, row {high}"


def heaviest(features: FeatureSet) -> tuple[list[HeavyFeature], list[HeavyPattern]]:
    """The features and patterns that move the points of moves most, heaviest first.

    Looked at are the moves of positions of sensible random play.
    """
    if features.weights is None:
        raise InputError("this model has no weights: its tree sees whole positions")
    board, weights = features.board, features.weights
    openings = parse_openings(f"sensible:4-{3 * board.cells // 4}", board)
    positions = [openings.opening(_SEED, game) for game in range(_POSITIONS)]
    own = np.array([position.own for position in positions], np.uint64)
    mask = np.array([position.mask for position in positions], np.uint64)
    row, column = np.nonzero(open_columns(board, mask))
    stones = np.bitwise_count(mask)
    phase = np.searchsorted(weights.edges, stones, side="right")[row]
    codes = features.encode(own, mask)[row, column]
    found = []
    for k in range(features.weighed):
        points = weights.features[phase, k, codes[:, k]].astype(np.float64)
        of_phases = [points[phase == p] for p in range(len(weights.edges) + 1)]
        deviations = tuple(float(p.std()) if len(p) else None for p in of_phases)
        found.append((float(points.std()), HeavyFeature(features.names[k], deviations)))
    found.sort(key=lambda pair: -pair[0])
    patterns = _patterns(board, weights.patterns, own[row], mask[row], column, stones[row] & 1)
    return [feature for _, feature in found], patterns


def _patterns(
    board: Board, weights: Array, own: Array, mask: Array, column: Array, side: Array
) -> list[HeavyPattern]:
    states = np.empty((len(own), len(patterns_of(board))), np.int64)
    _find_states(board, own, mask, column, states)
    found = [
        HeavyPattern(
            tuple((column + 1, row + 1) for column, row in pattern.cells),
            float(weights[side, states[:, k]].astype(np.float64).std()),
        )
        for k, pattern in enumerate(patterns_of(board))
    ]
    return sorted(found, key=lambda one: -one.points)


@kernel
def _find_states(board: Any, own: Array, mask: Array, column: Array, out: Array) -> None:
    for at in range(len(own)):
        taken = mask[at] | stone_in(board, mask[at], column[at])
        low = low_bits(board, own[at] ^ mask[at], taken)
        for pattern in range(len(board.pattern_size)):
            out[at, pattern] = state_of(board, pattern, taken, low)
