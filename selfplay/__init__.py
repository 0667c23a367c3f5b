"""Reproducible self-play data for Connect Four, and decision trees trained on it.

The names below are the public interface. Each is imported on first use, so that code that needs
only positions does not wait for compiled searches.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfplay.errors import InputError as InputError
    from selfplay.game.board import Board as Board
    from selfplay.game.coverage import coverage as coverage
    from selfplay.game.match import GameRecord as GameRecord
    from selfplay.game.openings import parse_openings as parse_openings
    from selfplay.game.position import Position as Position
    from selfplay.mcts.player import MctsOptions as MctsOptions
    from selfplay.mcts.player import MctsPlayer as MctsPlayer
    from selfplay.players import Decision as Decision
    from selfplay.players import Player as Player
    from selfplay.registry import PlayerSpec as PlayerSpec
    from selfplay.solver.solver import Solver as Solver
    from selfplay.storage.dataset import Dataset as Dataset
    from selfplay.storage.location import Location as Location
    from selfplay.storage.spec import Spec as Spec
    from selfplay.storage.verify import verify as verify
    from selfplay.train.config import TrainingConfig as TrainingConfig
    from selfplay.train.estimator.classifier import ID3Classifier as ID3Classifier
    from selfplay.train.evaluation.evaluation import evaluate as evaluate
    from selfplay.train.model import Model as Model
    from selfplay.train.trainer import train_model as train_model
    from selfplay.workers.executors.local import LocalExecutor as LocalExecutor
    from selfplay.workers.executors.ray import RayExecutor as RayExecutor
    from selfplay.workers.generation.generate import generate as generate
    from selfplay.workers.generation.plan import plan as plan

_HOMES = {
    "Board": "game.board",
    "Dataset": "storage.dataset",
    "Decision": "players",
    "GameRecord": "game.match",
    "ID3Classifier": "train.estimator.classifier",
    "InputError": "errors",
    "LocalExecutor": "workers.executors.local",
    "Location": "storage.location",
    "MctsOptions": "mcts.player",
    "MctsPlayer": "mcts.player",
    "Model": "train.model",
    "Player": "players",
    "PlayerSpec": "registry",
    "Position": "game.position",
    "RayExecutor": "workers.executors.ray",
    "Solver": "solver.solver",
    "Spec": "storage.spec",
    "TrainingConfig": "train.config",
    "coverage": "game.coverage",
    "evaluate": "train.evaluation.evaluation",
    "generate": "workers.generation.generate",
    "parse_openings": "game.openings",
    "plan": "workers.generation.plan",
    "train_model": "train.trainer",
    "verify": "storage.verify",
}

__all__ = list(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
