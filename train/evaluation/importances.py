"""Permutation importance: how many more mistakes a model makes when a feature is shuffled."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from statistics import fmean, pstdev

import numpy as np

from selfplay.arrays import Array
from selfplay.storage.dataset import Dataset
from selfplay.storage.split import uniform_hash
from selfplay.train.choice import best_moves
from selfplay.train.evaluation.positions import ILLEGAL, EvaluationSet
from selfplay.train.model import Model
from selfplay.train.training_set import training_set_of
from selfplay.train.tree.importances import gain_importances
from selfplay.train.tree.tree import LEAF

MOST_POSITIONS = 10_000
REPEATS = 5


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Positions, and which of their moves count as wrong."""

    own: Array
    mask: Array
    wrong: Array
    """bool [position, column]"""
    measure: str

    @classmethod
    def of_evaluation_set(cls, positions: EvaluationSet) -> Judged:
        """The contested positions: wrong is a move that does not keep the game value."""
        chosen = positions.contested
        values, best = positions.values[chosen], positions.best[chosen]
        wrong = (values != ILLEGAL) & (values < best[:, None])
        return cls(positions.own[chosen], positions.mask[chosen], wrong, "mistakes")

    @classmethod
    def of_run(cls, dataset: Dataset) -> Judged:
        """Distinct positions of a run, up to 10,000: wrong is a move other than the teacher's."""
        rows = training_set_of([dataset]).merged()
        rows = rows[np.argsort(uniform_hash(np.minimum(*rows.keys())), kind="stable")]
        rows = rows[:MOST_POSITIONS]
        columns = np.arange(rows.board.columns)[:, None]
        wrong = ~rows.is_accepted(columns).T
        return cls(rows.own, rows.mask, wrong, "other moves than the teacher's")


@dataclass(frozen=True, slots=True)
class Importance:
    """How important a feature is to a model."""

    feature: str
    gain: float
    """The share of the decrease of impurity"""
    permutation: float | None = None
    """The increase of the share of wrong moves; None if not measured"""
    permutation_std: float | None = None
    """Its standard deviation over the repeats"""


def wrong_moves(model: Model, judged: Judged) -> float:
    """The share of wrong moves."""
    return _share_wrong(model, judged, model.scores(judged.own, judged.mask))


def _share_wrong(model: Model, judged: Judged, scores: Array) -> float:
    """The share of positions in which the move that the tree plays is wrong."""
    moves = best_moves(model.board, judged.own, judged.mask, scores)
    return float(judged.wrong[np.arange(len(moves)), moves].mean())


def importances(
    model: Model,
    judged: Judged | None,
    repeats: int = REPEATS,
    on_progress: Callable[[int, int], None] = lambda done, of: None,
) -> list[Importance]:
    """The importance of every feature, the most important first: by permutation, then by gain."""
    names, tree = model.features.names, model.tree
    gains = gain_importances(tree, model.parameters.get("criterion", "entropy"), len(names))
    found = [
        Importance(name, gain, *((None, None) if judged is None else (0.0, 0.0)))
        for name, gain in zip(names, gains.tolist(), strict=True)
    ]
    if judged is not None:
        shuffled = _Shuffled(model, judged)
        before = wrong_moves(model, judged)
        used = np.unique(tree.feature[tree.feature != LEAF]).tolist()
        for number, k in enumerate(used, 1):
            more = [shuffled.wrong_moves(k, seed) - before for seed in range(repeats)]
            mean, deviation = round(fmean(more), 6), round(pstdev(more), 6)
            found[k] = Importance(names[k], found[k].gain, mean, deviation)
            on_progress(number, len(used))
    return sorted(found, key=lambda one: (-(one.permutation or 0), -one.gain))


class _Shuffled:
    """The rows of some positions, with one feature shuffled among them."""

    def __init__(self, model: Model, judged: Judged) -> None:
        self._model = model
        self._judged = judged
        own, mask, self._turned = model.seen(judged.own, judged.mask)
        self._scores = model.scores(own, mask)
        self._open = self._scores >= 0
        codes = model.features.encode(own, mask)
        self._codes = codes[self._open] if model.features.by_move else codes[:, 0]

    def wrong_moves(self, feature: int, seed: int) -> float:
        codes, shares = self._codes.copy(), self._model.shares
        order = np.random.default_rng(seed).permutation(len(codes))
        codes[:, feature] = codes[order, feature]
        leaves = self._model.tree.leaf_of(codes)
        if self._model.features.by_move:
            self._scores[self._open] = shares[leaves, 1]
        else:
            self._scores = np.where(self._open, shares[leaves], -1)
        scores = np.where(self._turned[:, None], self._scores[:, ::-1], self._scores)
        return _share_wrong(self._model, self._judged, scores)
