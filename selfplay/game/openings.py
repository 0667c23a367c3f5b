"""Randomized openings: the first plies of a game, before players decide.

The opening depends on the seed and the game's index alone. There are four kinds:

    0-20          random plies, their number uniform in the range (or fixed: `8`)
    sensible:0-20 the same, but take wins and block the opponent's
    all:4         every position with 4 stones, in random order, each once per round
    file:PATH     the positions of a file, one per line, in the same way
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Protocol, overload

from selfplay.errors import InputError, quoted
from selfplay.game.board import Board, has_line, next_cells, winning_cells
from selfplay.game.enumeration import positions_after
from selfplay.game.position import Position
from selfplay.seeding import Stream, derive

MAX_STRATIFIED_PLIES = 8
_ATTEMPTS = 100
_MOST_BYTES = 1 << 23


class Openings(Protocol):
    """The openings of a run."""

    def opening(self, seed: int, game: int) -> Position:
        """The opening of this game; the game is not over in it."""

    def distinct(self) -> int | None:
        """The number of different openings, not counting mirror images; None if unknown."""


def parse_openings(text: str, board: Board) -> Openings:
    """Parse the notation above."""
    kind, _, rest = text.strip().partition(":")
    if kind == "file" and rest:
        return read_openings(Path(os.path.expanduser(rest)), board)
    match = re.fullmatch(r"(all:|sensible:)?([0-9]{1,3})(?:-([0-9]{1,3}))?", text.strip())
    if match is None or (match[1] == "all:" and match[3]):
        raise InputError(
            "openings are written 0-20 or 8 (random plies), sensible:0-20, all:4 or file:PATH, "
            f"not {quoted(text)}"
        )
    if match[1] == "all:":
        return every_position(board, int(match[2]))
    least = int(match[2])
    return RandomPlies(board, least, int(match[3] or least), sensible=match[1] == "sensible:")


@dataclass(frozen=True, slots=True)
class RandomPlies:
    """Random legal plies, their number uniform from `least` to `most`."""

    board: Board
    least: int = 0
    most: int = 0
    sensible: bool = False
    """Take a win if there is one, else block one of the opponent's."""

    def __post_init__(self) -> None:
        if not 0 <= self.least <= self.most:
            raise InputError(
                f"an opening has a range of plies such as 0-20, not {self.least}-{self.most}"
            )
        if self.most >= self.board.cells:
            raise InputError(
                f"an opening of {self.most} plies leaves no game: "
                f"a {self.board.size} board has {self.board.cells} cells"
            )

    def opening(self, seed: int, game: int) -> Position:
        stream = Stream(derive(seed, "opening", game))
        plies = self.least + stream.below(self.most - self.least + 1)
        # Reject games that end early, so that all openings of this length are random play. If
        # hardly any game lasts, use the length of the longest.
        while True:
            longest = 0
            for _ in range(_ATTEMPTS):
                position = self._play(plies, stream)
                if not position.is_over:
                    return position
                longest = max(longest, position.ply - 1)
            plies = longest

    def distinct(self) -> int | None:
        return None

    def _play(self, plies: int, stream: Stream) -> Position:
        """Play random moves until the game is over or has this many plies."""
        # On plain integers: positions in between would take most of the time of a short search.
        board = self.board
        moves: list[int] = []
        columns = [((1 << board.rows) - 1) << (k * board.stride) for k in range(board.columns)]
        own = other = wins = blocks = 0
        while len(moves) < plies:
            free = next_cells(board, own | other)
            chosen = (wins & free or blocks & free or free) if self.sensible else free
            move = stream.choice([k for k, column in enumerate(columns) if chosen & column])
            stone = free & columns[move]
            moves.append(move)
            own, other = other, own | stone
            is_won = wins & stone if self.sensible else has_line(board, other)
            if is_won or own | other == board.full:
                break
            if self.sensible:
                wins, blocks = blocks, winning_cells(board, other)
        return Position(board, own, own | other, tuple(moves))


@dataclass(frozen=True, slots=True)
class Deck:
    """Openings from a list, shuffled by the seed; each is used once per round."""

    positions: Sequence[Position]
    _shuffled: dict[tuple[int, int], list[int]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def opening(self, seed: int, game: int) -> Position:
        round_number, place = divmod(game, len(self.positions))
        order = self._shuffled.get((seed, round_number))
        if order is None:
            order = list(range(len(self.positions)))
            Stream(derive(seed, "deck", round_number)).shuffle(order)
            self._shuffled.clear()
            self._shuffled[seed, round_number] = order
        return self.positions[order[place]]

    def distinct(self) -> int | None:
        return len({position.key(canonical=True) for position in self.positions})


def every_position(board: Board, plies: int) -> Deck:
    """All positions with this many stones that are not over, without mirror images."""
    if plies > MAX_STRATIFIED_PLIES:
        raise InputError(f"all:{plies} is too many: all:{MAX_STRATIFIED_PLIES} is the most")
    return Deck(_EveryPosition(board, plies))


class _EveryPosition(Sequence[Position]):
    """Enumerated at first use, and once per process: a spec may only be parsed."""

    def __init__(self, board: Board, plies: int) -> None:
        self._board, self._plies = board, plies

    def __len__(self) -> int:
        return len(_enumerated(self._board, self._plies))

    @overload
    def __getitem__(self, which: int) -> Position: ...
    @overload
    def __getitem__(self, which: slice) -> Sequence[Position]: ...
    def __getitem__(self, which: int | slice) -> Position | Sequence[Position]:
        return _enumerated(self._board, self._plies)[which]


@lru_cache(maxsize=4)
def _enumerated(board: Board, plies: int) -> Sequence[Position]:
    return positions_after(board, plies, canonical=True, unfinished=True)


def read_openings(path: Path, board: Board) -> Deck:
    """Read the positions of a file, one per line; empty lines and comments (#) are skipped."""
    name = quoted(str(path), 200)
    try:
        with path.open("rb") as file:  # a pipe may never end
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise InputError(f"cannot read openings from {name}: {reason}") from None
    if len(data) > _MOST_BYTES:
        raise InputError(f"{name} is too large: at most {_MOST_BYTES:,} bytes of openings are read")
    return listed_openings(text, board, name)


def listed_openings(text: str, board: Board, name: str) -> Deck:
    """Parse a list of positions; `name` is for error messages."""
    positions = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        try:
            position = Position.parse(line, board)
            if position.is_over:
                raise InputError(f"{quoted(line.strip())} is a finished game")
        except InputError as error:
            raise InputError(f"{name}, line {number}: {error}") from None
        positions.append(position)
    if not positions:
        raise InputError(f"{name} holds no positions")
    return Deck(positions)
