"""Which features a tree needs."""

from __future__ import annotations

import numpy as np
import pytest

from selfplay.storage.dataset import Dataset
from selfplay.train.config import TrainingConfig
from selfplay.train.evaluation.evaluation import evaluate
from selfplay.train.evaluation.importances import Judged, importances, wrong_moves
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.model import Model
from selfplay.train.player import TreePlayer
from selfplay.train.trainer import train_model
from selfplay.train.tree.tree import LEAF
from tests import ROOT

TINY = Dataset(str(ROOT / "examples" / "tiny"))


def test_the_features_of_the_example_tree() -> None:
    model, positions = Model.load(str(ROOT / "examples" / "tree")), EvaluationSet.load()[:1000]
    judged = Judged.of_evaluation_set(positions)
    result = evaluate("tree", TreePlayer(model.board, model), positions)
    assert wrong_moves(model, judged) == pytest.approx(result.all.mistake_rate, abs=0.02)
    found = importances(model, judged, repeats=2)
    assert found[0].permutation is not None
    assert found[0].permutation > 0.05
    assert sum(one.gain for one in found) == pytest.approx(1)
    unused = {one.feature for one in found if one.gain == 0}
    tested = np.unique(model.tree.feature[model.tree.feature != LEAF])
    assert len(unused) == len(found) - len(tested)
    assert all(one.permutation == 0 for one in found if one.feature in unused)
    assert importances(model, None)[0].permutation is None


@pytest.mark.parametrize("mirror", ["augment", "canonical"])
def test_rows_that_stay_in_place_change_nothing(
    mirror: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A shuffle that moves nothing gives the mistakes of the model itself."""
    config = TrainingConfig(target="move", mirror=mirror, test=0)  # type: ignore[arg-type]
    model = train_model([TINY], config)[0]
    judged = Judged.of_run(TINY)
    assert not judged.wrong.all(axis=1).any()

    class Still:
        def permutation(self, count: int) -> object:
            return np.arange(count)

    monkeypatch.setattr(np.random, "default_rng", lambda seed: Still())
    assert {one.permutation for one in importances(model, judged)} == {0.0}
