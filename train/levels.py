"""Levels of a tree: at a weaker one it gives something away on purpose, by its own ratings.

A move gives away the points that the best one has more: its rating, from 0 to 1, and a whole point
if a rule of `choice.py` forbids it. The move is drawn with weights e^(-points / temperature). So a
weak level confuses moves of much the same rating often, and overlooks a win or a block seldom, the
more often the weaker it is. People see their own three in a row before they see anything else:
only the weakest level overlooks a win in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import exp

from selfplay.checks import check_range
from selfplay.game.position import Position
from selfplay.seeding import Stream
from selfplay.train.choice import WINNING, grades

TEMPERATURES = (1.2, 0.86, 0.49, 0.34, 0.23, 0.14)
"""Of levels 1, 2 and so on: a ladder for the bundled tree, each rung about 150 Elo above the one
below it, the tree itself at its top. Found by bisection on its games; docs/play.md has the command
that measures it."""
LEVELS = len(TEMPERATURES) + 1
"""The last is the strongest: nothing is drawn."""
_OVERLOOKS_A_WIN = 1


def check_level(level: int | None) -> None:
    check_range("level", level, 1, LEVELS)


def drawn_move(position: Position, scores: Sequence[float], level: int, stream: Stream) -> int:
    """The move at a level below the strongest, for the scores of a tree."""
    ranked = list(zip(grades(position), position.legal_moves, strict=True))
    if level > _OVERLOOKS_A_WIN:
        wins = [entry for entry in ranked if entry[0] == WINNING]
        ranked = wins or ranked
    points = [grade + scores[column] for grade, column in ranked]
    best, temperature = max(points), TEMPERATURES[level - 1]
    weights = [exp((one - best) / temperature) for one in points]
    at = stream.uniform() * sum(weights)
    for weight, (_, column) in zip(weights, ranked, strict=True):
        at -= weight
        if at < 0:
            return column
    return ranked[-1][1]
