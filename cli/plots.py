"""Drawings for reports and papers. They need matplotlib, an extra."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.errors import InputError
from selfplay.game.board import Board

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from selfplay.pipeline.improve import Round
    from selfplay.storage.statistics import Statistics
    from selfplay.workers.tournament.standings import Standing

_FORMS = (".svg", ".png", ".pdf")
_BLUE = "#4c72b0"


def refuse_what_cannot_be_drawn(file: Path) -> None:
    """Before anything takes time: whether a drawing can be made, and put there."""
    if file.suffix.lower() not in _FORMS:
        raise InputError(f"a plot is written as one of {', '.join(_FORMS)}, not {file.name!r}")
    if not file.parent.is_dir():
        raise InputError(f"there is no folder {file.parent} for a plot")
    try:
        import matplotlib
    except ImportError:
        raise InputError("drawing needs matplotlib: pip install 'selfplay[plot]'") from None
    matplotlib.use("Agg")


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def draw(found: Statistics, board: Board, file: Path) -> None:
    """The teacher's columns, game lengths, and the first player's results by first move."""
    refuse_what_cannot_be_drawn(file)
    figure = _figure(9, 7)
    columns, lengths, results = figure.subplots(3)
    names = [str(column + 1) for column in range(board.columns)]
    columns.bar(names, found.moves, color=_BLUE)
    columns.set(title="The teacher's columns", ylabel="positions")
    lengths.bar(list(found.lengths), list(found.lengths.values()), color=_BLUE)
    lengths.set(title="Game length", xlabel="stones", ylabel="games")
    moves = sorted(found.by_first_move)
    bottom = [0.0] * len(moves)
    for name, colour in (("wins", "#55a868"), ("draws", "#cccccc"), ("losses", "#c44e52")):
        shares = [
            getattr(found.by_first_move[move], name) / max(1, found.by_first_move[move].games)
            for move in moves
        ]
        results.bar(
            [names[move] for move in moves], shares, bottom=bottom, color=colour, label=name
        )
        bottom = [b + s for b, s in zip(bottom, shares, strict=True)]
    results.set(title="First player, by the first move after the opening", ylabel="share of games")
    results.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    figure.savefig(file)


def draw_ratings(players: Sequence[Standing], file: Path) -> None:
    """Ratings with their intervals, the best player on top."""
    refuse_what_cannot_be_drawn(file)
    figure = _figure(8, 1.2 + 0.4 * len(players))
    axes = figure.subplots()
    elo = [player.elo for player in players]
    reach = [
        [player.elo - player.interval[0] for player in players],
        [player.interval[1] - player.elo for player in players],
    ]
    rows = range(len(players))
    axes.errorbar(elo, rows, xerr=reach, fmt="o", capsize=4, color=_BLUE)
    axes.axvline(0, color="#cccccc", zorder=0)
    axes.set_yticks(rows, [player.player for player in players])
    axes.invert_yaxis()
    axes.margins(y=0.5 / len(players))
    axes.set(title="Elo with 95 % confidence intervals", xlabel="points from the mean of all")
    figure.savefig(file)


def draw_rollouts(stones: Sequence[int], rollouts: Sequence[float], title: str, file: Path) -> None:
    """Rollouts that a move gets, by the stones on the board."""
    refuse_what_cannot_be_drawn(file)
    figure = _figure(8, 4.5)
    axes = figure.subplots()
    axes.plot(stones, rollouts, "o-", color=_BLUE)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set(title=title, xlabel="stones on the board", ylabel="rollouts a move")
    figure.savefig(file)


def draw_rounds(rounds: Sequence[Round], benchmark: str, file: Path) -> None:
    """Mistakes of the trees, and their scores against whom they are measured."""
    refuse_what_cannot_be_drawn(file)
    figure = _figure(8, 6)
    above, below = figure.subplots(2, sharex=True)
    numbers = [found.number for found in rounds]
    mistakes = [100 * found.mistakes for found in rounds]
    reach = [
        [100 * (found.mistakes - found.interval[0]) for found in rounds],
        [100 * (found.interval[1] - found.mistakes) for found in rounds],
    ]
    above.errorbar(numbers, mistakes, yerr=reach, fmt="o-", capsize=4, color=_BLUE)
    above.set(ylabel="mistakes, % of contested")
    above.set_ylim(bottom=0)
    for name, scores in (
        ("as first", [100 * found.as_first for found in rounds]),
        ("as second", [100 * found.as_second for found in rounds]),
    ):
        below.plot(numbers, scores, "o-", label=name)
    below.set(xlabel="round", ylabel=f"score against {benchmark}, %")
    below.set_ylim(0, 100)
    below.legend()
    figure.savefig(file)
