"""`selfplay generate`: start or resume a run, on this machine or a cluster."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from selfplay.cli.durations import duration, parse_duration
from selfplay.cli.executors import check_executor_options, executor_of, print_failures
from selfplay.cli.options import Address, Json, Run, Workers, takes_options_of
from selfplay.cli.streams import discard_output
from selfplay.options import read_options
from selfplay.pipeline.job import StoppedError
from selfplay.storage.spec import Spec
from selfplay.wording import counted, size
from selfplay.workers.executors.interface import JobError

if TYPE_CHECKING:
    from selfplay.pipeline.job import Ended
    from selfplay.workers.executors.interface import Executor
    from selfplay.workers.executors.stopping import Stop
    from selfplay.workers.generation.generate import Progress
    from selfplay.workers.generation.plan import Plan

_MANY_CORES = (16, 64, 256)


@takes_options_of(Spec)
def generate(
    run: Run,
    given: dict[str, Any],
    positions: Annotated[
        int | None,
        Option(metavar="N", help="End with the first game at which the run has N positions."),
    ] = None,
    spec: Annotated[
        Path | None, Option(metavar="FILE", help="TOML file with any of the options above.")
    ] = None,
    workers: Workers = None,
    address: Address = None,
    max_time: Annotated[
        str | None,
        Option(
            metavar="DURATION", help="Finish the current shards and stop after this time: 47h, 30m."
        ),
    ] = None,
    restart: Annotated[
        bool, Option("--restart", help="Replace the spec of a run that has no shards yet.")
    ] = False,
    check_engine: Annotated[
        bool,
        Option(
            "--check-engine",
            help="Resume a run of another version if games played again are the same.",
        ),
    ] = False,
    dry_run: Annotated[
        bool,
        Option(
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
    from selfplay.cli.compilation import announce_compilation
    from selfplay.cli.run_progress import reporter
    from selfplay.pipeline.job import Ended, run_job
    from selfplay.registry import refuse_stored_code
    from selfplay.storage.location import Location
    from selfplay.workers.executors.stopping import Stop
    from selfplay.workers.generation.generate import Progress
    from selfplay.workers.generation.plan import plan as plan_of

    options: dict[str, Any] = {} if spec is None else read_options(spec, Spec, "a spec")
    for name, value in options.items():
        if name not in given:
            refuse_stored_code(name, value)
    if positions is not None:
        options.pop("games", None)
    options |= given
    seconds = None if max_time is None else parse_duration(max_time)
    check_executor_options(workers, address)
    plan = plan_of(
        Location(run), options, positions=positions, restart=restart, check_engine=check_engine
    )
    if dry_run:
        _print_estimate(plan, workers, as_json=as_json)
        return
    stop = Stop(seconds)
    ended = Ended(Progress.of(plan))
    if not plan.is_complete:
        announce_compilation(plan.manifest.board)
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
    """Print the result, or how far the run is and how to resume it."""
    progress = ended.progress
    if progress.is_complete:
        _complete(plan, progress, stop, as_json=as_json)
        return
    print_failures(progress.failed, "shard")
    event = "failed" if progress.failed or ended.error else "stopped"
    _print_end(event, progress, None, as_json=as_json)
    done = f"{progress.shards:,} of {progress.shards_total:,} shards are complete"
    if progress.wanted is not None:
        done = f"{progress.positions:,} of {progress.wanted:,} positions are complete"
    resume = f"resume with: {plan.spec.command_to_resume(plan.place.uri)}"
    ended.raise_unless_complete(done, resume)
    print(f"--max-time is over: {done}; {resume}", file=sys.stderr)


def _complete(plan: Plan, progress: Progress, stop: Stop, *, as_json: bool) -> None:
    from selfplay.cli.data_card import has_card, write_card
    from selfplay.storage.dataset import Dataset

    dataset = Dataset(plan.place)
    if dataset.missing():
        raise JobError(f"{plan.place} was changed meanwhile: run the same command again")
    _print_end("done", progress, dataset.fingerprint, as_json=as_json)
    if not as_json:
        new = f", {progress.positions_per_second:,.0f} positions/s" if progress.new_shards else ""
        print(
            f"{plan.place}: {dataset.sizes} in {counted(progress.shards, 'shard')}{new}; "
            f"fingerprint {dataset.fingerprint}",
            flush=True,
        )
    if not (stop() or has_card(dataset)):
        try:
            write_card(dataset)
        except KeyboardInterrupt:
            raise StoppedError(
                "the run is complete, but its data card is not; write it with: "
                f"selfplay dataset card {plan.place.uri}"
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
        discard_output(sys.stdout)


def _print_estimate(plan: Plan, workers: int | None, *, as_json: bool) -> None:
    from selfplay.cli.compilation import announce_compilation
    from selfplay.cli.rendering import console, plain_table
    from selfplay.machine import usable_cores
    from selfplay.workers.generation.estimate import estimate

    here = workers or usable_cores()
    if plan.is_complete:
        if as_json:
            print(json.dumps({"games": 0, "positions": 0, "shards": 0, "bytes": 0, "seconds": {}}))
        else:
            print(f"{plan.place}: all {plan.manifest.shards:,} shards are complete")
        return
    announce_compilation(plan.manifest.board)
    expected = estimate(plan)
    times = {cores: expected.seconds_on(cores) for cores in (here, *_MANY_CORES)}
    if as_json:
        record = {
            "games": expected.games_missing,
            "positions": round(expected.positions_missing),
            "shards": expected.shards_missing,
            "shards_rewritten": expected.shards_rewritten,
            "bytes": round(expected.bytes_missing),
            "positions_per_s_and_core": expected.positions_per_second,
            "measured_positions": expected.positions,
            "seconds": times,
        }
        print(json.dumps(record))
        return
    again = ", one of them again with more games" * expected.shards_rewritten
    sample = f"{counted(expected.games, 'game')} in {expected.seconds:.1f} s"
    facts = [
        ("games", f"{expected.games_missing:,}"),
        ("positions", f"about {expected.positions_missing:,.0f}"),
        ("shards", f"{expected.shards_missing:,}" + again),
        ("size", f"about {size(expected.bytes_missing)}"),
        ("speed", f"{expected.positions_per_second:,.0f} positions/s per core"),
    ]
    for cores, seconds in times.items():
        facts.append((counted(cores, "core") + " (here)" * (cores == here), duration(seconds)))
    out = console()
    out.print(f"{plan.place}: estimate of what is missing, from {sample}")
    out.print(plain_table(("", ""), facts))
    played = counted(expected.games_played, "game")
    note = f"\nTimes are of playing {played}"
    if expected.games_played > expected.games_missing:
        is_counted = plan.manifest.positions is not None
        causes = "to write a shard again" * expected.shards_rewritten, "to count" * is_counted
        note += f", some of them again {' and '.join(filter(None, causes))}"
    out.print(f"{note}; workers take some seconds more to start.", style="dim")
