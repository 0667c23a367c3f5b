"""Positions that a command is asked about: its arguments, or the lines of stdin."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence

from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.game.position import Position

LONGEST_LINE = 4096


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
        for text, position in [(text, unfinished(text, board)) for text in arguments]:
            act(text.strip(), position)
        return 0
    code = 0
    for number, line in enumerate(_lines(), 1):
        try:
            if len(line) > LONGEST_LINE:
                raise InputError(f"longer than {LONGEST_LINE} characters: not a position")
            text = line.decode("utf-8-sig", "replace").strip()
            act(text, unfinished(text, board))
        except InputError as error:
            print(f"selfplay: line {number}: {error}", file=sys.stderr, flush=True)
            code = 1
    return code


def unfinished(text: str, board: Board) -> Position:
    """A position in which there is something to decide."""
    position = Position.parse(text, board)
    if position.is_over:
        raise InputError(f"{quoted(text.strip())}: the game is over, there is nothing to decide")
    return position


def _lines() -> Iterator[bytes]:
    """The lines of stdin; of one that is too long, just enough to show it."""
    while line := sys.stdin.buffer.readline(LONGEST_LINE + 1):
        end = line
        while len(end) > LONGEST_LINE and not end.endswith(b"\n"):
            end = sys.stdin.buffer.readline(LONGEST_LINE + 1)
        yield line
