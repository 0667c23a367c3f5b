"""Rows out of games: what a teacher decided on each position, and what became of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import Decision
from selfplay.storage.rows import NO_MOVE, NO_RESULT, Rows, rounded


def rows_of_game(
    game: int,
    board: Board,
    positions: Sequence[Position],
    labels: Sequence[Decision],
    played: Sequence[int] = (),
    winner: int | None = None,
    *,
    finished: bool,
) -> Rows:
    """A row for every position with its label.

    `played` are the moves that were really made on them; where the game was `finished`, `winner`
    says how.
    """
    count = len(positions)
    known = np.full((count, board.columns), np.nan, np.float32)
    proven = np.full((count, board.columns), NO_RESULT, np.int8)
    visits = np.zeros((count, board.columns), np.int32)
    for row, label in enumerate(labels):
        if label.visits is not None:
            visits[row] = label.visits
        if label.value is not None:
            known[row] = [np.nan if value is None else value for value in label.value]
        if label.proven is not None:
            proven[row] = [NO_RESULT if value is None else value for value in label.proven]
    mover = np.array([position.to_move for position in positions], np.int8)
    outcome = np.full(count, NO_RESULT, np.int8)
    if finished:
        outcome[:] = 0 if winner is None else np.where(mover == winner, 1, -1)
    return Rows(
        game=np.full(count, game, np.int64),
        ply=np.array([position.ply for position in positions], np.int16),
        board=np.array([position.cells() for position in positions], np.int8).reshape(
            count, board.cells
        ),
        move=np.array([label.move for label in labels], np.int8),
        visits=visits,
        value=rounded(known),
        proven=proven,
        played=np.array(played if len(played) else [NO_MOVE] * count, np.int8),
        outcome=outcome,
    )
