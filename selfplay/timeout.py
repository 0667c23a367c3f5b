"""A time limit for a function call."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import perf_counter
from typing import TypeVar

from selfplay.signals import handling

T = TypeVar("T")


class TimeUpError(BaseException):
    """The time is up. A BaseException, so that `except Exception` does not swallow it."""


def within(seconds: float | None, act: Callable[[], T]) -> T:
    """Call a function; raise TimeUpError if it takes longer.

    Python code is interrupted; compiled code, and threads but the main one, finish first.
    """
    if seconds is None:
        return act()
    start = perf_counter()
    with _alarm(seconds):
        result = act()
    if perf_counter() - start > seconds:
        raise TimeUpError
    return result


@contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    is_on = True

    def ring(_number: int, _frame: object) -> None:
        if is_on:
            raise TimeUpError

    with handling({signal.SIGALRM: ring}):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            yield
        finally:
            is_on = False
            signal.setitimer(signal.ITIMER_REAL, 0)
