"""Build an opening book: solve the deepest positions, derive the earlier ones.

A position with fewer stones scores the best of its successors. A checkpoint file records solved
positions line by line, so that a stopped build resumes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

from selfplay.checks import check_range
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.game.enumeration import positions_after
from selfplay.game.position import Position
from selfplay.solver.book import Book
from selfplay.solver.solver import Solver, final_score

Progress = Callable[[int, int], None]


def build(
    board: Board,
    plies: int,
    checkpoint: Path,
    *,
    memory: int = 64,
    threads: int | None = None,
    progress: Progress = lambda done, of: None,
) -> Book:
    """The book of all positions with up to `plies` stones.

    A build resumes from the file `checkpoint`. `progress` gets the number of solved positions, and
    of all.
    """
    check_range("plies", plies, 0, board.cells - 1)
    solver = Solver(board, memory=memory, threads=threads, book=None)
    deepest = positions_after(board, plies, canonical=True, unfinished=True)
    head = f"scores of positions with {plies} stones on {board}"
    known = _solve_all(solver, deepest, head, checkpoint, progress)
    for ply in range(plies - 1, -1, -1):
        for position in positions_after(board, ply, canonical=True, unfinished=True):
            known[position.key(canonical=True)] = _best_of_successors(position, known)
    keys = np.array(sorted(known), np.uint64)
    scores = np.array([known[int(key)] for key in keys], np.int8)
    return Book(board, plies, keys, scores)


def _solve_all(
    solver: Solver, positions: Sequence[Position], head: str, checkpoint: Path, progress: Progress
) -> dict[int, int]:
    """The score of every position by canonical key, from the checkpoint or solved."""
    known = _read(checkpoint, head)
    missing = [p for p in positions if p.key(canonical=True) not in known]
    progress(len(positions) - len(missing), len(positions))
    with (
        checkpoint.open("a", encoding="ascii") as file,
        closing(solver.score_each(missing)) as scores,
    ):
        if file.tell() == 0:
            file.write(f"{head}\n")
        for position, score in zip(missing, scores, strict=True):
            known[position.key(canonical=True)] = score
            file.write(f"{position.key(canonical=True)} {score}\n")
            file.flush()
            progress(len(known), len(positions))
    return known


def _read(checkpoint: Path, head: str) -> dict[int, int]:
    """Read the checkpoint, and cut off an incomplete last line."""
    if not checkpoint.exists():
        return {}
    data = checkpoint.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    found, *lines = whole.decode("ascii", "replace").splitlines() or [head]
    if found != head:
        raise InputError(f"{checkpoint} belongs to another book: {quoted(found)} not {head!r}")
    try:
        known = {int(key): int(score) for key, score in map(str.split, lines)}
    except ValueError:
        raise InputError(f"{checkpoint} is damaged: remove it to start again") from None
    if len(whole) < len(data):
        os.truncate(checkpoint, len(whole))
    return known


def _best_of_successors(position: Position, known: dict[int, int]) -> int:
    def score(after: Position) -> int:
        final = final_score(after)
        return known[after.key(canonical=True)] if final is None else final

    return max(-score(position.play(move)) for move in position.legal_moves)
