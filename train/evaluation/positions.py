"""The questions of the examination: positions and the exact score of every move in them.

The set that comes along is made once from a seed and judged by the exact solver; its file holds
arrays and nothing that could be executed.
"""

from __future__ import annotations

import sys
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

SHIPPED = Path(__file__).parent / "data" / "positions-7x6.npz"
COUNT = 5000
STONES = range(8, 35)
ILLEGAL = -128
"""In place of the score of a move that cannot be made."""


@dataclass(frozen=True, eq=False)
class EvaluationSet:
    """Positions on one board, and the exact score of every move in each."""

    board: Board
    own: Array
    """uint64 [position]: the stones of the side to move"""
    mask: Array
    """uint64 [position]: all stones"""
    scores: Array
    """int8 [position, column]: for the side to move; ILLEGAL where there is no room"""

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, which: slice) -> EvaluationSet:
        return EvaluationSet(self.board, self.own[which], self.mask[which], self.scores[which])

    def positions(self) -> Iterator[Position]:
        for own, mask in zip(self.own.tolist(), self.mask.tolist(), strict=True):
            yield Position(self.board, own, mask, None)

    @cached_property
    def values(self) -> Array:
        """int8 [position, column]: win, draw or loss of every move; ILLEGAL as in scores."""
        return np.where(self.scores == ILLEGAL, ILLEGAL, np.sign(self.scores)).astype(np.int8)

    @cached_property
    def best(self) -> Array:
        """int8 [position]: the value of the game."""
        found: Array = self.values.max(axis=1)
        return found

    @cached_property
    def contested(self) -> Array:
        """bool [position]: whether any move is a mistake."""
        legal = self.values != ILLEGAL
        found: Array = (legal & (self.values < self.best[:, None])).any(axis=1)
        return found

    @cached_property
    def plies(self) -> Array:
        """int64 [position]: stones on the board."""
        return np.array([int(mask).bit_count() for mask in self.mask.tolist()])

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
    def load(cls, path: Path = SHIPPED) -> EvaluationSet:
        """Read questions from a file; what are none is refused."""
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                board = Board(*arrays["board"].tolist())
                found = cls(board, arrays["own"], arrays["mask"], arrays["scores"])
        except FileNotFoundError:
            raise InputError(f"there are no questions {path}") from None
        except Exception as error:  # there is no end to what a damaged archive can raise
            raise InputError(f"{path} holds no questions: {error}") from None
        shape = (len(found.own), board.columns)
        kinds = found.own.dtype, found.mask.dtype, found.scores.dtype
        if (
            kinds != (np.uint64, np.uint64, np.int8)
            or found.scores.shape != shape
            or found.mask.shape != shape[:1]
        ):
            raise InputError(f"{path} holds no questions: its arrays do not fit together")
        return found


def read_positions(path: Path) -> list[Position]:
    """The positions of a file, one a line, in which there is something to decide."""
    return list(read_openings(path, Board()).positions)


def sample(
    count: int = COUNT, seed: int = 0, board: Board | None = None, stones: range = STONES
) -> list[Position]:
    """Positions to ask about: half of random, half of sensible play, mirror images once."""
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


def judged(positions: list[Position], tell: Callable[[int, int], None]) -> EvaluationSet:
    """The exact score of every move in these positions."""
    board = positions[0].board
    own_solver = local()

    def scores_of(position: Position) -> list[int]:
        if not hasattr(own_solver, "solver"):
            own_solver.solver = Solver(board, threads=1)
        scores = own_solver.solver.scores(position)
        return [ILLEGAL if score is None else score for score in scores]

    scores = []
    with ThreadPoolExecutor(usable_cores()) as pool:
        for found in pool.map(scores_of, positions):
            scores.append(found)
            tell(len(scores), len(positions))
    return EvaluationSet(
        board,
        np.array([position.own for position in positions], np.uint64),
        np.array([position.mask for position in positions], np.uint64),
        np.array(scores, np.int8),
    )


def remake() -> None:
    """`python -m selfplay.train.evaluation.positions FILE`: make the evaluation set anew."""
    if len(sys.argv) != 2:
        sys.exit("usage: python -m selfplay.train.evaluation.positions FILE")

    def tell(done: int, of: int) -> None:
        if done % 100 == 0:
            print(f"{done:,} of {of:,} positions judged", file=sys.stderr, flush=True)

    judged(sample(), tell).save(Path(sys.argv[1]))


if __name__ == "__main__":
    remake()
