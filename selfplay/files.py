"""Local files: bounded reads, atomic writes."""

from __future__ import annotations

import os
import re
import secrets
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from errno import EISDIR
from pathlib import Path
from typing import BinaryIO

from selfplay.errors import InputError, quoted

# A random name: process ids are not unique where containers share a folder.
_ASIDE = re.compile(r"\.(?P<name>.+)\.[0-9a-f]{16}\.aside")

ABANDONED_SECONDS = 3600.0
"""Temporary files exist for seconds; the writer of one this old was killed."""


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read. Pipes and devices, which may never end, are refused."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return open(descriptor, "rb")
    os.close(descriptor)
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(EISDIR, os.strerror(EISDIR), str(path))
    raise InputError(f"{quoted(str(path), 200)} is a pipe or a device, not a file")


def read_bounded(path: Path, most: int, what: str = "file") -> bytes:
    """Read a regular file; refuse one with more than `most` bytes."""
    with open_regular(path) as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise InputError(
            f"{quoted(str(path), 200)} is too large: a {what} has at most {most:,} bytes"
        )
    return data


@contextmanager
def written_whole(
    path: Path, replace: Callable[[Path, Path], object] = Path.replace
) -> Iterator[BinaryIO]:
    """Write a file atomically: it appears under its name, flushed, when it is complete.
    `replace` renames it at the end, or decides not to."""
    aside = aside_of(path)
    try:
        with aside.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        replace(aside, path)
    finally:
        aside.unlink(missing_ok=True)
    flush_folder(path.parent)


def write_whole(path: Path, data: bytes) -> None:
    """Write a file atomically; it replaces an existing one."""
    with written_whole(path) as file:
        file.write(data)


def aside_of(path: Path) -> Path:
    """A temporary name in the same folder."""
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.aside")


def is_aside(path: Path) -> bool:
    """Whether a file is a temporary one of a writer, perhaps a killed one."""
    return _ASIDE.fullmatch(path.name) is not None


def remove_abandoned(folder: Path) -> int:
    """Remove the temporary files of killed writers; return how many.

    On a network drive another machine's clock stamps the files, so age is measured by that clock.
    """
    left = [path for path in folder.iterdir() if is_aside(path)]
    if not left:
        return 0
    removed, now = 0, _clock_of(folder)
    for path in left:
        with suppress(OSError):  # it is gone, or it is a folder
            if now - path.stat().st_mtime > ABANDONED_SECONDS:
                path.unlink()
                removed += 1
    return removed


def _clock_of(folder: Path) -> float:
    probe = aside_of(folder / "clock")
    try:
        probe.open("xb").close()
        return probe.stat().st_mtime
    except OSError:
        return time.time()
    finally:
        probe.unlink(missing_ok=True)


def flush_folder(folder: Path) -> None:
    """Make new names in a folder survive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
