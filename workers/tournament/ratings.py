"""Scores and Elo ratings with 95 % confidence intervals.

Ratings are fitted to Davidson's model. Between a first player of strength a and a second of b, with
d = a - b + advantage, the odds of win : draw : loss for the first are e^(d/2) : e^draw : e^(-d/2).
The fit is a maximum a posteriori estimate: a weak prior on strengths, advantage and draw keeps the
ratings of a player who won everything finite.
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
    """Results of two players with the same one first, from its point of view."""

    first: int
    second: int
    wins: float
    draws: float
    losses: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """Elo ratings with mean zero; intervals are relative to the mean."""

    elo: tuple[float, ...]
    intervals: tuple[Interval, ...]
    advantage: float  # Elo points for moving first
    advantage_interval: Interval
    draw_rate: float  # between equal players


def fit_ratings(players: int, results: Sequence[HeadToHead]) -> Ratings:
    """The most likely ratings, by Newton's method: the log posterior is concave."""
    size = players + 2
    means = np.array([*[_STRENGTH[0]] * players, _ADVANTAGE[0], _DRAW[0]])
    precision = np.array([*[_STRENGTH[1]] * players, _ADVANTAGE[1], _DRAW[1]]) ** -2.0
    design = np.zeros((len(results), 3, size))  # of the logits of win, draw and loss
    counts = np.array([(r.wins, r.draws, r.losses) for r in results]).reshape(-1, 3)
    for number, result in enumerate(results):
        design[number, 0, [result.first, players]] = 0.5
        design[number, 0, result.second] = -0.5
        design[number, 1, players + 1] = 1.0
        design[number, 2] = -design[number, 0]

    def log_probabilities(x: Array) -> Array:
        logits = design @ x
        logits -= logits.max(axis=1, keepdims=True, initial=-np.inf)
        return np.asarray(logits - np.log(np.exp(logits).sum(axis=1, keepdims=True)))

    def log_posterior(x: Array) -> float:
        prior = (precision * (x - means) ** 2).sum() / 2
        return float((counts * log_probabilities(x)).sum() - prior)

    def derivatives(x: Array) -> tuple[Array, Array]:
        """The gradient and the negative Hessian of the log posterior."""
        p = np.exp(log_probabilities(x))
        games = counts.sum(axis=1)
        gradient = np.einsum("mk,mki->i", counts - games[:, None] * p, design)
        mean = np.einsum("mk,mki->mi", p, design)
        curvature = np.einsum("m,mk,mki,mkj->ij", games, p, design, design, optimize=True)
        curvature -= np.einsum("m,mi,mj->ij", games, mean, mean, optimize=True)
        return gradient - precision * (x - means), curvature + np.diag(precision)

    x = means
    for _ in range(_MOST_STEPS):
        gradient, curvature = derivatives(x)
        step = np.linalg.solve(curvature, gradient)
        if np.abs(step).max() < 1e-10:
            break
        before = log_posterior(x)
        while log_posterior(x + step) < before - 1e-9 and np.abs(step).max() > 1e-12:
            step /= 2
        x = x + step
    return _to_elo(players, x, np.linalg.inv(derivatives(x)[1]))


def _to_elo(players: int, x: Array, covariance: Array) -> Ratings:
    """Elo relative to the mean: only differences between strengths are determined by games."""
    centre = np.eye(players) - 1 / players
    elo = centre @ x[:players] * ELO
    half = _Z * ELO * np.sqrt(np.diag(centre @ covariance[:players, :players] @ centre.T).clip(0))
    advantage = float(x[players]) * ELO
    advantage_half = _Z * ELO * sqrt(float(covariance[players, players]))
    draw = exp(float(x[players + 1]))
    return Ratings(
        tuple(elo.tolist()),
        tuple(zip((elo - half).tolist(), (elo + half).tolist(), strict=True)),
        advantage,
        (advantage - advantage_half, advantage + advantage_half),
        draw / (2 + draw),
    )
