"""Positions that a command is asked about: its arguments, or the lines of stdin."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

from selfplay.board import Board
from selfplay.errors import InputError
from selfplay.position import Position


def for_each_position(
    arguments: Sequence[str] | None, board: Board, act: Callable[[str, Position], None]
) -> int:
    """Act on every position, with the notation it was given in; the exit code.

    Arguments are checked before anything is done. Lines of stdin are taken as they come: what
    is wrong with one is said with its number, and the others are done all the same. With
    neither, at a terminal, it is the empty board.
    """
    if not arguments and sys.stdin.isatty():
        arguments = [""]
    if arguments:
        for position in [Position.parse(text, board) for text in arguments]:
            act(position.notation or "", position)
        return 0
    code = 0
    for number, text in enumerate(_lines(), 1):
        try:
            act(text, Position.parse(text, board))
        except InputError as error:
            print(f"selfplay: line {number}: {error}", file=sys.stderr, flush=True)
            code = 1
    return code


def _lines() -> Iterator[str]:
    for line in sys.stdin.buffer:
        yield line.decode("utf-8", "replace").strip()
