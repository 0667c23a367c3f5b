"""The interface to numba: how kernels are compiled and cached, and what a board is to the compiler.

Compiled code is cached on disk, so that only the first start pays for it. Three things need care:

* numba checks only the file of the outermost function to decide whether cached code is valid.
  Here the cache folder's name contains a digest of all sources.
* processes that compile the same function at once race for the same files. Here one process at
  a time compiles or loads, under a file lock.
* a board's size is part of its compiled type: kernels see it as constants, and every board gets
  its own code.
"""

from __future__ import annotations

import signal
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any, TypeVar

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
from selfplay.kernels.code_cache import cache_directory, clear, process_lock, source_root
from selfplay.signals import deferring

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a function at its first call with given types, or load it from the cache."""
    if numba.config.DISABLE_JIT:
        raise InputError("NUMBA_DISABLE_JIT is set: searches need compiled code: unset it")
    directory = cache_directory(source_root(function))
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(directory or "")
    try:
        dispatcher = numba.njit(nogil=True, cache=directory is not None)(function)
    finally:
        numba.config.CACHE_DIR = before
    compile_now = dispatcher.compile

    def compile_alone(signature: Sequence[types.Type]) -> Any:
        with deferring(signal.SIGINT), global_compiler_lock:  # it may crash the compiler
            # Every process does this once, and need not wait for others.
            dispatcher.typingctx.refresh()
            dispatcher.targetctx.refresh()
            with process_lock(directory):
                try:
                    return compile_now(signature)
                except Exception:
                    # The cache may be damaged: clear it. Anything else fails again.
                    if directory is None or not clear(directory):
                        raise
                    return compile_now(signature)

    dispatcher.compile = compile_alone
    return dispatcher


def inline(function: F) -> F:
    """Compile this function into each kernel that calls it."""
    register_jitable(function)
    return function


class _Announcer(event.Listener):  # type: ignore[misc]
    def __init__(self, announce: Callable[[], None]) -> None:
        self._announce: Callable[[], None] | None = announce

    def on_start(self, _event: event.Event) -> None:
        if self._announce is not None:
            self._announce()
            self._announce = None

    def on_end(self, _event: event.Event) -> None:
        pass


def before_first_compilation(announce: Callable[[], None]) -> None:
    """Call this once before the first compilation, if there is one: it takes some seconds."""
    event.register("numba:compile", _Announcer(announce))


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
def _typeof_board(board: Board, _context: object) -> BoardType:
    return BoardType(board.columns, board.rows, board.connect)


@unbox(BoardType)  # type: ignore[untyped-decorator]
def _unbox_board(_type: BoardType, _object: object, context: Any) -> NativeValue:
    return NativeValue(context.context.get_dummy_value())


def board_constant(name: str, value_of: Callable[[Board], Any]) -> None:
    """Give boards an attribute in compiled code: a constant, computed at compile time."""

    @overload_attribute(BoardType, name)  # type: ignore[untyped-decorator]
    def attribute(board: BoardType) -> Callable[[BoardType], Any]:
        value = value_of(board.board)

        def constant(board: BoardType) -> Any:
            return value

        return constant


for _name in ("columns", "rows", "connect", "cells", "stride", "lanes", "key_bits"):
    board_constant(_name, attrgetter(_name))
# uint64 and int64 mix to float64: sets of cells are uint64 throughout.
board_constant("bottom", lambda board: np.uint64(board.bottom))
board_constant("full", lambda board: np.uint64(board.full))
board_constant("key_mask", lambda board: np.uint64(board.key_mask))

# The rules of `board.py` are compiled unchanged.
for _rule in (has_line, mirrored, next_cells, position_key, winning_cells):
    inline(_rule)
