"""The evaluation set: positions with the exact score of every move, in two halves.

The file is numpy's `.npz`, which contains arrays and nothing executable:

    version   2; absent from the first sets, which had no sources
    board     columns, rows, connect
    recipe    what decides the positions: stones and seed
    own       the stones of the side to move
    mask      all stones
    scores    the score of every move
    sources   the kind of play that each position comes from
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from threading import local
from zipfile import ZipFile

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError, quoted
from selfplay.files import read_bounded, write_whole
from selfplay.game.board import Board, has_line
from selfplay.game.enumeration import canonical_keys
from selfplay.game.openings import read_openings
from selfplay.game.position import Position
from selfplay.machine import usable_cores
from selfplay.solver.solver import Solver
from selfplay.storage.split import uniform_hash

DATA = Path(__file__).parent / "data"
BUNDLED = DATA / "positions-7x6.npz"
VERSION = 2
ILLEGAL = -128
"""The score of an illegal move."""
_MOST_BYTES = 1 << 26


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
    sources: Array | None = None
    """str [position]: the kind of play it comes from; None in the first sets"""
    recipe: str = ""
    """What decides the positions: stones and seed."""

    def __len__(self) -> int:
        return len(self.own)

    def __getitem__(self, which: slice | Array) -> EvaluationSet:
        return replace(
            self,
            own=self.own[which],
            mask=self.mask[which],
            scores=self.scores[which],
            sources=None if self.sources is None else self.sources[which],
        )

    def positions(self) -> Iterator[Position]:
        for own, mask in zip(self.own.tolist(), self.mask.tolist(), strict=True):
            yield Position(self.board, own, mask, None)

    @cached_property
    def keys(self) -> Array:
        """uint64 [position]: the same for its mirror image."""
        return canonical_keys(self.board, self.own, self.mask)

    @cached_property
    def fingerprint(self) -> str:
        """A hash of the positions and their scores."""
        arrays = (self.own.tobytes(), self.mask.tobytes(), self.scores.tobytes())
        return blake2b(str(self.board).encode() + b"".join(arrays), digest_size=16).hexdigest()

    @cached_property
    def development(self) -> EvaluationSet:
        """The half to look at as often as you like."""
        return self[~self._is_final]

    @cached_property
    def final(self) -> EvaluationSet:
        """The half that nobody looks at before a release."""
        return self[self._is_final]

    @property
    def _is_final(self) -> Array:
        # By the position alone: a larger set divides the positions of a smaller one as that did.
        return np.asarray(uniform_hash(self.keys) < 0.5)

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
        """Write the file atomically."""
        assert self.sources is not None
        data = BytesIO()
        np.savez_compressed(
            data,
            version=np.array(VERSION, np.int16),
            board=np.array([self.board.columns, self.board.rows, self.board.connect], np.int8),
            recipe=np.array(self.recipe),
            own=self.own,
            mask=self.mask,
            scores=self.scores,
            sources=self.sources,
        )
        write_whole(path, data.getvalue())

    @classmethod
    def for_board(cls, board: Board, file: Path | None = None, instead: str = "") -> EvaluationSet:
        """The set of a file, which is of this board, or the bundled one; if there is none, it is
        refused, with what to do instead."""
        found = bundled(board) if file is None else cls.load(file)
        if found is None:
            raise InputError(f"there is no evaluation set for {board}{instead}")
        if found.board != board:
            raise InputError(f"{file} is an evaluation set of {found.board}, not of {board}")
        return found

    @classmethod
    def load(cls, path: Path = BUNDLED) -> EvaluationSet:
        """Read a set from a file, and check it."""
        name = quoted(str(path), 200)
        try:
            data = BytesIO(read_bounded(path, _MOST_BYTES, "set"))
            with ZipFile(data) as archive:
                if sum(entry.file_size for entry in archive.infolist()) > _MOST_BYTES:
                    raise InputError("it is too large when unpacked")
            with np.load(data, allow_pickle=False) as arrays:
                board = Board(*arrays["board"].tolist())
                if arrays.get("version", VERSION) != VERSION:
                    raise InputError(f"its version is {arrays['version']}, not {VERSION}")
                found = cls(
                    board,
                    arrays["own"],
                    arrays["mask"],
                    arrays["scores"],
                    arrays.get("sources"),
                    str(arrays.get("recipe", "")),
                )
            reason = _fault(found)
        except FileNotFoundError:
            raise InputError(f"there is no evaluation set {name}") from None
        except Exception as error:  # a damaged archive can raise anything
            reason = str(error)
        if reason:
            raise InputError(f"{name} is not an evaluation set: {quoted(reason, 200)}")
        return found

    @classmethod
    def of_solved(
        cls,
        board: Board,
        stones: Sequence[tuple[int, int]],
        scores: Sequence[Sequence[int]],
        sources: Sequence[str] | None = None,
        recipe: str = "",
    ) -> EvaluationSet:
        """From own and all stones of every position, and the scores of its legal moves."""
        own, mask = np.array(stones, np.uint64).reshape(-1, 2).T
        found = cls(
            board,
            own,
            mask,
            np.full((len(stones), board.columns), ILLEGAL, np.int8),
            None if sources is None else np.array(sources),
            recipe,
        )
        for number, position in enumerate(found.positions()):
            found.scores[number, list(position.legal_moves)] = scores[number]
        return found


@cache
def bundled(board: Board) -> EvaluationSet | None:
    """The bundled set of this board, if there is one."""
    path = DATA / f"positions-{board.size}.npz"
    found = EvaluationSet.load(path) if path.exists() else None
    return found if found is not None and found.board == board else None


def how_to_build(board: Board, option: str) -> str:
    """What to do where no set is bundled; `option` takes the file of one."""
    connect = "" if board.connect == Board().connect else f" --connect {board.connect}"
    command = f"selfplay evaluation build --board {board.size}{connect} --out FILE"
    return f": `{command}` makes one for {option} FILE"


def _fault(found: EvaluationSet) -> str | None:
    """What is wrong with the arrays of a file."""
    board, own, mask, scores = found.board, found.own, found.mask, found.scores
    sources = own if found.sources is None else found.sources
    if (
        (own.dtype, mask.dtype, scores.dtype) != (np.uint64, np.uint64, np.int8)
        or own.ndim != 1
        or not own.shape == mask.shape == sources.shape == scores.shape[:1]
        or scores.shape[1:] != (board.columns,)
        or (found.sources is not None and sources.dtype.kind != "U")
    ):
        return "its arrays do not match"
    if not len(own):
        return "it has no positions"
    if found.sources is not None and not np.strings.isalpha(sources).all():
        return "its sources are not words"
    if not board.fits_word:
        return f"its board is {board.size}, which does not fit 64 bits"
    floating = mask & ~((mask << 1) | board.bottom) | (mask & ~np.uint64(board.full))
    counts = np.bitwise_count(mask) // 2 != np.bitwise_count(own)
    is_over = (has_line(board, own) | has_line(board, own ^ mask)) != 0
    if ((floating | (own & ~mask)) != 0).any() or counts.any() or is_over.any():
        return "it has an impossible position"
    tops = np.array([1 << (c * board.stride + board.rows - 1) for c in range(board.columns)])
    is_full = (mask[:, None] & tops.astype(np.uint64)) != 0
    is_known = np.abs(scores.astype(np.int16)) <= board.cells
    if (is_full.all(axis=1) | (is_full == is_known).any(axis=1)).any():
        return "its scores are not those of the legal moves"
    return None


def read_positions(path: Path, board: Board) -> list[Position]:
    """The positions of a file, one a line."""
    return list(read_openings(path, board).positions)


def scored(positions: list[Position], on_progress: Callable[[int, int], None]) -> EvaluationSet:
    """Score every move of these positions with the exact solver."""
    board = positions[0].board
    thread = local()

    def scores_of(position: Position) -> list[int]:
        if not hasattr(thread, "solver"):
            thread.solver = Solver(board, threads=1)
        return [score for score in thread.solver.scores(position) if score is not None]

    scores = []
    with ThreadPoolExecutor(usable_cores()) as pool:
        for found in pool.map(scores_of, positions):
            scores.append(found)
            on_progress(len(scores), len(positions))
    stones = [(position.own, position.mask) for position in positions]
    return EvaluationSet.of_solved(board, stones, scores)
