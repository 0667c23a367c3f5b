"""A trained tree as a player: no search, one walk down the tree."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import HOW, Decision, refuse_if_over
from selfplay.registry import Ask, Kind
from selfplay.storage.location import Location
from selfplay.train.explanation import Explanation
from selfplay.train.model import BASE, Model


@lru_cache(maxsize=8)
def _loaded(path: str) -> Model:
    return Model.load(path)


@dataclass(frozen=True, slots=True, kw_only=True)
class TreeOptions:
    """Which tree a `tree` player asks."""

    model: str = field(default=BASE, metadata=HOW)
    """The file: a path or a URI; the tree that comes along, if not given. Which tree it is, its
    fingerprint says."""
    fingerprint: str | None = None
    """Of the model that is meant; that of the file, if not given."""

    def __post_init__(self) -> None:
        Location.of_file(self.model)  # understood, not opened


class TreePlayer:
    """Plays what speaks for itself most. Of equals that is what wins at once, then what does not
    let the other side win at once, then what is nearer to the middle."""

    def __init__(self, board: Board, model: Model) -> None:
        if board != model.board:
            raise InputError(f"this tree plays on {model.board}, not on {board}")
        self.model = model
        self._own = np.zeros(1, np.uint64)
        self._mask = np.zeros(1, np.uint64)
        middle = (board.columns - 1) / 2
        self._order = sorted(range(board.columns), key=lambda column: abs(column - middle))
        self.model.scores(self._own, self._mask)  # compiled before anything is timed

    def new_game(self, seed: int) -> None:
        pass

    def decide(self, position: Position) -> Decision:
        refuse_if_over(position)
        if position.board != self.model.board:
            raise InputError(f"this tree plays on {self.model.board}, not on {position.board}")
        start = perf_counter()
        self._own[0], self._mask[0] = position.own, position.mask
        found, nodes = self.model.ask(self._own, self._mask)
        scores = found[0].tolist()
        best = max(scores)
        equals = [column for column in self._order if scores[column] == best]
        move = equals[0] if len(equals) == 1 else _soonest(position, equals)
        shares = tuple(None if score < 0 else score for score in scores)
        why = Explanation(self.model, position, move, shares, int(nodes[0, move]))
        return Decision(move=move, shares=shares, why=why, seconds=perf_counter() - start)


def _soonest(position: Position, equals: list[int]) -> int:
    """The first of these that wins at once, or else does not lose at once."""
    winning = position.winning_moves
    for column in equals:
        if column in winning:
            return column
    for column in equals:
        if not position.play(column).winning_moves:
            return column
    return equals[0]


def _resolve(options: TreeOptions) -> TreeOptions:
    if options.fingerprint is not None:
        return options
    return replace(options, fingerprint=_loaded(options.model).fingerprint)


def _build(board: Board, options: Any, _ask: Ask | None) -> TreePlayer:
    model = _loaded(options.model)
    if options.fingerprint not in (None, model.fingerprint):
        raise InputError(
            f"the model {quoted(options.model, 200)} is not the one that is meant: its fingerprint "
            f"is {model.fingerprint}, not {options.fingerprint}"
        )
    return TreePlayer(board, model)


KIND = Kind("tree:models/base", lambda: TreeOptions, _build, main_option="model", resolve=_resolve)
