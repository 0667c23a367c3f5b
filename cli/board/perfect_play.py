"""The solver for the board: game values of columns and a review of the game, within seconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING

from selfplay.cli.board.game import Game
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position

if TYPE_CHECKING:
    from selfplay.solver.review import Review
    from selfplay.solver.solver import Solver

VALUES_SECONDS = 3.0
REVIEW_SECONDS = 8.0


class PerfectPlay:
    """Solves positions of one board. The solver is compiled at the first use."""

    def __init__(self, board: Board) -> None:
        self._board = board

    @property
    def is_available(self) -> bool:
        return self._board.fits_word

    @cached_property
    def _solver(self) -> Solver:
        from selfplay.solver.solver import Solver

        if not self.is_available:
            raise InputError("the solver needs a board that fits 64 bits")
        return Solver(self._board)

    def values(self, position: Position) -> dict[int, int | None]:
        """Each legal column: 1 a win, 0 a draw, -1 a loss; None if not solved in time."""
        from selfplay.solver.solver import Limit

        values = self._solver.values(position, Limit(seconds=VALUES_SECONDS))
        return {column: values[column] for column in position.legal_moves}

    def review(self, game: Game, update: Callable[[int, int], None]) -> Review:
        from selfplay.solver.review import review

        return review(game.positions[:-1], game.moves, self._solver, REVIEW_SECONDS, update)
