"""A tree of rows that several workers hold is the tree of one process, whatever befalls them."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import ray

from selfplay.errors import InputError
from selfplay.storage.spec import Spec
from selfplay.train.config import TrainingConfig
from selfplay.train.trainer import train_distributed, train_model
from selfplay.train.tree.branch import Limits
from selfplay.train.tree.distributed import DistributedGrower, Part
from selfplay.train.tree.grower import grow
from selfplay.train.tree.tree import Tree
from selfplay.workers.executors.ray import RayExecutor
from tests.storage.made import make_run
from tests.train.tree.test_grower import random_matrix, same
from tests.workers.executors.test_ray import forgive_ray

LIMITS = Limits(min_samples_leaf=3)


def slices(number: int, of: int) -> Part:
    """Rows that are dealt out in turn."""
    return Part(random_matrix(3000)[slice(number, None, of)], len)


@pytest.fixture(scope="module")
def on_ray() -> Iterator[None]:
    with RayExecutor(3).start():
        yield
    forgive_ray()


@pytest.mark.parametrize(
    ("split", "parts"), [("threshold", 1), ("threshold", 3), ("equals", 2), ("multiway", 2)]
)
def test_it_is_the_tree_of_one_process(on_ray: None, split: Any, parts: int) -> None:
    grower = DistributedGrower(slices, parts)
    tree = grower.grow("entropy", split, LIMITS)
    here = grow(random_matrix(3000), "entropy", split, LIMITS)
    assert same(tree, here)
    assert len(grower.traffic.levels) == tree.depth + 1
    assert set(grower.call("evaluate", tree)) == {len(here)}
    grower.close()


def test_what_travels_does_not_grow_with_the_rows(on_ray: None) -> None:
    grower = DistributedGrower(slices, 2)
    grower.grow("entropy", "threshold", Limits(max_depth=3))
    cells, classes = 9 * 4, 5
    assert grower.traffic.levels[0] == 2 * (12 + 8 * cells * classes)
    grower.close()


def test_workers_that_are_killed_change_nothing(
    on_ray: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    grower = DistributedGrower(slices, 3)
    call, kills = grower.call, iter([2, 3, 5])
    next_kill = [next(kills)]

    def and_kill(method: str, *arguments: Any) -> Iterator[Any]:
        if method == "count" and len(grower.traffic.levels) == next_kill[0]:
            next_kill[0] = next(kills, -1)
            victim = ray.get(grower._actors[next_kill[0] % 3].process.remote())
            found = call(method, *arguments)
            os.kill(victim, signal.SIGKILL)
            return found
        return call(method, *arguments)

    monkeypatch.setattr(grower, "call", and_kill)
    tree: Tree = grower.grow("entropy", "threshold", LIMITS)
    assert grower.traffic.lost >= 2
    assert same(tree, grow(random_matrix(3000), "entropy", "threshold", LIMITS))
    grower.close()


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        ({}, 3),
        ({"features": "static"}, 2),
        ({"target": "move", "max_leaves": 9}, 2),
    ],  # of two shards: one part has none
    ids=str,
)
def test_training_over_workers_gives_the_same_model(
    on_ray: None, tmp_path: Path, options: dict[str, Any], parts: int
) -> None:
    run = make_run(tmp_path / "run", shards=range(2))
    config = TrainingConfig(**options)
    here, report = train_model([run], config)
    model, same_report, _ = train_distributed([run], config, parts)
    assert model.fingerprint == here.fingerprint
    assert same_report.confusion == report.confusion
    assert same_report.test_interval == report.test_interval
    with pytest.raises(InputError, match="for one process"):
        train_distributed([run], TrainingConfig(prune=0.2), 2)
    empty = make_run(tmp_path / "empty", shards=range(0))
    with pytest.raises(InputError, match="no positions"):
        train_distributed([empty], config, 2)
    other = make_run(tmp_path / "other", Spec(games=2, teacher="random", board="8x7"))
    with pytest.raises(InputError, match="one tree plays on one board"):
        train_distributed([run, other], config, 2)
