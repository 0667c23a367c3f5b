"""The warm-up, and what a tree looks like on paper."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from selfplay.errors import InputError
from selfplay.train.estimator.encoding import equal_frequency
from selfplay.train.estimator.iris import MEASURES, flowers, warm_up
from selfplay.train.tree.exports import Wording, as_dot, as_svg, as_text


def test_trees_know_nine_of_ten_flowers() -> None:
    found = warm_up(splits=100)
    assert len(found.accuracies) == 100
    assert found.mean >= 0.9
    assert 0 < found.std < 0.1
    assert warm_up(splits=3, seed=1).accuracies != warm_up(splits=3, seed=2).accuracies


def test_parts_hold_equally_many() -> None:
    table = equal_frequency(flowers(), MEASURES, 3)
    for measure in MEASURES:
        sizes = table[measure].value_counts()
        assert set(sizes.index) == {"low", "mid", "high"}
        assert sizes.min() > 30
    numbers = pd.DataFrame({"x": np.arange(10), "y": [1] * 10})
    five = equal_frequency(numbers, ["x"], 5)
    assert five["x"].tolist() == [f"{k // 2 + 1} of 5" for k in range(10)]
    assert numbers["x"].tolist() == list(range(10))
    assert equal_frequency(numbers, ["y"], 3)["y"].nunique() == 1
    with pytest.raises(InputError, match="no column 'z'"):
        equal_frequency(numbers, ["z"])
    with pytest.raises(InputError, match="from 2 up"):
        equal_frequency(numbers, ["x"], 1)


def test_a_tree_can_be_read() -> None:
    model = warm_up(splits=1).model
    tree, wording = model.tree_, Wording.of(model)
    lines = as_text(tree, wording).splitlines()
    assert sum(": " in line for line in lines) == tree.leaves
    assert lines[0] == "petal length is high"
    assert "petal length is low: setosa (40)" in lines
    assert as_text(tree, wording, depth=1).count("\n") == 2
    assert as_text(tree, wording, depth=0).startswith("… ")
    dot = as_dot(tree, wording)
    assert dot.count("->") == int(tree.filled.sum()) - 1
    picture = ET.fromstring(as_svg(tree, wording))
    texts = [element.text for element in picture.iter() if element.tag.endswith("text")]
    assert "setosa (40)" in texts
    assert "petal length is low" in texts
    # Bars are as long as their rows: those of the children together as that of the root.
    groups = [element for element in picture if element.tag.endswith("}g")]
    lengths = [sum(float(part.get("width") or 0) for part in group) for group in groups]
    assert sum(lengths[1:4]) == pytest.approx(lengths[0], abs=0.1)
    assert len({part.get("fill") for part in groups[0] if part.get("fill")}) == 3
