"""The tree player: a walk down the tree for every move, then the rules, or below the strongest
level a draw."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board, mirrored
from selfplay.game.position import Position
from selfplay.players import HOW, Decision, refuse_if_over
from selfplay.registry import Ask, Kind
from selfplay.seeding import Stream, derive
from selfplay.storage.location import Location
from selfplay.train.choice import allowed_moves, best_move, best_of_images
from selfplay.train.explanation.path import Explanation
from selfplay.train.levels import LEVELS, check_level, drawn_move
from selfplay.train.model import BASE, Model
from selfplay.train.taught import UNTAUGHT


@lru_cache(maxsize=8)
def loaded(path: str) -> Model:
    """The model of a file, read once."""
    return Model.load(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeOptions:
    """Options of a `tree` player."""

    model: str = field(default=BASE, metadata=HOW)
    """A path or a URI; the default is the bundled tree."""
    fingerprint: str | None = None
    """The fingerprint the file must have; taken from the file, if not given."""
    level: int | None = None
    """From 1, for beginners, up; None is the strongest, which plays no worse move on purpose."""

    def __post_init__(self) -> None:
        Location.of_file(self.model)  # parsed, not opened
        check_level(self.level)
        if self.level == LEVELS:  # one name for one player
            object.__setattr__(self, "level", None)


class TreePlayer:
    """Plays the move with the highest score that the rules of `choice.py` allow; at a level below
    the strongest, one drawn by its score."""

    def __init__(self, board: Board, model: Model, level: int | None = None) -> None:
        if board != model.board:
            raise InputError(f"this tree plays on {model.board}, not on {board}")
        self.model = model
        self._level, self._seed = level, 0
        self._own = np.zeros(1, np.uint64)
        self._mask = np.zeros(1, np.uint64)
        self.model.scores(self._own, self._mask)  # compiles

    def new_game(self, seed: int) -> None:
        self._seed = seed

    def decide(self, position: Position) -> Decision:
        refuse_if_over(position)
        if position.board != self.model.board:
            raise InputError(f"this tree plays on {self.model.board}, not on {position.board}")
        start = perf_counter()
        self._own[0], self._mask[0] = position.own, position.mask
        predicted = self.model.predict(self._own, self._mask)
        (scores,), (nodes,) = (array.tolist() for array in predicted)
        move, taught = best_move(position, scores), UNTAUGHT
        if self.model.taught is not None:
            taught = int(self.model.taught.find(self._own, self._mask)[0])
        if taught != UNTAUGHT:
            move = taught
        if self._level is not None:
            stream = Stream(derive(self._seed, position.key()))
            move, taught = drawn_move(position, scores, self._level, stream), UNTAUGHT
        shares = tuple(None if score < 0 else score for score in scores)
        why = Explanation(
            self.model, position, move, shares, nodes[move], self._level, taught != UNTAUGHT
        )
        return Decision(move=move, shares=shares, why=why, seconds=perf_counter() - start)

    def moves(self, own: Array, mask: Array) -> Array:
        """int [position]: the moves that `decide` makes at the strongest level."""
        return self._moves(own, mask)[:, 0]

    def moves_of_images(self, own: Array, mask: Array) -> Array:
        """int [position, 2]: the moves that `decide` makes at the strongest level in positions and
        in their mirror images, the latter mirrored back: they differ where two columns tie."""
        moves = self._moves(own, mask)
        if not self.model.sees_images_alike:
            board = self.model.board
            images = self.moves(mirrored(board, own), mirrored(board, mask))
            moves[:, 1] = board.columns - 1 - images
        return moves

    def moves_among(self, own: Array, mask: Array, columns: Array) -> Array:
        """int [position]: of these columns, bool [position, column], the best rated."""
        return best_of_images(self.model.board, self.model.scores(own, mask), columns)[:, 0]

    def _moves(self, own: Array, mask: Array) -> Array:
        """Of positions, and of their images if the model sees them alike. What the rules decide
        alone is not rated: that takes long."""
        allowed = allowed_moves(self.model.board, own, mask)
        rated = np.flatnonzero(allowed.sum(axis=1) > 1)
        scores = np.zeros(allowed.shape, np.float32)
        scores[rated] = self.model.scores(own[rated], mask[rated])
        return self.model.with_taught(best_of_images(self.model.board, scores, allowed), own, mask)


def _resolve(options: TreeOptions) -> TreeOptions:
    if options.fingerprint is not None:
        return options
    return replace(options, fingerprint=loaded(options.model).fingerprint)


def _build(board: Board, options: Any, _ask: Ask | None) -> TreePlayer:
    model = loaded(options.model)
    if options.fingerprint not in (None, model.fingerprint):
        raise InputError(
            f"the model {quoted(options.model, 200)} has the fingerprint {model.fingerprint}, not "
            f"{options.fingerprint}"
        )
    return TreePlayer(board, model, options.level)


KIND = Kind(
    "tree:models/base",
    lambda: TreeOptions,
    _build,
    main_option="model",
    resolve=_resolve,
    board=lambda options: loaded(options.model).board,
)
