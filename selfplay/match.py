"""One game between two players, and its full record."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from selfplay.players import Decision, Player
from selfplay.position import Position
from selfplay.seeding import derive


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A game that was played to its end."""

    opening: Position
    positions: tuple[Position, ...]
    """Every position somebody decided on, in order."""
    decisions: tuple[Decision, ...]
    """What was decided on each."""
    final: Position

    @property
    def winner(self) -> int | None:
        """1, the first player, 2, or None for a draw."""
        return self.final.winner


def match(
    first: Player,
    second: Player,
    opening: Position,
    seed: int,
    watch: Callable[[Position, Decision], None] | None = None,
) -> GameRecord:
    """Play a game from an opening to its end.

    `first` has the stones of the first player, whoever is to move in the opening. The same
    seed gives the same game, unless a player thinks by the clock. `watch` is told of every
    decision as it falls.
    """
    first.new_game(derive(seed, "first player"))
    if second is not first:
        second.new_game(derive(seed, "second player"))
    position = opening
    positions, decisions = [], []
    while not position.is_over:
        decision = (first, second)[position.to_move - 1].decide(position)
        positions.append(position)
        decisions.append(decision)
        if watch is not None:
            watch(position, decision)
        position = position.play(decision.move)
    return GameRecord(opening, tuple(positions), tuple(decisions), position)
