"""Stop a job in order: at the first Ctrl-C or SIGTERM, or after a time."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from selfplay.signals import STOPPING, handling


class Stop:
    """Called as a function, says whether to start no more work."""

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
        """Stop in order at the first signal, which is announced, and at once at the second.

        Ray installs handlers when it starts: enter this after it.
        """

        def on_signal(_number: int, _frame: object) -> None:
            if self.is_interrupted:
                raise KeyboardInterrupt
            self.is_interrupted = True
            with suppress(OSError):  # the terminal may be gone
                announce()

        with handling(dict.fromkeys(STOPPING, on_signal)):
            yield
