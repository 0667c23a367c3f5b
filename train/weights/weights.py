"""Learned weights: points for every state of every pattern, and for every value of every feature.

The patterns of a board after a move, added up, rate it. The features of a move, added up, rate the
move: their points follow those of the patterns, which some features tell.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.game.board import Board, mirrored, next_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline
from selfplay.train.weights.patterns import (
    line_state,
    lines_in,
    low_bits,
    patterns_of,
    starts,
    state_of,
    states,
)

UNIT = 64
"""Points to a unit of the log odds."""
PHASES = 5
"""The stages of a game, by stones; in each the values of features have weights of their own."""
_VALUES = 256
_STORED = "<i2"


_MOST = (1 << 15) - 1


class Weights(NamedTuple):
    """Learned weights, in points."""

    edges: Array
    """int16 [phase - 1]: the stones on the board where a phase begins"""
    features: Array
    """int16 [phase, feature, value]"""
    lines: Array
    """int16 [pattern, place, whether the second player has moved, state of the line there]"""
    states: Array
    """int16 [whether the second player has moved, state]: beside those of the lines in it"""
    patterns: Array
    """int16 [whether the second player has moved, state]: both added up; not in the file"""

    @classmethod
    def blank(cls, board: Board, features: int) -> Weights:
        """Weights that are all 0."""
        places = int(lines_in(board).max(initial=0))
        shapes = (
            (PHASES - 1,),
            (PHASES, features, _VALUES),
            (len(patterns_of(board)), places, 2, 1 << (2 * board.connect)),
            (2, states(board)),
            (2, states(board)),
        )
        return cls(*(np.zeros(shape, np.int16) for shape in shapes))

    def added_up(self, board: Board) -> Weights:
        """With what patterns are worth in all."""
        total = self.states.astype(np.int32)
        for number, (pattern, places) in enumerate(
            zip(patterns_of(board), lines_in(board).tolist(), strict=True)
        ):
            start, end = starts(board)[number : number + 2]
            taken, low = np.divmod(np.arange(end - start), 1 << len(pattern.cells))
            for place in range(places):
                line = line_state(taken, low, place, board.connect)
                total[:, start:end] += self.lines[number, place][:, line]
        return self._replace(patterns=np.clip(total, -_MOST, _MOST).astype(np.int16))

    def to_bytes(self) -> bytes:
        return b"".join(array.astype(_STORED).tobytes() for array in self[:-1])

    @classmethod
    def size(cls, board: Board, features: int) -> int:
        """The bytes of the weights of a board."""
        return sum(array.nbytes for array in cls.blank(board, features)[:-1])

    @classmethod
    def from_bytes(cls, data: bytes, board: Board, features: int) -> Weights:
        *blank, total = cls.blank(board, features)
        numbers = np.frombuffer(data, _STORED)
        if len(numbers) != sum(array.size for array in blank):
            raise InputError("its weights are not as many as its features")
        ends = np.cumsum([array.size for array in blank])[:-1]
        found = [
            part.reshape(array.shape).astype(array.dtype)
            for part, array in zip(np.split(numbers, ends), blank, strict=True)
        ]
        return cls(*[*found, total]).added_up(board)


def rounded(weights: Array) -> Array:
    """int16: as points."""
    return np.asarray(np.clip(np.rint(UNIT * weights), -_MOST, _MOST), np.int16)


@inline
def phase_of(edges: Any, stones: Any) -> Any:
    phase = 0
    for edge in edges:
        phase += stones >= edge
    return phase


@inline
def stone_in(board: Any, mask: Any, column: Any) -> Any:
    """The cell on which a stone in this column lands; 0 if it is full."""
    cells = board.column << (np.uint64(column) * np.uint64(board.stride))
    return next_cells(board, mask) & cells


@inline
def feature_points(weights: Any, phase: Any, codes: Any, count: Any) -> Any:
    """The points of the first `count` features."""
    points = np.int64(0)
    for k in range(count):
        points += weights.features[phase, k, codes[k]]
    return points


@inline
def pattern_points(board: Any, weights: Any, own: Any, mask: Any) -> Any:
    """The points of the patterns for the side that has just moved, whose stones are `own`."""
    table = weights.patterns[1 - (np.int64(population(mask)) & 1)]
    image = np.uint64(mirrored(board, mask))
    low = low_bits(board, own ^ mask, mask)
    low_image = np.uint64(mirrored(board, low))
    points = np.int64(0)
    for pattern in range(len(board.pattern_size)):
        points += table[state_of(board, pattern, mask, low)]
        points += table[state_of(board, pattern, image, low_image)]
    return points
