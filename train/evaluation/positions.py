"""The evaluation set: positions with the exact score of every move.

The bundled set was sampled with a fixed seed and scored by the exact solver.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from pathlib import Path
from threading import local

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies, read_openings
from selfplay.game.position import Position
from selfplay.machine import usable_cores
from selfplay.seeding import Stream, derive
from selfplay.solver.solver import Solver

BUNDLED = Path(__file__).parent / "data" / "positions-7x6.npz"
COUNT = 5000
STONES = range(8, 35)
ILLEGAL = -128
"""The score of an illegal move."""


@dataclass(frozen=True, eq=False)
class EvaluationSet:
    """Positions of one board and the exact score of every move."""

    board: Board
    own: Array
    """uint64 [position]: the stones of the side to move"""
    mask: Array
    """uint64 [position]: all stones"""
    scores: Array
    """int8 [position, column]: for the side to move"""

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, which: slice) -> EvaluationSet:
        return EvaluationSet(self.board, self.own[which], self.mask[which], self.scores[which])

    def positions(self) -> Iterator[Position]:
        for own, mask in zip(self.own.tolist(), self.mask.tolist(), strict=True):
            yield Position(self.board, own, mask, None)

    @cached_property
    def values(self) -> Array:
        """int8 [position, column]: 1 a win, 0 a draw, -1 a loss, or ILLEGAL."""
        return np.where(self.scores == ILLEGAL, ILLEGAL, np.sign(self.scores)).astype(np.int8)

    @cached_property
    def best(self) -> Array:
        """int8 [position]: the value of the game."""
        return np.asarray(self.values.max(axis=1))

    @cached_property
    def contested(self) -> Array:
        """bool [position]: whether any move is a mistake."""
        legal = self.values != ILLEGAL
        return np.asarray((legal & (self.values < self.best[:, None])).any(axis=1))

    def save(self, path: Path) -> None:
        data = BytesIO()
        np.savez_compressed(
            data,
            board=np.array([self.board.columns, self.board.rows, self.board.connect], np.int8),
            own=self.own,
            mask=self.mask,
            scores=self.scores,
        )
        path.write_bytes(data.getvalue())

    @classmethod
    def for_board(cls, board: Board, instead: str = "") -> EvaluationSet:
        """The bundled set; refused if it is for another board, with what to do instead."""
        found = cls.load()
        if found.board != board:
            raise InputError(
                f"there is no evaluation set for {board}, only for {found.board}{instead}"
            )
        return found

    @classmethod
    def load(cls, path: Path = BUNDLED) -> EvaluationSet:
        """Read a set from a file."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                board = Board(*arrays["board"].tolist())
                found = cls(board, arrays["own"], arrays["mask"], arrays["scores"])
        except FileNotFoundError:
            raise InputError(f"there is no evaluation set {path}") from None
        except Exception as error:  # a damaged archive can raise anything
            raise InputError(f"{path} is not an evaluation set: {error}") from None
        shape = (len(found.own), board.columns)
        kinds = found.own.dtype, found.mask.dtype, found.scores.dtype
        if (
            kinds != (np.uint64, np.uint64, np.int8)
            or found.scores.shape != shape
            or found.mask.shape != shape[:1]
        ):
            raise InputError(f"{path} is not an evaluation set: its arrays do not match")
        return found


def read_positions(path: Path, board: Board) -> list[Position]:
    """The positions of a file, one a line."""
    return list(read_openings(path, board).positions)


def sample(
    count: int = COUNT, seed: int = 0, board: Board | None = None, stones: range = STONES
) -> list[Position]:
    """Sample distinct positions, half from random and half from sensible play."""
    board = board or Board()
    found: dict[int, Position] = {}
    number = 0
    while len(found) < count:
        ply = stones[Stream(derive(seed, "stones", number)).below(len(stones))]
        opening = RandomPlies(board, ply, ply, sensible=number % 2 == 1)
        position = opening.opening(derive(seed, "questions"), number)
        if position.ply == ply:
            found.setdefault(position.key(canonical=True), position)
        number += 1
    return list(found.values())


def scored(positions: list[Position], on_progress: Callable[[int, int], None]) -> EvaluationSet:
    """Score every move of these positions with the exact solver."""
    board = positions[0].board
    thread = local()

    def scores_of(position: Position) -> list[int]:
        if not hasattr(thread, "solver"):
            thread.solver = Solver(board, threads=1)
        scores = thread.solver.scores(position)
        return [ILLEGAL if score is None else score for score in scores]

    scores = []
    with ThreadPoolExecutor(usable_cores()) as pool:
        for found in pool.map(scores_of, positions):
            scores.append(found)
            on_progress(len(scores), len(positions))
    return EvaluationSet(
        board,
        np.array([position.own for position in positions], np.uint64),
        np.array([position.mask for position in positions], np.uint64),
        np.array(scores, np.int8),
    )
