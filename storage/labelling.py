"""Turn games into rows: each position with the teacher's label, the played move, the outcome."""

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
    """A row for every position and its label; `played` are the moves of the game, and `winner`
    counts only if it was `finished`."""
    count = len(positions)
    value = np.full((count, board.columns), np.nan, np.float32)
    proven = np.full((count, board.columns), NO_RESULT, np.int8)
    visits = np.zeros((count, board.columns), np.int32)
    for row, label in enumerate(labels):
        if label.visits is not None:
            visits[row] = label.visits
        if label.value is not None:
            value[row] = [np.nan if v is None else v for v in label.value]
        if label.proven is not None:
            proven[row] = [NO_RESULT if v is None else v for v in label.proven]
    to_move = np.array([position.to_move for position in positions], np.int8)
    outcome = np.full(count, NO_RESULT, np.int8)
    if finished:
        outcome[:] = 0 if winner is None else np.where(to_move == winner, 1, -1)
    return Rows(
        game=np.full(count, game, np.int64),
        ply=np.array([position.ply for position in positions], np.int16),
        board=np.array([p.cells() for p in positions], np.int8).reshape(count, board.cells),
        move=np.array([label.move for label in labels], np.int8),
        visits=visits,
        value=rounded(value),
        proven=proven,
        played=np.array(played if len(played) else [NO_MOVE] * count, np.int8),
        outcome=outcome,
    )
