"""Patterns, their states and the points of moves, defined anew: cell by cell, in plain Python."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from selfplay.game.position import Position
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.features.short_search import WON
from selfplay.train.weights.patterns import CELLS, patterns_of, starts
from selfplay.train.weights.weights import PHASES, Weights


def content(position: Position, column: int, row: int) -> str:
    """What is in a cell, for the side that has just moved."""
    bit = 1 << (column * position.board.stride + row)
    if position.mask & bit:
        return "other" if position.own & bit else "own"
    below = bit >> 1 if row else 0
    return "playable" if not row or position.mask & below else "out of reach"


def states_of(position: Position) -> Iterator[int]:
    """The state of every pattern, on the board and on its mirror image."""
    board = position.board
    for pattern, start in zip(patterns_of(board), starts(board).tolist(), strict=False):
        for is_image in (False, True):
            found = [
                CELLS.index(content(position, board.columns - 1 - c if is_image else c, r))
                for c, r in pattern.cells
            ]
            taken = sum((one >> 1) << place for place, one in enumerate(found))
            low = sum((one & 1) << place for place, one in enumerate(found))
            yield start + (taken << len(found)) + low


def pattern_points(weights: Weights, position: Position) -> int:
    """The points of a position for the side that has just moved."""
    side = 1 - position.ply % 2
    return sum(int(weights.patterns[side, state]) for state in states_of(position))


def feature_points(weights: Weights, position: Position, codes: list[int]) -> int:
    """The points of a move that has these values of its first features."""
    phase = sum(position.ply >= edge for edge in weights.edges.tolist())
    return sum(int(weights.features[phase, k, code]) for k, code in enumerate(codes))


Known = dict[tuple[int, int, int], int]


def best_points(weights: Weights, position: Position, moves: int, known: Known) -> int:
    """The points of the side to move after best play, without any pruning; `known` are the points
    of positions that other moves lead to as well."""
    key = position.own, position.mask, moves
    if key not in known:
        known[key] = _best_points(weights, position, moves, known)
    return known[key]


def _best_points(weights: Weights, position: Position, moves: int, known: Known) -> int:
    if position.winning_moves:
        return WON - position.ply - 1
    if not position.legal_moves:
        return 0
    passed = Position(position.board, position.own ^ position.mask, position.mask, None)
    threats = passed.winning_moves
    played = [position.play(move) for move in (threats or position.legal_moves)]
    safe = [after for after in played if not after.winning_moves]
    if len(threats) > 1 or not safe:
        return position.ply + 2 - WON
    if moves <= 0 and not threats:
        return -pattern_points(weights, position)
    return max(-best_points(weights, after, max(moves - 1, 0), known) for after in safe)


def some_weights(features: FeatureSet) -> Weights:
    """Weights that differ, the same each time."""
    blank = Weights.blank(features.board, features.weighed)
    edges = (np.arange(1, PHASES) * features.board.cells // PHASES).astype(np.int16)
    found = Weights(edges, *(
        (np.arange(array.size) * 2654435761 >> 9).reshape(array.shape).astype(np.int16) % 81 - 40
        for array in blank[1:]
    ))  # fmt: skip
    return found.added_up(features.board)
