"""A progress bar on stderr; without a terminal there is none, or a line every few seconds."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

LOG_SECONDS = 5.0
"""Between two lines in a log."""


@contextmanager
def progress(what: str, *, in_logs: bool = False) -> Iterator[Callable[[int, int], None]]:
    """A progress bar; yields the function that updates it: `update(done, total)`. With `in_logs`,
    long work prints lines where there is no terminal."""
    if in_logs and not sys.stderr.isatty():
        yield _lines(what)
        return
    with phases() as update:
        yield lambda done, total: update(what, done, total)


def _lines(what: str) -> Callable[[int, int], None]:
    shown = time.monotonic()

    def update(done: int, total: int) -> None:
        nonlocal shown
        if time.monotonic() - shown >= LOG_SECONDS:
            shown = time.monotonic()
            log(f"{done:,} of {total:,} {what}")

    return update


def log(text: str) -> None:
    """Print a line on stderr; the work goes on if nobody can read it."""
    with suppress(OSError):
        print(text, file=sys.stderr, flush=True)


@contextmanager
def phases() -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar for work in several phases: `update(phase, done, total)`."""
    if not sys.stderr.isatty():
        yield lambda phase, done, total: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
    from rich.progress import TimeElapsedColumn as Elapsed
    from rich.progress import TimeRemainingColumn as Remaining

    # At a terminal, results are printed above the bar; into files and pipes they go unchanged.
    bar = Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Elapsed(),
        TextColumn("remaining"),
        Remaining(),
        console=Console(stderr=True, highlight=False, markup=False, soft_wrap=True),
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    )
    with bar:
        task = bar.add_task("", total=None)
        current = ""

        def update(phase: str, done: int, total: int) -> None:
            nonlocal current
            if phase != current:
                current = phase
                bar.reset(task, description=phase)
            bar.update(task, completed=done, total=total)

        yield update
