"""Which positions of a test a model was trained on."""

from __future__ import annotations

import numpy as np

from selfplay.errors import InputError
from selfplay.game.enumeration import canonical_keys
from selfplay.storage.dataset import Dataset
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.model import Model


def in_training_runs(model: Model, positions: EvaluationSet) -> int | None:
    """How many of these positions, or their mirror images, stand in the model's runs; None unless
    all runs are on this machine as they were."""
    board = model.board
    keys = positions.keys
    is_found = np.zeros(len(keys), np.bool_)
    try:
        for run in model.provenance["runs"]:
            if "://" in run["run"]:
                return None
            dataset = Dataset(run["run"])
            if dataset.fingerprint != run["fingerprint"]:
                return None
            for _, rows in dataset.rows():
                is_found |= np.isin(keys, canonical_keys(board, *rows.stones(board)))
    except (InputError, KeyError, TypeError, OSError):
        return None
    return int(is_found.sum())
