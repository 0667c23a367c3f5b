"""How a command ends that does not end well."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, TextIO

from selfplay.workers.executors.interface import Failed


class Unfailing:
    """A stream of words for people: that nobody listens any more, as when a terminal has gone away,
    ends no work."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        with suppress(OSError):
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


def give_up(stream: TextIO) -> None:
    """Have what is still to be written go nowhere, not fail once more at the end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_failures(failed: Iterable[Failed], item: str) -> None:
    """Print why items failed, with their tracebacks under `--debug`."""
    for failure in failed:
        print(f"{item} {failure.item}: {failure.reason}", file=sys.stderr)
        if failure.traceback and "--debug" in sys.argv[1:2]:
            print(failure.traceback, file=sys.stderr)
