"""The positions that a command works on: its arguments, or the lines of stdin."""

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
    """Call `act(notation, position)` for every position; returns the exit code.

    All arguments are checked first. Lines of stdin are processed as they arrive: an invalid one
    is reported with its number and skipped. At a terminal, without arguments, the empty board.
    """
    if not arguments and sys.stdin.isatty():
        arguments = [""]
    if arguments:
        for text, position in [(text, parse_unfinished(text, board)) for text in arguments]:
            act(text.strip(), position)
        return 0
    code = 0
    for number, line in enumerate(_lines(), 1):
        try:
            if len(line) > LONGEST_LINE:
                raise InputError(f"longer than {LONGEST_LINE} characters: not a position")
            text = line.decode("utf-8-sig", "replace").strip()
            act(text, parse_unfinished(text, board))
        except InputError as error:
            print(f"selfplay: line {number}: {error}", file=sys.stderr, flush=True)
            code = 1
    return code


def parse_unfinished(text: str, board: Board) -> Position:
    """A position in which a move can be played."""
    position = Position.parse(text, board)
    if position.is_over:
        raise InputError(f"{quoted(text.strip())}: the game is over, there is no move to choose")
    return position


def _lines() -> Iterator[bytes]:
    """The lines of stdin; one that is too long is cut just above the limit."""
    while line := sys.stdin.buffer.readline(LONGEST_LINE + 1):
        end = line
        while len(end) > LONGEST_LINE and not end.endswith(b"\n"):
            end = sys.stdin.buffer.readline(LONGEST_LINE + 1)
        yield line
