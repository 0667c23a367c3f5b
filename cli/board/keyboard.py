"""Single keys from a terminal."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LEFT, RIGHT, UP, DOWN, ENTER = "left", "right", "up", "down", "enter"
_SEQUENCES = {b"A": UP, b"B": DOWN, b"C": RIGHT, b"D": LEFT}
# The rest of what an arrow key sends comes at once; alone, Escape is followed by nothing.
_REST_SECONDS = 0.05


@contextmanager
def keys() -> Iterator[Callable[[], str]]:
    """While it lasts, keys are read as they are pressed; gives what waits for the next one."""
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd, termios.TCSADRAIN)  # what was typed ahead counts
    try:
        yield lambda: _read(fd)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _read(fd: int) -> str:
    first = os.read(fd, 1)
    if not first or first == b"\x04":
        raise EOFError
    if first in b"\r\n":
        return ENTER
    if first == b"\x1b":
        return _SEQUENCES.get(_rest_of_sequence(fd), "")
    if first[0] >= 0x80:  # of no use, but one key and not several
        length = 2 + (first[0] >= 0xE0) + (first[0] >= 0xF0)
        first += os.read(fd, length - 1)
    return first.decode("utf-8", "replace")


def _rest_of_sequence(fd: int) -> bytes:
    """What comes behind Escape: of arrow keys one letter behind a bracket."""
    found = b""
    while select.select([fd], [], [], _REST_SECONDS)[0]:
        byte = os.read(fd, 1)
        if not byte:
            break
        found += byte
        if len(found) > 1 and (byte.isalpha() or byte == b"~"):
            break
    return found[1:] if found[:1] in (b"[", b"O") else b""
