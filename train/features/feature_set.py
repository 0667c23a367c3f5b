"""Feature sets: a position as rows of small numbers, each with a name in board language.

    cells      the content of every cell
    tactics    for each move, or for every column beside the cells: threats, forced wins, zugzwang
    lookahead  tactics, open lines, playouts and cells, and how a move compares with others

One compiled function computes them for training and for play.
"""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from selfplay.arrays import Array, bitboards
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.kernels.intrinsics import population
from selfplay.kernels.jit import inline, kernel
from selfplay.machine import usable_cores
from selfplay.train.config import FEATURES, Features, Perspective, Target
from selfplay.train.features.cell_sets import encode_cells
from selfplay.train.features.lookahead import OF_MOVE, TACTICS, encode_moves, meaning_of

VERSIONS: dict[Features, int] = {"cells": 2, "tactics": 3, "lookahead": 2}

# Positions that a thread encodes in one go.
_CHUNK = 1 << 12

CELLS, CELLS_AND_TACTICS, TACTICS_OF_MOVES, LOOKAHEAD = range(4)
"""What compiled code distinguishes; the last two encode moves, the others positions."""
_KINDS = {
    ("cells", "move"): CELLS,
    ("tactics", "move"): CELLS_AND_TACTICS,
    ("tactics", "candidate"): TACTICS_OF_MOVES,
    ("lookahead", "candidate"): LOOKAHEAD,
}
_TACTICS_WIDTH = len(TACTICS)


@dataclass(frozen=True, slots=True)
class FeatureSet:
    """What a tree sees of a position, or of a move in it."""

    name: Features
    board: Board
    perspective: Perspective = "mover"
    target: Target = "candidate"

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
        if self.name == "lookahead":
            return [*OF_MOVE, *((f"{name}, the move to the left", 3) for name, _ in cells)]
        if self.by_move:
            return [*TACTICS]
        for column in range(1, board.columns + 1):
            cells += ((f"column {column}: {name}", width) for name, width in TACTICS)
        return cells

    def encode(self, own: Any, mask: Any, threads: int | None = None) -> Array:
        """uint8 [position, row, feature]: a row for each column if `by_move`, zeros where it is
        full; else one row."""
        own, mask = bitboards(own, mask)
        rows = self.board.columns if self.by_move else 1
        out = np.empty((len(own), rows, len(self._features())), np.uint8)
        absolute = self.perspective == "absolute"

        def encode_from(start: int) -> None:
            part = slice(start, start + _CHUNK)
            _encode_all(self.board, own[part], mask[part], self.kind, absolute, out[part])

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


@inline
def encode(board: Any, own: Any, mask: Any, kind: Any, absolute: Any, out: Any) -> Any:
    """One position, as `FeatureSet.encode` has it."""
    if kind >= TACTICS_OF_MOVES:
        encode_moves(board, own, mask, kind == TACTICS_OF_MOVES, out)
        return
    first = own ^ mask if absolute and np.int64(population(mask)) % 2 else own
    encode_cells(board, first, mask, out[0])
    if kind == CELLS_AND_TACTICS:
        columns = out[0][board.cells :].reshape((board.columns, _TACTICS_WIDTH))
        encode_moves(board, own, mask, True, columns)


@kernel
def _encode_all(
    board: Board, own: Array, mask: Array, kind: int, absolute: bool, out: Array
) -> None:
    for k in range(len(own)):
        encode(board, own[k], mask[k], kind, absolute, out[k])
