"""The seam to numba: how kernels are compiled and kept, and what a board is to the compiler.

Compiled code is kept on disk, so that only the first start pays for it. Three things need care:

* numba looks only at the file of the outermost function when it asks whether kept code is
  still good. Here the folder's name carries a digest of all sources, so that a change in any
  file leaves the old code behind.
* processes that compile the same function for the first time race for the same files. Here
  one process at a time compiles or loads, under a lock beside the files.
* a board's measures are part of its compiled type: kernels see them as constants, and every
  board gets code of its own.
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import chdir, contextmanager
from functools import cache
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from shutil import rmtree
from time import time
from typing import Any, TypeVar

with chdir(Path(__file__).parent):  # numba reads settings from the folder where it is imported
    import numba
import numpy as np
from numba import types
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import (
    NativeValue,
    models,
    overload_attribute,
    register_jitable,
    register_model,
    typeof_impl,
    unbox,
)

from selfplay.errors import InputError
from selfplay.game.board import (
    Board,
    has_line,
    mirrored,
    next_cells,
    position_key,
    winning_cells,
)

try:
    import fcntl
except ImportError:  # pragma: no cover - where there is no flock, compile with one process first
    fcntl = None  # type: ignore[assignment]

F = TypeVar("F", bound=Callable[..., Any])

_KEPT_SECONDS = 30 * 24 * 3600


def kernel(function: F) -> F:
    """Compile a function at its first call with given types, or load what was kept."""
    if numba.config.DISABLE_JIT:
        raise InputError("NUMBA_DISABLE_JIT is set: searches exist in compiled code only")
    directory = cache_directory(_source_root(function))
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory or "")
    try:
        dispatcher = numba.njit(nogil=True, cache=directory is not None)(function)
    finally:
        numba.config.CACHE_DIR = before
    compile_now = dispatcher.compile

    def compile_alone(signature: Any) -> Any:
        with _interrupts_held_back(), global_compiler_lock:
            # What every process does once, and need not wait for the others with.
            dispatcher.typingctx.refresh()
            dispatcher.targetctx.refresh()
            with _one_process_at_a_time(directory):
                try:
                    return compile_now(signature)
                except Exception:
                    # Files that were damaged are as good as none. Anything else fails again.
                    if directory is None or not _remove_kept_code(directory):
                        raise
                    return compile_now(signature)

    dispatcher.compile = compile_alone
    return dispatcher  # type: ignore[no-any-return]


def inline(function: F) -> F:
    """Let kernels call this function; it becomes a part of each that does."""
    register_jitable(function)
    return function


def _source_root(function: Callable[..., Any]) -> Path:
    """The room that a kernel belongs to, or a package of somebody else's; else its file."""
    names = function.__module__.split(".")
    package = sys.modules[".".join(names[: 2 if names[0] == "selfplay" else 1])]
    file = Path(function.__code__.co_filename)
    return Path(package.__path__[0]) if hasattr(package, "__path__") else file


@cache
def cache_directory(root: Path) -> Path | None:
    """Where code compiled from this package is kept; None where nothing can be written."""
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
    """Remove what sources compiled to that are long gone."""
    for folder in parent.glob("compiled-*"):
        if time() - folder.stat().st_mtime > _KEPT_SECONDS:
            rmtree(folder, ignore_errors=True)


def _remove_kept_code(directory: Path) -> bool:
    """Remove what is kept, the lock apart; whether there was anything."""
    found = [path for path in directory.rglob("*.nb?") if path.is_file()]
    for path in found:
        path.unlink(missing_ok=True)
    return bool(found)


class _Announcer(event.Listener):  # type: ignore[misc]
    def __init__(self, announce: Callable[[], None]) -> None:
        self._announce: Callable[[], None] | None = announce

    def on_start(self, _event: Any) -> None:
        if self._announce is not None:
            self._announce()
            self._announce = None

    def on_end(self, _event: Any) -> None:
        pass


def before_first_compilation(announce: Callable[[], None]) -> None:
    """Call this once before anything is compiled, if anything is: it takes some seconds."""
    event.register("numba:compile", _Announcer(announce))


@contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Ctrl-C inside the compiler can crash it, or be swallowed by it: let it wait."""
    before = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(before):
        yield
        return
    held_back: list[Any] = []
    signal.signal(signal.SIGINT, lambda *received: held_back.append(received))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
    if held_back:
        before(*held_back[0])


class _Nesting:
    """How deep inside compilations this process is: a kernel compiles those it calls."""

    depth = 0


def _forget_nesting() -> None:
    _Nesting.depth = 0


if hasattr(os, "register_at_fork"):
    # The thread that was compiling is not there in the child.
    os.register_at_fork(after_in_child=_forget_nesting)


@contextmanager
def _one_process_at_a_time(directory: Path | None) -> Iterator[None]:
    # The caller holds numba's lock of all threads.
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
                # Closing alone would not do: a process forked meanwhile has it open, too.
                fcntl.flock(file, fcntl.LOCK_UN)
    finally:
        _Nesting.depth -= 1


class BoardType(types.Type):  # type: ignore[misc]
    """A board as the compiler sees it: a type whose attributes are constants."""

    def __init__(self, columns: int, rows: int, connect: int) -> None:
        self.columns, self.rows, self.connect = columns, rows, connect
        super().__init__(name=f"Board({columns}x{rows},{connect})")

    @property
    def board(self) -> Board:
        return Board(self.columns, self.rows, self.connect)


register_model(BoardType)(models.OpaqueModel)


@typeof_impl.register(Board)  # type: ignore[untyped-decorator]
def _typeof_board(board: Board, _context: Any) -> BoardType:
    return BoardType(board.columns, board.rows, board.connect)


@unbox(BoardType)  # type: ignore[untyped-decorator]
def _unbox_board(_type: Any, _object: Any, context: Any) -> NativeValue:
    return NativeValue(context.context.get_dummy_value())


def board_constant(name: str, value_of: Callable[[Board], Any]) -> None:
    """Give boards an attribute in compiled code: a constant, worked out as code is compiled."""

    @overload_attribute(BoardType, name)  # type: ignore[untyped-decorator]
    def attribute(board: Any) -> Any:
        value = value_of(board.board)

        def constant(board: Any) -> Any:
            return value

        return constant


for _name in ("columns", "rows", "connect", "cells", "stride", "lanes"):
    board_constant(_name, attrgetter(_name))
# uint64 mixed with int64 becomes float64 in arithmetic: sets of cells are uint64 throughout.
board_constant("bottom", lambda board: np.uint64(board.bottom))
board_constant("full", lambda board: np.uint64(board.full))

# The rules of `board.py` are compiled as they stand.
for _rule in (has_line, mirrored, next_cells, position_key, winning_cells):
    inline(_rule)
