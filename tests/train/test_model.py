"""A model is one file that cannot do any harm, and plays the same wherever it is read."""

from __future__ import annotations

import json
import pickle
import random
import struct
import subprocess
import sys
import zlib
from dataclasses import replace
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.registry import PlayerSpec
from selfplay.storage.dataset import Dataset
from selfplay.train.config import TrainingConfig
from selfplay.train.explanation.path import wording_of
from selfplay.train.model import Model, ready_to_write
from selfplay.train.player import TreePlayer
from selfplay.train.trainer import train_model
from selfplay.train.training_set import training_set_of
from selfplay.train.tree.exports import conclusion
from selfplay.train.tree.tree import LEAF
from tests import ROOT
from tests.object_store import Store
from tests.storage.made import make_run

TINY = str(ROOT / "examples" / "tiny")
CONFIGS = {
    "candidate": TrainingConfig(),
    "static": TrainingConfig(features="static"),
    "canonical": TrainingConfig(mirror="canonical"),
    "position": TrainingConfig(target="move", mirror="canonical"),
    "cells": TrainingConfig(target="move", features="cells", perspective="absolute", mirror="off"),
    "multiway": TrainingConfig(target="move", features="cells", split="multiway"),
    "equals": TrainingConfig(target="move", features="cells", split="equals"),
    "smoothed": TrainingConfig(smoothing=30, min_samples_leaf=3),
    "pruned": TrainingConfig(prune=0.3, max_leaves=12),
}


@pytest.fixture(scope="module")
def models() -> dict[str, Model]:
    return {name: train_model([Dataset(TINY)], config)[0] for name, config in CONFIGS.items()}


def some_positions() -> tuple[Any, Any]:
    rows = next(Dataset(TINY).rows())[1]
    return rows.stones(Board())


@pytest.mark.parametrize("name", CONFIGS)
def test_what_is_read_is_what_was_written(name: str, models: dict[str, Model]) -> None:
    model = models[name]
    again = Model.from_bytes(model.to_bytes())
    assert again.fingerprint == model.fingerprint
    assert again.provenance == model.provenance
    assert again.tree.smoothing == model.tree.smoothing
    for found, weights in zip(
        again.features.known_weights, model.features.known_weights, strict=True
    ):
        assert np.array_equal(found, weights)
        assert found.dtype == weights.dtype
    for field in ("feature", "value", "child", "counts"):
        assert np.array_equal(getattr(again.tree, field), getattr(model.tree, field))
    assert np.array_equal(again.scores(*some_positions()), model.scores(*some_positions()))


@pytest.mark.parametrize("name", ["candidate", "static"])
def test_a_move_is_played_from_the_leaf_that_training_put_it_in(
    name: str, models: dict[str, Model]
) -> None:
    model, (own, mask) = models[name], some_positions()
    codes = model.features.encode(own, mask)
    # The largest code of points is among them; it is no code of an unseen value.
    assert (codes == model.features.widths - 1)[:, :, model.features.widths == 255].any()
    scores, nodes = model.predict(own, mask)
    legal = scores >= 0
    assert np.array_equal(nodes[legal], model.tree.leaf_of(codes[legal]))


def test_a_leaf_says_no_more_than_its_rows_and_those_above(models: dict[str, Model]) -> None:
    model = models["smoothed"]
    tree, shares = model.tree, model.tree.shares
    assert tree.smoothing == 30
    for node in (1, 2, len(tree) // 2, len(tree) - 1):
        above, counts = shares[tree.parent[node]], tree.counts[node]
        assert shares[node] == pytest.approx((counts + 30 * above) / (counts.sum() + 30))
    assert shares[0] == pytest.approx(tree.counts[0] / tree.counts[0].sum())
    assert np.array_equal(model.shares, shares.astype(np.float32))
    # What has no rows is as what is above it.
    sparse = models["multiway"].tree
    empty = np.flatnonzero(~sparse.filled)
    filled_up = replace(sparse, smoothing=5.0).shares
    assert len(empty)
    assert np.allclose(filled_up[empty], filled_up[sparse.parent[empty]])


def test_what_is_told_of_a_tree_is_what_it_plays_by(models: dict[str, Model]) -> None:
    model = models["smoothed"]
    tree, wording = model.tree, wording_of(model)
    leaves = np.flatnonzero(tree.feature == LEAF)
    shares = model.shares[leaves]
    assert np.array_equal(tree.majority[leaves], shares.argmax(axis=1))
    # In few rows the commonest is not what is likeliest.
    other = leaves[tree.counts[leaves].argmax(axis=1) != shares.argmax(axis=1)]
    assert len(other)
    best = int(tree.majority[other[0]])
    told = conclusion(tree, int(other[0]), wording)
    assert told.startswith(f"{wording.classes[best]}, {tree.shares[other[0], best]:.0%} (")


def test_the_same_rows_give_the_same_model(models: dict[str, Model]) -> None:
    for threads in (1, 3):
        again, _ = train_model([Dataset(TINY)], CONFIGS["candidate"], threads=threads)
        assert again.fingerprint == models["candidate"].fingerprint
    assert len({model.fingerprint for model in models.values()}) == len(models)


@pytest.mark.parametrize("name", ["candidate", "canonical", "static", "position"])
def test_mirror_images_are_played_alike(name: str, models: dict[str, Model]) -> None:
    model = models[name]
    for text in ("4435", "11223", "2233"):
        position = Position.parse(text)
        image = Position.parse("".join(str(8 - int(column)) for column in text))
        scores = model.scores(*as_arrays(position))[0]
        turned = model.scores(*as_arrays(image))[0][::-1]
        assert np.array_equal(scores, turned)


def as_arrays(position: Position) -> tuple[Any, Any]:
    return np.array([position.own], np.uint64), np.array([position.mask], np.uint64)


def refused(data: bytes) -> str:
    with pytest.raises(InputError) as caught:
        Model.from_bytes(data)
    return str(caught.value)


def parts_of(data: bytes) -> list[bytes]:
    """The header, the weights and the nodes of a file, as they are in it."""
    found, rest = [], data[16:-16]
    while rest:
        (length,) = struct.unpack("<I", rest[:4])
        found.append(rest[4 : 4 + length])
        rest = rest[4 + length :]
    return found


file_of = cache(Model.to_bytes)  # compressing takes longer than all else


def forged(
    model: Model, body: bytes | None = None, weights: bytes | None = None, **changes: Any
) -> bytes:
    """A file whose checksum is right, and whose content is not."""
    data = file_of(model)
    header, *packed = parts_of(data)
    parts = [json.dumps({**json.loads(header), **changes}).encode()]
    for old, new in zip(packed, (weights, body), strict=True):
        parts.append(old if new is None else zlib.compress(new))
    content = data[:16] + b"".join(struct.pack("<I", len(part)) + part for part in parts)
    return content + blake2b(content, digest_size=16).digest()


def test_no_damage_goes_unnoticed(models: dict[str, Model]) -> None:
    data, chance = models["candidate"].to_bytes(), random.Random(1)
    for _ in range(1000):
        at = chance.randrange(len(data))
        refused(data[:at] + bytes([data[at] ^ (1 << chance.randrange(8))]) + data[at + 1 :])
        refused(data[:at])
    assert refused(pickle.dumps({"tree": 1})) == "it does not start with the magic line"
    assert refused(b"") == "it does not start with the magic line"


def test_no_lie_does_any_harm(models: dict[str, Model]) -> None:
    model = models["candidate"]
    body, chance = model._body(), random.Random(2)
    assert "out of range" in refused(forged(model, nodes=10**9, leaves=10**9))
    assert "nodes are not as many" in refused(forged(model, bytes(200_000_000)))
    assert "nodes are not as many" in refused(forged(model, body + b"x"))
    assert "features are of version 99" in refused(forged(model, features_version=99))
    assert "do not go together" in refused(forged(model, target="move"))
    assert "target is one of" in refused(forged(model, target=[[[[]]]]))
    for name, value in [
        ("board", "99x99"), ("board", None), ("classes", 0), ("classes", "x"), ("nodes", -1),
        ("nodes", float("nan")), ("leaves", {}), ("split", "x"), ("features", "cells"),
        ("parameters", 3), ("provenance", None), ("connect", 10**30),
        ("smoothing", float("nan")), ("smoothing", -1.0), ("smoothing", 1e9), ("smoothing", "400"),
        ("smoothing", True), ("smoothing", None),
    ]:  # fmt: skip
        assert len(refused(forged(model, **{name: value}))) < 300
    broken = 0
    own, mask = (bits[:8] for bits in some_positions())
    for _ in range(300):
        # Nodes that ask anything, in any order: refused, or else a tree that gives answers.
        at = chance.randrange(len(body))
        other = body[:at] + bytes([chance.randrange(256)]) + body[at + 1 :]
        try:
            found = Model.from_bytes(forged(model, other))
        except InputError:
            broken += 1
        else:
            found.scores(own, mask)
    assert broken > 20


def test_weights_that_are_too_few_or_too_many_are_refused(models: dict[str, Model]) -> None:
    for name, model in models.items():
        weights = model._weight_bytes()
        assert bool(weights) == (name in ("candidate", "canonical", "static", "smoothed", "pruned"))
        for wrong in (weights[:-2], weights[:-1], weights + b"x", weights + bytes(2), b""):
            if wrong != weights:
                told = refused(forged(model, weights=wrong))
                assert told == "its weights are not as many as its features"
    weights = models["static"]._weight_bytes()
    assert "weights are not as many" in refused(forged(models["candidate"], weights=weights))
    assert "weights are not as many" in refused(forged(models["static"], connect=5))


def test_any_weights_give_scores(models: dict[str, Model]) -> None:
    """As many as there should be, but not what was fitted: no answer is out of place."""
    model = models["candidate"]
    for value in (b"\xff\x7f", b"\x00\x80", b"\xff\xff", b"\x00\x00"):
        found = Model.from_bytes(forged(model, weights=value * (len(model._weight_bytes()) // 2)))
        scores = found.scores(*some_positions())
        assert scores.min() >= -1
        assert scores.max() <= 1
        assert not np.isnan(scores).any()


def test_a_file_of_an_earlier_version_is_to_be_trained_again() -> None:
    assert refused(b"selfplay tree 1\n" + bytes(100)) == "it is of version 0.1: train it again"


@pytest.mark.parametrize("part", ["weights", "body"])
def test_reading_takes_little_memory_whatever_the_file_says(
    part: str, tmp_path: Path, models: dict[str, Model]
) -> None:
    bomb = forged(models["candidate"], **{part: bytes(500_000_000)})  # type: ignore[arg-type]
    (tmp_path / "bomb").write_bytes(bomb)
    code = (
        "import resource, sys\n"
        "from selfplay.train.model import Model\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    Model.load(sys.argv[1])\nexcept ValueError as error:\n    print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "bomb")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    message, kilobytes = done.stdout.splitlines()
    assert "are not as many as it" in message
    assert int(kilobytes) < 200_000


def test_many_classes_are_refused_before_anything_is_unpacked(models: dict[str, Model]) -> None:
    for classes in (200, 3, -1, 10**18, "2", None):
        assert "do not go together" in refused(forged(models["candidate"], classes=classes))


def test_leaves_hold_more_rows_than_31_bits_count(models: dict[str, Model]) -> None:
    known = models["candidate"]
    heavy = Model(
        replace(known.tree, counts=known.tree.counts << 40),
        known.features,
        known.target,
        known.mirror,
    )
    again = Model.from_bytes(heavy.to_bytes())
    assert (again.tree.counts == heavy.tree.counts).all()
    assert again.fingerprint == heavy.fingerprint != known.fingerprint
    too_many = replace(heavy.tree, counts=np.full_like(heavy.tree.counts, 1 << 61))
    data = Model(too_many, known.features, known.target, known.mirror).to_bytes()
    assert "more than there can be" in refused(data)


def test_a_model_is_proven_writable_before_it_is_trained(store: Store, tmp_path: Path) -> None:
    uri = store.uri + "?region=us-east-1"
    ready_to_write(uri)
    assert [request.split()[0] for request in store.requests][:3] == ["PUT", "HEAD", "DELETE"]
    store.fail = lambda verb, path, number: "403 AccessDenied" if verb == "PUT" else None
    with pytest.raises(InputError, match="access is denied"):
        ready_to_write(uri)
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="nothing can be written to"):
        ready_to_write(f"{tmp_path}/file/model")
    ready_to_write(f"{tmp_path}/new/model")


def test_a_model_lives_where_runs_do(store: Store, models: dict[str, Model]) -> None:
    uri = store.uri + "/model"
    models["candidate"].save(uri)
    assert Model.load(uri).fingerprint == models["candidate"].fingerprint
    with pytest.raises(InputError, match="there is no model"):
        Model.load(uri + "x")


def test_a_tree_is_a_player_like_others(tmp_path: Path, models: dict[str, Model]) -> None:
    path = str(tmp_path / "model")
    models["candidate"].save(path)
    spec = PlayerSpec.parse(f"tree:{path}")
    player = spec.build(Board())
    decision = player.decide(Position.parse("44352"))
    assert decision.move == 0  # else the other side wins there
    assert decision.shares is not None
    full = player.decide(Position.parse("444444"))
    assert full.shares is not None
    assert full.shares[3] is None
    with pytest.raises(InputError, match="plays on 7x6, not 8x8"):
        spec.build(Board(8, 8))
    models["position"].save(path)
    stale = PlayerSpec.parse(f"tree:{path},fingerprint={models['candidate'].fingerprint}")
    assert str(models["candidate"].fingerprint) in stale.full
    with pytest.raises(InputError, match="there is no model"):
        PlayerSpec.parse(f"tree:{tmp_path}/nowhere").resolved()


def test_whole_numbers_of_any_kind_are_positions(models: dict[str, Model]) -> None:
    model, position = models["candidate"], Position.parse("44352")
    own, mask = position.own, position.mask
    scores = model.scores(*as_arrays(position))
    for kind in (np.array, list, tuple, lambda numbers: np.uint64(numbers[0])):
        assert np.array_equal(model.scores(kind([own]), kind([mask])), scores)
    assert model.scores([], []).shape == (0, 7)
    with pytest.raises(InputError, match="1 positions, mask 2"):
        model.scores([own], [mask, mask])
    for wrong in (-1, [0.5], "x", [[1]], [1 << 64], None, [np.uint64(1), -1]):
        with pytest.raises(InputError, match="whole number from 0 up"):
            model.scores(wrong, wrong)


def test_a_tree_can_explore_for_a_run(tmp_path: Path, models: dict[str, Model]) -> None:
    path = str(tmp_path / "model")
    models["candidate"].save(path)
    code = (
        "import sys\n"
        "from selfplay.storage.location import Location\n"
        "from selfplay.workers.executors.local import LocalExecutor\n"
        "from selfplay.workers.generation.generate import generate\n"
        "from selfplay.workers.generation.plan import plan\n"
        "what = plan(Location(sys.argv[1]), {'games': 3, 'teacher': 'mcts:50',\n"
        "    'explorer': 'tree:' + sys.argv[2]})\n"
        "what.begin()\n"
        "*_, last = generate(what, LocalExecutor(), lambda: False)\n"
        "assert last.is_complete, last.failed\n"
    )
    run = str(tmp_path / "run")
    subprocess.run([sys.executable, "-c", code, run, path], check=True)
    spec = Dataset(run).spec
    assert spec is not None
    assert models["candidate"].fingerprint in (spec.explorer or "")
    (tmp_path / "model").unlink()
    assert Dataset(run).positions > 0  # a run can be read where its players are not


def test_the_reasons_are_those_of_the_tree(models: dict[str, Model]) -> None:
    for name in ("candidate", "position", "multiway", "equals"):
        player = TreePlayer(Board(), models[name])
        for text in ("", "44352", "4433", "12121"):
            decision = player.decide(Position.parse(text))
            why = decision.why
            assert why.support == sum(why.counts) > 0
            assert why.runner_up not in (None, decision.move)
            assert len(why.path) <= models[name].tree.depth
            if why.flip is not None:
                assert why.flip.move != decision.move


def test_positions_of_other_runs_join(tmp_path: Path, models: dict[str, Model]) -> None:
    other = make_run(tmp_path / "other")
    model, report = train_model([Dataset(TINY), other], TrainingConfig())
    assert report.rows == len(training_set_of([Dataset(TINY), other]))
    assert len(model.provenance["runs"]) == 2
