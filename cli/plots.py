"""Plots for reports and papers, drawn with matplotlib (an optional dependency)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import PurePath
from typing import TYPE_CHECKING

from selfplay.cli.outputs import output_file
from selfplay.errors import InputError, install, quoted
from selfplay.game.board import Board

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from selfplay.pipeline.improve import Round
    from selfplay.storage.statistics import Statistics
    from selfplay.workers.tournament.standings import Standing

_FORMATS = (".svg", ".png", ".pdf")
_BLUE = "#4c72b0"


def check_plot_file(file: str | None) -> None:
    """Refuse, before any work is done, a plot that could not be drawn or written."""
    if file is None:
        return
    if _suffix(file) not in _FORMATS:
        raise InputError(f"a plot is written as one of {', '.join(_FORMATS)}, not {quoted(file)}")
    output_file(file)
    try:
        import matplotlib
    except ImportError:
        raise InputError(f"a plot needs matplotlib: {install('plot')}") from None
    matplotlib.use("Agg")


def _suffix(file: str) -> str:
    from selfplay.storage.location import Location

    return PurePath(Location.of_file(file)[1]).suffix.lower()


def _save(figure: Figure, file: str) -> None:
    from selfplay.storage.location import Location

    place, name = Location.of_file(file)
    with place.writing(name) as data:
        figure.savefig(data, format=_suffix(file)[1:])


def _figure(width: float, height: float) -> Figure:
    from matplotlib.figure import Figure

    return Figure(figsize=(width, height), layout="constrained")


def draw_statistics(statistics: Statistics, board: Board, file: str) -> None:
    """The teacher's moves, game lengths, and the first player's results by first move."""
    figure = _figure(9, 7)
    columns, lengths, results = figure.subplots(3)
    names = [str(column + 1) for column in range(board.columns)]
    columns.bar(names, statistics.moves, color=_BLUE)
    columns.set(title="The teacher's moves by column", ylabel="positions")
    lengths.bar(list(statistics.lengths), list(statistics.lengths.values()), color=_BLUE)
    lengths.set(title="Game length", xlabel="stones", ylabel="games")
    moves = sorted(statistics.by_first_move)
    first = [statistics.by_first_move[move] for move in moves]
    bottom = [0.0] * len(moves)
    for name, colour in (("wins", "#55a868"), ("draws", "#cccccc"), ("losses", "#c44e52")):
        shares = [getattr(result, name) / max(1, result.games) for result in first]
        results.bar([names[m] for m in moves], shares, bottom=bottom, color=colour, label=name)
        bottom = [b + s for b, s in zip(bottom, shares, strict=True)]
    results.set(title="First player, by the first move after the opening", ylabel="share of games")
    results.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    _save(figure, file)


def draw_ratings(players: Sequence[Standing], file: str) -> None:
    """Ratings with their confidence intervals, the best player on top."""
    figure = _figure(8, 1.2 + 0.4 * len(players))
    axes = figure.subplots()
    elo = [player.elo for player in players]
    errors = _errors(elo, [player.interval or (player.elo,) * 2 for player in players])
    rows = range(len(players))
    axes.errorbar(elo, rows, xerr=errors, fmt="o", capsize=4, color=_BLUE)
    axes.axvline(0, color="#cccccc", zorder=0)
    axes.set_yticks(rows, [player.player for player in players])
    axes.invert_yaxis()
    axes.margins(y=0.5 / len(players))
    axes.set(title="Elo with 95 % confidence intervals", xlabel="points from the mean of all")
    _save(figure, file)


def _errors(
    values: Sequence[float], intervals: Sequence[tuple[float, float]]
) -> tuple[list[float], list[float]]:
    """The lengths of error bars below and above the values."""
    pairs = list(zip(values, intervals, strict=True))
    return [value - low for value, (low, _) in pairs], [high - value for value, (_, high) in pairs]


def draw_rollouts(stones: Sequence[int], rollouts: Sequence[float], title: str, file: str) -> None:
    """Rollouts per move, by the stones on the board."""
    figure = _figure(8, 4.5)
    axes = figure.subplots()
    axes.plot(stones, rollouts, "o-", color=_BLUE)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_formatter("{x:,.0f}")
    axes.set(title=title, xlabel="stones on the board", ylabel="rollouts per move")
    _save(figure, file)


def draw_rounds(rounds: Sequence[Round], benchmark: str, file: str) -> None:
    """Mistake rates of the trees, and their scores against the benchmark."""
    figure = _figure(8, 6)
    above, below = figure.subplots(2, sharex=True)
    numbers = [made.number for made in rounds]
    mistakes = [100 * made.mistakes for made in rounds]
    errors = _errors(mistakes, [(100 * m.interval[0], 100 * m.interval[1]) for m in rounds])
    above.errorbar(numbers, mistakes, yerr=errors, fmt="o-", capsize=4, color=_BLUE)
    above.set(ylabel="mistakes, % of contested")
    above.set_ylim(bottom=0)
    below.plot(numbers, [100 * made.as_first for made in rounds], "o-", label="as first")
    below.plot(numbers, [100 * made.as_second for made in rounds], "o-", label="as second")
    below.set(xlabel="round", ylabel=f"score against {benchmark}, %")
    below.set_ylim(0, 100)
    below.legend()
    _save(figure, file)
