"""Measure how many of the possible openings a run covers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from selfplay.game.openings import Openings


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of a run; mirror images count as one opening."""

    games: int
    covered: int
    """The number of different openings."""
    distinct: int | None
    """The number of possible openings; None if unknown."""
    most_repeated: int
    """The number of games with the most frequent opening."""
    by_ply: dict[int, int]
    """The number of games per number of stones in the opening."""


def coverage(openings: Openings, seed: int, games: int) -> Coverage:
    """Measure the coverage of a seed's first games."""
    counts: Counter[int] = Counter()
    plies: Counter[int] = Counter()
    for game in range(games):
        position = openings.opening(seed, game)
        counts[position.key(canonical=True)] += 1
        plies[position.ply] += 1
    return Coverage(
        games=games,
        covered=len(counts),
        distinct=openings.distinct(),
        most_repeated=max(counts.values(), default=0),
        by_ply=dict(sorted(plies.items())),
    )
