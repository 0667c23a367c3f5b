"""What a notebook shows of an object."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import pytest

from selfplay import (
    Board,
    Dataset,
    Decision,
    MctsPlayer,
    Model,
    Position,
    TrainingConfig,
    train_model,
)
from selfplay.train.player import TreePlayer
from tests import ROOT

SAMPLE = ROOT / "examples" / "sample"


@pytest.mark.parametrize(
    "position",
    [
        Position(),
        Position.parse("44352"),
        Position.parse("1,12", Board(12, 9)),
        Position.from_cells([0] * 41 + [1]),
    ],
)
def test_a_position_is_shown_as_what_makes_it(position: Position) -> None:
    assert eval(repr(position)) == position
    assert eval(repr(position)).moves == position.moves


def test_a_board_is_drawn() -> None:
    html = Position.parse("4433225")._repr_html_()
    picture = ET.fromstring(re.sub("<div>.*", "", html))
    discs = [element for element in picture if element.tag.endswith("circle")]
    assert len(discs) == 43  # every cell, and the mark of the last move
    assert sum("stroke" in disc.attrib for disc in discs) == 4
    assert html.endswith("<div>4433225 red has won</div>")
    assert Position.parse("4")._repr_html_().endswith("4 yellow to move</div>")


def test_objects_are_short_in_a_shell_and_tables_in_a_notebook() -> None:
    position, model = Position.parse("44352"), Model.load(str(ROOT / "examples" / "tree"))
    run = Dataset(str(SAMPLE))
    report = train_model([Dataset(str(ROOT / "examples" / "tiny"))], TrainingConfig())[1]
    leaves = model.tree.leaves
    by_tree = TreePlayer(Board(), model).decide(position)
    for thing, text, shown in (
        (by_tree, "Decision(move=0, rating=(", "<tr><th>1</th><th>"),
        (MctsPlayer(Board()).decide(position), "value=(", "<th>visits</th>"),
        (Decision(move=2), "Decision(move=2)", "column 3"),
        (
            model,
            f"{leaves:,} leaves, fingerprint {model.fingerprint}",
            "<td>threshold</td>",
        ),
        (run, f"Dataset('{SAMPLE}')", "<td>3,283</td>"),
        (report, f"<TrainingReport: 339 positions, {report.leaves:,} leaves", "<th>teacher</th>"),
    ):
        assert text in repr(thing)
        assert len(repr(thing)) < 250
        assert shown in thing._repr_html_()  # type: ignore[attr-defined]
    assert len(repr(by_tree.why)) < 400
