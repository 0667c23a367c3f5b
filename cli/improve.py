"""`selfplay improve`: rounds of generation and training on a tree's own games."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli.endings import StoppedError
from cli.executors import executor_of, refuse_both
from cli.options import Address, BoardSize, Connect, Json, Seed, Workers
from selfplay.errors import InputError

if TYPE_CHECKING:
    from cli.improvement import Round

# A position is not learned better for being met more often than this.
_MEETINGS = 5
_RIVALS = ("mcts:10000", "mcts:1000", "self")


def improve(
    folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where all of it is kept.")],
    rounds: Annotated[int, typer.Option("--rounds", min=1, help="So many in all.")] = 5,
    games: Annotated[int, typer.Option("--games", min=1, help="Of each round.")] = 600,
    rivals: Annotated[
        list[str] | None,
        typer.Option("--rival", metavar="PLAYER", help="Whom the tree plays; self is itself."),
    ] = None,
    teacher: Annotated[
        str, typer.Option("--teacher", metavar="PLAYER", help="Who labels the positions.")
    ] = "perfect:scores=off",
    opening: Annotated[
        str, typer.Option("--opening", help="Where games begin, as in `generate`.")
    ] = "0-8",
    noise: Annotated[float, typer.Option("--noise", help="The share of random moves.")] = 0.03,
    base: Annotated[
        list[str] | None,
        typer.Option("--with", metavar="RUN", help="Learn from this run as well."),
    ] = None,
    features: Annotated[
        str, typer.Option("--features", help="What the tree sees, as in `train`.")
    ] = "foresight",
    min_samples_leaf: Annotated[
        int, typer.Option("--min-samples-leaf", help="Rows in a leaf at least.")
    ] = 10,
    smoothing: Annotated[
        float, typer.Option("--smoothing", help="So many rows like its parent's fill each node up.")
    ] = 400.0,
    emphasis: Annotated[
        str,
        typer.Option("--emphasis", help="24:5: rows of rounds with up to 24 stones count 5 times."),
    ] = "24:5",
    at_most: Annotated[
        int | None,
        typer.Option("--at-most", min=1, help="So often a position counts: 5 times the emphasis."),
    ] = None,
    judge: Annotated[
        str, typer.Option("--judge", metavar="PLAYER", help="Who the trees are measured against.")
    ] = "mcts:10000",
    judge_games: Annotated[int, typer.Option("--judge-games", help="So many games.")] = 100,
    judge_opening: Annotated[
        str, typer.Option("--judge-opening", help="Where these games begin.")
    ] = "0-2",
    board: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    workers: Workers = None,
    address: Address = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the rounds.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Teach a tree on its own mistakes: it plays, a teacher labels, a new tree learns from all.

    The same command goes on where it was; with more --rounds it adds some.

    Example: selfplay improve better --rounds 1 --games 6 --judge-games 4 --workers 0
    """
    from cli.improvement import STOPPING, Improvement, Settings
    from cli.players import announce_compilation
    from cli.progress import phases
    from selfplay.board import Board
    from selfplay.specs import PlayerSpec
    from storage.dataset import Dataset
    from train.fitting import Recipe
    from train.lessons import parse_emphasis
    from workers.stopping import Stop

    refuse_both(workers, address)
    if plot is not None:
        from cli.plots import refuse_what_cannot_be_drawn

        refuse_what_cannot_be_drawn(plot)
    geometry = Board.parse(board, connect)
    names = tuple(rivals or _RIVALS)
    for player in (teacher, judge, *(name for name in names if name != "self")):
        PlayerSpec.parse(player)
    if judge_games < 2 or judge_games % 2:
        raise InputError(f"judge-games is an even number from 2 up, not {judge_games}")
    datasets = [Dataset(run) for run in base or ()]
    weights = parse_emphasis(emphasis)
    taught = {
        "features": features,
        "labels": "optimal",
        # Foresight sees no sides: of two mirror images one says all.
        "mirror": "canonical" if features == "foresight" else "augment",
        "min_samples_leaf": min_samples_leaf,
        "smoothing": smoothing,
        "at_most": at_most or _MEETINGS * max([1, *(times for _, times in weights)]),
        "test": 0.0,
    }
    recipe = Recipe(**taught)  # type: ignore[arg-type]
    settings = Settings(
        teacher=teacher,
        rivals=names,
        games=games,
        opening=opening,
        noise=noise,
        seed=seed,
        board=geometry.size,
        connect=geometry.connect,
        base=tuple(dataset.fingerprint for dataset in datasets),
        recipe=taught,
        emphasis=emphasis,
        judge=judge,
        judge_games=judge_games,
        judge_opening=judge_opening,
    )
    announce_compilation(geometry)
    stop, executor = Stop(), executor_of(workers, address)

    def say_stopping() -> None:
        print(STOPPING, file=sys.stderr, flush=True)

    found: list[Round] = []
    try:
        with phases() as tell:
            results = sys.stdout  # Ray's start takes it for itself
            with executor.start(), stop.listening(say_stopping):
                course = Improvement(folder, settings, datasets, recipe, executor, stop, tell)
                if not as_json:
                    print(HEADER, file=results, flush=True)
                for made in course.rounds(rounds):
                    found.append(made)
                    line = json.dumps(as_record(made)) if as_json else line_of(made)
                    print(line, file=results, flush=True)
    except KeyboardInterrupt:
        raise StoppedError(
            f"stopped after {len(found)} of {rounds} rounds; the same command goes on"
        ) from None
    if plot is not None:
        from cli.plots import draw_rounds

        draw_rounds(found, judge, plot)
    if not as_json:
        player = f"tree:model={course.place.below(f'models/{found[-1].number:02d}')}"
        print(f"\n{shlex.join(['selfplay', 'play', '--o', str(PlayerSpec.parse(player))])}")


HEADER = "round   games  positions   leaves  mistakes  19 of 20 times    first   second"


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
