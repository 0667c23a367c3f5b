"""The game of Connect Four on any board, and everyone who can choose a move.

The names below are the public interface. They are imported when they are first used, so that
whoever needs a position alone does not wait for compiled searches.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfplay.board import Board as Board
    from selfplay.errors import InputError as InputError
    from selfplay.match import GameRecord as GameRecord
    from selfplay.mcts import MctsOptions as MctsOptions
    from selfplay.mcts import MctsPlayer as MctsPlayer
    from selfplay.openings import coverage as coverage
    from selfplay.openings import parse_openings as parse_openings
    from selfplay.players import Decision as Decision
    from selfplay.players import Player as Player
    from selfplay.position import Position as Position
    from selfplay.solver import Solver as Solver
    from selfplay.specs import PlayerSpec as PlayerSpec

_HOMES = {
    "Board": "board",
    "Decision": "players",
    "GameRecord": "match",
    "InputError": "errors",
    "MctsOptions": "mcts",
    "MctsPlayer": "mcts",
    "Player": "players",
    "PlayerSpec": "specs",
    "Position": "position",
    "Solver": "solver",
    "coverage": "openings",
    "parse_openings": "openings",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
