"""The explanation of a tree's move: its reasons, its path through the tree, and what would have
changed it there."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from selfplay.arrays import bitboards
from selfplay.game.position import Position
from selfplay.train.choice import best_move, best_moves, decided_by
from selfplay.train.config import Split
from selfplay.train.explanation.cells import Cell
from selfplay.train.explanation.reasons import Reasons
from selfplay.train.explanation.split_cells import cells_of_feature, is_seen_mirrored
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.features.lookahead import is_in_points, points_at
from selfplay.train.model import Model
from selfplay.train.tree.exports import Wording
from selfplay.train.tree.tree import LEAF, Tree, side_of


@dataclass(frozen=True)
class Flip:
    """A counterfactual: the other side of one split, and the move it leads to."""

    instead: str
    """The condition of the other side."""
    move: int


@dataclass(frozen=True)
class Explanation:
    """The reasons for a move, computed on demand."""

    model: Model
    position: Position
    move: int
    shares: tuple[float | None, ...]
    node: int
    """The node that the move reached."""
    level: int | None = None
    """The level at which the move was drawn; None is the strongest."""
    is_taught: bool = False
    """Whether the move was taught for this position, whatever its rating."""

    @cached_property
    def reasons(self) -> Reasons:
        """What the move does, in the terms of players. At a level nobody knows what it would have
        drawn elsewhere; and of a worse move, that its rating decided would be false."""
        if self.is_taught and self.move != self.best:
            remark = (
                f"It was taught this position: by its ratings it would play column {self.best + 1}"
            )
            return Reasons(self.position, self.move, remark=f"{remark}, and give something away.")
        if self.level is None:
            return Reasons(self.position, self.move, self.shares, self._moves)
        if self.move == self.best:
            return Reasons(self.position, self.move, self.shares)
        return Reasons(self.position, self.move, remark=self._on_purpose)

    @cached_property
    def best(self) -> int:
        """The move of the strongest level by its ratings."""
        return best_move(self.position, self._scores)

    @property
    def _scores(self) -> list[float]:
        return [-1.0 if share is None else share for share in self.shares]

    @property
    def _on_purpose(self) -> str:
        here, there = self._scores[self.move], self._scores[self.best]
        return (
            f"At level {self.level} it plays worse moves on purpose: at its best it plays column "
            f"{self.best + 1}, rated {there:.0%}, not this one, rated {here:.0%}."
        )

    def _moves(self, positions: Sequence[Position]) -> list[int]:
        """The moves that the tree plays."""
        own, mask = (
            np.array([getattr(position, name) for position in positions], np.uint64)
            for name in ("own", "mask")
        )
        board = self.model.board
        moves = best_moves(board, own, mask, self.model.scores(own, mask))
        found: list[int] = self.model.with_taught(moves[:, None], own, mask)[:, 0].tolist()
        return found

    @cached_property
    def path(self) -> tuple[str, ...]:
        """The conditions on the path, one per feature."""
        return conditions_of(self.model, self.node)

    @cached_property
    def path_cells(self) -> tuple[tuple[Cell, ...], ...]:
        """The cells on the board that each condition is about; none of those that count or
        compare."""
        features = self.model.features
        if features.by_move:
            is_mirrored = is_seen_mirrored(self.position, self.move)
        else:
            own, mask = bitboards([self.position.own], [self.position.mask])
            is_mirrored = bool(self.model.seen(own, mask)[2][0])
        return tuple(
            cells_of_feature(features.names[f], self.position, self.move, is_mirrored=is_mirrored)
            for f in held_in(self.model, self.node)
        )

    @cached_property
    def counts(self) -> tuple[int, ...]:
        """The training rows in the node: by column, or not played and played."""
        return tuple(self.model.tree.counts[self.node].tolist())

    @property
    def support(self) -> int:
        return sum(self.counts)

    @property
    def runner_up(self) -> int | None:
        """The second best move, if there is one."""
        return self.reasons.runner_up

    @property
    def decided_by(self) -> str | None:
        """What else than its rating decides for the move; None if that does, or the level, or
        that it was taught."""
        return decided_by(self.position, self._scores) if self.move == self.best else None

    @cached_property
    def _codes(self) -> Any:
        """uint8 [row, feature]"""
        own = np.array([self.position.own], np.uint64)
        mask = np.array([self.position.mask], np.uint64)
        return self.model.features.encode(own, mask)[0]

    @cached_property
    def flip(self) -> Flip | None:
        """The last split on the path whose other side would have changed the move."""
        second = self.runner_up
        if second is None or self.level is not None:
            return None
        model, tree = self.model, self.model.tree
        codes = self._codes[self.move if model.features.by_move else 0]
        wording = wording_of(model)
        for node, side in reversed(steps_to(tree, self.node)):
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
        """The move, if the walk went on from this node."""
        tree = self.model.tree
        while tree.feature[node] != LEAF:
            code, value = int(codes[tree.feature[node]]), int(tree.value[node])
            below = int(tree.child[node] + side_of(code, value, tree.nodes.split))
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


def steps_to(tree: Tree, node: int) -> list[tuple[int, int]]:
    """The nodes from the root down to this one, which is left out, each with the side taken."""
    steps = []
    while node:
        above = int(tree.parent[node])
        steps.append((above, node - int(tree.child[above])))
        node = above
    return steps[::-1]


def conditions_of(model: Model, node: int) -> tuple[str, ...]:
    """What holds in a node: the conditions on the path to it, one per feature."""
    held = held_in(model, node)
    return tuple(in_words(model.features, f, low, high) for f, (low, high) in held.items())


def held_in(model: Model, node: int) -> dict[int, tuple[int, int]]:
    """The features on the path to a node, each with the first and last value that it may have."""
    tree, widths = model.tree, model.features.widths
    held: dict[int, tuple[int, int]] = {}
    for above, side in steps_to(tree, node):
        feature, value = int(tree.feature[above]), int(tree.value[above])
        last = int(widths[feature]) - 1
        low, high = held.pop(feature, (0, last))
        if not (tree.split == "equals" and side):
            least, most = _values_of(tree.split, value, side, last)
            low, high = max(low, least), min(high, most)
        held[feature] = low, high
    return held


def in_words(features: FeatureSet, feature: int, low: int, high: int) -> str:
    """A feature and a range of its values."""
    name, width = features.names[feature], int(features.widths[feature])
    if name.startswith("the cell "):
        states = ("empty", "own", "the other side's")
        if features.perspective == "absolute":
            states = ("empty", "the first player's", "the second player's")
        return f"{name} is {' or '.join(states[low : high + 1])}"
    if width == 2:
        return f"{name}: {_value(low, width)}"
    if is_in_points(name):
        low_end, high_end = (f"{points_at(end):+d}" for end in (low, high))
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


def _values_of(split: Split, value: int, side: int, last: int) -> tuple[int, int]:
    """The first and last value on a side of a split; of `equals`, on the first side."""
    if split == "threshold":
        return (0, value) if side == 0 else (value + 1, last)
    return (side, side) if split == "multiway" else (value, value)


def wording_of(model: Model) -> Wording:
    """Board language for the tree of a model."""
    features, split = model.features, model.tree.split

    def answer(feature: int, value: int, side: int) -> str:
        last = int(features.widths[feature]) - 1
        text = in_words(features, feature, *_values_of(split, value, side, last))
        return f"not {text}" if split == "equals" and side else text

    if model.target == "candidate":
        by_value = model.parameters.get("labels") == "optimal"
        return Wording(answer, ("a mistake", "right") if by_value else ("not played", "played"))
    return Wording(answer, tuple(f"column {column + 1}" for column in range(model.board.columns)))
