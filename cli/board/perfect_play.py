"""The solver for the board: game values of columns, hints, a review of the game, within seconds."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from time import perf_counter
from typing import TYPE_CHECKING

from selfplay.cli.board.game import Game
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.web.records import result_of

if TYPE_CHECKING:
    from selfplay.solver.review import Review
    from selfplay.solver.solver import Solver

VALUES_SECONDS = 3.0
HINT_SECONDS = 1.0


class PerfectPlay:
    """Solves positions. The solver of a board is compiled at its first use."""

    def __init__(self) -> None:
        self._solver_of = lru_cache(1)(_solver)

    def values(self, position: Position) -> dict[int, int | None]:
        """Each legal column: 1 a win, 0 a draw, -1 a loss; None if not solved in time."""
        from selfplay.solver.solver import Limit

        solver = self._solver_of(position.board)
        values = solver.values(position, Limit(seconds=VALUES_SECONDS))
        return {column: values[column] for column in position.legal_moves}

    def hint(self, position: Position) -> Hint | None:
        """The result of every column; None if a second is too short."""
        from selfplay.solver.solver import Limit, complete

        if not position.board.fits_word:
            return None
        solver = self._solver_of(position.board)
        end = perf_counter() + HINT_SECONDS
        values = complete(position, solver.values(position, Limit(seconds=HINT_SECONDS)))
        if values is None:
            return None
        left = Limit(seconds=max(0.001, end - perf_counter()))
        return Hint(position, values, complete(position, solver.scores(position, left)))

    def review(self, game: Game, update: Callable[[int, int], None]) -> Review:
        from selfplay.solver.review import REVIEW_SECONDS, review

        solver = self._solver_of(game.start.board)
        return review(game.positions[:-1], game.moves, solver, REVIEW_SECONDS, update)


class Hint:
    """The game value of every column, and when the game ends if the exact scores are known."""

    def __init__(
        self,
        position: Position,
        values: tuple[int | None, ...],
        scores: tuple[int | None, ...] | None,
    ) -> None:
        from selfplay.solver.solver import strongest_of

        self._position, self._values, self._scores = position, values, scores
        middle = (position.board.columns - 1) / 2
        best = strongest_of(scores or values) or ()
        self.move = min(best, key=lambda column: abs(column - middle))

    def results(self) -> dict[int, str]:
        """Each legal column: a draw, or the number of moves in which the winner wins."""
        return {column: self._result(column) for column in self._position.legal_moves}

    def _result(self, column: int) -> str:
        score = self._scores[column] if self._scores else None
        return result_of(self._position, self._values[column], score) or "draw"


def _solver(board: Board) -> Solver:
    from selfplay.solver.solver import Solver

    if not board.fits_word:
        raise InputError("the solver needs a board that fits 64 bits")
    return Solver(board)
