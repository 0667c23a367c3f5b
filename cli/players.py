"""Players as a command needs them: built, with a word where that takes some seconds."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfplay.game.board import Board
    from selfplay.players import Player
    from selfplay.registry import Ask, PlayerSpec


def build(spec: PlayerSpec, board: Board, ask: Ask | None = None) -> Player:
    announce_compilation(board)
    return spec.build(board, ask)


def say(text: str) -> None:
    """At a terminal alone."""
    if sys.stderr.isatty():
        print(text, file=sys.stderr, flush=True)


@cache
def announce_compilation(board: Board, say: Callable[[str], None] = say) -> None:
    """Say what takes so long, should anything have to be compiled."""
    from selfplay.kernels.jit import before_first_compilation

    before_first_compilation(lambda: say(f"compiling for {board}: some seconds, this once"))
