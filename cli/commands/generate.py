"""`selfplay generate`: start or resume a run, on this machine or a cluster."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from selfplay.cli.durations import duration, parse_duration
from selfplay.cli.endings import give_up, print_failures
from selfplay.cli.executors import executor_of, refuse_both
from selfplay.cli.options import Address, Json, Workers
from selfplay.pipeline.job import StoppedError
from selfplay.workers.executors.interface import JobError

if TYPE_CHECKING:
    from selfplay.pipeline.job import Ended
    from selfplay.workers.executors.interface import Executor
    from selfplay.workers.executors.stopping import Stop
    from selfplay.workers.generation.generate import Progress
    from selfplay.workers.generation.plan import Plan

_MANY_CORES = (16, 64, 256)

_CARD_SECONDS = 5.0
"""For judging labels at the end of a run; `selfplay dataset card` takes its time."""


def generate(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="Folder or URI: s3://…, gs://…, file://…")
    ],
    games: Annotated[
        int | None,
        typer.Option(
            "--games", help="Number of games. A larger number extends the run. [default: 100]"
        ),
    ] = None,
    teacher: Annotated[
        str | None,
        typer.Option(
            "--teacher",
            metavar="PLAYER",
            help="Player whose move is stored as the label. [default: mcts:10000]",
        ),
    ] = None,
    explorer: Annotated[
        str | None,
        typer.Option(
            "--explorer",
            metavar="PLAYER",
            help="Player that makes the moves of the games. [default: the teacher]",
        ),
    ] = None,
    opponent: Annotated[
        str | None,
        typer.Option(
            "--opponent",
            metavar="PLAYER",
            help="Player against the explorer. [default: itself]",
        ),
    ] = None,
    opening: Annotated[
        str | None,
        typer.Option(
            "--opening", help="Openings: 0-20, sensible:0-20, all:4 or file:F. [default: 0-20]"
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            "--mode",
            help="games: label every position; positions: only the one after the opening.",
        ),
    ] = None,
    noise: Annotated[
        float | None, typer.Option("--noise", help="Probability of a random move. [default: 0]")
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option(
            "--temperature",
            help="Sample moves in proportion to visits^(1/T) for --temperature-plies plies.",
        ),
    ] = None,
    temperature_plies: Annotated[
        int | None,
        typer.Option(
            "--temperature-plies", help="Number of plies after the opening that use --temperature."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option("--seed", help="Random seed. [default: 0]")] = None,
    board: Annotated[
        str | None,
        typer.Option(
            "--board", metavar="COLUMNSxROWS", help="Board size, 4x4 to 16x16. [default: 7x6]"
        ),
    ] = None,
    connect: Annotated[
        int | None,
        typer.Option(
            "--connect", metavar="K", help="Stones in a row that win, 3 to 6. [default: 4]"
        ),
    ] = None,
    shard_games: Annotated[
        int | None,
        typer.Option("--shard-games", metavar="N", help="Games per shard. [default: 100]"),
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option("--spec", metavar="FILE", help="TOML file with any of the options above."),
    ] = None,
    workers: Workers = None,
    address: Address = None,
    max_time: Annotated[
        str | None,
        typer.Option(
            "--max-time",
            metavar="DURATION",
            help="Finish the current shards and stop after this time: 47h, 30m.",
        ),
    ] = None,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Replace the spec of a run that has no shards yet."),
    ] = False,
    check_engine: Annotated[
        bool,
        typer.Option(
            "--check-engine",
            help="Resume a run of another version if games played again are the same.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Play for a few seconds and estimate positions, time and size; write nothing.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Start or resume a run of self-play games: only missing shards are generated.

    An option left out keeps the run's value, or has its default. Ctrl-C finishes the current
    shards, a second Ctrl-C stops at once; no finished shard is lost.

    Example: selfplay generate new --games 20 --teacher mcts:1000
    """
    from selfplay.cli.players import announce_compilation
    from selfplay.cli.run_progress import reporter
    from selfplay.pipeline.job import Ended, run_job
    from selfplay.storage.location import Location
    from selfplay.storage.spec import read_options
    from selfplay.workers.executors.stopping import Stop
    from selfplay.workers.generation.generate import Progress
    from selfplay.workers.generation.plan import plan as plan_of

    given = {
        "games": games,
        "teacher": teacher,
        "explorer": explorer,
        "opponent": opponent,
        "opening": opening,
        "mode": mode,
        "noise": noise,
        "temperature": temperature,
        "temperature_plies": temperature_plies,
        "seed": seed,
        "board": board,
        "connect": connect,
        "shard_games": shard_games,
    }
    options: dict[str, Any] = {} if spec is None else read_options(spec)
    options |= {name: value for name, value in given.items() if value is not None}
    seconds = None if max_time is None else parse_duration(max_time)
    refuse_both(workers, address)
    plan = plan_of(Location(run), options, restart=restart, check_engine=check_engine)
    if dry_run:
        _print_estimate(plan, workers, as_json=as_json)
        return
    stop = Stop(seconds)
    ended = Ended(Progress.of(plan))
    if plan.missing:
        announce_compilation(plan.description.board)
        executor = executor_of(workers, address)
        ended = run_job(
            partial(_steps, plan, executor), ended.progress, executor, reporter(as_json), stop
        )
    elif not plan.is_written:
        plan.begin()
    _conclude(plan, ended, stop, as_json=as_json)


def _steps(plan: Plan, executor: Executor, stop: Callable[[], bool]) -> Iterator[Progress]:
    from selfplay.workers.generation.generate import Progress, generate

    plan.begin()
    yield Progress.of(plan)
    yield from generate(plan, executor, stop)


def _conclude(plan: Plan, ended: Ended[Progress], stop: Stop, *, as_json: bool) -> None:
    """Say how it ended, and how to resume."""
    progress = ended.progress
    if progress.is_complete:
        _complete(plan, progress, stop, as_json=as_json)
        return
    print_failures(progress.failed, "shard")
    event = "failed" if progress.failed or ended.error else "stopped"
    _print_end(event, progress, None, as_json=as_json)
    done = f"{progress.shards:,} of {progress.shards_total:,} shards are complete"
    resume = f"resume with: {shlex.join(['selfplay', 'generate', plan.place.uri])}"
    ended.raise_unless_complete(done, resume)
    print(f"--max-time is over: {done}; {resume}", file=sys.stderr)


def _complete(plan: Plan, progress: Progress, stop: Stop, *, as_json: bool) -> None:
    from selfplay.cli.cards import has_card, write_card
    from selfplay.storage.dataset import Dataset

    dataset = Dataset(plan.place)
    if dataset.missing():
        raise JobError(f"{plan.place} was changed meanwhile: give the command again")
    _print_end("done", progress, dataset.fingerprint, as_json=as_json)
    if not as_json:
        new = f", {progress.positions_per_second:,.0f} positions/s" if progress.new_shards else ""
        print(
            f"{plan.place}: {progress.games:,} games, {progress.positions:,} positions in "
            f"{progress.shards:,} shards{new}; fingerprint {dataset.fingerprint}",
            flush=True,
        )
    if not (stop() or has_card(dataset)):
        try:
            write_card(dataset, _CARD_SECONDS)
        except KeyboardInterrupt:
            raise StoppedError(
                f"the run is complete; only its card is not: selfplay dataset card {plan.place.uri}"
            ) from None


def _print_end(event: str, progress: Progress, fingerprint: str | None, *, as_json: bool) -> None:
    if not as_json:
        return
    record = {
        "event": event,
        "games": progress.games,
        "positions": progress.positions,
        "shards": progress.shards,
        "seconds": round(progress.seconds, 3),
        "fingerprint": fingerprint,
    }
    try:
        print(json.dumps(record), flush=True)
    except BrokenPipeError:
        give_up(sys.stdout)


def _print_estimate(plan: Plan, workers: int | None, *, as_json: bool) -> None:
    from selfplay.cli.drawing import console, plain_table
    from selfplay.cli.players import announce_compilation
    from selfplay.machine import usable_cores
    from selfplay.workers.generation.estimate import estimate

    here = workers or usable_cores()
    described = plan.description
    if not plan.missing:
        if as_json:
            print(json.dumps({"games": 0, "positions": 0, "shards": 0, "bytes": 0, "seconds": {}}))
        else:
            print(f"{plan.place}: all {described.shards:,} shards are there")
        return
    announce_compilation(described.board)
    found = estimate(plan)
    times = {cores: found.seconds_on(cores) for cores in (here, *_MANY_CORES)}
    if as_json:
        print(
            json.dumps(
                {
                    "games": found.games_missing,
                    "positions": round(found.positions_missing),
                    "shards": len(plan.missing),
                    "bytes": round(found.bytes_missing),
                    "positions_per_s_and_core": found.positions_per_second,
                    "measured_positions": found.positions,
                    "seconds": times,
                }
            )
        )
        return
    out = console()
    out.print(f"{plan.place}: what is missing, from {found.games:,} games in {found.seconds:.1f} s")
    out.print(
        plain_table(
            ("", ""),
            [
                ("games", f"{found.games_missing:,}"),
                ("positions", f"about {found.positions_missing:,.0f}"),
                ("shards", f"{len(plan.missing):,}"),
                ("size", f"about {found.bytes_missing / 1e6:,.1f} MB"),
                ("speed", f"{found.positions_per_second:,.0f} positions/s and core"),
                *(
                    (f"{cores} cores" + " (here)" * (cores == here), duration(taken))
                    for cores, taken in times.items()
                ),
            ],
        )
    )
