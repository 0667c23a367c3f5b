"""Players as a command needs them: built, with a word where that takes some seconds."""

from __future__ import annotations

import sys
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfplay.board import Board
    from selfplay.players import Player
    from selfplay.specs import Ask, PlayerSpec


def build(spec: PlayerSpec, board: Board, ask: Ask | None = None) -> Player:
    announce_compilation(board)
    return spec.build(board, ask)


@cache
def announce_compilation(board: Board) -> None:
    """Say at a terminal what takes so long, should anything have to be compiled."""
    if not sys.stderr.isatty():
        return
    from selfplay.compiled import before_first_compilation

    def announce() -> None:
        print(f"compiling for {board}: some seconds, this once", file=sys.stderr, flush=True)

    before_first_compilation(announce)
