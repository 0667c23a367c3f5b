"""`selfplay evaluate`: how often a player keeps the value of the game."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selfplay.cli.options import Json

if TYPE_CHECKING:
    from selfplay.train.evaluation.evaluation import Result

BASELINES = ("random", "centre", "greedy", "mcts:100")


def evaluate(
    player: Annotated[str, typer.Argument(metavar="PLAYER", help="Any player: tree:MODEL, mcts.")],
    questions: Annotated[
        Path | None,
        typer.Option("--positions", metavar="FILE", help="Positions of your own, one a line."),
    ] = None,
    limit: Annotated[
        int | None, typer.Option("--limit", min=1, help="Use only this many positions.")
    ] = None,
    compare: Annotated[
        list[str] | None,
        typer.Option(
            "--compare",
            metavar="PLAYER",
            help="Also evaluate this player (repeatable) instead of the baselines.",
        ),
    ] = None,
    baselines: Annotated[
        bool, typer.Option("--baselines/--no-baselines", help="Also evaluate simple players.")
    ] = True,
    as_json: Json = False,
) -> None:
    """Measure a player's mistake rate against perfect play.

    It is asked about 5,000 positions of 8 to 34 stones, half of random and half of sensible play,
    that were judged by the exact solver. A mistake is a move whose value is worse than the best;
    where there is one to be made, the position is contested.

    Example: selfplay evaluate greedy --limit 200
    """
    from selfplay.cli.progress import progress
    from selfplay.registry import PlayerSpec
    from selfplay.train.evaluation.evaluation import examine
    from selfplay.train.evaluation.positions import EvaluationSet, read_positions, scored

    others = compare or (BASELINES if baselines else ())
    for name in (player, *others):
        PlayerSpec.parse(name)  # before anything takes time
    if questions is None:
        asked = EvaluationSet.load()
    else:
        with progress("positions judged") as tell:
            asked = scored(read_positions(questions), tell)
    if limit is not None:
        asked = asked[:limit]
    results = []
    for name in [player, *(() if as_json and not compare else others)]:
        with progress(name) as tell:
            results.append(examine(name, PlayerSpec.parse(name).build(asked.board), asked, tell))
    if as_json:
        for result in results:
            print(json.dumps(as_record(result)))
    else:
        show(results)


def as_record(result: Result) -> dict[str, object]:
    """An examination in the words of `--json`."""
    return {
        "player": result.player,
        "positions": result.all.positions,
        "contested": result.all.contested,
        "mistakes": result.all.mistakes,
        "mistake_rate": result.all.mistake_rate,
        "interval": result.all.interval,
        "optimal_share": result.all.optimal_share,
        "optimal_interval": result.all.optimal_interval,
        "by_phase": {
            phase: {
                "positions": tally.positions,
                "contested": tally.contested,
                "mistakes": tally.mistakes,
                "mistake_rate": tally.mistake_rate,
                "interval": tally.interval,
                "optimal_share": tally.optimal_share,
            }
            for phase, tally in result.by_phase.items()
        },
        "mean_regret": result.mean_regret,
        "could_win": result.could_win,
        "missed_wins": result.missed_wins,
        "missed_wins_interval": result.missed_wins_interval,
        "could_blunder": result.could_blunder,
        "blunders": result.blunders,
        "blunders_interval": result.blunders_interval,
        "microseconds_per_move": result.microseconds_per_move,
    }


def show(results: list[Result]) -> None:
    from selfplay.cli.drawing import console, plain_table

    first, out = results[0], console()
    tally = first.all
    out.print(
        f"{first.player}: {tally.positions:,} positions, {tally.contested:,} of them contested\n"
    )
    rows = [
        (
            phase,
            f"{found.mistake_rate:.1%}",
            _range(found.interval),
            f"{found.optimal_share:.1%}",
            _range(found.optimal_interval),
        )
        for phase, found in [("all", tally), *first.by_phase.items()]
    ]
    out.print(plain_table(("", "mistakes", "95 % conf.", "optimal", "95 % conf."), rows))
    asked = (
        ("wins in one missed", first.missed_wins, first.could_win, first.missed_wins_interval),
        ("lets the other win in one", first.blunders, first.could_blunder, first.blunders_interval),
    )
    out.print()
    out.print(
        plain_table(
            ("", "", "of", "95 % conf."),
            [
                (what, f"{count:,}", f"{of:,}", _range(interval))
                for what, count, of, interval in asked
            ],
        )
    )
    out.print("\nbeside others")
    out.print(
        plain_table(
            ("", "mistakes", "optimal", "regret", "wins missed", "blunders", "µs a move"),
            [
                (
                    result.player,
                    f"{result.all.mistake_rate:.1%}",
                    f"{result.all.optimal_share:.1%}",
                    f"{result.mean_regret:.3f}",
                    f"{result.missed_wins:,} of {result.could_win:,}",
                    f"{result.blunders:,} of {result.could_blunder:,}",
                    f"{result.microseconds_per_move:,.0f}",
                )
                for result in results
            ],
        )
    )


def _range(interval: tuple[float, float]) -> str:
    low, high = interval
    return f"{low:.1%} to {high:.1%}"
