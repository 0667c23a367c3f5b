"""Fitting weights: of patterns, then of features, on a sample of labelled positions.

Both learn by gradient steps (Adagrad), position by position in a fixed order: to prefer the best
moves (a softmax over the moves of a position), and to tell the value of every move, which also
positions teach where no move is a mistake.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from selfplay.arrays import Array
from selfplay.game.board import Board
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline, kernel
from selfplay.train.weights.pattern_states import find_states
from selfplay.train.weights.patterns import line_state, lines_in, states
from selfplay.train.weights.sample import Sample, is_for_tree
from selfplay.train.weights.weights import PHASES, Weights, phase_of, rounded, stone_in

PATTERN_EPOCHS, FEATURE_EPOCHS = 8, 4
_RATE = 0.1
_VALUE_SHARES = 2.0, 0.3
"""How much the value of a move counts beside its place among the others, for patterns and for
features: a search compares positions, not moves."""
_DECAY = 1e-4
_STATE_RATE, _STATE_DECAY = 0.3, 3e-3
"""For what a state adds to the lines in it."""
_SLOPE = 1 / 16

Encode = Callable[[Array, Array, Weights], Array]
"""uint8 [position, column, feature]: the features of some positions with these weights."""


def fit(
    sample: Sample,
    features: int,
    encode: Encode,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> Weights:
    """Weights for patterns and for the first features of moves that `encode` gives.

    Those of features are fitted where the tree is grown: see `Sample.tree_share`.
    """
    weights = Weights.blank(sample.board, features)
    stones = np.bitwise_count(sample.mask[sample.is_contested])
    if len(stones):
        shares = np.arange(1, PHASES) / PHASES
        weights.edges[:] = np.quantile(stones, shares, method="lower")
    steps = PATTERN_EPOCHS + FEATURE_EPOCHS
    for_tree = is_for_tree(sample.keys, sample.tree_share)
    others = sample if for_tree.all() else sample[~for_tree]
    lines = _Lines.blank(sample.board)
    for epoch in range(PATTERN_EPOCHS):
        on_progress(epoch, steps)
        _learn_patterns(
            others.board, others.in_order(epoch), others.own, others.mask, others.values,
            others.best, lines, _falling(epoch, PATTERN_EPOCHS),
        )  # fmt: skip
    weights.lines[:] = rounded((lines.any_line + lines.lines)[..., 0])
    weights.states[:] = rounded(lines.states[..., 0])
    weights = weights.added_up(sample.board)
    sample = sample[for_tree]
    codes = np.ascontiguousarray(encode(sample.own, sample.mask, weights)[:, :, :features])
    values = _Values.blank(weights)
    for epoch in range(FEATURE_EPOCHS):
        on_progress(PATTERN_EPOCHS + epoch, steps)
        _learn_features(
            sample.board, sample.in_order(epoch), sample.mask, sample.values, sample.best, codes,
            weights.edges, values, _falling(epoch, FEATURE_EPOCHS),
        )  # fmt: skip
    weights.features[:] = rounded(values.added_up())
    on_progress(steps, steps)
    return weights


def _falling(epoch: int, epochs: int) -> float:
    return _RATE * (1 - epoch / (epochs + 1))


class _Lines(NamedTuple):
    """Weights of patterns as they are learned: of the lines in them, and of whole states, to be
    added up. What few positions show of one case, others show of its like.

    Beside each weight is the sum of the squares of its steps, so that both are in reach.
    """

    any_line: Array
    """float32 [side, state of a line, 2]: of any line"""
    lines: Array
    """float32 [pattern, place, side, state of a line, 2]"""
    states: Array
    """float32 [side, state, 2]: beside those of its lines"""
    places: Array
    """int64 [pattern]: how many lines are in it"""

    @classmethod
    def blank(cls, board: Board) -> _Lines:
        places = lines_in(board)
        line_states = 1 << (2 * board.connect)
        return cls(
            np.zeros((2, line_states, 2), np.float32),
            np.zeros((len(places), places.max(initial=0), 2, line_states, 2), np.float32),
            np.zeros((2, states(board), 2), np.float32),
            places,
        )


@kernel
def _learn_patterns(
    board: Any, order: Array, own: Array, mask: Array, values: Array, best: Array,
    learned: _Lines, rate: float,
) -> None:  # fmt: skip
    columns, patterns = board.columns, len(board.pattern_size)
    found = np.zeros((columns, 2 * patterns), np.int64)
    points, gradient = np.zeros(columns), np.zeros(columns)
    for at in order:
        side = np.int64(population(mask[at])) & 1
        for column in range(columns):
            stone = stone_in(board, mask[at], column)
            points[column] = -np.inf
            if stone:
                find_states(board, own[at] ^ mask[at], mask[at] | stone, found[column])
                points[column] = _added(board, learned, side, found[column])
        _derive(points, values[at], best[at], _VALUE_SHARES[0], gradient)
        for column in range(columns):
            if gradient[column] != 0:
                _change(board, learned, side, found[column], gradient[column], rate)


@inline
def _halves(board: Any, pattern: Any, state: Any) -> Any:
    """Which cells are taken, and the low bits."""
    size, cells = board.pattern_size[pattern], state - board.pattern_start[pattern]
    return cells >> np.int64(size), cells & ((1 << np.int64(size)) - 1)


@inline
def _added(board: Any, learned: Any, side: Any, found: Any) -> Any:
    total = 0.0
    for k in range(len(found)):
        pattern, state = k // 2, found[k]
        total += learned.states[side, state, 0]
        taken, low = _halves(board, pattern, state)
        for place in range(learned.places[pattern]):
            line = line_state(taken, low, place, board.connect)
            total += learned.any_line[side, line, 0]
            total += learned.lines[pattern, place, side, line, 0]
    return total


@inline
def _change(board: Any, learned: Any, side: Any, found: Any, step: Any, rate: Any) -> None:
    for k in range(len(found)):
        pattern, state = k // 2, found[k]
        _move(learned.states[side, state], step, rate * _STATE_RATE, _STATE_DECAY)
        taken, low = _halves(board, pattern, state)
        for place in range(learned.places[pattern]):
            line = line_state(taken, low, place, board.connect)
            _move(learned.any_line[side, line], step, rate, _DECAY)
            _move(learned.lines[pattern, place, side, line], step, rate, _DECAY)


class _Values(NamedTuple):
    """Weights of features as they are learned, to be added up; each beside its squares."""

    slopes: Array
    """float32 [feature, 2]: of its value"""
    values: Array
    """float32 [feature, value, 2]"""
    phases: Array
    """float32 [phase, feature, value, 2]"""

    @classmethod
    def blank(cls, weights: Weights) -> _Values:
        phases, features, values = weights.features.shape
        shapes = (features, 2), (features, values, 2), (phases, features, values, 2)
        return cls(*(np.zeros(shape, np.float32) for shape in shapes))

    def added_up(self) -> Array:
        """float32 [phase, feature, value]"""
        steps = np.arange(self.values.shape[1]) * _SLOPE
        slopes, values, phases = (array[..., 0] for array in self)
        return np.asarray(phases + values + slopes[:, None] * steps)


@kernel
def _learn_features(
    board: Any, order: Array, mask: Array, values: Array, best: Array, codes: Array, edges: Array,
    learned: _Values, rate: float,
) -> None:  # fmt: skip
    points, gradient = np.zeros(board.columns), np.zeros(board.columns)
    for at in order:
        phase = phase_of(edges, np.int64(population(mask[at])))
        for column in range(board.columns):
            points[column] = -np.inf
            if stone_in(board, mask[at], column):
                total = 0.0
                for k in range(codes.shape[2]):
                    code = codes[at, column, k]
                    total += learned.slopes[k, 0] * code * _SLOPE
                    total += learned.values[k, code, 0] + learned.phases[phase, k, code, 0]
                points[column] = total
        _derive(points, values[at], best[at], _VALUE_SHARES[1], gradient)
        for column in range(board.columns):
            step = gradient[column]
            if step == 0:
                continue
            for k in range(codes.shape[2]):
                code = codes[at, column, k]
                slope = step * code * _SLOPE
                _move(learned.slopes[k], slope, rate, _DECAY)
                _move(learned.values[k, code], step, rate, _DECAY)
                _move(learned.phases[phase, k, code], step, rate, _DECAY)


@inline
def _derive(points: Any, values: Any, best: Any, value_share: Any, gradient: Any) -> None:
    """By how much the points of each move should change."""
    most, everything, right = points.max(), 0.0, 0.0
    for column in range(len(points)):
        share = np.exp(points[column] - most)
        everything += share
        right += share if best[column] else 0.0
    for column in range(len(points)):
        gradient[column] = 0.0
        if points[column] == -np.inf:
            continue
        share = np.exp(points[column] - most)
        if best[column] and right > 0:
            gradient[column] += share / right
        gradient[column] -= share / everything
        if not np.isnan(values[column]):
            expected = np.tanh(points[column] / 2)
            slope = 1 - expected * expected
            gradient[column] += value_share * (values[column] - expected) * slope


@inline
def _move(weight: Any, step: Any, rate: Any, decay: Any) -> None:
    """A step of Adagrad, of a weight and its squares."""
    weight[1] += step * step
    weight[0] += rate * (step - decay * weight[0]) / np.sqrt(weight[1] + np.float32(1))
