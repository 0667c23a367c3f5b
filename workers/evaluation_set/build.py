"""Make an evaluation set: play candidates, solve them, keep the contested ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.solver.solver import Solver, sign
from selfplay.workers.evaluation_set.candidates import SOURCES, Candidates
from selfplay.workers.solving.build import Progress, Receipt, SolvingJob
from selfplay.workers.solving.parts import MOST_CHUNKS, Parts, Row

CHUNK = 32
"""Candidates that are solved together."""
_DRY_CHUNKS = 20
"""The search for positions ends after this number of chunks without a new one."""


def recipe(candidates: Candidates) -> str:
    """What decides the positions of a set."""
    plies = candidates.plies
    return f"{plies.start}-{plies.stop - 1} plies, seed {candidates.seed}"


class SetParts(Parts):
    """The parts of one set: own stones, all stones, source, and the scores of the legal moves."""

    what = "evaluation set"

    def __init__(self, file: Path, candidates: Candidates) -> None:
        super().__init__(file, MOST_CHUNKS)
        self.candidates = candidates

    @property
    def board(self) -> Board:
        return self.candidates.board

    def head(self, chunk: int) -> str:
        return f"part {chunk}, {recipe(self.candidates)}, on {self.board}"

    def is_of(self, chunk: int, rows: Sequence[Row]) -> bool:
        return len(rows) <= CHUNK and all(len(row) > 3 and self._is_row(*row) for row in rows)

    def _is_row(self, own: int, mask: int, source: int, *scores: int) -> bool:
        board = self.board
        return (
            0 <= own <= mask <= board.full
            and 0 <= source < len(SOURCES)
            and len(scores) == len(Position(board, own, mask, None).legal_moves)
            and all(abs(score) <= board.cells for score in scores)
        )


@dataclass(frozen=True)
class SetJob(SolvingJob):
    """The chunks of candidates as a job."""

    plies: range
    seed: int

    @property
    def candidates(self) -> Candidates:
        return Candidates(self.board, self.plies, self.seed)

    def solver(self) -> Solver:
        return Solver(self.board, memory=self.memory, threads=1)

    def compile(self) -> None:
        super().compile()
        for number in range(len(SOURCES)):
            self.candidates.position(number)

    def solve_with(self, solver: Solver) -> Callable[[int], list[Row]]:
        candidates = self.candidates

        def solve(chunk: int) -> list[Row]:
            found: dict[int, Row] = {}
            for number in range(chunk * CHUNK, (chunk + 1) * CHUNK):
                if candidate := candidates.position(number):
                    position, source = candidate
                    key = position.key(canonical=True)
                    if key not in found and (row := _contested(position, source, solver)):
                        found[key] = row
            return list(found.values())

        return solve


def _contested(position: Position, source: str, solver: Solver) -> Row | None:
    """The row of a contested position; None of any other."""
    if len(position.legal_moves) < 2:
        return None
    scores = [score for score in solver.scores(position) if score is not None]
    if len(set(map(sign, scores))) < 2:
        return None
    return (position.own, position.mask, SOURCES.index(source), *scores)


@dataclass
class SetProgress(Progress[SetParts]):
    """The positions that are found, in the order of the chunks: the same whoever solves them."""

    wanted: int = 0
    found: dict[int, Row] = field(default_factory=dict)
    """By canonical key, from all chunks before the first that is missing."""
    chunks_used: int = 0
    _last_new: int = 0

    @classmethod
    def wanting(cls, parts: SetParts, wanted: int) -> SetProgress:
        progress = cls(parts, parts.read(), wanted=wanted)
        progress._use_chunks()
        return progress

    @property
    def rows(self) -> list[Row]:
        return list(self.found.values())[: self.wanted]

    @property
    def positions(self) -> int:
        return len(self.rows)

    @property
    def positions_total(self) -> int:
        return self.wanted

    @property
    def is_complete(self) -> bool:
        return self.positions == self.wanted

    @property
    def is_exhausted(self) -> bool:
        """Whether no more positions are to be expected."""
        is_dry = self.chunks_used - self._last_new >= _DRY_CHUNKS
        return not self.is_complete and (is_dry or self.chunks_used == self.parts.chunks)

    @property
    def is_over(self) -> bool:
        # A chunk that failed is never used: later ones would be solved in vain.
        return self.is_complete or self.is_exhausted or bool(self.failed)

    @property
    def chunks_left(self) -> int | None:
        """By the positions that a chunk had so far."""
        if not self.found:
            return None
        return -(-(self.wanted - self.positions) * self.chunks_used // len(self.found))

    def add(self, receipt: Receipt) -> None:
        super().add(receipt)
        self._use_chunks()

    def _use_chunks(self) -> None:
        while not self.is_over and self.chunks_used in self.solved:
            before = len(self.found)
            for own, mask, *rest in self.solved[self.chunks_used]:
                key = Position(self.parts.board, own, mask, None).key(canonical=True)
                self.found.setdefault(key, (own, mask, *rest))
            self.chunks_used += 1
            if len(self.found) > before:
                self._last_new = self.chunks_used
