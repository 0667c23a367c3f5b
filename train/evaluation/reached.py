"""Which nodes of a tree the positions of an evaluation set reach, and where they cost most."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from selfplay.arrays import Array
from selfplay.game.position import Position
from selfplay.train.choice import best_moves
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.model import Model


@dataclass(frozen=True, slots=True)
class ReachedBy:
    """A move in a position of the set, or for the target `move` the tree's move."""

    position: Position
    column: int
    value: int
    """Of the game after this move, for the side to move: 1, 0 or -1."""
    lost: int
    """The steps of game value that it gives away: of a win to a draw one, to a loss two."""
    is_played: bool
    """Whether the tree plays it."""


@dataclass(frozen=True, slots=True)
class CostlyLeaf:
    """A leaf whose moves, as far as the tree plays them, give value away."""

    node: int
    played: int
    mistakes: int
    lost: int


@dataclass(frozen=True, eq=False)
class Reached:
    """A set and a tree: an entry is a move, for the target `move` a position."""

    model: Model
    positions: EvaluationSet

    def __len__(self) -> int:
        return len(self._leaf)

    @cached_property
    def _nodes(self) -> Array:
        """int32 [position, column]"""
        return self._predicted[1]

    @cached_property
    def _predicted(self) -> tuple[Array, Array]:
        return self.model.predict(self.positions.own, self.positions.mask)

    @cached_property
    def _moves(self) -> Array:
        """int64 [position]: the tree's move."""
        own, mask = self.positions.own, self.positions.mask
        return best_moves(self.model.board, own, mask, self._predicted[0])

    @cached_property
    def _entries(self) -> tuple[Array, Array]:
        """The position and the column of each."""
        if self.model.features.by_move:
            at, column = np.nonzero(self._nodes >= 0)
            return at, column
        return np.arange(len(self.positions)), self._moves

    @cached_property
    def _leaf(self) -> Array:
        """int32 [entry]"""
        return np.asarray(self._nodes[self._entries])

    @cached_property
    def _lost(self) -> Array:
        """int64 [entry]"""
        at, _ = self._entries
        best = self.positions.best[at].astype(np.int64)
        return np.asarray(best - self.positions.values[self._entries])

    @cached_property
    def _is_played(self) -> Array:
        """bool [entry]"""
        at, column = self._entries
        return np.asarray(self._moves[at] == column)

    @cached_property
    def _shuffled(self) -> Array:
        """int64 [entry]: in an order in which moves of a position are far apart."""
        return np.random.default_rng(0).permutation(len(self))

    def in_node(self, node: int) -> Array:
        """int64 [entry]: those that reach a node, in a fixed random order."""
        tree = self.model.tree
        depth, at = tree.depths[node], self._leaf.astype(np.int64)
        while (is_below := tree.depths[at] > depth).any():
            at = np.where(is_below, tree.parent[at], at)
        return np.asarray(self._shuffled[(at == node)[self._shuffled]])

    def mistakes_among(self, entries: Array) -> int:
        """How many of these moves give value away, whether or not the tree plays them."""
        return int((self._lost[entries] > 0).sum())

    def mistakes_in(self, leaf: int) -> Array:
        """int64 [entry]: the moves of a leaf that the tree plays and that give value away."""
        chosen = (self._leaf == leaf) & self._is_played & (self._lost > 0)
        return np.flatnonzero(chosen)

    def entry(self, number: int) -> ReachedBy:
        at, column = (int(found[number]) for found in self._entries)
        (position,) = self.positions[at : at + 1].positions()
        value = int(self.positions.values[at, column])
        lost, is_played = int(self._lost[number]), bool(self._is_played[number])
        return ReachedBy(position, column, value, lost, is_played)

    def costliest(self, most: int) -> list[CostlyLeaf]:
        """The leaves whose moves give most away, up to `most` of them."""
        nodes = len(self.model.tree)
        leaf, lost = self._leaf[self._is_played], self._lost[self._is_played]
        sums = np.bincount(leaf, lost, nodes).astype(np.int64)
        mistakes, played = np.bincount(leaf[lost > 0], minlength=nodes), np.bincount(leaf)
        worst = np.argsort(-sums, kind="stable")[:most].tolist()
        return [
            CostlyLeaf(node, int(played[node]), int(mistakes[node]), int(sums[node]))
            for node in worst
            if sums[node]
        ]
