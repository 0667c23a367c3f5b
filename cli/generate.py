"""`selfplay generate`: start a run, or go on with it, here or on a cluster."""

from __future__ import annotations

import json
import shlex
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.durations import duration, parse_duration
from cli.endings import StoppedError, give_up
from cli.executors import executor_of, refuse_both
from cli.options import Address, Json, Workers
from selfplay.errors import InputError
from workers.jobs import JobError

if TYPE_CHECKING:
    from workers.generation import Progress
    from workers.jobs import Executor
    from workers.plan import Plan
    from workers.stopping import Stop

_MANY_CORES = (16, 64, 256)

_CARD_SECONDS = 5.0
"""For judging labels at the end of a run; `selfplay dataset card` takes its time."""


def generate(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A folder or a URI: s3://…, gs://…, file://….")
    ],
    games: Annotated[
        int | None, typer.Option("--games", help="How many games; more than before extends a run.")
    ] = None,
    teacher: Annotated[
        str | None,
        typer.Option("--teacher", metavar="PLAYER", help="Who labels the positions: mcts:10000."),
    ] = None,
    explorer: Annotated[
        str | None,
        typer.Option("--explorer", metavar="PLAYER", help="Who plays the games: the teacher."),
    ] = None,
    rival: Annotated[
        str | None,
        typer.Option("--rival", metavar="PLAYER", help="Whom it plays against: itself."),
    ] = None,
    opening: Annotated[
        str | None,
        typer.Option("--opening", help="Where games begin: 0-20, sensible:0-20, all:4, file:F."),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option("--mode", help="games, or positions: label that after the opening alone."),
    ] = None,
    noise: Annotated[
        float | None, typer.Option("--noise", help="The share of moves that are random: 0.")
    ] = None,
    temperature: Annotated[
        float | None,
        typer.Option("--temperature", help="Play in proportion to visits^(1/temperature) …"),
    ] = None,
    temperature_plies: Annotated[
        int | None,
        typer.Option("--temperature-plies", help="… for so many plies after the opening."),
    ] = None,
    seed: Annotated[
        int | None, typer.Option("--seed", help="All randomness comes from this number.")
    ] = None,
    board: Annotated[
        str | None, typer.Option("--board", metavar="COLUMNSxROWS", help="The board: 7x6.")
    ] = None,
    connect: Annotated[
        int | None, typer.Option("--connect", metavar="K", help="How many in a line win: 4.")
    ] = None,
    shard_games: Annotated[
        int | None, typer.Option("--shard-games", metavar="N", help="Games in a file: 100.")
    ] = None,
    spec: Annotated[
        Path | None,
        typer.Option("--spec", metavar="FILE", help="A TOML file with any of the above."),
    ] = None,
    workers: Workers = None,
    address: Address = None,
    max_time: Annotated[
        str | None, typer.Option("--max-time", metavar="47h", help="Stop in order after this.")
    ] = None,
    restart: Annotated[
        bool,
        typer.Option("--restart", help="Begin a run anew that has no shards yet."),
    ] = False,
    check_engine: Annotated[
        bool,
        typer.Option(
            "--check-engine",
            help="Go on with a run of another version if its games come out the same.",
        ),
    ] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Measure for some seconds what the run will take.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Start a run, or go on with it: the same command makes what is missing, nothing else.

    Options that are left out are as the run was begun, or by default. Ctrl-C finishes what is in
    work, a second one ends at once; nothing that was finished is lost.

    Example: selfplay generate new --games 20 --teacher mcts:1000
    """
    from storage.place import Place
    from storage.spec import read_options
    from workers.generation import Progress
    from workers.plan import plan as plan_of
    from workers.stopping import Stop

    given = {
        "games": games,
        "teacher": teacher,
        "explorer": explorer,
        "rival": rival,
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
    plan = plan_of(Place(run), options, restart=restart, check_engine=check_engine)
    if dry_run:
        _say_estimate(plan, workers, as_json=as_json)
        return
    stop = Stop(seconds)
    if plan.missing:
        ending = _carry_out(plan, executor_of(workers, address), stop, as_json=as_json)
    else:
        if not plan.is_written:
            plan.begin()
        ending = Ending(Progress.of(plan))
    _conclude(plan, ending, stop, as_json=as_json)


@dataclass(frozen=True, slots=True)
class Ending:
    """How far a run came, and what was in its way."""

    progress: Progress
    error: Exception | None = None


def _carry_out(plan: Plan, executor: Executor, stop: Stop, *, as_json: bool) -> Ending:
    from cli.players import announce_compilation
    from cli.run_progress import reporter
    from workers.generation import Progress
    from workers.generation import generate as carry_out

    progress = Progress.of(plan)
    announce_compilation(plan.description.board)
    begun = False
    try:
        with (
            reporter(as_json=as_json) as tell,
            executor.start(),
            stop.listening(tell.stopping),
        ):
            plan.begin()
            begun = True
            for progress in carry_out(plan, executor, stop):
                tell.show(progress)
    except KeyboardInterrupt:
        stop.is_interrupted = True
    except (JobError, InputError) as error:
        if not begun:
            raise
        return Ending(progress, error)
    return Ending(progress)


def _conclude(plan: Plan, ending: Ending, stop: Stop, *, as_json: bool) -> None:
    """Say how it ended, and how to go on."""
    progress = ending.progress
    there = f"{progress.shards:,} of {progress.shards_total:,} shards are there"
    again = shlex.join(["selfplay", "generate", plan.place.uri])
    for failure in progress.failed:
        print(f"shard {failure.item}: {failure.reason}", file=sys.stderr)
        if failure.traceback and "--debug" in sys.argv[1:2]:
            print(failure.traceback, file=sys.stderr)
    if not progress.is_complete:
        failed = bool(progress.failed or ending.error)
        _tell_the_end("failed" if failed else "stopped", progress, None, as_json=as_json)
        if stop.is_interrupted:
            raise StoppedError(f"stopped: {there}; to go on: {again}")
        if ending.error is not None:
            raise type(ending.error)(f"{ending.error}; {there}; to go on: {again}")
        if failed:
            raise JobError(f"{there}; to try the others again: {again}")
        print(f"the time is up: {there}; to go on: {again}", file=sys.stderr)
        return
    _complete(plan, progress, stop, as_json=as_json)


def _complete(plan: Plan, progress: Progress, stop: Stop, *, as_json: bool) -> None:
    from cli.cards import has_card, write_card
    from storage.dataset import Dataset

    dataset = Dataset(plan.place)
    if dataset.missing():
        raise JobError(f"{plan.place} was changed meanwhile: give the command again")
    _tell_the_end("done", progress, dataset.fingerprint, as_json=as_json)
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


def _tell_the_end(
    event: str, progress: Progress, fingerprint: str | None, *, as_json: bool
) -> None:
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


def _say_estimate(plan: Plan, workers: int | None, *, as_json: bool) -> None:
    from cli.drawing import console, plain_table
    from cli.players import announce_compilation
    from selfplay.machine import usable_cores
    from workers.estimate import estimate

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
