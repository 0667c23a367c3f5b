"""The features of all moves of a position, and how the moves compare.

Static features are of the board after the move. Lookahead adds threats that force, each along one
line of play, and what a short search finds.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.game.board import mirrored, next_cells, position_key, winning_cells
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline
from selfplay.train.features.cell_sets import encode_cells, several
from selfplay.train.features.short_search import CLOSED, DEPTHS, WON, search_moves
from selfplay.train.features.static import STATIC, encode_static, places_of
from selfplay.train.features.threat_search import forced
from selfplay.train.weights.weights import feature_points, pattern_points, phase_of, stone_in

_ONE = np.uint64(1)

_FORCE = (
    ("forces a win, in steps", 14),
    ("the other side then forces a win, in steps", 14),
    ("threatens to force a win, in steps", 14),
    ("the other side threatens to force a win, in steps", 14),
    ("other moves that are not lost by force", 8),
    ("another move forces a win", 2),
)
_NOW = "points"
_LATER = f"points after {' and '.join(map(str, DEPTHS))} moves of best play"


_MIDDLE, _STEP = 128, 2
"""The code of 0 points, and the points of a step."""
_CODES = 255
"""Codes of points: one more would be the code of values that no training row had."""


def _rated(what: str) -> tuple[tuple[str, int], ...]:
    return ((what, _CODES), *_compared(what))


def _compared(what: str) -> tuple[tuple[str, int], ...]:
    return (f"{what}, against the best other move", _CODES), (f"better moves by {what}", 16)


_ALL = _compared("all points")
OF_STATIC_MOVE = (*STATIC, *_rated(_NOW), *_ALL)
OF_MOVE = (*STATIC, *_FORCE, *_rated(_LATER), *_ALL)
"""The features of a move in their order: names in board language, and how many values each has."""

AT = places_of(OF_MOVE)
_AT_POINTS = len(STATIC), len(STATIC) + len(_FORCE)
"""Where the points are, without and with lookahead."""


def meaning_of(name: str, width: int) -> str:
    """What the values of a feature mean."""
    if width == 2:
        return "0 no, 1 yes"
    if is_in_points(name):
        return f"points: {_MIDDLE} is 0, a step is {_STEP}"
    if name.endswith("in steps"):
        return "0 no; else the steps"
    if "lowest threat" in name:
        return "0 none; else its row, from 1 at the bottom"
    if name in ("row", "columns from the edge"):
        return f"from 0 at the {'bottom' if name == 'row' else 'edge'}"
    return f"a number up to {width - 1}"


def is_in_points(name: str) -> bool:
    """Whether a feature is a number of points, positive or negative."""
    return name in (_NOW, _LATER) or name.endswith("against the best other move")


def points_at(code: int) -> int:
    """The points that the code of a feature stands for."""
    return (code - _MIDDLE) * _STEP


def rated_features(plays_on: bool) -> int:
    """How many of the features, from the first on, have learned weights."""
    return len(OF_MOVE if plays_on else OF_STATIC_MOVE) - len(_ALL)


@inline
def _encode_force(board: Any, own: Any, mask: Any, stone: Any, out: Any) -> None:
    other = own ^ mask
    moved, after = own | stone, mask | stone
    free = next_cells(board, after)
    mine = winning_cells(board, moved) & board.full & ~after
    if out[AT.wins]:
        out[AT.forces_a_win_in_steps] = 1
    elif out[AT.the_other_side_wins_at_once]:
        out[AT.the_other_side_then_forces_a_win_in_steps] = 1
    else:
        parry = mine & free
        if several(parry):
            out[AT.forces_a_win_in_steps] = 2
            return
        if parry:
            steps = forced(board, moved, other | parry, after | parry)
            if steps:
                out[AT.forces_a_win_in_steps] = steps + 1
                return
        steps = forced(board, other, moved, after)
        if steps:
            out[AT.the_other_side_then_forces_a_win_in_steps] = steps
        out[AT.threatens_to_force_a_win_in_steps] = forced(board, moved, other, after)


@inline
def _seen(board: Any, own: Any, mask: Any, column: Any) -> Any:
    """The position and the column, or their mirror image, so that both are seen alike."""
    from_right = board.columns - 1 - column
    if column == from_right:
        own_seen, mask_seen = _upright(board, own, mask)
        return own_seen, mask_seen, column
    if column > from_right:
        return np.uint64(mirrored(board, own)), np.uint64(mirrored(board, mask)), from_right
    return own, mask, column


@inline
def _upright(board: Any, own: Any, mask: Any) -> Any:
    """The position or its mirror image: the same one for both."""
    image_own, image_mask = np.uint64(mirrored(board, own)), np.uint64(mirrored(board, mask))
    if position_key(board, image_own, image_mask) < position_key(board, own, mask):
        return image_own, image_mask
    return own, mask


@inline
def encode_columns(board: Any, own: Any, mask: Any, out: Any) -> None:
    """The static features of the move in every column; 0 where it is full."""
    for column in range(board.columns):
        out[column] = 0
        if stone_in(board, mask, column):
            own_seen, mask_seen, seen = _seen(board, own, mask, column)
            stone = stone_in(board, mask_seen, seen)
            encode_static(board, own_seen, mask_seen, seen, stone, out[column])


@inline
def encode_boards(board: Any, own: Any, mask: Any, at: Any, out: Any) -> None:
    """The cells after every move, from this feature on."""
    for column in range(board.columns):
        if stone_in(board, mask, column):
            own_seen, mask_seen, seen = _seen(board, own, mask, column)
            stone = stone_in(board, mask_seen, seen)
            encode_cells(board, own_seen | stone, mask_seen | stone, out[column, at:])


@inline
def _encode_forces(board: Any, own: Any, mask: Any, out: Any) -> None:
    wins, not_lost = 0, 0
    for column in range(board.columns):
        if stone_in(board, mask, column):
            own_seen, mask_seen, seen = _seen(board, own, mask, column)
            _encode_force(board, own_seen, mask_seen, stone_in(board, mask_seen, seen), out[column])
            wins += out[column, AT.forces_a_win_in_steps] > 0
            not_lost += out[column, AT.the_other_side_then_forces_a_win_in_steps] == 0
    own_seen, mask_seen = _upright(board, own, mask)
    danger = forced(board, own_seen ^ mask_seen, own_seen, mask_seen)
    for column in range(board.columns):
        if stone_in(board, mask, column):
            row = out[column]
            is_won = row[AT.forces_a_win_in_steps] > 0
            is_lost = row[AT.the_other_side_then_forces_a_win_in_steps] > 0
            row[AT.the_other_side_threatens_to_force_a_win_in_steps] = danger
            row[AT.other_moves_that_are_not_lost_by_force] = min(not_lost - (not is_lost), 7)
            row[AT.another_move_forces_a_win] = wins - is_won > 0


@inline
def encode_moves(board: Any, own: Any, mask: Any, plays_on: Any, weights: Any, out: Any) -> None:
    """All features of all moves, uint8 [column, feature]; 0 where a column is full."""
    encode_columns(board, own, mask, out)
    points = np.empty(board.columns, np.int64)
    at = _AT_POINTS[0]
    if plays_on:
        at = _AT_POINTS[1]
        _encode_forces(board, own, mask, out)
        own_seen, mask_seen = _upright(board, own, mask)
        search_moves(board, weights, own_seen, mask_seen, points)
        if own_seen != own or mask_seen != mask:
            points = points[::-1].copy()
    else:
        for column in range(board.columns):
            stone = stone_in(board, mask, column)
            points[column] = CLOSED
            if stone:
                points[column] = pattern_points(board, weights, own | stone, mask | stone)
    _write_points(points, out, at)
    _compare(points, out, at + 1)
    phase = phase_of(weights.edges, np.int64(population(mask)))
    for column in range(board.columns):
        if points[column] != CLOSED:
            points[column] = feature_points(weights, phase, out[column], at + 3)
    _compare(points, out, at + 3)


@inline
def _write_points(points: Any, out: Any, at: Any) -> None:
    for column in range(len(points)):
        if points[column] != CLOSED:
            out[column, at] = _code(points[column])


@inline
def _code(points: Any) -> Any:
    return min(max(points // _STEP + _MIDDLE, 0), _CODES - 1)


@inline
def _compare(points: Any, out: Any, at: Any) -> None:
    """Write the margin over the best other move, and how many moves are better."""
    for column in range(len(points)):
        if points[column] == CLOSED:
            continue
        best, better = np.int64(-2 * WON), 0
        for k in range(len(points)):
            if k != column and points[k] != CLOSED:
                best = max(best, points[k])
                better += points[k] > points[column]
        out[column, at] = _code(points[column] - best)
        out[column, at + 1] = min(better, 15)
