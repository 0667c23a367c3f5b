"""The cache of compiled code on disk: where it is, and one process at a time in it."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from pathlib import Path
from shutil import rmtree
from time import time
from typing import Any

import numba

try:
    import fcntl
except ImportError:  # pragma: no cover - without flock, compile with one process first
    fcntl = None  # type: ignore[assignment]

_MAX_AGE_SECONDS = 30 * 24 * 3600


def source_root(function: Callable[..., Any]) -> Path:
    """The room a kernel belongs to, or a third party's package; else its file."""
    names = function.__module__.split(".")
    package = sys.modules[".".join(names[: 2 if names[0] == "selfplay" else 1])]
    file = Path(function.__code__.co_filename)
    return Path(package.__path__[0]) if hasattr(package, "__path__") else file


@cache
def cache_directory(root: Path) -> Path | None:
    """Where code compiled from this package is cached; None if nothing can be written."""
    own = Path(__file__).parent
    used_by_all = {own, own.parent / "game"}
    # Environments that share these sources may differ in the compiler.
    digest = blake2b(numba.__version__.encode(), digest_size=8)
    for folder in sorted({*used_by_all, root}):
        for source in sorted(folder.rglob("*.py")) if folder.is_dir() else [folder]:
            digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    chosen = os.environ.get("NUMBA_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    parents = [Path(chosen)] if chosen else [own / "__pycache__", Path(user) / "selfplay"]
    for parent in parents:
        directory = parent / f"compiled-{digest.hexdigest()}"
        try:
            if not directory.exists():
                _remove_old_folders(parent)
            directory.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=directory):
                return directory
        except OSError:
            continue
    return None


def _remove_old_folders(parent: Path) -> None:
    for folder in parent.glob("compiled-*"):
        if time() - folder.stat().st_mtime > _MAX_AGE_SECONDS:
            rmtree(folder, ignore_errors=True)


def clear(directory: Path) -> bool:
    """Remove all cached code, but not the lock; whether there was any."""
    found = [path for path in directory.rglob("*.nb?") if path.is_file()]
    for path in found:
        path.unlink(missing_ok=True)
    return bool(found)


class _Nesting:
    """Depth of nested compilations in this process: a kernel compiles those it calls."""

    depth = 0


def _reset_nesting() -> None:
    _Nesting.depth = 0


if hasattr(os, "register_at_fork"):
    # The compiling thread does not exist in the child.
    os.register_at_fork(after_in_child=_reset_nesting)


@contextmanager
def process_lock(directory: Path | None) -> Iterator[None]:
    """Lock the cache against other processes; the caller holds numba's lock of all threads."""
    _Nesting.depth += 1
    try:
        if _Nesting.depth > 1 or directory is None or fcntl is None:
            yield
            return
        with open(directory / "lock", "w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX)
            except OSError:  # a file system without locks
                yield
                return
            try:
                yield
            finally:
                # Closing is not enough: a process forked meanwhile has it open, too.
                fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        _Nesting.depth -= 1
