"""The page of a model: it says what the commands say, and its nodes are the tree's."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.train.evaluation import positions
from selfplay.train.evaluation.positions import EvaluationSet, bundled
from selfplay.train.evaluation.reached import Reached
from selfplay.train.model import Model
from selfplay.train.weights import heaviest
from selfplay.web import model_pages
from selfplay.web.answers import ANSWERS
from selfplay.web.app import Answering, create_app
from selfplay.web.opened import Opened
from tests import ROOT
from tests.cli.command import json_lines, run

HOST = "127.0.0.1:8765"
SAME = {"sec-fetch-site": "same-origin"}


@pytest.fixture(scope="module")
def models(tree: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A tree that rates moves, and one that sees the cells of a position and names a move."""
    folder = tmp_path_factory.mktemp("models")
    options = ("--features", "cells", "--target", "move")
    done = run("train", "examples/tiny", *options, "--out", str(folder / "cells"), cwd=ROOT)
    assert done.returncode == 0, done.stderr
    return {"small": tree, "cells": str(folder / "cells")}


def ask(models: Mapping[str, str], what: str, **question: Any) -> dict[str, Any]:
    asked, _, answer = ANSWERS[what]
    record: dict[str, Any] = json.loads(json.dumps(answer(asked.of(question), models)))
    return record


@pytest.mark.parametrize("name", ["small", "cells"])
@pytest.mark.parametrize("moves", ["4", "44352", "4435255"])
def test_a_position_walks_to_the_leaf_that_explain_names(
    models: dict[str, str], name: str, moves: str
) -> None:
    (said,) = json_lines(run("explain", models[name], moves, "--json").stdout)
    found = ask(models, "walk", name=name, moves=moves)
    assert found["explanation"] == said
    leaf = found["nodes"][said["move"]]
    assert leaf == found["node"]
    node = ask(models, "node", name=name, node=leaf)
    assert node["path"][0] == 0
    assert node["path"][-1] == leaf
    assert list(node["conditions"]) == said["path"]
    assert {one["class"]: one["rows"] for one in node["classes"]} == said["leaf"]
    for above, below, level in zip(node["path"], node["path"][1:], node["levels"], strict=False):
        assert below in [child["node"] for child in level], above


def nodes_below(models: dict[str, str], name: str, node: int = 0) -> Iterator[dict[str, Any]]:
    """Every node with its children, as the page gets them by opening one after the other."""
    children = ask(models, "node", name=name, node=node)["levels"][-1]
    yield {"node": node, "children": children}
    for child in children:
        yield from nodes_below(models, name, child["node"])


@pytest.mark.parametrize("name", ["small", "cells"])
def test_children_add_up(models: dict[str, str], name: str) -> None:
    what = ask(models, "model", name=name)
    records = {0: what["root"]}
    for one in nodes_below(models, name):
        records |= {child["node"]: child for child in one["children"]}
        if one["children"]:
            for sum_of in ("rows", "leaves"):
                total = sum(child[sum_of] for child in one["children"])
                assert total == records[one["node"]][sum_of]
    leaves = [record for record in records.values() if record["splits_by"] is None]
    assert len(leaves) == what["leaves"] == what["root"]["leaves"]
    assert Model.load(models[name]).fingerprint == what["fingerprint"]
    assert what["runs"][0]["positions"] == 339


@pytest.mark.parametrize("name", ["small", "cells"])
def test_examples_fall_into_their_node(models: dict[str, str], name: str) -> None:
    whole = ask(models, "examples", name=name)
    assert whole["moves"] == whole["of"]
    children = ask(models, "node", name=name)["levels"][-1]
    parts = [ask(models, "examples", name=name, node=child["node"]) for child in children]
    assert sum(part["moves"] for part in parts) <= whole["moves"]  # some may end at the root
    biggest = max(parts, key=lambda part: part["moves"])
    later = ask(models, "examples", name=name, node=biggest["node"], start=model_pages.EXAMPLES)
    examples = biggest["examples"] + later["examples"]
    assert len({(one["moves"], one["column"]) for one in examples}) == 2 * model_pages.EXAMPLES
    for one in examples:
        walked = ask(models, "walk", name=name, moves=one["moves"])
        assert walked["cells"] == one["cells"]
        reached = ask(models, "node", name=name, node=walked["nodes"][one["column"]])
        assert biggest["node"] in reached["path"]
        assert one["is_played"] == (walked["explanation"]["move"] == one["column"])


@pytest.fixture
def few_positions(monkeypatch: pytest.MonkeyPatch) -> Iterator[EvaluationSet]:
    """A part of the evaluation set, for the pages and for the commands."""
    whole = bundled(Board())
    assert whole is not None
    few = whole[:500]
    monkeypatch.setattr(positions, "bundled", lambda board: few)
    monkeypatch.setattr(heaviest, "_POSITIONS", 100)
    model_pages._reached.cache_clear()
    yield few.development
    model_pages._reached.cache_clear()


def test_what_matters_is_what_the_commands_print(
    models: dict[str, str], few_positions: EvaluationSet
) -> None:
    tree = models["small"]
    found = ask(models, "importances", name="small")["features"]
    assert found == json_lines(run("explain", tree, "--importances", "--json").stdout)
    weights = ask(models, "weights", name="small")
    printed = json_lines(run("explain", tree, "--weights", "--json").stdout)
    patterns = [{**one, "name": ""} for one in weights["patterns"]]
    assert [*weights["features"], *patterns] == [
        one if "name" in one else {**one, "name": ""} for one in printed
    ]
    (said,) = json_lines(run("evaluate", f"tree:{tree}", "--json").stdout)
    mistakes = ask(models, "mistakes", name="small")
    assert mistakes["mistakes"] == said["mistakes"]
    assert mistakes["mean_regret"] == said["mean_regret"]
    rates = {phase: one["mistake_rate"] for phase, one in mistakes["by_phase"].items()}
    assert isinstance(said["by_phase"], dict)
    assert rates == {phase: one["mistake_rate"] for phase, one in said["by_phase"].items()}
    worst = mistakes["leaves"][0]
    assert worst["lost"] >= mistakes["leaves"][-1]["lost"] > 0
    assert all(one["lost"] and one["is_played"] for one in worst["examples"])
    model = Model.load(tree)
    leaves = Reached(model, few_positions).costliest(len(model.tree))
    assert sum(leaf.mistakes for leaf in leaves) == said["mistakes"]
    lost = sum(leaf.lost for leaf in leaves)
    assert lost == pytest.approx(mistakes["mean_regret"] * mistakes["positions"])


def test_without_an_evaluation_set_it_says_so(
    models: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_pages, "_evaluation_set", lambda model: None)
    model_pages._reached.cache_clear()
    assert ask(models, "model", name="small")["evaluation_positions"] is None
    with pytest.raises(InputError, match="no bundled evaluation set for 7x6"):
        ask(models, "examples", name="small")


@pytest.fixture(scope="module")
def client(models: dict[str, str]) -> Iterator[TestClient]:
    gone = {"gone": str(Path(models["small"]).parent / "secret" / "gone")}
    with TestClient(
        create_app(Answering(Opened(models | gone))), f"http://{HOST}", headers=SAME
    ) as client:
        yield client


@pytest.mark.parametrize(
    ("what", "question"),
    [
        ("node", {"node": -1}),
        ("node", {"node": 10**30}),
        ("node", {"node": "0"}),
        ("node", {"node": True}),
        ("node", {"node": 1.5}),
        ("node", {"node": [0]}),
        ("node", {"name": "/etc/passwd"}),
        ("node", {"name": "mcts:100"}),
        ("node", {"name": "gone"}),
        ("node", {"path": "/etc/passwd"}),
        ("model", {"name": "tree:/etc/passwd"}),
        ("examples", {"name": "small", "start": -1}),
        ("walk", {"name": "small", "moves": "8"}),
        ("walk", {"name": "small", "moves": "1122334"}),
        ("walk", {"name": "small", "moves": 4}),
        ("weights", {"name": "cells"}),
        ("mistakes", {"name": ""}),
    ],
    ids=str,
)
def test_a_question_out_of_bounds_is_refused(
    client: TestClient, what: str, question: dict[str, Any]
) -> None:
    answer = client.post(f"/api/{what}", json={"name": "small", **question})
    assert answer.status_code == 400, answer.text
    assert set(answer.json()) == {"error"}
    assert "\\n" not in answer.text
    assert "secret" not in answer.text
    assert len(answer.text) < 400


def test_the_pages_are_there(client: TestClient) -> None:
    for page in ("/model?name=small", "/tournament"):
        answer = client.get(page)
        assert answer.status_code == 200
        assert answer.headers["content-security-policy"].startswith("default-src 'self'")
    assert client.get("/api/node").status_code == 405
    foreign = client.post("/api/node", json={}, headers={"sec-fetch-site": "cross-site"})
    assert foreign.status_code == 403
