"""A tournament: every pair of players plays every opening twice, with sides swapped.

A game depends only on the seed, the two players, who moves first, and the opening's number: not
on the other players or the number of workers.
"""

from __future__ import annotations

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
from selfplay.workers.executors.interface import DoItem, Executor
from selfplay.workers.executors.progress import JobProgress

MOST_SECONDS = 1_000_000
MOST_GAMES = 100_000  # per pair

# Enough items to keep many workers evenly busy, few enough to hand out at no cost.
_ITEMS = 1000
_MOST_IN_ITEM = 100


@dataclass(frozen=True, slots=True)
class Fixture:
    """A game's players, opening and seed."""

    game: int
    first: int  # index of the player who moves first
    second: int
    opening: int
    seed: int


@dataclass(frozen=True, slots=True)
class GameResult:
    """The result of a game. Pairs are for the first and the second player."""

    game: int
    winner: int | None  # 1 for the first player, 2, or None for a draw
    plies: int  # stones on the board at the end
    moves: str  # all columns played, including the opening
    decisions: tuple[int, int]  # moves chosen
    seconds: tuple[float, float]  # thinking time
    forfeit: Forfeit | None = None
    rows: Rows | None = None  # the labelled positions, if kept


@dataclass(frozen=True, slots=True)
class Tournament:
    """A job whose items are a few games each."""

    players: tuple[str, ...]  # player specs as the user wrote them
    board: Board
    openings: tuple[Position, ...]
    seed: int
    move_seconds: float | None = None
    keeps_rows: bool = False
    identities: tuple[str, ...] = field(init=False, repr=False)  # player specs with all defaults
    _specs: tuple[PlayerSpec, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        if len(self.players) < 2:
            raise InputError("a tournament needs two players or more")
        specs = tuple(PlayerSpec.parse(player).resolved() for player in self.players)
        full = tuple(spec.full for spec in specs)
        for number, text in enumerate(full):
            if text in full[:number]:
                one, other = self.players[full.index(text)], self.players[number]
                raise InputError(
                    f"{quoted(one)} and {quoted(other)} are the same player: name each once"
                )
        object.__setattr__(self, "identities", full)
        object.__setattr__(self, "_specs", specs)

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
        """A tournament with this number of games per pair."""
        if not 2 <= games <= MOST_GAMES or games % 2:
            raise InputError(
                f"games is an even number from 2 to {MOST_GAMES:,}, not {games:,}: every opening "
                "is played twice, with sides swapped"
            )
        if move_seconds is not None and not 0 < move_seconds <= MOST_SECONDS:
            raise InputError(
                f"move_seconds is above 0 and at most {MOST_SECONDS:,}, not {move_seconds:g}"
            )
        drawn = tuple(_with_moves(openings.opening(seed, number)) for number in range(games // 2))
        return cls(tuple(p.strip() for p in players), board, drawn, seed, move_seconds, keeps_rows)

    @property
    def pairs(self) -> list[tuple[int, int]]:
        return list(combinations(range(len(self.players)), 2))

    @property
    def games(self) -> int:
        return 2 * len(self.pairs) * len(self.openings)

    @property
    def timed_players(self) -> list[str]:
        """Players with a time limit: their games may differ each time."""
        return [p for p, spec in zip(self.players, self._specs, strict=True) if spec.is_timed]

    @property
    def is_repeatable(self) -> bool:
        """Whether the same tournament gives the same games."""
        return self.move_seconds is None and not self.timed_players

    @property
    def items(self) -> range:
        return range(-(-self.games // self._in_item))

    def games_of(self, item: int) -> range:
        """The games of an item; the two of a pair from one opening are in the same item."""
        size = self._in_item
        return range(item * size, min(self.games, (item + 1) * size))

    @property
    def _in_item(self) -> int:
        return 2 * max(1, min(_MOST_IN_ITEM, self.games // 2 // _ITEMS))

    def fixture(self, game: int) -> Fixture:
        """All pairs play an opening before any plays the next."""
        couple, is_swapped = divmod(game, 2)
        pairs = self.pairs
        opening, pair = divmod(couple, len(pairs))
        first, second = reversed(pairs[pair]) if is_swapped else pairs[pair]
        texts = sorted((self.identities[first], self.identities[second]))
        seed = derive(self.seed, "arena", *texts, self.identities[first], opening)
        return Fixture(game, first, second, opening, seed)

    def build(self) -> None:
        """Refuse wrong players before the start, and compile kernels once, before many workers
        need them."""
        for spec in self._specs:
            spec.build(self.board)

    def prepare(self) -> DoItem:
        players = [spec.build(self.board) for spec in self._specs]
        referee = Referee(self.move_seconds)

        def play(game: int) -> GameResult:
            fixture = self.fixture(game)
            sides = fixture.first, fixture.second
            record = match(
                players[sides[0]],
                players[sides[1]],
                self.openings[fixture.opening],
                fixture.seed,
                referee=referee,
            )
            if record.forfeit is not None:  # its state may be broken
                loser = sides[record.forfeit.side - 1]
                players[loser] = self._specs[loser].build(self.board)
            return _result(game, record, self.board if self.keeps_rows else None)

        return lambda item: [play(game) for game in self.games_of(item)]


def _with_moves(position: Position) -> Position:
    """An opening with moves that lead to it, so that game records can begin with them."""
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
        done = record.forfeit is None
        rows = rows_of_game(
            game, board, record.positions, record.decisions, played, record.winner, finished=done
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


@dataclass
class Progress(JobProgress):
    """How much of a tournament has been played."""

    games_total: int
    results: list[GameResult] = field(default_factory=list)

    @property
    def games(self) -> int:
        return len(self.results)

    @property
    def is_complete(self) -> bool:
        return self.games == self.games_total

    @property
    def seconds_left(self) -> float | None:
        """None if unknown."""
        if not self.games:
            return None
        return self.seconds * (self.games_total - self.games) / self.games

    def add(self, receipt: list[GameResult]) -> None:
        self.results += receipt


def play(
    tournament: Tournament, executor: Executor, stop: Callable[[], bool]
) -> Iterator[Progress]:
    """Play all games, in any order; failures are in the progress."""
    return Progress(tournament.games).follow(executor, tournament, tournament.items, stop)
