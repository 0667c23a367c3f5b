"""How far something is that takes a while: on stderr, and only if somebody is looking."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Shows a bar at a terminal; gives what is to be told: how many are done, and of how many."""
    with phases() as tell:
        yield lambda done, of: tell(what, done, of)


@contextmanager
def phases() -> Iterator[Callable[[str, int, int], None]]:
    """The same for what has several parts: what is told begins with what is being done."""
    if not sys.stderr.isatty():
        yield lambda what, done, of: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("to go"),
        TimeRemainingColumn(),
    )
    # Results pass above the bar, if both are at a terminal, and by it into files and pipes.
    console = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    beside = sys.stdout.isatty()
    with Progress(*columns, console=console, transient=True, redirect_stdout=beside) as bar:
        task = bar.add_task("", total=None)
        doing = ""

        def tell(what: str, done: int, of: int) -> None:
            nonlocal doing
            if what != doing:
                doing = what
                bar.reset(task, description=what)
            bar.update(task, completed=done, total=of)

        yield tell
