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
from selfplay.cli.progress import LOG_SECONDS, log
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
    elif not sys.stderr.isatty():
        yield LogLines()
    else:
        bar = Bar()
        with bar.live:
            yield bar


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
    if progress.failed:
        parts.append(f"{len(progress.failed)} failed")
    if progress.seconds_left is not None:
        parts.append(f"{duration(progress.seconds_left)} remaining")
    return ", ".join(parts)


def speed(progress: Progress) -> str:
    """Positions and rollouts per second, and the workers."""
    parts = []
    if progress.new_positions:
        now = f"{progress.positions_per_second_now:,.0f}"
        parts.append(f"{progress.positions_per_second:,.0f} positions/s (now {now})")
    if progress.new_rollouts:
        parts.append(f"{_with_unit(progress.rollouts_per_second)} rollouts/s")
    workers = progress.workers
    starting = "workers are starting"
    if progress.wanted is not None and progress.new_shards:
        starting = "workers are starting on what is missing"
    parts.append(counted(workers, "worker") if workers else starting)
    if progress.retries:
        parts.append(counted(progress.retries, "retry", "retries"))
    return ", ".join(parts)


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


class LogLines:
    """A line every few seconds, for logs."""

    def __init__(self) -> None:
        self._next = time.monotonic() + LOG_SECONDS
        self._lost = 0
        self._told_of_other = False

    def show(self, progress: Progress) -> None:
        self._report_news(progress)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LOG_SECONDS
            done, total, unit = extent(progress)
            self.print(f"{done:,} of {total:,} {unit}, {counts(progress)}, {speed(progress)}")

    def _report_news(self, progress: Progress) -> None:
        if progress.lost > self._lost:
            self._lost = progress.lost
            self.print(f"a worker was lost ({progress.trouble}); starting another")
        if not self._told_of_other and (told := _other_driver(progress)):
            self._told_of_other = True
            self.print(told)

    def stopping(self) -> None:
        self.print(STOPPING.format("shards"))

    def print(self, text: str) -> None:
        log(text)


class Bar(LogLines):
    """A progress bar of two lines, redrawn in place."""

    def __init__(self) -> None:
        super().__init__()
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Live

        self.live = Live(
            MofNCompleteColumn(),
            TextColumn("{task.fields[unit]}"),
            BarColumn(bar_width=10),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=2,
            redirect_stdout=False,
        )
        self._task = self.live.add_task("starting", total=None, unit="")

    def show(self, progress: Progress) -> None:
        done, total, unit = extent(progress)
        self.live.update(
            self._task,
            completed=done,
            total=total,
            unit=unit,
            description=f"{counts(progress)}\n{speed(progress)}",
        )
        self._report_news(progress)

    def print(self, text: str) -> None:
        self.live.console.print(text, highlight=False)


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
