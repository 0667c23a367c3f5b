"""Drawings of a run, for reports and papers. Needs matplotlib, an extra."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from selfplay.board import Board
from selfplay.errors import InputError

if TYPE_CHECKING:
    from storage.statistics import Statistics

_FORMS = (".svg", ".png", ".pdf")


def draw(found: Statistics, board: Board, file: Path) -> None:
    """The teacher's columns, game lengths, and the first player's results by first move."""
    if file.suffix.lower() not in _FORMS:
        raise InputError(f"a plot is written as one of {', '.join(_FORMS)}, not {file.name!r}")
    try:
        import matplotlib
    except ImportError:
        raise InputError("drawing needs matplotlib: pip install 'selfplay[plot]'") from None
    matplotlib.use("Agg")
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout="constrained")
    columns, lengths, results = figure.subplots(3)
    names = [str(column + 1) for column in range(board.columns)]
    columns.bar(names, found.moves, color="#4c72b0")
    columns.set(title="The teacher's columns", ylabel="positions")
    lengths.bar(list(found.lengths), list(found.lengths.values()), color="#4c72b0")
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
