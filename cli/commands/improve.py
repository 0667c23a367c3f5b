"""`selfplay improve`: rounds of generation and training on a tree's own games."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from selfplay.cli.executors import check_executor_options, executor_of
from selfplay.cli.options import Address, Json, Plot, Workers, takes_options_of
from selfplay.options import read_options
from selfplay.pipeline.config import ImproveConfig

if TYPE_CHECKING:
    from selfplay.pipeline.improve import Progress, Round


@takes_options_of(ImproveConfig)
def improve(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Folder for runs, models and results.")
    ],
    given: dict[str, Any],
    config: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="TOML file with any of the options above."),
    ] = None,
    rounds: Annotated[
        int | None,
        typer.Option(
            "--rounds", min=1, help="Total number of rounds. [default: the last one given, or 5]"
        ),
    ] = None,
    workers: Workers = None,
    address: Address = None,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Train a tree on its own games (DAgger).

    In each round the tree plays, a teacher labels the positions, and a new tree is trained on all
    labels so far. The same command resumes; a larger --rounds adds rounds. When it resumes, an
    option left out keeps its value.

    Example: selfplay improve better --rounds 1 --games 6 --opening 20-24 --benchmark-games 4
    """
    from selfplay.cli.compilation import announce_compilation
    from selfplay.cli.progress import phases
    from selfplay.pipeline.improve import Improvement, Progress
    from selfplay.pipeline.job import run_job
    from selfplay.registry import PlayerSpec, refuse_stored_code
    from selfplay.workers.executors.stopping import Stop

    check_executor_options(workers, address)
    if plot is not None:
        from selfplay.cli.plots import check_plot_file

        check_plot_file(plot)
    options = {} if config is None else read_options(config, ImproveConfig, "a config")
    for name, value in options.items():
        if name not in given:
            refuse_stored_code(name, value)
    improvement = Improvement(folder, options | given, rounds)
    total = improvement.total
    announce_compilation(improvement.board)
    executor = executor_of(workers, address)
    with phases() as tell:
        ended = run_job(
            lambda stop: improvement.rounds(executor, stop, tell),
            Progress((), total),
            executor,
            nullcontext(RoundPrinter(as_json=as_json)),
            Stop(),
        )
    done = ended.progress.rounds
    ended.raise_unless_complete(
        f"{len(done)} of {total} rounds are complete", "the same command resumes"
    )
    if plot is not None:
        from selfplay.cli.plots import draw_rounds

        draw_rounds(done, improvement.config.benchmark, plot)
    if not as_json:
        best = min(done, key=lambda made: made.mistakes)
        player = PlayerSpec.parse(f"tree:model={improvement.model(best.number)}")
        print(f"\nfewest mistakes: round {best.number}, {best.mistakes:.1%}")
        print(shlex.join(["selfplay", "play", "--o", str(player)]))


class RoundPrinter:
    """Prints each round as a line of a table, or as JSON."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._out = sys.stdout  # Ray replaces it while it starts
        if not as_json:
            print(HEADER, flush=True)

    def show(self, progress: Progress) -> None:
        made = progress.rounds[-1]
        line = json.dumps(as_record(made)) if self._as_json else line_of(made)
        print(line, file=self._out, flush=True)

    def stopping(self) -> None:
        print("finishing the step in work; Ctrl-C again stops at once", file=sys.stderr, flush=True)


HEADER = "round   games  positions   leaves  mistakes      95 % conf.    first   second"


def line_of(made: Round) -> str:
    low, high = made.interval
    return (
        f"{made.number:>5}{made.games:>8,}{made.positions:>11,}{made.leaves:>9,}"
        f"{made.mistakes:>10.1%}{f'{low:.1%} to {high:.1%}':>16}"
        f"{made.as_first:>9.1%}{made.as_second:>9.1%}"
    )


def as_record(made: Round) -> dict[str, object]:
    return {
        "round": made.number,
        "games": made.games,
        "positions": made.positions,
        "leaves": made.leaves,
        "mistake_rate": made.mistakes,
        "interval": made.interval,
        "score_as_first": made.as_first,
        "score_as_second": made.as_second,
        "model": made.model,
    }
