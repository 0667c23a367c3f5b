"""What a player's moves do to the game value: by the rules where they end the game, else by the
exact solver."""

from __future__ import annotations

import time
from enum import IntEnum

import numpy as np

from selfplay.arrays import Array, BoolArray
from selfplay.game.board import Board, has_line
from selfplay.solver.solver import Solver
from selfplay.workers.proof.players import Asking
from selfplay.workers.proof.positions import (
    IMAGE,
    ITSELF,
    after_replies,
    stone_in,
    stones_of,
    unique,
)


class Judged(IntEnum):
    """What a move does."""

    WINS = 0  # at once
    KEEPS = 1  # the value, says the solver
    DRAWS = 2  # with the last stone, and no more was to be had
    LOST = 3  # nothing is left to give away
    TO_DRAW = 4  # gives a win away to a draw
    TO_LOSS = 5  # gives a win or a draw away to a loss
    NOT_ASKED = 6  # this image does not arise


MISTAKES = (Judged.TO_DRAW, Judged.TO_LOSS)

NO_VALUE = -128

ROW = np.dtype(
    [("key", "<u8"), ("images", "u1"), ("value", "i1"), ("moves", "i1", 2), ("judged", "u1", 2)]
)
"""A position and its mirror image: the game value, the player's move in either, and what it does;
moves as in the position itself."""

# With more stones a small table, emptied now and then, is faster than a large one kept.
_FORGETS_FROM = 18
_FORGETS_AFTER = 64


def mistake_type(board: Board) -> np.dtype[np.void]:
    """A mistake: the row of its position, which image, its move, the value before and after it,
    the value of every column, and the move that was taught."""
    fields = [("key", "<u8"), ("image", "u1"), ("move", "i1"), ("value", "i1"), ("after", "i1")]
    return np.dtype([*fields, ("values", "i1", board.columns), ("taught", "i1")])


class Judge:
    """Asks a player in positions of a level, and judges its moves."""

    def __init__(
        self, board: Board, asking: Asking, solver: Solver, *, teaches: bool = False
    ) -> None:
        """If it teaches, a mistake is replaced by a move that keeps the value."""
        self._board, self._asking, self._solver = board, asking, solver
        self._teaches = teaches
        self.player_seconds = self.solver_seconds = 0.0  # of the processor

    def judge(self, asked: Array) -> tuple[Array, Array, Array]:
        """Of distinct positions: their rows, the mistakes, and where the player is asked next."""
        rows = np.empty(len(asked), ROW)
        rows["key"], rows["images"] = asked["key"], asked["images"]
        start = time.process_time()
        rows["moves"] = self._asking.moves(asked["key"], asked["images"])
        self.player_seconds += time.process_time() - start
        start = time.process_time()
        rows["value"] = self._values(asked)
        rows["judged"] = Judged.NOT_ASKED
        mistakes, following = self._all_decisions(rows, np.arange(len(rows)))
        if self._teaches and len(mistakes):
            wrong = self._teach(rows, mistakes)
            following = np.concatenate((following, self._all_decisions(rows, wrong)[1]))
        self.solver_seconds += time.process_time() - start
        return rows, mistakes, unique(following)

    def _teach(self, rows: Array, mistakes: Array) -> Array:
        """Put a move that keeps the value in the place of each mistake; which rows these are."""
        columns = mistakes["values"] == mistakes["value"][:, None]
        mistakes["taught"] = self._asking.moves_among(mistakes["key"], columns)
        wrong = np.searchsorted(rows["key"], mistakes["key"])
        moves = rows["moves"][wrong]
        rows["moves"][wrong] = np.where(moves < 0, moves, mistakes["taught"][:, None])
        return np.unique(wrong)

    def _all_decisions(self, rows: Array, among: Array) -> tuple[Array, Array]:
        """Judge the moves of these rows in both images; the mistakes, and what follows."""
        # In both images it is one decision if the moves are images of each other.
        first, second = rows["moves"][among, 0], rows["moves"][among, 1]
        both = np.where(first == second, ITSELF | IMAGE, ITSELF)
        mistakes, following = [], []
        for moves, images, is_asked in (
            (first, both, first >= 0),
            (second, np.full(len(among), IMAGE), (second >= 0) & (second != first)),
        ):
            made = self._decisions(rows, among[is_asked], moves[is_asked], images[is_asked])
            mistakes.append(made[0])
            following.append(made[1])
        return np.concatenate(mistakes), np.concatenate(following)

    def _values(self, asked: Array) -> Array:
        """The game values: none is below its bound."""
        value: Array = asked["bound"].copy()
        own, mask = stones_of(self._board, asked["key"])
        for higher in (1, 0):
            open_ = np.flatnonzero((value < higher) & (asked["bound"] < higher))
            reached = self._reaches(own[open_], mask[open_], higher)
            value[open_[reached]] = higher
        return value

    def _decisions(
        self, rows: Array, which: Array, moves: Array, images: Array
    ) -> tuple[Array, Array]:
        """Judge these moves, which are made in these images; the mistakes, and what follows."""
        board, value = self._board, rows["value"][which]
        own, mask = stones_of(board, rows["key"][which])
        stone = stone_in(board, mask, moves)
        own_after, mask_after = own ^ mask, mask | stone
        wins = has_line(board, own | stone) != 0
        is_full = mask_after == board.full
        judged = np.full(len(which), Judged.KEEPS, np.uint8)
        judged[value < 0] = Judged.LOST
        judged[is_full & (value == 0)] = Judged.DRAWS
        judged[is_full & (value == 1)] = Judged.TO_DRAW
        judged[wins] = Judged.WINS
        open_ = np.flatnonzero(judged == Judged.KEEPS)
        spoilt = self._reaches(own_after[open_], mask_after[open_], 1 - value[open_])
        wrong = open_[spoilt]
        is_lost = value[wrong] == 0
        is_lost[~is_lost] = self._reaches(
            own_after[wrong[~is_lost]], mask_after[wrong[~is_lost]], 1
        )
        judged[wrong] = np.where(is_lost, Judged.TO_LOSS, Judged.TO_DRAW)
        for k, image in enumerate((ITSELF, IMAGE)):
            there = (images & image != 0) & (rows["images"][which] & image != 0)
            rows["judged"][which[there], k] = judged[there]
        goes_on = np.flatnonzero(
            ((judged == Judged.KEEPS) | (judged == Judged.LOST)) & ~is_full & ~wins
        )
        following = after_replies(
            board,
            own_after[goes_on],
            mask_after[goes_on],
            (images & rows["images"][which])[goes_on],
            value[goes_on],
        )
        return self._mistakes(rows, which, moves, images, judged), following

    def _mistakes(
        self, rows: Array, which: Array, moves: Array, images: Array, judged: Array
    ) -> Array:
        wrong = np.flatnonzero(np.isin(judged, MISTAKES))
        found = np.zeros(len(wrong), mistake_type(self._board))
        row = rows[which[wrong]]
        found["key"], found["value"], found["move"] = row["key"], row["value"], moves[wrong]
        found["image"] = (images[wrong] & row["images"] & ITSELF) == 0
        found["after"] = np.where(judged[wrong] == Judged.TO_DRAW, 0, -1)
        found["values"] = self._column_values(*stones_of(self._board, row["key"]))
        return found

    def _column_values(self, own: Array, mask: Array) -> Array:
        """int8 [position, column]: the value of every move."""
        values = np.full((len(own), self._board.columns), NO_VALUE, np.int8)
        for column in range(self._board.columns):
            stone = stone_in(self._board, mask, np.full(len(mask), column))
            own_after, mask_after = own ^ mask, mask | stone
            wins = has_line(self._board, own | stone) != 0
            open_ = np.flatnonzero((stone != 0) & ~wins & (mask_after != self._board.full))
            values[stone != 0, column] = wins[stone != 0]
            values[open_, column] = 1
            for bound, value in ((0, 0), (1, -1)):  # what the other side reaches, and what is left
                open_ = open_[self._reaches(own_after[open_], mask_after[open_], bound)]
                values[open_, column] = value
        return values

    def _reaches(self, own: Array, mask: Array, bounds: Array | int) -> BoolArray:
        bounds = np.broadcast_to(np.asarray(bounds, np.int8), own.shape)
        if not len(own) or np.bitwise_count(mask[0]) < _FORGETS_FROM:
            return self._solver.reaches(own, mask, bounds)
        reached = np.empty(len(own), np.bool_)
        for start in range(0, len(own), _FORGETS_AFTER):
            part = slice(start, start + _FORGETS_AFTER)
            self._solver.forget()
            reached[part] = self._solver.reaches(own[part], mask[part], bounds[part])
        return reached
