"""The seam to numba: how kernels are compiled and kept, and what a board is to the compiler.

Compiled code is kept on disk, so that only the first start pays for it. Three things need care:

* numba looks only at the file of the outermost function when it asks whether kept code is
  still good. Here the folder's name carries a digest of the whole package, so that a change
  in any file leaves the old code behind.
* processes that compile the same function for the first time race for the same files. Here
  one process at a time compiles or loads, under a lock beside the files.
* a board's measures are part of its compiled type: kernels see them as constants, and every
  board gets code of its own.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import blake2b
from operator import attrgetter
from pathlib import Path
from threading import RLock
from typing import Any, TypeVar

import numba
import numpy as np
from numba import types
from numba.core import event
from numba.extending import (
    NativeValue,
    models,
    overload_attribute,
    register_jitable,
    register_model,
    typeof_impl,
    unbox,
)

from selfplay.board import Board

try:
    import fcntl
except ImportError:  # pragma: no cover - where there is no flock, compile with one process first
    fcntl = None  # type: ignore[assignment]

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function at its first call with given types, or load what was kept."""
    if numba.config.DISABLE_JIT:
        return function
    directory = cache_directory()
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory or "")
    try:
        dispatcher = numba.njit(nogil=True, cache=directory is not None)(function)
    finally:
        numba.config.CACHE_DIR = before
    compile_now = dispatcher.compile

    def compile_alone(signature: Any) -> Any:
        with _one_process_at_a_time():
            return compile_now(signature)

    dispatcher.compile = compile_alone
    return dispatcher  # type: ignore[no-any-return]


def inline(function: F) -> F:
    """Let kernels call this function; it becomes a part of each that does."""
    register_jitable(function)
    return function


@cache
def cache_directory() -> Path | None:
    """Where compiled code is kept; None where nothing can be written."""
    package = Path(__file__).parent
    digest = blake2b(digest_size=8)
    for source in sorted(package.glob("*.py")):
        digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    name = f"compiled-{digest.hexdigest()}"
    own = os.environ.get("NUMBA_CACHE_DIR")
    user = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    for parent in [Path(own)] if own else [package / "__pycache__", Path(user) / "selfplay"]:
        try:
            (parent / name).mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=parent / name):
                return parent / name
        except OSError:
            continue
    return None


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


_threads = RLock()
_depth = 0


@contextmanager
def _one_process_at_a_time() -> Iterator[None]:
    # A kernel that calls another compiles it inside its own compilation: count, lock once.
    global _depth
    with _threads:
        _depth += 1
        try:
            directory = cache_directory()
            if _depth > 1 or directory is None or fcntl is None:
                yield
            else:
                with open(directory / "lock", "w") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    yield
        finally:
            _depth -= 1


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
