"""Why a tree plays what it plays: its path in board language, and what would have changed it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from selfplay.game.position import Position
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.features.lookahead import SCALES, points_of
from selfplay.train.model import Model
from selfplay.train.tree.exports import Wording
from selfplay.train.tree.tree import LEAF


@dataclass(frozen=True)
class Flip:
    """A single answer that would have had another move played."""

    instead: str
    """What would have had to hold."""
    move: int
    """What it would have played then."""


@dataclass(frozen=True)
class Advantage:
    """Something that is otherwise with the runner-up, and what that counts."""

    name: str
    here: str
    there: str
    points: int


@dataclass(frozen=True)
class Explanation:
    """The reasons for a move. They are worked out when they are asked for."""

    model: Model
    position: Position
    move: int
    shares: tuple[float | None, ...]
    node: int
    """Where the tree ended for the move."""

    @cached_property
    def path(self) -> tuple[str, ...]:
        """What held on the way; questions about the same thing are put together."""
        tree, features = self.model.tree, self.model.features
        held: dict[int, tuple[int, int]] = {}
        for node, side in self._steps():
            feature, value = int(tree.feature[node]), int(tree.value[node])
            low, high = held.pop(feature, (0, int(features.widths[feature]) - 1))
            if tree.split == "threshold":
                low, high = (low, min(high, value)) if side == 0 else (max(low, value + 1), high)
            elif tree.split == "multiway":
                low = high = side
            elif side == 0:
                low = high = value
            held[feature] = low, high
        return tuple(in_words(features, f, low, high) for f, (low, high) in held.items())

    def _steps(self) -> list[tuple[int, int]]:
        """The nodes from the root on, each with the side that was taken."""
        tree, steps, node = self.model.tree, [], self.node
        while node:
            above = int(tree.parent[node])
            steps.append((above, node - int(tree.child[above])))
            node = above
        return steps[::-1]

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The classes of the rows that had come there: by column, or not played and played."""
        return tuple(self.model.tree.counts[self.node].tolist())

    @property
    def support(self) -> int:
        """How many rows had come there."""
        return sum(self.counts)

    @property
    def runner_up(self) -> int | None:
        """The next best move, if there is another."""
        others = [
            (share, -column)
            for column, share in enumerate(self.shares)
            if share is not None and column != self.move
        ]
        return -max(others)[1] if others else None

    @cached_property
    def advantages(self) -> tuple[Advantage, ...]:
        """Where the points come from by which the move is ahead of the runner-up, or behind: what
        counts most first. Nothing, where no points are seen."""
        if self.model.features.name != "lookahead" or self.runner_up is None:
            return ()
        own = np.array([self.position.own], np.uint64)
        mask = np.array([self.position.mask], np.uint64)
        codes = self.model.features.of_all_moves(own, mask)[0]
        mine, opponents = codes[self.move], codes[self.runner_up]
        stones = self.position.ply
        ahead = points_of(stones, mine) - points_of(stones, opponents)
        names, widths = self.model.features.names, self.model.features.widths
        return tuple(
            Advantage(
                names[k],
                _value(int(mine[k]), int(widths[k])),
                _value(int(opponents[k]), int(widths[k])),
                int(ahead[k]),
            )
            for k in np.argsort(-np.abs(ahead), kind="stable").tolist()
            if ahead[k]
        )

    @cached_property
    def flip(self) -> Flip | None:
        """The last question on the way that alone would have changed the move."""
        second = self.runner_up
        if second is None:
            return None
        model, tree = self.model, self.model.tree
        own = np.array([self.position.own], np.uint64)
        mask = np.array([self.position.mask], np.uint64)
        if model.target == "candidate":
            codes = model.features.of_moves(own, mask, np.array([self.move]))[0]
        else:
            codes = model.features.of_positions(own, mask)[0]
        wording = wording_of(model)
        for node, side in reversed(self._steps()):
            for other in range(int(tree.sides[node])):
                child = int(tree.child[node]) + other
                if other == side or not tree.filled[child]:
                    continue
                move = self._move_from(child, codes, second)
                if move != self.move:
                    feature, value = int(tree.feature[node]), int(tree.value[node])
                    return Flip(wording.answer(feature, value, other), move)
        return None

    def _move_from(self, node: int, codes: Any, second: int) -> int:
        """What would be played if the tree went on from this node."""
        tree = self.model.tree
        while tree.feature[node] != LEAF:
            code, value = int(codes[tree.feature[node]]), int(tree.value[node])
            side = {
                "multiway": code,
                "equals": int(code != value),
                "threshold": int(code > value),
            }[tree.split]
            below = int(tree.child[node]) + side
            if not tree.filled[below]:
                break
            node = below
        shares = self.model.shares[node].tolist()
        if self.model.target == "candidate":
            opponent = self.shares[second]
            assert opponent is not None
            return self.move if shares[1] >= opponent else second
        legal = self.position.legal_moves
        return max(legal, key=lambda column: (shares[column], column == self.move))


def in_words(features: FeatureSet, feature: int, low: int, high: int) -> str:
    """What is known of a feature whose value is in a range."""
    name, width = features.names[feature], int(features.widths[feature])
    if name.startswith("the cell "):
        states = ("empty", "own", "the other side's")
        if features.perspective == "absolute":
            states = ("empty", "the first player's", "the second player's")
        return f"{name} is {' or '.join(states[low : high + 1])}"
    if width == 2:
        return f"{name}: {_value(low, width)}"
    if name in SCALES:
        middle, step = SCALES[name]
        low_end, high_end = (f"{(end - middle) * step:+d}" for end in (low, high))
        return f"{name}: {_range(low, high, width, low_end, high_end)}"
    return f"{name}: {_range(low, high, width, str(low), str(high))}"


def _range(low: int, high: int, width: int, low_end: str, high_end: str) -> str:
    if low == high:
        return low_end
    if low == 0:
        return f"at most {high_end}"
    if high == width - 1:
        return f"at least {low_end}"
    return f"{low_end} to {high_end}"


def _value(code: int, width: int) -> str:
    return ("no", "yes")[code] if width == 2 else str(code)


def wording_of(model: Model) -> Wording:
    """The tree of a model in board language."""
    features, split = model.features, model.tree.split

    def answer(feature: int, value: int, side: int) -> str:
        last = int(features.widths[feature]) - 1
        if split == "multiway":
            return in_words(features, feature, side, side)
        if split == "equals":
            if side == 0:
                return in_words(features, feature, value, value)
            return "not " + in_words(features, feature, value, value)
        low, high = (0, value) if side == 0 else (value + 1, last)
        return in_words(features, feature, low, high)

    if model.target == "candidate":
        by_value = model.parameters.get("labels") == "optimal"
        return Wording(answer, ("a mistake", "right") if by_value else ("not played", "played"))
    return Wording(answer, tuple(f"column {column + 1}" for column in range(model.board.columns)))
