"""Single keys from a terminal."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager

LEFT, RIGHT, UP, DOWN, ENTER = "left", "right", "up", "down", "enter"
_SEQUENCES = {b"A": UP, b"B": DOWN, b"C": RIGHT, b"D": LEFT}
# An arrow key sends its whole sequence at once; the Escape key sends nothing more.
_SEQUENCE_SECONDS = 0.05


class Keys:
    """The keys typed at a terminal."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def read(self, seconds: float | None = None) -> str | None:
        """The next key; None if there is none within this time."""
        return _read(self._fd) if _is_ready(self._fd, seconds) else None

    def drop(self) -> None:
        """Forget what was typed and not read."""
        termios.tcflush(self._fd, termios.TCIFLUSH)


@contextmanager
def keys() -> Iterator[Keys]:
    """Read keys without Enter."""
    fd = sys.stdin.fileno()
    before = termios.tcgetattr(fd)
    tty.setcbreak(fd, termios.TCSADRAIN)  # keeps what was typed ahead
    mode = termios.tcgetattr(fd)
    mode[3] |= termios.NOFLSH  # or Ctrl-C would drop half of what is being drawn
    termios.tcsetattr(fd, termios.TCSADRAIN, mode)
    try:
        yield Keys(fd)
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)


def _is_ready(fd: int, seconds: float | None) -> bool:
    return bool(select.select([fd], [], [], seconds)[0])


def _read(fd: int) -> str:
    first = os.read(fd, 1)
    if not first or first == b"\x04":
        raise EOFError
    if first in b"\r\n":
        return ENTER
    if first == b"\x1b":
        return _SEQUENCES.get(_rest_of_sequence(fd), "")
    if first[0] >= 0x80:  # the other bytes of a UTF-8 character
        length = 2 + (first[0] >= 0xE0) + (first[0] >= 0xF0)
        first += os.read(fd, length - 1)
    return first.decode("utf-8", "replace")


def _rest_of_sequence(fd: int) -> bytes:
    """What follows Escape, without its bracket: one letter for an arrow key."""
    sequence = b""
    while _is_ready(fd, _SEQUENCE_SECONDS):
        byte = os.read(fd, 1)
        if not byte:
            break
        sequence += byte
        if len(sequence) > 1 and (byte.isalpha() or byte == b"~"):
            break
    return sequence[1:] if sequence[:1] in (b"[", b"O") else b""
