"""What perfect play says of the positions of a session, as far as it can in some seconds."""

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


class Judge:
    """Knows what has been given away. Nothing is compiled before it is asked."""

    def __init__(self, board: Board) -> None:
        self._board = board

    @property
    def is_able(self) -> bool:
        return self._board.fits_word

    @cached_property
    def _solver(self) -> Solver:
        from selfplay.solver.solver import Solver

        if not self.is_able:
            raise InputError("perfect play is known on boards that fit 64 bits")
        return Solver(self._board)

    def values(self, position: Position) -> dict[int, int | None]:
        """Of each column that is open: 1 a win, 0 a draw, -1 a loss; None where time was short."""
        from selfplay.solver.solver import Limit

        values = self._solver.values(position, Limit(seconds=VALUES_SECONDS))
        return {column: values[column] for column in position.legal_moves}

    def review(self, game: Game, tell: Callable[[int, int], None]) -> Review:
        from selfplay.solver.review import review

        return review(game.positions[:-1], game.moves, self._solver, REVIEW_SECONDS, tell)
