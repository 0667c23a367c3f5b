"""A tournament: every pair of players plays every opening twice, with sides swapped.

A game follows from the seed, the two players, who is first and the number of the opening alone:
two players play the same games whoever else takes part, and however many workers there are.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.game.match import Forfeit, GameRecord, Referee, match
from selfplay.game.openings import Openings
from selfplay.game.position import FIRST, SECOND, Position
from selfplay.registry import PlayerSpec
from selfplay.seeding import derive
from selfplay.storage.labelling import rows_of_game
from selfplay.storage.rows import Rows
from selfplay.workers.executors.interface import Do, Done, Executor, Failed, WorkerStatus

MOST_SECONDS = 1_000_000
MOST_GAMES = 100_000
"""Of a pair."""

# So many pieces of work keep many workers evenly busy, and cost nothing to hand out.
_ITEMS = 1000
_MOST_IN_ITEM = 100


@dataclass(frozen=True, slots=True)
class Fixture:
    """Who meets whom, and where they begin."""

    game: int
    first: int
    """The number of the player who has the first stones."""
    second: int
    number: int
    """Of the opening."""
    seed: int


@dataclass(frozen=True, slots=True)
class GameResult:
    """What became of a game."""

    game: int
    winner: int | None
    """1, who was first, 2, or None for a draw."""
    plies: int
    """Stones on the board at its end."""
    moves: str
    """The columns played, those of the opening included."""
    decisions: tuple[int, int]
    """How many moves either player chose."""
    seconds: tuple[float, float]
    """How long that took."""
    forfeit: Forfeit | None = None
    rows: Rows | None = None
    """The positions with what was decided on them, where they are kept."""


@dataclass(frozen=True, slots=True)
class Tournament:
    """What is to be played: a job, whose items are a few games each."""

    players: tuple[str, ...]
    """As they were named."""
    board: Board
    openings: tuple[Position, ...]
    """Two games of each pair begin in each."""
    seed: int
    move_seconds: float | None = None
    keeps_rows: bool = False
    _full: tuple[str, ...] = field(init=False, repr=False)
    """What each player is."""
    _complete: tuple[str, ...] = field(init=False, repr=False)
    """The same, and how it is to work: what workers build it from."""

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise InputError("a tournament has two players or more")
        specs = [PlayerSpec.parse(player).resolved() for player in self.players]
        full = tuple(spec.full for spec in specs)
        for number, text in enumerate(full):
            if text in full[:number]:
                one, other = self.players[full.index(text)], self.players[number]
                raise InputError(
                    f"{quoted(one)} and {quoted(other)} are the same player, which cannot be told "
                    "apart in a table: name each once"
                )
        object.__setattr__(self, "_full", full)
        object.__setattr__(self, "_complete", tuple(spec.complete for spec in specs))

    @classmethod
    def of(
        cls,
        players: Sequence[str],
        board: Board,
        openings: Openings,
        games: int,
        seed: int,
        move_seconds: float | None = None,
        *,
        keeps_rows: bool = False,
    ) -> Tournament:
        """With so many games of each pair."""
        if not 2 <= games <= MOST_GAMES or games % 2:
            raise InputError(
                f"games is an even number from 2 to {MOST_GAMES:,}, as every opening is played "
                f"with either side first, not {games:,}"
            )
        if move_seconds is not None and not 0 < move_seconds <= MOST_SECONDS:
            raise InputError(
                f"a move has a time above 0 s, up to {MOST_SECONDS:,} s, not {move_seconds:g}"
            )
        dealt = tuple(_with_moves(openings.opening(seed, number)) for number in range(games // 2))
        return cls(tuple(p.strip() for p in players), board, dealt, seed, move_seconds, keeps_rows)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.players)), 2))

    @property
    def games(self) -> int:
        return 2 * len(self.pairs) * len(self.openings)

    @property
    def identities(self) -> list[str]:
        """What each player is, defaults included."""
        return list(self._full)

    @property
    def timed_players(self) -> list[str]:
        """Those that go by the clock, so that no game need repeat itself."""
        return [player for player in self.players if PlayerSpec.parse(player).is_timed]

    @property
    def is_repeatable(self) -> bool:
        """Whether the same games would be played again."""
        return self.move_seconds is None and not self.timed_players

    @property
    def items(self) -> range:
        return range(-(-self.games // self._in_item))

    def games_of(self, item: int) -> range:
        """The games of an item: both from an opening are always in the same."""
        size = self._in_item
        return range(item * size, min(self.games, (item + 1) * size))

    @property
    def _in_item(self) -> int:
        return 2 * max(1, min(_MOST_IN_ITEM, self.games // 2 // _ITEMS))

    def fixture(self, game: int) -> Fixture:
        """All pairs play an opening before any plays the next."""
        couple, is_swapped = divmod(game, 2)
        pairs = self.pairs
        number, pair = divmod(couple, len(pairs))
        first, second = reversed(pairs[pair]) if is_swapped else pairs[pair]
        texts = sorted((self._full[first], self._full[second]))
        seed = derive(self.seed, "arena", *texts, self._full[first], number)
        return Fixture(game, first, second, number, seed)

    def build(self) -> None:
        """Refuse what cannot play, before anything starts; and compile what has to be, once,
        before many workers need it."""
        for player in self._complete:
            PlayerSpec.parse(player).build(self.board)

    def prepare(self) -> Do:
        specs = [PlayerSpec.parse(player) for player in self._complete]
        players = [spec.build(self.board) for spec in specs]
        referee = Referee(self.move_seconds)

        def play(game: int) -> GameResult:
            fixture = self.fixture(game)
            sides = fixture.first, fixture.second
            record = match(
                players[sides[0]],
                players[sides[1]],
                self.openings[fixture.number],
                fixture.seed,
                referee=referee,
            )
            if record.forfeit is not None:  # who knows what state it is in
                loser = sides[record.forfeit.side - 1]
                players[loser] = specs[loser].build(self.board)
            return _result(game, record, self.board if self.keeps_rows else None)

        return lambda item: [play(game) for game in self.games_of(item)]


def _with_moves(position: Position) -> Position:
    """An opening with moves that lead to it, so that its games can be told by theirs."""
    if position.moves is not None or position.notation is None:
        return position
    return Position.parse(position.notation, position.board)


def _result(game: int, record: GameRecord, board: Board | None) -> GameResult:
    seconds = {FIRST: 0.0, SECOND: 0.0}
    decisions = {FIRST: 0, SECOND: 0}
    for position, taken in zip(record.positions, record.seconds, strict=True):
        seconds[position.to_move] += taken
        decisions[position.to_move] += 1
    rows = None
    if board is not None and record.positions:
        played = [decision.move for decision in record.decisions]
        finished = record.forfeit is None
        rows = rows_of_game(
            game,
            board,
            record.positions,
            record.decisions,
            played,
            record.winner,
            finished=finished,
        )
    return GameResult(
        game,
        record.winner,
        record.final.ply,
        record.final.notation or "",
        (decisions[FIRST], decisions[SECOND]),
        (seconds[FIRST], seconds[SECOND]),
        record.forfeit,
        rows,
    )


@dataclass(slots=True)
class Progress:
    """How far a tournament is."""

    games_total: int
    results: list[GameResult] = field(default_factory=list)
    failed: list[Failed] = field(default_factory=list)
    workers: int = 0
    began: float | None = None
    """When the first worker was ready, by the monotonic clock."""
    seconds: float = 0.0
    """Since then."""

    @property
    def games(self) -> int:
        return len(self.results)

    @property
    def is_complete(self) -> bool:
        return self.games == self.games_total

    @property
    def seconds_left(self) -> float | None:
        """None while nobody knows."""
        if not self.games:
            return None
        return self.seconds * (self.games_total - self.games) / self.games

    def take(self, event: Done | Failed | WorkerStatus) -> None:
        match event:
            case WorkerStatus():
                self.workers = event.ready
                if event.ready and self.began is None:
                    self.began = time.monotonic()
            case Failed():
                self.failed.append(event)
            case Done():
                self.results.extend(event.receipt)
        if self.began is not None:
            self.seconds = time.monotonic() - self.began


def play(
    tournament: Tournament, executor: Executor, stop: Callable[[], bool]
) -> Iterator[Progress]:
    """Play all games, in any order, and tell how far it is."""
    progress = Progress(tournament.games)

    def enough() -> bool:
        return stop() or any(failure.is_common for failure in progress.failed)

    for event in executor.run(tournament, tournament.items, enough):
        progress.take(event)
        yield progress
