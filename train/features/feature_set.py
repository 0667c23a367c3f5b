"""Feature sets: a position as rows of small numbers, each with a name in board language.

    cells      the content of every cell
    static     for each move, or for every column beside the cells: threats and zugzwang on the
               board after it, and the points that learned weights give it
    lookahead  static, threats that force, the points after some moves of best play, and the cells

One compiled function computes them for training and for play.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from selfplay.arrays import Array, bitboards
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import kernel
from selfplay.machine import usable_cores
from selfplay.train.config import FEATURES, Features, Perspective, Target
from selfplay.train.features.cell_sets import encode_cells
from selfplay.train.features.lookahead import (
    OF_MOVE,
    OF_STATIC_MOVE,
    encode_boards,
    encode_columns,
    encode_moves,
    meaning_of,
    rated_features,
)
from selfplay.train.features.static import STATIC
from selfplay.train.weights.weights import Weights

VERSIONS: dict[Features, int] = {"cells": 2, "static": 2, "lookahead": 4}

# Positions that a thread encodes in one go.
_CHUNK = 1 << 12

CELLS, STATIC_OF_COLUMNS, STATIC_OF_MOVES, LOOKAHEAD = range(4)
"""What compiled code distinguishes; the last two encode moves, the others positions."""
_KINDS = {
    ("cells", "move"): CELLS,
    ("static", "move"): STATIC_OF_COLUMNS,
    ("static", "candidate"): STATIC_OF_MOVES,
    ("lookahead", "candidate"): LOOKAHEAD,
}
_OF_COLUMN, _OF_STATIC_MOVE, _OF_MOVE = len(STATIC), len(OF_STATIC_MOVE), len(OF_MOVE)


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """What a tree sees of a position, or of a move in it."""

    name: Features
    board: Board
    perspective: Perspective = "mover"
    target: Target = "candidate"
    weights: Weights | None = field(default=None, compare=False, repr=False)
    """What was learned for the sets of moves; without, all points are 0."""

    def __post_init__(self) -> None:
        if not self.board.fits_word:
            raise InputError(
                "features need a board that fits 64 bits, (rows + 1) x columns; "
                f"{self.board.size} does not"
            )
        if self.name not in FEATURES[self.target]:
            raise InputError(f"target {self.target} and features {self.name} do not go together")

    @property
    def kind(self) -> int:
        """The set in compiled code."""
        return _KINDS[self.name, self.target]

    @property
    def version(self) -> int:
        return VERSIONS[self.name]

    @property
    def by_move(self) -> bool:
        """Whether it encodes each move, or the position as a whole."""
        return self.target == "candidate"

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each feature."""
        return tuple(name for name, _ in self._features())

    @property
    def widths(self) -> Array:
        """int64 [feature]: how many values it may have."""
        return np.array([width for _, width in self._features()], np.int64)

    @property
    def scales(self) -> list[dict[str, Any]]:
        """How many values each feature may have, from 0 up, and what they mean."""
        absolute = self.perspective == "absolute"
        return [
            {"values": width, "meaning": _meaning(name, width, absolute=absolute)}
            for name, width in self._features()
        ]

    def _features(self) -> list[tuple[str, int]]:
        board = self.board
        cells = [
            (f"the cell in column {column + 1}, row {row + 1}", 3)
            for row in reversed(range(board.rows))
            for column in range(board.columns)
        ]
        if self.name == "cells":
            return cells
        if self.by_move:
            of_move = OF_MOVE if self.plays_on else OF_STATIC_MOVE
            return [*of_move, *((f"{name}, the move to the left", 3) for name, _ in cells)]
        for column in range(1, board.columns + 1):
            cells += ((f"column {column}: {name}", width) for name, width in STATIC)
        return cells

    @property
    def plays_on(self) -> bool:
        """Whether it looks beyond the move itself."""
        return self.name == "lookahead"

    @property
    def known_weights(self) -> Weights:
        """The weights, or blank ones."""
        if self.weights is not None:
            return self.weights
        return Weights.blank(self.board, self.weighed if self.by_move else 0)

    @property
    def weighed(self) -> int:
        """How many of its features may have weights."""
        return rated_features(self.plays_on)

    def encode(self, own: Any, mask: Any, threads: int | None = None) -> Array:
        """uint8 [position, row, feature]: a row for each column if `by_move`, zeros where it is
        full; else one row."""
        own, mask = bitboards(own, mask)
        rows = self.board.columns if self.by_move else 1
        out = np.empty((len(own), rows, len(self._features())), np.uint8)
        absolute, weights = self.perspective == "absolute", self.known_weights

        def encode_from(start: int) -> None:
            part = slice(start, start + _CHUNK)
            encode_all(self.board, own[part], mask[part], self.kind, absolute, weights, out[part])

        if len(own) <= _CHUNK:
            encode_from(0)
        else:
            with ThreadPoolExecutor(threads or usable_cores()) as pool:
                list(pool.map(encode_from, range(0, len(own), _CHUNK)))
        return out


def _meaning(name: str, width: int, *, absolute: bool) -> str:
    name = re.sub(r"^column \d+: ", "", name)
    if name.startswith("the cell "):
        sides = ("the first player's", "the second player's") if absolute else ("own", "other")
        return "0 empty, 1 {}, 2 {}".format(*sides)
    return meaning_of(name, width)


@kernel
def encode_all(
    board: Board, own: Array, mask: Array, kind: int, absolute: bool, weights: Weights, out: Array
) -> None:
    """As `FeatureSet.encode` has it, into `out`."""
    for k in range(len(own)):
        if kind >= STATIC_OF_MOVES:
            plays_on = kind == LOOKAHEAD
            encode_moves(board, own[k], mask[k], plays_on, weights, out[k])
            width = _OF_MOVE if plays_on else _OF_STATIC_MOVE
            encode_boards(board, own[k], mask[k], width, out[k])
            continue
        first = own[k] ^ mask[k] if absolute and np.int64(population(mask[k])) % 2 else own[k]
        encode_cells(board, first, mask[k], out[k, 0])
        if kind == STATIC_OF_COLUMNS:
            columns = out[k, 0][board.cells :].reshape((board.columns, _OF_COLUMN))
            encode_columns(board, own[k], mask[k], columns)
