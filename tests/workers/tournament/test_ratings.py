"""Ratings and scores against made-up games whose truth is known."""

from __future__ import annotations

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
    found = []
    for first in range(4):
        for second in range(4):
            if first == second:
                continue
            distance = (TRUE[first] - TRUE[second] + ADVANTAGE) / ELO
            odds = np.array([exp(distance / 2), DRAW, exp(-distance / 2)])
            shares = odds / odds.sum()
            counts = games * shares if rng is None else rng.multinomial(games, shares)
            found.append(HeadToHead(first, second, *(float(count) for count in counts)))
    return found


def test_from_games_as_expected_comes_what_they_were_made_of() -> None:
    found = fit_ratings(4, meetings(100_000))
    assert found.elo == pytest.approx(TRUE, abs=0.1)
    assert found.advantage == pytest.approx(ADVANTAGE, abs=0.1)
    assert found.draw_rate == pytest.approx(DRAW / (2 + DRAW), abs=0.001)


def test_intervals_hold_what_is_true_19_of_20_times() -> None:
    rng = np.random.default_rng(1)
    rounds, held, held_advantage = 200, np.zeros(4), 0
    for _ in range(rounds):
        found = fit_ratings(4, meetings(50, rng))
        held += [low <= elo <= high for (low, high), elo in zip(found.intervals, TRUE, strict=True)]
        low, high = found.advantage_interval
        held_advantage += low <= ADVANTAGE <= high
    assert ((held / rounds > 0.91) & (held / rounds < 0.99)).all()
    assert 0.91 < held_advantage / rounds < 0.99


def test_who_won_everything_has_a_rating_all_the_same() -> None:
    found = fit_ratings(2, [HeadToHead(0, 1, 100, 0, 0), HeadToHead(1, 0, 0, 0, 100)])
    assert all(isfinite(number) for number in (*found.elo, *sum(found.intervals, ())))
    assert 300 < found.elo[0] < 1000
    assert found.intervals[0][1] - found.intervals[0][0] > 500  # it may be much more, or less
    more = fit_ratings(2, [HeadToHead(0, 1, 1000, 0, 0), HeadToHead(1, 0, 0, 0, 1000)])
    assert more.elo[0] > found.elo[0]


def test_the_mean_is_zero_and_without_games_nothing_is_known() -> None:
    found = fit_ratings(4, meetings(20, np.random.default_rng(2)))
    assert sum(found.elo) == pytest.approx(0, abs=1e-6)
    nothing = fit_ratings(3, [])
    assert nothing.elo == (0, 0, 0)
    assert nothing.intervals[0][1] > 500


def test_moving_first_is_not_taken_for_strength() -> None:
    """Whoever is first wins: the players are equals."""
    found = fit_ratings(2, [HeadToHead(0, 1, 90, 0, 10), HeadToHead(1, 0, 90, 0, 10)])
    assert found.elo == pytest.approx((0, 0), abs=1e-6)
    assert 300 < found.advantage < 450


def test_draws_say_that_players_are_near_each_other() -> None:
    drawn = fit_ratings(2, [HeadToHead(0, 1, 10, 80, 5), HeadToHead(1, 0, 5, 80, 10)])
    lively = fit_ratings(2, [HeadToHead(0, 1, 10, 0, 5), HeadToHead(1, 0, 5, 0, 10)])
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
