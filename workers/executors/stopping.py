"""Stopping in order: at the first Ctrl-C, at SIGTERM, or when the time is up."""

from __future__ import annotations

import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress


class Stop:
    """Whether to begin nothing more."""

    def __init__(self, seconds: float | None = None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self.is_interrupted = False

    def __call__(self) -> bool:
        return self.is_interrupted or self.is_late

    @property
    def is_late(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    @contextmanager
    def listening(self, announce: Callable[[], None]) -> Iterator[None]:
        """Take the first signal as a wish, which is announced; the second ends all at once.

        Ray has handlers of its own: these go on top of them, so Ray is started before.
        """

        def on_signal(_number: int, _frame: object) -> None:
            if self.is_interrupted:
                raise KeyboardInterrupt
            self.is_interrupted = True
            with suppress(OSError):  # of a terminal that went away nobody needs to be told
                announce()

        before = {number: signal.signal(number, on_signal) for number in _SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


# The last is what a terminal sends that goes away.
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
