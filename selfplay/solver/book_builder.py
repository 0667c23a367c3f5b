"""The positions of an opening book: the deepest, to be solved, and what follows for the others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from selfplay.checks import check_range
from selfplay.game.board import Board
from selfplay.game.enumeration import positions_after
from selfplay.game.position import Position
from selfplay.solver.book import Book
from selfplay.solver.solver import final_score

CHUNK = 64
"""Positions that are solved together: minutes of work where they are hard."""


def chunks_of(board: Board, plies: int) -> list[Sequence[Position]]:
    """The unfinished positions with this number of stones, in chunks, without mirror images.

    They are sorted by key: neighbours share most columns, and results in the transposition table.
    """
    check_range("plies", plies, 0, board.cells - 1)
    deepest = positions_after(board, plies, canonical=True, unfinished=True)
    return [deepest[start : start + CHUNK] for start in range(0, len(deepest), CHUNK)]


def book_of(board: Board, plies: int, scores: Mapping[int, int]) -> Book:
    """The book of all positions with up to `plies` stones, from the scores of the deepest by
    canonical key: one with fewer stones scores the best of its successors."""
    known = dict(scores)
    for ply in range(plies - 1, -1, -1):
        for position in positions_after(board, ply, canonical=True, unfinished=True):
            known[position.key(canonical=True)] = _best_of_successors(position, known)
    keys = np.array(sorted(known), np.uint64)
    return Book(board, plies, keys, np.array([known[int(key)] for key in keys], np.int8))


def _best_of_successors(position: Position, known: Mapping[int, int]) -> int:
    def score(after: Position) -> int:
        final = final_score(after)
        return known[after.key(canonical=True)] if final is None else final

    return max(-score(position.play(move)) for move in position.legal_moves)
