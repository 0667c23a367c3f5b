"""Tell the user that kernels are being compiled, which takes some seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfplay.game.board import Board


def _print_at_terminal(text: str) -> None:
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


@cache
def announce_compilation(board: Board, show: Callable[[str], None] = _print_at_terminal) -> None:
    """Have the first compilation of a kernel announced, if one is needed."""
    from selfplay.kernels.jit import before_first_compilation

    before_first_compilation(lambda: show(f"compiling for {board}: takes some seconds, only once"))
