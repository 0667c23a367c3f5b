"""Ratings and scores against made-up games whose truth is known."""

from __future__ import annotations

from itertools import permutations
from math import exp, isfinite

import numpy as np
import pytest

from selfplay.workers.tournament.ratings import (
    ELO,
    HeadToHead,
    effective_count,
    fit_ratings,
    score_interval,
    student_t,
)

TRUE = np.array([300.0, 100.0, -50.0, -350.0])
ADVANTAGE, DRAW = 60.0, 0.3


def meetings(games: int, rng: np.random.Generator | None = None) -> list[HeadToHead]:
    """A round robin among four, as chance has it, or exactly as is to be expected."""
    found: list[HeadToHead] = []
    for first in range(4):
        for second in range(4):
            if first == second:
                continue
            distance = (TRUE[first] - TRUE[second] + ADVANTAGE) / ELO
            odds = np.array([exp(distance / 2), DRAW, exp(-distance / 2)])
            shares = odds / odds.sum()
            if rng is None:
                found.append(HeadToHead(first, second, 0, *(games * shares).tolist()))
                continue
            for opening, counts in enumerate(rng.multinomial(1, shares, games).tolist()):
                found.append(HeadToHead(first, second, opening, *counts))
    return found


def results(*counts: tuple[int, int, int]) -> list[HeadToHead]:
    """Wins, draws and losses of two players: of one as first, of the other as first."""
    return [
        HeadToHead(first, 1 - first, opening, *(outcome == k for k in range(3)))
        for first, of_first in enumerate(counts)
        for opening, outcome in enumerate(k for k, n in enumerate(of_first) for _ in range(n))
    ]


def test_from_games_as_expected_comes_what_they_were_made_of() -> None:
    found = fit_ratings(4, meetings(100_000))
    assert found.elo == pytest.approx(TRUE, abs=0.1)
    assert found.advantage == pytest.approx(ADVANTAGE, abs=0.1)
    assert found.draw_rate == pytest.approx(DRAW / (2 + DRAW), abs=0.001)


def holds(interval: tuple[float, float] | None, truth: float) -> bool:
    assert interval is not None
    return interval[0] <= truth <= interval[1]


def test_intervals_hold_what_is_true_19_of_20_times() -> None:
    rng = np.random.default_rng(1)
    rounds, held, held_advantage = 200, np.zeros(4), 0
    for _ in range(rounds):
        found = fit_ratings(4, meetings(50, rng))
        held += [holds(i, elo) for i, elo in zip(found.intervals, TRUE, strict=True)]
        held_advantage += holds(found.advantage_interval, ADVANTAGE)
    assert ((held / rounds > 0.91) & (held / rounds < 0.99)).all()
    assert 0.91 < held_advantage / rounds < 0.99


@pytest.mark.parametrize("openings", [5, 10, 40])
def test_an_opening_that_decides_the_games_of_all_pairs_counts_once(openings: int) -> None:
    """Of equal players, with a coin toss for each opening: who moves first wins, or loses."""
    rng = np.random.default_rng(4)
    rounds, held, widths = 200, 0, []
    for _ in range(rounds):
        found = fit_ratings(
            4,
            [
                HeadToHead(first, second, opening, first_wins, 0, not first_wins)
                for opening, first_wins in enumerate((rng.random(openings) < 0.5).tolist())
                for first, second in permutations(range(4), 2)
            ],
        )
        held += holds(found.advantage_interval, 0.0)
        low, high = found.advantage_interval or (0, 0)
        widths.append(high - low)
    assert held / rounds > 0.91
    assert max(widths) > 2 * 1.96 * ELO * 2 / openings**0.5  # one game an opening, not twelve


def test_with_few_openings_the_intervals_are_unknown() -> None:
    found = fit_ratings(2, results((2, 0, 2), (2, 0, 2)))
    assert (found.intervals, found.advantage_interval) == ((None, None), None)
    assert fit_ratings(2, results((3, 0, 2), (2, 0, 3))).advantage_interval is not None
    repeated = fit_ratings(2, results((3, 0, 2), (2, 0, 3)), openings=4.5)
    assert repeated.advantage_interval is None


def test_who_won_everything_has_a_rating_all_the_same() -> None:
    found = fit_ratings(2, results((100, 0, 0), (0, 0, 100)))
    assert all(isfinite(number) for number in (*found.elo, *sum(filter(None, found.intervals), ())))
    assert 300 < found.elo[0] < 1000
    low, high = found.intervals[0] or (0, 0)
    assert high - low > 500  # it may be much more, or less
    more = fit_ratings(2, results((1000, 0, 0), (0, 0, 1000)))
    assert more.elo[0] > found.elo[0]


def test_the_mean_is_zero_and_without_games_nothing_is_known() -> None:
    found = fit_ratings(4, meetings(20, np.random.default_rng(2)))
    assert sum(found.elo) == pytest.approx(0, abs=1e-6)
    nothing = fit_ratings(3, [])
    assert nothing.elo == (0, 0, 0)
    assert nothing.intervals == (None,) * 3


def test_moving_first_is_not_taken_for_strength() -> None:
    """Whoever is first wins: the players are equals."""
    found = fit_ratings(2, results((90, 0, 10), (90, 0, 10)))
    assert found.elo == pytest.approx((0, 0), abs=1e-6)
    assert 300 < found.advantage < 450


def test_draws_say_that_players_are_near_each_other() -> None:
    drawn = fit_ratings(2, results((10, 80, 5), (5, 80, 10)))
    lively = fit_ratings(2, results((10, 0, 5), (5, 0, 10)))
    assert drawn.elo == pytest.approx(lively.elo, rel=0.1)
    assert drawn.draw_rate > 0.7 > 0.1 > lively.draw_rate


@pytest.mark.parametrize(("share", "pairs"), [(0.5, 30), (0.8, 30), (0.95, 100)])
def test_a_score_is_in_its_interval_19_of_20_times(share: float, pairs: int) -> None:
    rng = np.random.default_rng(3)
    held = 0
    for _ in range(500):
        scores = rng.binomial(1, share, (pairs, 2)).mean(axis=1).tolist()
        low, high = score_interval(scores, range(pairs))
        held += low <= share <= high
    assert held / 500 > 0.93


def test_games_that_repeat_others_make_nothing_more_certain() -> None:
    once = score_interval([1.0], ["a game"])
    assert score_interval([1.0] * 100, ["a game"] * 100) == pytest.approx(once)
    assert once == (0.0, 1.0)
    apart = score_interval([1.0] * 100, range(100))
    assert apart[0] > 0.95
    assert apart[1] == 1
    half = score_interval([1.0] * 100, [number // 2 for number in range(100)])
    assert once[0] < half[0] < apart[0]
    assert effective_count(["a", "a", "b", "b"]) == 2
    assert score_interval([], []) == (0, 1)


def test_couples_that_are_always_shared_are_more_certain_than_games_by_chance() -> None:
    shared = score_interval([0.5] * 100, range(100))
    chance = score_interval([0.0, 1.0] * 50, range(100))
    assert shared[1] - shared[0] < 0.03 < 0.15 < chance[1] - chance[0]


@pytest.mark.parametrize(("freedom", "quantile"), [(2, 4.303), (5, 2.571), (30, 2.042)])
def test_the_quantiles_are_students(freedom: float, quantile: float) -> None:
    assert student_t(freedom) == pytest.approx(quantile, rel=0.04)
