"""The progress of a run being generated: a bar at a terminal, lines in a log, or JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from selfplay.cli.durations import duration
from selfplay.cli.executors import STOPPING
from selfplay.cli.job_progress import Words, bar_or_lines, outlook, workers_of
from selfplay.cli.progress import log
from selfplay.cli.streams import discard_output
from selfplay.wording import counted

if TYPE_CHECKING:
    from selfplay.pipeline.job import Display
    from selfplay.workers.generation.generate import Progress

_JSON_SECONDS = 1.0


@contextmanager
def reporter(as_json: bool) -> Iterator[Display[Progress]]:
    """The display that fits the options and stderr."""
    if as_json:
        yield JsonLines(sys.stdout)
    else:
        with bar_or_lines(RUN) as display:
            yield display


def extent(progress: Progress) -> tuple[int, int, str]:
    """How much is complete, of how much, in shards; in positions if the run ends by them."""
    if progress.wanted is None:
        return progress.shards, progress.shards_total, "shards"
    return progress.positions, progress.wanted, "positions"


def counts(progress: Progress) -> str:
    """What else there is so far, and the time that remains."""
    games = counted(progress.games, "game")
    if progress.wanted is None:
        parts = [games, counted(progress.positions, "position")]
    else:
        parts = [counted(progress.shards, "shard"), games]
    return ", ".join(parts + outlook(len(progress.failed), progress.seconds_left))


def speed(progress: Progress) -> str:
    """Positions and rollouts per second, and the workers."""
    parts = []
    if progress.new_positions:
        now = f"{progress.positions_per_second_now:,.0f}"
        parts.append(f"{progress.positions_per_second:,.0f} positions/s (now {now})")
    if progress.new_rollouts:
        parts.append(f"{_with_unit(progress.rollouts_per_second)} rollouts/s")
    starting = "workers are starting"
    if progress.wanted is not None and progress.new_shards:
        starting = "workers are starting on what is missing"
    return ", ".join(parts + workers_of(progress, starting))


def _with_unit(number: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


def _other_driver(progress: Progress) -> str | None:
    """What to say about another driver on the same run, if there is one."""
    if progress.other is None:
        return None
    shard, seconds = progress.other
    return f"another driver wrote shard {shard} {duration(seconds)} ago; both do the same work"


RUN: Words[Progress] = Words("shards", extent, counts, speed, _other_driver)


class JsonLines:
    """A JSON object per line when shards or workers change, at most once a second."""

    def __init__(self, out: TextIO) -> None:
        self._out = out  # sys.stdout is replaced while Ray runs
        self._next = 0.0
        self._shown: tuple[int, int] | None = None
        self._told_of_other = False

    def show(self, progress: Progress) -> None:
        if not self._told_of_other and (told := _other_driver(progress)):
            self._told_of_other = True
            log(told)
        state = (progress.shards, progress.workers)
        if time.monotonic() < self._next or state == self._shown:
            return
        self._next, self._shown = time.monotonic() + _JSON_SECONDS, state
        left = progress.seconds_left
        record: dict[str, Any] = {
            "event": "progress",
            "shards": progress.shards,
            "shards_total": progress.shards_total,
            "games": progress.games,
            "positions": progress.positions,
            "positions_total": progress.wanted,
            "positions_per_s": round(progress.positions_per_second, 1),
            "positions_per_s_now": round(progress.positions_per_second_now, 1),
            "rollouts_per_s": round(progress.rollouts_per_second),
            "workers": progress.workers,
            "retries": progress.retries,
            "lost": progress.lost,
            "failed": len(progress.failed),
            "seconds_left": None if left is None else round(left, 1),
            "worker_megabytes": progress.megabytes,
        }
        try:
            print(json.dumps(record), file=self._out, flush=True)
        except OSError:  # the reader of the pipe left, as `head` does
            discard_output(self._out)
            log("nobody reads the progress any more; the run goes on")

    def stopping(self) -> None:
        log(STOPPING.format("shards"))
