"""What results say of players: scores and ratings, and how far both can be from what is true.

Ratings are those of Davidson's model. Between a first player of strength a and a second of b,
with d = a - b + advantage, a win, a draw and a loss of the first are as likely to one another as
e^(d/2), e^draw and e^(-d/2). Strengths, advantage and draw are those that explain all games best,
where each is drawn a little to what it usually is: so they are finite for whoever won everything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from selfplay.arrays import Array

Interval = tuple[float, float]

ELO = 400 / log(10)
"""Points for a unit of the model: 400 points are odds of 10 to 1."""

# What is known before any game, by mean and standard deviation: hardly anything.
_STRENGTH = (0.0, 600 / ELO)
_ADVANTAGE = (0.0, 400 / ELO)
_DRAW = (-1.5, 2.0)

_Z = 1.959964
_MOST_STEPS = 200


def effective(kinds: Sequence[Hashable]) -> float:
    """How many observations these are worth, when those of a kind are one and the same."""
    if not kinds:
        return 0.0
    return len(kinds) ** 2 / sum(count * count for count in Counter(kinds).values())


def score_interval(scores: Sequence[float], kinds: Sequence[Hashable]) -> Interval:
    """The interval in which the true mean of scores from 0 to 1 is, 19 times out of 20.

    Scores of the same kind count as one observation. To the observations a full and an empty
    score are added, so that nothing is certain after a few that are all alike.
    """
    if not scores:
        return 0.0, 1.0
    worth = effective(kinds)
    added = len(scores) / worth
    total = len(scores) + 2 * added
    mean = (sum(scores) + added) / total
    apart: dict[Hashable, float] = {}
    for score, kind in zip(scores, kinds, strict=True):
        apart[kind] = apart.get(kind, 0.0) + score - mean
    squares = sum(found * found for found in apart.values())
    squares += (added * (1 - mean)) ** 2 + (added * mean) ** 2
    error = sqrt(squares * (worth + 2) / (worth + 1)) / total
    half = student(worth + 1) * error
    observed = sum(scores) / len(scores)
    return max(0.0, min(observed, mean - half)), min(1.0, max(observed, mean + half))


def student(freedom: float) -> float:
    """How many standard errors to either side hold 95 % of Student's distribution: the
    expansion of its quantile in 1/freedom, for two degrees and more."""
    z = _Z
    return (
        z
        + (z**3 + z) / (4 * freedom)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * freedom**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * freedom**3)
    )


@dataclass(frozen=True, slots=True)
class Meeting:
    """What became of games between the same two, with the same one first."""

    first: int
    second: int
    wins: float
    """Of the first player."""
    draws: float
    losses: float


@dataclass(frozen=True, slots=True)
class Ratings:
    """Ratings on the scale of Elo. Their mean is zero, and intervals are against the mean."""

    elo: tuple[float, ...]
    intervals: tuple[Interval, ...]
    advantage: float
    """What it is worth to move first."""
    advantage_interval: Interval
    draw_rate: float
    """The share of draws among equals."""


def rate(players: int, meetings: Sequence[Meeting]) -> Ratings:
    """The ratings that explain all games best.

    The logarithm of their likelihood has one summit, which Newton's steps climb to.
    """
    size = players + 2
    means = np.array([*[_STRENGTH[0]] * players, _ADVANTAGE[0], _DRAW[0]])
    weights = np.array([*[_STRENGTH[1]] * players, _ADVANTAGE[1], _DRAW[1]]) ** -2.0
    ways = np.zeros((len(meetings), 3, size))
    counts = np.array([(m.wins, m.draws, m.losses) for m in meetings]).reshape(-1, 3)
    for number, meeting in enumerate(meetings):
        ways[number, 0, [meeting.first, players]] = 0.5
        ways[number, 0, meeting.second] = -0.5
        ways[number, 1, players + 1] = 1.0
        ways[number, 2] = -ways[number, 0]

    def height(at: Array) -> float:
        along = ways @ at
        top = along.max(axis=1, keepdims=True, initial=-np.inf)
        chance = along - top - np.log(np.exp(along - top).sum(axis=1, keepdims=True))
        return float((counts * chance).sum() - (weights * (at - means) ** 2).sum() / 2)

    def slopes(at: Array) -> tuple[Array, Array]:
        along = ways @ at
        share = np.exp(along - along.max(axis=1, keepdims=True, initial=-np.inf))
        share /= share.sum(axis=1, keepdims=True)
        games = counts.sum(axis=1)
        slope = np.einsum("mk,mki->i", counts - games[:, None] * share, ways)
        middle = np.einsum("mk,mki->mi", share, ways)
        bend = np.einsum("m,mk,mki,mkj->ij", games, share, ways, ways, optimize=True)
        bend -= np.einsum("m,mi,mj->ij", games, middle, middle, optimize=True)
        return slope - weights * (at - means), bend + np.diag(weights)

    at = means
    for _ in range(_MOST_STEPS):
        slope, bend = slopes(at)
        step = np.linalg.solve(bend, slope)
        if np.abs(step).max() < 1e-10:
            break
        here = height(at)
        while height(at + step) < here - 1e-9 and np.abs(step).max() > 1e-12:
            step /= 2
        at = at + step
    return _on_scale(players, at, np.linalg.inv(slopes(at)[1]))


def _on_scale(players: int, at: Array, spread: Array) -> Ratings:
    """Differences from the mean: of all strengths together nothing is known but the little that
    was before."""
    centre = np.eye(players) - 1 / players
    elo = centre @ at[:players] * ELO
    half = _Z * ELO * np.sqrt(np.diag(centre @ spread[:players, :players] @ centre.T).clip(0))
    advantage = float(at[players]) * ELO
    unsure = _Z * ELO * sqrt(float(spread[players, players]))
    draw = exp(float(at[players + 1]))
    return Ratings(
        tuple(elo.tolist()),
        tuple(zip((elo - half).tolist(), (elo + half).tolist(), strict=True)),
        advantage,
        (advantage - unsure, advantage + unsure),
        draw / (2 + draw),
    )
