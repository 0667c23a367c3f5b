"""In ONNX a tree says what it says here."""

import json
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.storage.dataset import Dataset
from selfplay.train.config import TrainingConfig
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.model import Model
from selfplay.train.trainer import train_model
from selfplay.train.tree.onnx_export import as_onnx
from tests import ROOT

TINY = str(ROOT / "examples" / "tiny")
COUNT = 2_000


@pytest.fixture(scope="module")
def positions() -> tuple[Any, Any]:
    openings = RandomPlies(Board(), 0, 36)
    found = [openings.opening(0, number) for number in range(COUNT)]
    return (
        np.array([position.own for position in found], np.uint64),
        np.array([position.mask for position in found], np.uint64),
    )


def codes_of(features: FeatureSet, own: Any, mask: Any) -> Any:
    if not features.by_move:
        return features.encode(own, mask)[:, 0]
    board = features.board
    tops = np.array([1 << (c * board.stride + board.rows - 1) for c in range(7)], np.uint64)
    open_column = ((mask[:, None] & tops) == 0).argmax(axis=1)
    return features.encode(own, mask)[np.arange(len(own)), open_column]


@pytest.mark.parametrize(
    "config",
    [
        TrainingConfig(),
        TrainingConfig(target="move"),
        TrainingConfig(target="move", features="cells", split="equals"),
        TrainingConfig(smoothing=30),
    ],
    ids=["candidate", "threshold", "equals", "smoothed"],
)
def test_onnxruntime_says_the_same(config: TrainingConfig, positions: tuple[Any, Any]) -> None:
    model = train_model([Dataset(TINY)], config)[0]
    codes = codes_of(model.features, *positions)
    data = as_onnx(model)
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    classes, shares = session.run(None, {"features": codes.astype(np.float32)})
    expected = model.shares[model.tree.leaf_of(codes)]
    assert len(shares) == COUNT
    np.testing.assert_allclose(shares, expected, atol=1e-6)
    # Where two classes are level, either may be named.
    named = expected[np.arange(COUNT), classes]
    assert np.allclose(named, expected.max(axis=1))
    facts = {entry.key: entry.value for entry in onnx.load_from_string(data).metadata_props}
    assert facts["fingerprint"] == model.fingerprint
    scales = json.loads(facts["feature_scales"])
    assert [scale["values"] for scale in scales] == model.features.widths.tolist()
    assert all(scale["meaning"] for scale in scales)


def test_a_node_with_many_sides_is_refused() -> None:
    model: Model = train_model([Dataset(TINY)], TrainingConfig(target="move", split="multiway"))[0]
    with pytest.raises(InputError, match="two sides"):
        as_onnx(model)
