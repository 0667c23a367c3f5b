"""Signal handlers for the length of a block."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

Handler = Callable[[int, Any], object] | signal.Handlers | int

STOPPING = signal.SIGINT, signal.SIGTERM, signal.SIGHUP
"""Ctrl-C, `kill`, and a terminal that closes."""


@contextmanager
def handling(handlers: dict[int, Handler]) -> Iterator[None]:
    """Handle these signals inside the block, and as before after it."""
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)


@contextmanager
def interrupting() -> Iterator[None]:
    """Let every signal that stops a program raise KeyboardInterrupt inside the block."""
    with handling(dict.fromkeys(STOPPING, signal.default_int_handler)):
        yield


@contextmanager
def deferring(*numbers: int) -> Iterator[None]:
    """Deliver signals that arrive inside the block after it. Threads receive none."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.getsignal(number) for number in numbers}
    arrived: list[tuple[int, Any]] = []
    with handling({number: lambda *received: arrived.append(received) for number in numbers}):
        yield
    if arrived:
        number, frame = arrived[0]
        handler = before[number]
        if callable(handler):
            handler(number, frame)
        elif handler != signal.SIG_IGN:
            raise KeyboardInterrupt
