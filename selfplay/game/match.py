"""Play one game between two players, and record it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from time import perf_counter

from selfplay.errors import InputError, PlayerError
from selfplay.game.position import FIRST, SECOND, Position
from selfplay.players import Decision, Player
from selfplay.seeding import derive
from selfplay.timeout import TimeUpError, within

_MAX_REASON = 200


@dataclass(frozen=True, slots=True)
class Forfeit:
    """A player failed or timed out, and so lost."""

    side: int
    """1, the first player, or 2."""
    reason: str


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A finished or forfeited game."""

    opening: Position
    positions: tuple[Position, ...]
    """Every position in which a player decided, in order."""
    decisions: tuple[Decision, ...]
    """The decision in each."""
    final: Position
    seconds: tuple[float, ...] = ()
    """The time each decision took."""
    forfeit: Forfeit | None = None

    @property
    def winner(self) -> int | None:
        """1, the first player, 2, or None for a draw."""
        if self.forfeit is not None:
            return FIRST + SECOND - self.forfeit.side
        return self.final.winner


@dataclass(frozen=True, slots=True)
class Referee:
    """Turns errors, illegal moves and timeouts of a player into forfeits."""

    move_seconds: float | None = None
    """The time limit per move."""

    def reason(self, error: BaseException) -> str:
        """The reason of a forfeit, in one line."""
        if isinstance(error, TimeUpError):
            return f"a move took longer than {self.move_seconds:g} s"
        known = isinstance(error, (InputError, PlayerError))
        line = " ".join((str(error) if known else f"{type(error).__name__}: {error}").split())
        return line if len(line) <= _MAX_REASON else f"{line[:_MAX_REASON]}…"


def match(
    first: Player,
    second: Player,
    opening: Position,
    seed: int,
    watch: Callable[[Position, Decision], None] | None = None,
    referee: Referee | None = None,
) -> GameRecord:
    """Play a game from an opening to its end.

    `first` plays the first player's stones, even if the second is to move in the opening. The same
    seed gives the same game, unless a player has a time limit. `watch` is called after every
    decision. Without a `referee`, a player's errors are raised.
    """
    players = (first, second)
    limit = None if referee is None else referee.move_seconds
    position = opening
    positions, decisions, seconds = [], [], []
    forfeit = None
    side = FIRST
    try:
        first.new_game(derive(seed, "first player"))
        if second is not first:
            side = SECOND
            second.new_game(derive(seed, "second player"))
    except Exception as error:
        forfeit = _forfeit(referee, side, error)
    while forfeit is None and not position.is_over:
        side = position.to_move
        start = perf_counter()
        try:
            decision = within(limit, partial(players[side - 1].decide, position))
            taken = perf_counter() - start
            after = position.play(decision.move)
        except (Exception, TimeUpError) as error:
            forfeit = _forfeit(referee, side, error)
            break
        positions.append(position)
        decisions.append(decision)
        seconds.append(taken)
        if watch is not None:
            watch(position, decision)
        position = after
    return GameRecord(
        opening, tuple(positions), tuple(decisions), position, tuple(seconds), forfeit
    )


def _forfeit(referee: Referee | None, side: int, error: BaseException) -> Forfeit:
    if referee is None:
        raise error
    return Forfeit(side, referee.reason(error))
