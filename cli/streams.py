"""Output streams whose reader may disappear: a closed pipe, a terminal that is gone."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import Any, TextIO


class LossyStream:
    """A stream that ignores write errors: losing messages must not stop the work."""

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


def discard_output(stream: TextIO) -> None:
    """Send what is still buffered to /dev/null, so that the flush at exit does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
