"""How far a run is, while it goes on: a bar at a terminal, lines in a log, or JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from selfplay.cli.durations import duration
from selfplay.cli.endings import give_up

if TYPE_CHECKING:
    from selfplay.workers.generation.generate import Progress

_LINES_APART = 5.0
_JSON_APART = 1.0

_STOPPING = "finishing the shards in work; Ctrl-C once more ends at once"


class Reporter(Protocol):
    def show(self, progress: Progress) -> None:
        """Tell how far it is, if it is time to."""

    def stopping(self) -> None:
        """Tell that a wish to stop was understood."""


@contextmanager
def reporter(as_json: bool) -> Iterator[Reporter]:
    """Whoever is looking is told in the way that suits them."""
    if as_json:
        yield JsonLines(sys.stdout)
    elif not sys.stderr.isatty():
        yield Lines()
    else:
        bar = Bar()
        with bar.live:
            yield bar


def words(progress: Progress) -> list[str]:
    """The progress in short pieces."""
    return [*_made(progress), *_working(progress)]


def _made(progress: Progress) -> list[str]:
    found = [f"{progress.games:,} games", f"{progress.positions:,} positions"]
    if progress.failed:
        found.append(f"{len(progress.failed)} failed")
    if progress.seconds_left is not None:
        found.append(f"{duration(progress.seconds_left)} to go")
    return found


def _working(progress: Progress) -> list[str]:
    found = [f"{progress.positions_per_second:,.0f} positions/s"] if progress.new_positions else []
    if progress.new_rollouts:
        found.append(f"{_short(progress.rollouts_per_second)} rollouts/s")
    found.append(f"{progress.workers} workers" if progress.workers else "workers are starting")
    if progress.retries:
        found.append(f"{progress.retries} retries")
    return found


def _short(number: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if number >= size:
            return f"{number / size:.1f}{unit}"
    return f"{number:.0f}"


class _Notices:
    """Says once what happened to workers."""

    def __init__(self) -> None:
        self._lost = 0

    def of(self, progress: Progress) -> str | None:
        if progress.lost <= self._lost:
            return None
        self._lost = progress.lost
        return f"a worker was lost ({progress.trouble}); another one is started"


def _log(text: str) -> None:
    """A line for whoever reads the log; a run does not end because nobody does any more."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


class Bar:
    """Two lines that are drawn over and over."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn
        from rich.progress import Progress as Live

        self.live = Live(
            MofNCompleteColumn(),
            TextColumn("shards"),
            BarColumn(bar_width=10),
            TextColumn("{task.description}"),
            console=Console(stderr=True),
            transient=True,
            refresh_per_second=2,
            redirect_stdout=False,
        )
        self._task = self.live.add_task("starting", total=None)
        self._notices = _Notices()

    def show(self, progress: Progress) -> None:
        self.live.update(
            self._task,
            completed=progress.shards,
            total=progress.shards_total,
            description="\n".join(map(", ".join, (_made(progress), _working(progress)))),
        )
        if notice := self._notices.of(progress):
            self.live.console.print(notice, highlight=False)

    def stopping(self) -> None:
        self.live.console.print(_STOPPING, highlight=False)


class Lines:
    """A line every few seconds, for logs."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _LINES_APART
        self._notices = _Notices()

    def show(self, progress: Progress) -> None:
        if notice := self._notices.of(progress):
            _log(notice)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + _LINES_APART
            shards = f"{progress.shards:,} of {progress.shards_total:,} shards"
            _log(", ".join([shards, *words(progress)]))

    def stopping(self) -> None:
        _log(_STOPPING)


class JsonLines:
    """An object a line, when something has changed, and not more often than once a second."""

    def __init__(self, out: TextIO) -> None:
        self._out = out  # while Ray runs, stdout is somewhere else
        self._next = 0.0
        self._shown: tuple[int, int] | None = None

    def show(self, progress: Progress) -> None:
        state = (progress.shards, progress.workers)
        if time.monotonic() < self._next or state == self._shown:
            return
        self._next, self._shown = time.monotonic() + _JSON_APART, state
        left = progress.seconds_left
        record: dict[str, Any] = {
            "event": "progress",
            "shards": progress.shards,
            "shards_total": progress.shards_total,
            "games": progress.games,
            "positions": progress.positions,
            "positions_per_s": round(progress.positions_per_second, 1),
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
        except OSError:  # as `head` leaves: the run is what was asked for
            give_up(self._out)
            _log("nobody reads the progress any more; the run goes on")

    def stopping(self) -> None:
        _log(_STOPPING)
