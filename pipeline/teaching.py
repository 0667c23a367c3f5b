"""Teaching a tree: the positions of a walk in which it erred, each with a move that keeps the
value."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from selfplay.errors import InputError
from selfplay.registry import PlayerSpec
from selfplay.train.model import Model
from selfplay.train.taught import TaughtMoves
from selfplay.workers.proof.files import levels_of
from selfplay.workers.proof.positions import stones_of
from selfplay.workers.proof.walk import Proof


def check_can_be_taught(player: str) -> None:
    """Refuse players that are no trees."""
    if PlayerSpec.parse(player).name != "tree":
        raise InputError(f"only a tree can be taught, such as tree:MODEL, not {player}")


def taught_model(proof: Proof, walk: Path) -> Model:
    """The tree of a proof that teaches, with the moves of its finished levels."""
    options = PlayerSpec.parse(proof.player).options
    model = Model.load(options.model)
    mistakes = np.concatenate([level.mistakes() for level in levels_of(walk)])
    own, mask = stones_of(proof.board, mistakes["key"])
    taught = TaughtMoves.of(proof.board, own, mask, mistakes["taught"])
    return replace(model, taught=model.taught.with_more(taught) if model.taught else taught)
