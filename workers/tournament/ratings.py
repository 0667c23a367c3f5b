"""Scores and Elo ratings with 95 % confidence intervals.

Ratings are fitted to Davidson's model. Between a first player of strength a and a second of b, with
d = a - b + advantage, the odds of win : draw : loss for the first are e^(d/2) : e^draw : e^(-d/2).
The fit is a maximum a posteriori estimate: a weak prior on strengths, advantage and draw keeps the
ratings of a player who won everything finite.

All pairs play the same openings, and an opening may decide the games of every pair: the unit of the
confidence intervals is the opening, with the games of all pairs from it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from selfplay.arrays import Array

Interval = tuple[float, float]

ELO = 400 / log(10)  # Elo points per unit of strength: 400 points are odds of 10 to 1

# Weak priors: mean and standard deviation.
_STRENGTH = (0.0, 600 / ELO)
_ADVANTAGE = (0.0, 400 / ELO)
_DRAW = (-1.5, 2.0)

FEWEST_OPENINGS = 5
"""With fewer, the confidence intervals of ratings are unknown."""

_Z = 1.959964  # the normal quantile for 95 %
_MOST_STEPS = 200


def effective_count(kinds: Sequence[Hashable]) -> float:
    """The effective sample size when observations of a kind are the same one, repeated."""
    if not kinds:
        return 0.0
    return len(kinds) ** 2 / sum(count * count for count in Counter(kinds).values())


def score_interval(scores: Sequence[float], kinds: Sequence[Hashable]) -> Interval:
    """The 95 % confidence interval of the mean of scores from 0 to 1.

    Scores of the same kind count as one observation. A win and a loss are added as pseudo-counts,
    so that a few equal scores do not give an interval of width 0.
    """
    if not scores:
        return 0.0, 1.0
    count = effective_count(kinds)
    added = len(scores) / count
    total = len(scores) + 2 * added
    mean = (sum(scores) + added) / total
    deviations: dict[Hashable, float] = {}
    for score, kind in zip(scores, kinds, strict=True):
        deviations[kind] = deviations.get(kind, 0.0) + score - mean
    squares = sum(deviation * deviation for deviation in deviations.values())
    squares += (added * (1 - mean)) ** 2 + (added * mean) ** 2
    error = sqrt(squares * (count + 2) / (count + 1)) / total
    half = student_t(count + 1) * error
    observed = sum(scores) / len(scores)
    return max(0.0, min(observed, mean - half)), min(1.0, max(observed, mean + half))


def student_t(freedom: float) -> float:
    """The two-sided 95 % quantile of Student's t distribution for two or more degrees of freedom,
    by its expansion in 1/freedom."""
    z = _Z
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


@dataclass(frozen=True, slots=True)
class HeadToHead:
    """Results of two players from one opening with the same one first, from its point of view."""

    first: int
    second: int
    opening: Hashable
    """The same for openings that led to the same games."""
    wins: float
    draws: float
    losses: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """Elo ratings with mean zero; intervals are relative to the mean, None if unknown."""

    elo: tuple[float, ...]
    intervals: tuple[Interval | None, ...]
    advantage: float  # Elo points for moving first
    advantage_interval: Interval | None
    draw_rate: float  # between equal players


class _Likelihood:
    """The log posterior of strengths, advantage and draw, and its derivatives."""

    def __init__(self, players: int, results: Sequence[HeadToHead]) -> None:
        size = players + 2
        self.means = np.array([*[_STRENGTH[0]] * players, _ADVANTAGE[0], _DRAW[0]])
        self.precision = np.array([*[_STRENGTH[1]] * players, _ADVANTAGE[1], _DRAW[1]]) ** -2.0
        meetings = {pair: m for m, pair in enumerate(dict.fromkeys(map(_sides, results)))}
        openings = {name: g for g, name in enumerate(dict.fromkeys(r.opening for r in results))}
        self._by_opening = np.zeros((len(openings), len(meetings), 3))
        for r in results:
            cell = self._by_opening[openings[r.opening], meetings[_sides(r)]]
            cell += (r.wins, r.draws, r.losses)
        self._counts = self._by_opening.sum(axis=0)
        self._design = np.zeros((len(meetings), 3, size))  # of the logits of win, draw and loss
        for (first, second), number in meetings.items():
            self._design[number, 0, [first, players]] = 0.5
            self._design[number, 0, second] = -0.5
            self._design[number, 1, players + 1] = 1.0
            self._design[number, 2] = -self._design[number, 0]

    def _log_probabilities(self, x: Array) -> Array:
        logits = self._design @ x
        logits -= logits.max(axis=1, keepdims=True, initial=-np.inf)
        return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))

    def log_posterior(self, x: Array) -> float:
        prior = (self.precision * (x - self.means) ** 2).sum() / 2
        return float((self._counts * self._log_probabilities(x)).sum() - prior)

    def derivatives(self, x: Array) -> tuple[Array, Array]:
        """The gradient and the negative Hessian of the log posterior."""
        p = np.exp(self._log_probabilities(x))
        games = self._counts.sum(axis=1)
        gradient = np.einsum("mk,mki->i", self._counts - games[:, None] * p, self._design)
        mean = np.einsum("mk,mki->mi", p, self._design)
        curvature = np.einsum(
            "m,mk,mki,mkj->ij", games, p, self._design, self._design, optimize=True
        )
        curvature -= np.einsum("m,mi,mj->ij", games, mean, mean, optimize=True)
        return gradient - self.precision * (x - self.means), curvature + np.diag(self.precision)

    def spread(self, x: Array, openings: float) -> Array:
        """The covariance of the gradient over openings, as observed."""
        p = np.exp(self._log_probabilities(x))
        residuals = self._by_opening - self._by_opening.sum(axis=2, keepdims=True) * p
        gradients = np.einsum("gmk,mki->gi", residuals, self._design, optimize=True)
        return np.asarray(gradients.T @ gradients * openings / (openings - 1))


def _sides(result: HeadToHead) -> tuple[int, int]:
    return result.first, result.second


def fit_ratings(
    players: int, results: Sequence[HeadToHead], openings: float | None = None
) -> Ratings:
    """The most likely ratings, by Newton's method: the log posterior is concave. `openings` is
    their effective count if some led to the same games."""
    likelihood = _Likelihood(players, results)
    x = likelihood.means
    for _ in range(_MOST_STEPS):
        gradient, curvature = likelihood.derivatives(x)
        step = np.linalg.solve(curvature, gradient)
        if np.abs(step).max() < 1e-10:
            break
        before = likelihood.log_posterior(x)
        while likelihood.log_posterior(x + step) < before - 1e-9 and np.abs(step).max() > 1e-12:
            step /= 2
        x = x + step
    if openings is None:
        openings = len({result.opening for result in results})
    centre = np.eye(players + 2)  # only differences between strengths are determined by games
    centre[:players, :players] -= 1 / players
    points = centre @ x * ELO
    intervals: list[Interval | None] = [None] * (players + 1)
    if openings >= FEWEST_OPENINGS:
        # The wider of two: as if games were independent, and as results differ over openings.
        inverse = centre @ np.linalg.inv(likelihood.derivatives(x)[1])
        between = inverse @ likelihood.spread(x, openings) @ inverse.T
        variance = np.maximum(np.diag(inverse @ centre.T), np.diag(between))
        half = student_t(openings - 1) * ELO * np.sqrt(variance)
        ends = zip((points - half).tolist(), (points + half).tolist(), strict=True)
        intervals[:] = list(ends)[: players + 1]
    draw = exp(float(x[players + 1]))
    return Ratings(
        tuple(points[:players].tolist()),
        tuple(intervals[:players]),
        float(points[players]),
        intervals[players],
        draw / (2 + draw),
    )
