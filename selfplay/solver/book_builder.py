"""Build an opening book: solve the deepest positions, derive the earlier ones.

The scores of positions with fewer stones are the best of their successors'. What has been
solved is written down line by line beside the book, so that a build that was stopped goes on
where it was.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

import numpy as np

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
    notes: Path,
    *,
    memory: int = 64,
    threads: int | None = None,
    progress: Progress = lambda done, of: None,
) -> Book:
    """The book of all positions with up to so many stones.

    `notes` is where solved positions are written down as they come, and read from when a build
    goes on. `progress` is told how many are solved, and of how many.
    """
    if not 0 <= plies < board.cells:
        raise InputError(f"plies is a number from 0 to {board.cells - 1}, not {plies}")
    solver = Solver(board, memory=memory, threads=threads, book=None)
    deepest = positions_after(board, plies, canonical=True, unfinished=True)
    head = f"scores of positions with {plies} stones on {board}"
    known = _solve_all(solver, deepest, head, notes, progress)
    for ply in range(plies - 1, -1, -1):
        for position in positions_after(board, ply, canonical=True, unfinished=True):
            known[position.key(canonical=True)] = _best_of_successors(position, known)
    keys = np.array(sorted(known), np.uint64)
    scores = np.array([known[int(key)] for key in keys], np.int8)
    return Book(board, plies, keys, scores)


def _solve_all(
    solver: Solver, positions: Sequence[Position], head: str, notes: Path, progress: Progress
) -> dict[int, int]:
    """The score of every position by its canonical key, those in the notes and the others."""
    known = _read(notes, head)
    missing = [p for p in positions if p.key(canonical=True) not in known]
    progress(len(positions) - len(missing), len(positions))
    with notes.open("a", encoding="ascii") as file, closing(solver.score_each(missing)) as scores:
        if file.tell() == 0:
            file.write(f"{head}\n")
        for position, score in zip(missing, scores, strict=True):
            known[position.key(canonical=True)] = score
            file.write(f"{position.key(canonical=True)} {score}\n")
            file.flush()
            progress(len(known), len(positions))
    return known


def _read(notes: Path, head: str) -> dict[int, int]:
    """What was written down before. A last line that was cut off does not count, and goes."""
    if not notes.exists():
        return {}
    data = notes.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    found, *lines = whole.decode("ascii", "replace").splitlines() or [head]
    if found != head:
        raise InputError(f"{notes} belongs to another book: {quoted(found)} instead of {head!r}")
    try:
        known = {int(key): int(score) for key, score in map(str.split, lines)}
    except ValueError:
        raise InputError(f"{notes} is damaged: remove it to begin anew") from None
    if len(whole) < len(data):
        os.truncate(notes, len(whole))
    return known


def _best_of_successors(position: Position, known: dict[int, int]) -> int:
    def score(after: Position) -> int:
        final = final_score(after)
        return known[after.key(canonical=True)] if final is None else final

    return max(-score(position.play(move)) for move in position.legal_moves)
