"""Randomized openings: the first plies of a game, before anybody thinks.

The opening of a game depends on the seed and the game's index alone. There are four kinds,
written the same wherever openings are asked for:

    0-20          so many uniformly random plies, the number uniform in the range (or one: `8`)
    sensible:0-20 the same, but a win is taken, and the other side's prevented
    all:4         every position with 4 stones, once each before any comes again
    file:PATH     the positions of a file, one a line, dealt out in the same way
"""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.game.enumeration import positions_after
from selfplay.game.position import Position
from selfplay.seeding import Stream, derive

MAX_STRATIFIED_PLIES = 8
_ATTEMPTS = 100
_MOST_BYTES = 1 << 23


class Openings(Protocol):
    """Where games begin."""

    def opening(self, seed: int, game: int) -> Position:
        """The position in which this game begins; never one that is over."""

    def distinct(self) -> int | None:
        """How many different openings there are, mirror images apart; None where unknown."""


def parse_openings(text: str, board: Board) -> Openings:
    """Openings from the notation of this module's head."""
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
    """So many random legal plies, the number uniform from `least` to `most`."""

    board: Board
    least: int = 0
    most: int = 0
    sensible: bool = False
    """Whether a win is taken, and else a win of the other side's prevented, where there is one."""

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
        # A game that ends on the way is thrown away whole: what remains is random play that
        # lasts so long. Where hardly any does, the opening is as long as the longest did.
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
        """Random moves, so many or until the game is over."""
        position = Position(self.board)
        while position.ply < plies and not position.is_over:
            moves = position.legal_moves
            if self.sensible:
                moves = position.winning_moves or position.blocking_moves or moves
            position = position.play(stream.choice(moves))
        return position


@dataclass(frozen=True, slots=True)
class Deck:
    """Openings from a list: all are dealt, in an order of the seed's, before any comes again."""

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
    """All positions with so many stones in which the game goes on, mirror images apart."""
    if plies > MAX_STRATIFIED_PLIES:
        raise InputError(
            f"all:{plies} is too many: every position can be dealt out "
            f"up to all:{MAX_STRATIFIED_PLIES}"
        )
    return Deck(_EveryPosition(board, plies))


class _EveryPosition(Sequence[Position]):
    """Listed when one is asked for: a run may only be named."""

    def __init__(self, board: Board, plies: int) -> None:
        self._board, self._plies = board, plies

    @cached_property
    def _listed(self) -> Sequence[Position]:
        return positions_after(self._board, self._plies, canonical=True, unfinished=True)

    def __len__(self) -> int:
        return len(self._listed)

    def __getitem__(self, which: Any) -> Any:
        return self._listed[which]


def read_openings(path: Path, board: Board) -> Deck:
    """The positions of a file, one a line; empty lines and lines that begin with # are skipped."""
    name = quoted(str(path), 200)
    try:
        with path.open("rb") as file:  # it may be a pipe, and need not end
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not a text file"
        raise InputError(f"cannot read openings from {name}: {reason}") from None
    if len(data) > _MOST_BYTES:
        raise InputError(f"{name} is too large: openings take at most {_MOST_BYTES:,} bytes")
    return listed_openings(text, board, name)


def listed_openings(text: str, board: Board, name: str) -> Deck:
    """The positions of a text that is known by this name."""
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


@dataclass(frozen=True, slots=True)
class Coverage:
    """How the openings of a run spread over the positions there are, mirror images apart."""

    games: int
    covered: int
    """Different openings among the games."""
    distinct: int | None
    """How many there are; None where nobody knows."""
    most_repeated: int
    """How many games have the commonest opening."""
    by_ply: dict[int, int]
    """Games by the number of stones in their opening."""


def coverage(openings: Openings, seed: int, games: int) -> Coverage:
    """What the first games of a seed cover."""
    counts: Counter[int] = Counter()
    plies: Counter[int] = Counter()
    for game in range(games):
        position = openings.opening(seed, game)
        counts[position.key(canonical=True)] += 1
        plies[position.ply] += 1
    return Coverage(
        games=games,
        covered=len(counts),
        distinct=openings.distinct(),
        most_repeated=max(counts.values(), default=0),
        by_ply=dict(sorted(plies.items())),
    )
