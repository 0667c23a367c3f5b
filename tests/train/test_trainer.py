"""Training: what is learned from, what is examined on, and what is said of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from selfplay.arrays import Array
from selfplay.confidence import wilson
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.solver.solver import Solver
from selfplay.storage.dataset import Dataset, shard_path
from selfplay.storage.rows import Rows
from selfplay.storage.shard import encode
from selfplay.storage.spec import Spec
from selfplay.train.config import TrainingConfig
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.trainer import Division, fitted_features, matrix_of, train_model
from selfplay.train.training_set import TrainingSet, parse_stone_weights, training_set_of
from selfplay.train.weights.fit import fit
from selfplay.train.weights.sample import is_for_tree, sample_of
from selfplay.train.weights.weights import Weights
from tests import ROOT
from tests.storage.made import make_run


def silent(done: int, of: int) -> None:
    pass


@pytest.fixture(scope="module")
def run() -> Dataset:
    return Dataset(str(ROOT / "examples" / "sample"))


@pytest.fixture(scope="module")
def training_set(run: Dataset) -> TrainingSet:
    return training_set_of([run], on_progress=silent)


def as_set(training_set: TrainingSet) -> set[tuple[int, int, int]]:
    return set(
        zip(
            training_set.own.tolist(),
            training_set.mask.tolist(),
            training_set.move.tolist(),
            strict=True,
        )
    )


def test_nothing_is_on_both_sides_nor_its_mirror_image(training_set: TrainingSet) -> None:
    seen, unseen = training_set.divided(0.2, "position")
    assert 0.1 < len(unseen) / len(training_set) < 0.3
    keys = set(np.minimum(*seen.keys()).tolist())
    assert keys.isdisjoint(np.minimum(*unseen.keys()).tolist())
    first, last = training_set.divided(0.2, "row")
    leaked = set(np.minimum(*first.keys()).tolist()) & set(np.minimum(*last.keys()).tolist())
    assert leaked  # which is what is wrong with it


def test_merging_keeps_every_row(training_set: TrainingSet) -> None:
    merged = training_set.merged()
    assert merged.rows == training_set.rows == len(training_set)
    assert len(as_set(merged)) == len(merged) < len(training_set)
    assert as_set(merged) == as_set(training_set)


def test_a_position_counts_so_often_at_most(training_set: TrainingSet) -> None:
    often, capped = training_set.merged().weight, training_set.merged(max_weight=2).weight
    assert often.max() > 2
    assert np.array_equal(capped, np.minimum(often, 2))


def test_mirror_images(training_set: TrainingSet) -> None:
    both = training_set.mirrored_as("augment")
    assert both.rows == 2 * training_set.rows
    assert as_set(both) == as_set(both.mirrored())
    one = training_set.mirrored_as("canonical")
    assert (one.keys()[0] <= one.keys()[1]).all()
    assert as_set(one) <= as_set(both)
    assert training_set.mirrored_as("off") is training_set


def test_a_report_says_how_it_is(run: Dataset) -> None:
    by_heart = TrainingConfig(target="move", features="cells", smoothing=0.0, min_samples_leaf=5)
    model, report = train_model([run], by_heart)
    assert report.rows == len(training_set_of([run]))
    assert report.leaves == model.tree.leaves
    assert report.depth == model.tree.depth
    assert report.train_accuracy > report.test_accuracy + 0.1
    low, high = report.test_interval
    assert low < report.test_accuracy < high
    confusion = np.array(report.confusion)
    assert confusion.sum() == report.test_rows
    assert confusion.trace() / report.test_rows == pytest.approx(report.test_accuracy)
    assert model.provenance["runs"][0]["fingerprint"] == run.fingerprint
    assert model.parameters["target"] == "move"


def test_the_same_run_always_gives_the_same_model(golden: Callable[[str, Any], None]) -> None:
    run = Dataset(str(ROOT / "examples" / "tiny"))
    found = {
        str(options): train_model([run], TrainingConfig(**options))[0].fingerprint
        for options in (
            {},
            {"mirror": "canonical"},
            {"features": "static"},
            {"criterion": "gain_ratio"},
            {"prune": 0.3, "max_leaves": 12},
            {"thresholds": "quartiles"},
            {"target": "move", "features": "cells", "criterion": "gini"},
            {"target": "move", "features": "cells", "split": "multiway"},
            {"target": "move", "features": "cells", "split": "equals"},
        )
    }
    golden("trained-models", found)


def test_what_a_player_sees_is_worth_more_than_cells(run: Dataset) -> None:
    cells = train_model([run], TrainingConfig(target="move", features="cells"))[1].test_accuracy
    static = train_model([run], TrainingConfig(target="move"))[1].test_accuracy
    candidate = train_model([run], TrainingConfig())[1].test_accuracy
    assert cells < static
    assert cells + 0.05 < candidate


def test_few_leaves_and_pruning(run: Dataset) -> None:
    assert train_model([run], TrainingConfig(max_leaves=20))[1].leaves == 20
    assert (
        train_model([run], TrainingConfig(prune=0.3))[1].leaves
        < train_model([run], TrainingConfig())[1].leaves
    )
    assert train_model([run], TrainingConfig(max_depth=4))[1].depth == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"target": "best"}, "target is one of move, candidate, not 'best'"),
        ({"mirror": "yes"}, "mirror is one of augment, canonical, off"),
        ({"test": 1.0}, "test is a share from 0 up, below 1"),
        ({"prune": 0.0}, "prune is a share between 0 and 1"),
        ({"max_depth": -1}, "max_depth is a whole number from 0 up"),
        ({"min_gain": float("nan")}, "min_gain is a number"),
        ({"smoothing": float("nan")}, "smoothing is a number from 0 to 1,000,000, not nan"),
        ({"smoothing": -1}, "smoothing is a number from 0"),
        ({"features": "cells"}, "target=candidate takes features=lookahead or static, not cells"),
        ({"target": "move", "features": "lookahead"}, "takes features=static or cells"),
        ({"max_weight": 0}, "max_weight is a number from 1 up"),
        (
            {"max_weight": 3, "duplicates": "keep"},
            "duplicates=merge and labels=optimal",
        ),
    ],
)
def test_options_that_make_no_sense_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        TrainingConfig(**options)


def test_what_cannot_be_learned_from_is_refused(tmp_path: Path, run: Dataset) -> None:
    other = make_run(tmp_path, Spec(games=2, teacher="random", board="8x7"))
    with pytest.raises(InputError, match="one tree plays on one board"):
        train_model([run, other], TrainingConfig())
    large = make_run(tmp_path / "large", Spec(games=2, teacher="random", board="12x12"))
    with pytest.raises(InputError, match="64 bits"):
        train_model([large], TrainingConfig())
    assert Board(12, 12).fits_word is False


def test_wilsons_interval() -> None:
    low, high = wilson(0.5, 100)
    assert (round(low, 3), round(high, 3)) == (0.404, 0.596)
    assert wilson(0.0, 10)[0] == 0
    assert wilson(0.0, 0) == (0.0, 1.0)


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    where = tmp_path_factory.mktemp("solved") / "run"
    spec = Spec(games=60, shard_games=60, teacher="perfect:scores=off,memory=8", opening="22-30")
    return make_run(where, spec)


def test_every_move_that_keeps_the_value_is_right(solved: Dataset) -> None:
    training_set = training_set_of([solved], "optimal")
    solver = Solver(memory=8)
    assert 50 < len(training_set) < solved.positions
    assert len(training_set) + sum(training_set.left_out.values()) == solved.positions
    for row in range(0, len(training_set), 7):
        position = Position(Board(), int(training_set.own[row]), int(training_set.mask[row]), None)
        best = solver.best_moves(position)
        assert best is not None
        assert len(best) < len(position.legal_moves)  # else there is nothing to learn
        right = set(best) & set(position.winning_moves) or set(best)
        assert {c for c in range(7) if training_set.right[row] >> c & 1} == right
        told = training_set.is_labelled[row]
        assert {c for c in position.legal_moves if not told[c]} == set(best) - right
        assert training_set.move[row] == min(right)
    again = training_set.mirrored().mirrored()
    assert (again.right == training_set.right).all()
    assert training_set.mirrored().is_correct(6 - training_set.move).all()


def test_a_tree_of_optimal_moves_is_right_if_its_move_is_one(solved: Dataset) -> None:
    model, report = train_model(
        [solved], TrainingConfig(labels="optimal", min_samples_leaf=1, smoothing=0)
    )
    assert report.train_accuracy > 0.99
    assert model.parameters["labels"] == "optimal"
    assert report.rows + sum(report.left_out.values()) == solved.positions
    assert sum(map(sum, report.confusion)) == report.test_rows
    right = sum(row[k] for k, row in enumerate(report.confusion))
    assert right / report.test_rows == report.test_accuracy


def test_a_tree_of_many_positions_is_grown_on_others_than_its_patterns(
    run: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.train.weights.sample._DIVIDED_FROM", 1000)
    features, share = fitted_features([run], TrainingConfig())
    assert share == 0.15
    rows = training_set_of([run])
    division = Division.of(rows, TrainingConfig(mirror="canonical"), features, share)
    for_tree = is_for_tree(np.minimum(*division.training.keys()), share)
    assert 0.1 < for_tree.mean() < 0.2
    assert len(division.prepared) == len(
        division.training[for_tree].mirrored_as("canonical").merged()
    )
    # What patterns learned does not depend on the positions for the tree.
    sample = sample_of([run], np.zeros(0, np.uint64), 0.0)
    blank = replace(features, weights=None)

    def encode(own: Array, mask: Array, weights: Weights) -> Array:
        return replace(blank, weights=weights).encode(own, mask, 1)

    changed = np.where(is_for_tree(sample.keys, share)[:, None], ~sample.best, sample.best)
    one, other = (
        fit(part, features.weighed, encode) for part in (sample, replace(sample, best=changed))
    )
    assert np.array_equal(one.patterns, other.patterns)
    assert not np.array_equal(one.features, other.features)


def test_labels_that_do_not_say_what_is_optimal_are_refused(tmp_path: Path) -> None:
    unlabelled = make_run(tmp_path, Spec(games=5, shard_games=5, teacher="random"))
    with pytest.raises(InputError, match="for target=candidate"):
        TrainingConfig(labels="optimal", target="move")
    with pytest.raises(InputError, match="as perfect does"):
        training_set_of([unlabelled], "optimal")


def test_what_is_examined_is_not_learned(
    solved: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = training_set_of([solved])
    asked = EvaluationSet(
        Board(), before.mirrored().own[:50], before.mirrored().mask[:50], np.zeros((50, 7), np.int8)
    )
    monkeypatch.setattr("selfplay.train.training_set.bundled", lambda board: asked[:20])
    file = tmp_path / "others.npz"
    replace(asked[20:], sources=np.full(30, "search")).save(file)
    monkeypatch.setattr("selfplay.train.evaluation.positions._fault", lambda found: None)
    after = training_set_of([solved], evaluation_set=str(file))
    assert as_set(after) == as_set(before[50:]) - as_set(before[:50])


def test_thresholds_may_stand_at_quartiles_alone(run: Dataset) -> None:
    every, few = (
        train_model([run], TrainingConfig(thresholds=c))[0].tree for c in ("all", "quartiles")
    )
    assert not np.array_equal(few.value, every.value)
    features, _ = fitted_features([run], TrainingConfig())
    matrix = matrix_of(training_set_of([run]), features)
    for feature in range(len(features.names)):
        asked = set(few.value[few.feature == feature].tolist())
        if len(np.unique(matrix.codes[:, feature])) > 12:  # a fifth of the rows was held out
            assert len(asked) <= 3
    with pytest.raises(InputError, match="quartiles are for split=threshold"):
        TrainingConfig(thresholds="quartiles", split="equals")


def test_rows_count_by_the_emphasis_of_their_run(solved: Dataset) -> None:
    plain = training_set_of([solved], "optimal")
    stones = np.bitwise_count(plain.mask)
    weights = parse_stone_weights("24:5,30:2,42:0")
    found = training_set_of([solved], "optimal", weights_by_run=[weights])
    assert found.rows == 5 * (stones <= 24).sum() + 2 * ((stones > 24) & (stones <= 30)).sum()
    assert len(found) == (stones <= 30).sum()


def forged(folder: Path, change: Callable[[Rows], None]) -> Dataset:
    """A run whose shard has a right checksum and impossible rows."""
    dataset = make_run(folder, shards=range(1))
    rows = dataset.read(0)[np.arange(dataset.footers[0].rows)]
    change(rows)
    data = encode(rows, dataset.board, dataset.manifest.identity, 0, range(5))
    dataset.place.write(shard_path(0), data)
    return Dataset(dataset.place)


@pytest.mark.parametrize("target", ["candidate", "move"])
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("a stone floats", lambda rows: rows.board.__setitem__((3, slice(35, 42)), 0)),
        ("a cell holds", lambda rows: rows.board.__setitem__((3, 41), 7)),
        ("do not alternate", lambda rows: rows.board.__setitem__((3, rows.board[3] == 2), 1)),
        ("move is not legal", lambda rows: rows.move.__setitem__(3, -1)),
        ("move is not legal", lambda rows: rows.move.__setitem__(3, 100)),
        ("a proven result", lambda rows: rows.proven.__setitem__((3, 0), 5)),
    ],
)
def test_what_no_game_has_is_not_learned(
    tmp_path: Path, name: str, change: Callable[[Rows], None], target: Any
) -> None:
    """Compiled code would play on from it for ever, or write where nothing is."""
    dataset = forged(tmp_path, change)
    with pytest.raises(InputError, match=rf"part-00000\.parquet: game \d+: .*{name}"):
        train_model([dataset], TrainingConfig(target=target))


def test_features_are_computed_even_of_what_cannot_be() -> None:
    board = Board()
    floating = np.array([1 << 3 | 1 << 20], np.uint64), np.array([1 << 3 | 1 << 20 | 1 << 33])
    out = FeatureSet("lookahead", board).encode(floating[0], floating[1].astype(np.uint64))
    assert out.shape == (1, 7, len(FeatureSet("lookahead", board).names))
