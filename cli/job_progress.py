"""The progress of a long job: a bar at a terminal, lines in a log."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from selfplay.cli.durations import duration
from selfplay.cli.executors import STOPPING
from selfplay.cli.progress import LOG_SECONDS, log
from selfplay.wording import counted

if TYPE_CHECKING:
    from selfplay.pipeline.job import Display
    from selfplay.workers.executors.progress import JobProgress

P = TypeVar("P", bound="JobProgress")


@dataclass(frozen=True)
class Words(Generic[P]):
    """What is said of a job's progress."""

    items: str
    extent: Callable[[P], tuple[int, int, str]]
    """How much is complete, of how much, and of what."""
    counts: Callable[[P], str]
    """What else there is so far, and the time that remains."""
    speed: Callable[[P], str]
    news: Callable[[P], str | None] = lambda progress: None
    """What is said once."""


def outlook(failed: int, seconds_left: float | None) -> list[str]:
    """The items that failed, and the time that remains."""
    parts = [f"{failed} failed"] if failed else []
    return parts if seconds_left is None else [*parts, f"{duration(seconds_left)} remaining"]


def workers_of(progress: JobProgress, starting: str = "workers are starting") -> list[str]:
    """The workers, and the items done again."""
    parts = [counted(progress.workers, "worker") if progress.workers else starting]
    return [*parts, counted(progress.retries, "retry", "retries")] if progress.retries else parts


@contextmanager
def bar_or_lines(words: Words[P]) -> Iterator[Display[P]]:
    """The display that fits stderr."""
    if not sys.stderr.isatty():
        yield LogLines(words)
    else:
        bar = Bar(words)
        with bar.live:
            yield bar


class LogLines(Generic[P]):
    """A line every few seconds, for logs."""

    def __init__(self, words: Words[P]) -> None:
        self._words = words
        self._next = time.monotonic() + LOG_SECONDS
        self._lost = 0
        self._told_news = False

    def show(self, progress: P) -> None:
        self._report_news(progress)
        if time.monotonic() >= self._next:
            self._next = time.monotonic() + LOG_SECONDS
            done, total, unit = self._words.extent(progress)
            counts, speed = self._words.counts(progress), self._words.speed(progress)
            self.print(f"{done:,} of {total:,} {unit}, {counts}, {speed}")

    def _report_news(self, progress: P) -> None:
        if progress.lost > self._lost:
            self._lost = progress.lost
            self.print(f"a worker was lost ({progress.trouble}); starting another")
        if not self._told_news and (told := self._words.news(progress)):
            self._told_news = True
            self.print(told)

    def stopping(self) -> None:
        self.print(STOPPING.format(self._words.items))

    def print(self, text: str) -> None:
        log(text)


class Bar(LogLines[P]):
    """A progress bar of two lines, redrawn in place."""

    def __init__(self, words: Words[P]) -> None:
        super().__init__(words)
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

    def show(self, progress: P) -> None:
        done, total, unit = self._words.extent(progress)
        self.live.update(
            self._task,
            completed=done,
            total=total,
            unit=unit,
            description=f"{self._words.counts(progress)}\n{self._words.speed(progress)}",
        )
        self._report_news(progress)

    def print(self, text: str) -> None:
        self.live.console.print(text, highlight=False)
