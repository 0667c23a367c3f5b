"""`selfplay improve`: rounds of generation and training on a tree's own games."""

from __future__ import annotations

import json
import shlex
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from selfplay.cli.executors import executor_of, refuse_both
from selfplay.cli.options import Address, BoardSize, Connect, Json, Seed, Workers
from selfplay.errors import InputError

if TYPE_CHECKING:
    from selfplay.pipeline.improve import Progress, Round

# A position is not learned better for being met more often than this.
_MEETINGS = 5
_OPPONENTS = ("mcts:10000", "mcts:1000", "self")


def improve(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Folder for runs, models and results.")
    ],
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="Total number of rounds.")] = 5,
    games: Annotated[int, typer.Option("--games", min=1, help="Games per round.")] = 600,
    opponents: Annotated[
        list[str] | None,
        typer.Option(
            "--opponent",
            metavar="PLAYER",
            help="Opponent of the tree (repeatable); self is the tree. "
            "[default: mcts:10000, mcts:1000, self]",
        ),
    ] = None,
    teacher: Annotated[
        str,
        typer.Option(
            "--teacher", metavar="PLAYER", help="Player whose move is stored as the label."
        ),
    ] = "perfect:scores=off",
    opening: Annotated[str, typer.Option("--opening", help="Openings, as in `generate`.")] = "0-8",
    noise: Annotated[float, typer.Option("--noise", help="Probability of a random move.")] = 0.03,
    base: Annotated[
        list[str] | None,
        typer.Option("--extra-run", metavar="RUN", help="Also train on this run (repeatable)."),
    ] = None,
    features: Annotated[
        str, typer.Option("--features", help="What the tree sees, as in `train`.")
    ] = "lookahead",
    min_samples_leaf: Annotated[
        int, typer.Option("--min-samples-leaf", help="Minimum rows in a leaf.")
    ] = 10,
    smoothing: Annotated[
        float,
        typer.Option(
            "--smoothing", help="Shrink class shares toward the parent's by this many pseudo-rows."
        ),
    ] = 400.0,
    stone_weights: Annotated[
        str,
        typer.Option(
            "--stone-weights", help="24:5 gives the rounds' rows with up to 24 stones weight 5."
        ),
    ] = "24:5",
    max_weight: Annotated[
        int | None,
        typer.Option(
            "--max-weight",
            min=1,
            help="Cap on a position's weight. [default: 5 x the largest stone weight]",
        ),
    ] = None,
    benchmark: Annotated[
        str,
        typer.Option(
            "--benchmark", metavar="PLAYER", help="Player the trees are measured against."
        ),
    ] = "mcts:10000",
    benchmark_games: Annotated[
        int, typer.Option("--benchmark-games", help="Games against the benchmark.")
    ] = 100,
    benchmark_opening: Annotated[
        str,
        typer.Option("--benchmark-opening", help="Openings of the games against the benchmark."),
    ] = "0-2",
    board: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    workers: Workers = None,
    address: Address = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Plot the rounds to a .svg, .png or .pdf file."
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Train a tree on its own games (DAgger).

    In each round the tree plays, a teacher labels the positions, and a new tree is trained on all
    labels so far. The same command resumes; a larger --rounds adds rounds.

    Example: selfplay improve better --rounds 1 --games 6 --opening 20-24 --benchmark-games 4
    """
    from selfplay.cli.players import announce_compilation
    from selfplay.cli.progress import phases
    from selfplay.game.board import Board
    from selfplay.pipeline.improve import Improvement, Progress, Settings
    from selfplay.pipeline.job import run_job
    from selfplay.registry import PlayerSpec
    from selfplay.storage.dataset import Dataset
    from selfplay.train.config import TrainingConfig
    from selfplay.train.training_set import parse_stone_weights
    from selfplay.workers.executors.stopping import Stop

    refuse_both(workers, address)
    if plot is not None:
        from selfplay.cli.plots import refuse_what_cannot_be_drawn

        refuse_what_cannot_be_drawn(plot)
    geometry = Board.parse(board, connect)
    names = tuple(opponents or _OPPONENTS)
    for player in (teacher, benchmark, *(name for name in names if name != "self")):
        PlayerSpec.parse(player)
    if benchmark_games < 2 or benchmark_games % 2:
        raise InputError(f"benchmark-games is an even number from 2 up, not {benchmark_games}")
    datasets = [Dataset(run) for run in base or ()]
    weights = parse_stone_weights(stone_weights)
    taught = {
        "features": features,
        "labels": "optimal",
        # Lookahead sees no sides: of two mirror images one says all.
        "mirror": "canonical" if features == "lookahead" else "augment",
        "min_samples_leaf": min_samples_leaf,
        "smoothing": smoothing,
        "max_weight": max_weight or _MEETINGS * max([1, *(times for _, times in weights)]),
        "test": 0.0,
    }
    config = TrainingConfig(**taught)  # type: ignore[arg-type]
    settings = Settings(
        teacher=teacher,
        opponents=names,
        games=games,
        opening=opening,
        noise=noise,
        seed=seed,
        board=geometry.size,
        connect=geometry.connect,
        base=tuple(dataset.fingerprint for dataset in datasets),
        recipe=taught,
        stone_weights=stone_weights,
        benchmark=benchmark,
        benchmark_games=benchmark_games,
        benchmark_opening=benchmark_opening,
    )
    announce_compilation(geometry)
    executor = executor_of(workers, address)
    improvement = Improvement(folder, settings, datasets, config)
    with phases() as tell:
        ended = run_job(
            lambda stop: improvement.rounds(rounds, executor, stop, tell),
            Progress((), rounds),
            executor,
            nullcontext(RoundPrinter(as_json=as_json)),
            Stop(),
        )
    done = ended.progress.rounds
    ended.raise_unless_complete(
        f"{len(done)} of {rounds} rounds are complete", "the same command resumes"
    )
    if plot is not None:
        from selfplay.cli.plots import draw_rounds

        draw_rounds(done, benchmark, plot)
    if not as_json:
        latest = PlayerSpec.parse(f"tree:model={improvement.model(done[-1].number)}")
        print(f"\n{shlex.join(['selfplay', 'play', '--o', str(latest)])}")


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
