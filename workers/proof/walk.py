"""The walk of a proof: level by level, each as a job whose items are its parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from selfplay.arrays import UInt64Array
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.game.position import FIRST, SECOND, Position
from selfplay.registry import PlayerSpec
from selfplay.solver.solver import Solver
from selfplay.workers.executors.interface import DoItem, Executor
from selfplay.workers.executors.progress import JobProgress
from selfplay.workers.proof import files
from selfplay.workers.proof.files import Level
from selfplay.workers.proof.judging import Judge
from selfplay.workers.proof.players import Asking, check_player
from selfplay.workers.proof.positions import first_level

FORMAT = "selfplay proof 1"
"""Of certificates and walks: it changes when the same player gives other rows."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What is to be proven: that a player never gives the game value away from a position on."""

    player: str
    """With every option, and the file of a tree."""
    board: Board
    start: str
    """The moves that lead to it."""
    side: int
    """The player's: 1, who moves first in a game, or 2."""
    teaches: bool = False
    """Whether it is no proof: mistakes are replaced by moves that keep the value."""

    @classmethod
    def of(
        cls, player: str, board: Board, start: str, side: int, *, teaches: bool = False
    ) -> Proof:
        """Refuses what cannot be proven; opens the file of a tree."""
        if not board.fits_word:
            raise InputError(
                f"proofs need boards that fit 64 bits, (rows + 1) x columns: {board.size} does not"
            )
        spec = PlayerSpec.parse(player)
        check_player(spec)
        spec.require_board(board)
        position = Position.parse(start, board)
        if position.is_over:
            raise InputError(f"{quoted(start)} is a finished game: there is nothing to prove")
        return cls(spec.complete, board, position.notation or "", side, teaches)

    @property
    def position(self) -> Position:
        return Position.parse(self.start, self.board)

    @property
    def first_stones(self) -> int:
        """The stones on the board where the player is asked first."""
        position = self.position
        return position.ply + (position.to_move != self.side)

    @property
    def record(self) -> dict[str, Any]:
        """For files: it is the same wherever the file of a tree is."""
        return {
            "format": FORMAT,
            "player": PlayerSpec.parse(self.player).full,
            "board": self.board.size,
            "connect": self.board.connect,
            "from": self.start,
            "as": {FIRST: "first", SECOND: "second"}[self.side],
            **({"teaches": True} if self.teaches else {}),
        }

    @property
    def digest(self) -> str:
        return blake2b(repr(sorted(self.record.items())).encode(), digest_size=16).hexdigest()


@dataclass(frozen=True, slots=True)
class Receipt:
    """A part that is there."""

    part: int
    positions: int
    mistakes: int
    seconds: float


@dataclass(frozen=True, slots=True)
class LevelJob:
    """The parts of a level as a job."""

    proof: Proof
    level: Level
    starts: UInt64Array
    memory: int

    def prepare(self) -> DoItem:
        board, level = self.proof.board, self.level
        if not level.folder.is_dir():
            raise InputError(
                f"a worker does not see {level.walk}: on a cluster, use a folder that all share"
            )
        asking = Asking(PlayerSpec.parse(self.proof.player), board)
        solver = Solver(board, memory=self.memory, threads=1)

        def make(part: int) -> Receipt:
            start, busy_before = time.perf_counter(), time.process_time()
            judge = Judge(board, asking, solver, teaches=self.proof.teaches)
            rows, mistakes, following = judge.judge(level.asked(self.starts, part))
            busy = time.process_time() - busy_before
            spent = judge.player_seconds, judge.solver_seconds, busy
            level.write(part, following, rows=rows, mistakes=mistakes, seconds=spent)
            return Receipt(part, len(rows), len(mistakes), time.perf_counter() - start)

        return make


@dataclass
class Walk(JobProgress):
    """How far a walk is: the finished levels, and the one in progress."""

    proof: Proof
    folder: Path
    """Where its files are."""
    most_stones: int | None = None
    value: int = 0
    """Of the start, for the player."""
    levels: list[dict[str, Any]] = field(default_factory=list)
    stones: int = 0
    parts: int = 0
    parts_there: int = 0
    positions: int = 0
    """In parts of this level that were made now."""
    mistakes: int = 0
    """In finished levels, and in these parts."""
    is_complete: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether the walk came to the end of every game."""
        return self.is_complete and not (self.levels and self.levels[-1]["goes_on"])

    @property
    def seconds_left(self) -> float | None:
        """Of this level; None if unknown."""
        return self.seconds_of(self.parts - self.parts_there)

    @property
    def positions_per_second(self) -> float | None:
        """Of a worker in this level."""
        return self.positions / self.work_seconds if self.work_seconds else None

    def add(self, receipt: Receipt) -> None:
        self.parts_there += 1
        self.positions += receipt.positions
        self.mistakes += receipt.mistakes
        self.took(receipt.seconds)

    def begin_level(self, level: Level, parts: int) -> list[int]:
        """The parts that are missing."""
        there = set(level.parts())
        self.stones, self.parts, self.parts_there = level.stones, parts, len(there)
        self.positions, self.timed, self.work_seconds = 0, 0, 0.0
        return [part for part in range(parts) if part not in there]

    def finish_level(self, level: Level) -> None:
        self.levels.append(level.finish())
        self.mistakes = sum(map(files.mistakes_in, self.levels))

    @property
    def next_level(self) -> Level | None:
        """None if the walk is at its end."""
        if not self.levels:
            return Level(self.folder, self.proof.first_stones)
        after = int(self.levels[-1]["stones"]) + 2
        is_last = self.most_stones is not None and after > self.most_stones
        return Level(self.folder, after) if self.levels[-1]["goes_on"] and not is_last else None


def begin(walk: Walk, asking: Asking, solver: Solver) -> None:
    """Claim the folder, and write where the player is asked first; it is asked once, so that a
    wrong one fails here."""
    proof = walk.proof
    position = proof.position
    value = solver.value(position)
    assert value is not None  # there is no limit
    walk.value = value if position.to_move == proof.side else -value
    first = first_level(position, proof.side, walk.value)
    asking.moves(first["key"], first["images"])
    files.claim(walk.folder, proof.record)
    before = Level(walk.folder, proof.first_stones).before
    if not before.parts():
        before.write(0, first)


def run(walk: Walk, executor: Executor, memory: int, stop: Callable[[], bool]) -> Iterator[Walk]:
    """Go on with a walk that was begun; failures are in the progress."""
    while not stop() and (level := walk.next_level) is not None:
        starts = level.begin()
        if starts is None:  # every reply to the start ends the game
            break
        job = LevelJob(walk.proof, level, starts, memory)
        missing = walk.begin_level(level, len(starts) + 1)
        if missing:
            yield walk
            yield from walk.follow(executor, job, missing, stop)
        if walk.parts_there < walk.parts:
            return
        walk.finish_level(level)
        yield walk
    if not stop() or walk.next_level is None:
        walk.is_complete = True
        yield walk
