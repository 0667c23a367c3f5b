"""What is fitted ranks moves, is the same each time, and has not seen what it is examined on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from selfplay.arrays import Array
from selfplay.game.board import Board
from selfplay.game.enumeration import canonical_keys
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.storage.dataset import Dataset
from selfplay.storage.spec import Spec
from selfplay.train.columns import open_columns
from selfplay.train.config import TrainingConfig
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.player import TreePlayer
from selfplay.train.trainer import fitted_features, train_model
from selfplay.train.training_set import held_out_keys, training_set_of
from selfplay.train.weights.fit import fit
from selfplay.train.weights.sample import Sample, sample_of
from selfplay.train.weights.weights import Weights
from tests import ROOT
from tests.storage.made import make_run
from tests.train.features.test_feature_set import as_arrays

NONE = np.zeros(0, np.uint64)
STATIC = FeatureSet("static", Board())


@pytest.fixture(scope="module")
def run() -> Dataset:
    return Dataset(str(ROOT / "examples" / "sample"))


def same(one: Weights | None, other: Weights | None) -> bool:
    assert one is not None
    assert other is not None
    return all(np.array_equal(*pair) for pair in zip(one, other, strict=True))


def fitted(sample: Sample, features: FeatureSet = STATIC) -> Weights:
    """The weights; fails if they are not numbers in their range."""

    def encode(own: Array, mask: Array, weights: Weights) -> Array:
        return replace(features, weights=weights).encode(own, mask)

    with np.errstate(all="raise"):
        weights = fit(sample, features.weighed, encode)
    for part in weights:
        assert np.abs(part).max(initial=0) < 1 << 15
    return weights


def test_the_order_of_runs_does_not_matter(run: Dataset) -> None:
    runs, config = [run, Dataset(str(ROOT / "examples" / "tiny"))], TrainingConfig()
    first = fitted_features(runs, config)[0].weights
    assert same(fitted_features(runs, config, threads=1)[0].weights, first)
    assert same(fitted_features(runs[::-1], config)[0].weights, first)


def test_a_sample_ends_with_the_shard_that_fills_it(
    run: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.train.weights.sample.MOST", 100)
    tiny = Dataset(str(ROOT / "examples" / "tiny"))
    few = sample_of([run, tiny], NONE, 0)
    assert 50 < len(few) < run.positions / 2
    again = sample_of([tiny, run], NONE, 0)
    assert np.array_equal(few.mask, again.mask)


def test_what_is_examined_is_not_in_the_sample(run: Dataset) -> None:
    rows = training_set_of([run])
    bundled = held_out_keys(Board(), None)
    whole = sample_of([run], bundled, 0)
    keys = np.minimum(*rows.keys())
    assert set(canonical_keys(Board(), whole.own, whole.mask).tolist()) == set(keys.tolist())
    assert len(whole) == len(set(keys.tolist()))
    training, test = rows.divided(0.2, "position")
    held_out = np.unique(np.minimum(*training.keys()))[::3]
    sample = sample_of([run], np.append(held_out, bundled), 0.2)
    found = set(canonical_keys(Board(), sample.own, sample.mask).tolist())
    assert found == set(np.minimum(*training.keys()).tolist()) - set(held_out.tolist())
    assert found.isdisjoint(np.minimum(*test.keys()).tolist())


def test_features_are_fitted_without_positions_of_evaluation_sets(
    run: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = training_set_of([run]).mirrored()
    asked = EvaluationSet(Board(), rows.own[:80], rows.mask[:80], np.zeros((80, 7), np.int8))
    monkeypatch.setattr("selfplay.train.training_set.bundled", lambda board: asked[:40])
    monkeypatch.setattr("selfplay.train.evaluation.positions._fault", lambda found: None)
    file = str(tmp_path / "others.npz")
    replace(asked[40:], sources=np.full(40, "search")).save(Path(file))
    samples: list[Sample] = []

    def kept(sample: Sample, *others: object) -> Weights:
        samples.append(sample)
        return Weights.blank(Board(), STATIC.weighed)

    monkeypatch.setattr("selfplay.train.trainer.fit", kept)
    fitted_features([run], TrainingConfig(features="static", evaluation_set=file))
    found = canonical_keys(Board(), samples[0].own, samples[0].mask)
    assert len(found) > 1000
    assert set(found.tolist()).isdisjoint(asked.keys.tolist())


def labelled(games: range) -> Sample:
    """Positions whose best moves follow from a rule: the lowest row, there the edge."""
    board, openings = Board(), RandomPlies(Board(), 4, 24)
    found: dict[tuple[int, int], Position] = {}
    for game in games:
        position = openings.opening(5, game)
        found[position.own, position.mask] = position
    best = np.zeros((len(found), board.columns), np.bool_)
    for row, position in enumerate(found.values()):
        heights = [position.cells()[c :: board.columns] for c in range(board.columns)]

        def rank(column: int, heights: list[tuple[int, ...]] = heights) -> tuple[int, int]:
            filled = sum(cell != 0 for cell in heights[column])
            return filled, min(column, board.columns - 1 - column)

        least = min(map(rank, position.legal_moves))
        best[row, [column for column in position.legal_moves if rank(column) == least]] = True
    own, mask = as_arrays([*found.values()])
    return Sample(board, own, mask, np.full(best.shape, np.nan, np.float32), best)


def test_a_rule_is_learned() -> None:
    sample, others = labelled(range(3000)), labelled(range(3000, 3500))
    for features in (STATIC, FeatureSet("lookahead", Board())):
        weighed = replace(features, weights=fitted(sample, features))
        codes = weighed.encode(others.own, others.mask)
        better = codes[:, :, features.names.index("better moves by all points")]
        is_first = (better == 0) & open_columns(Board(), others.mask)
        right = (is_first & others.best).any(axis=1) & ~(is_first & ~others.best).any(axis=1)
        assert right.mean() > 0.9


def test_values_teach_where_no_move_is_a_mistake() -> None:
    sample = labelled(range(500))
    level = replace(sample, best=open_columns(Board(), sample.mask))
    assert not level.is_contested.any()
    nothing = fitted(level)
    assert not any(part.any() for part in nothing)
    values = np.where(level.best, np.where(sample.best, 1, -1), np.nan).astype(np.float32)
    weighed = replace(STATIC, weights=fitted(replace(level, values=values)))
    assert weighed.weights is not None
    assert weighed.weights.features.any()


def some(sample: Sample) -> Iterator[Sample]:
    yield sample[:0]
    yield sample[:1]
    lost = np.where(open_columns(Board(), sample.mask), -1, np.nan).astype(np.float32)
    for values in (lost, -lost, 0 * lost):
        yield replace(sample, values=values)
    yield replace(sample, best=np.zeros_like(sample.best))


def test_no_sample_gives_weights_that_are_no_numbers() -> None:
    for sample in some(labelled(range(200))):
        assert same(fitted(sample), fitted(sample))


@pytest.mark.parametrize(
    "spec",
    [
        Spec(games=6, shard_games=6, teacher="greedy"),
        Spec(games=1, shard_games=1, teacher="perfect:memory=8", opening="41"),
        Spec(games=6, shard_games=6, teacher="perfect:scores=off,memory=8", opening="36-40"),
        Spec(games=6, shard_games=6, teacher="mcts:20", board="12x4", connect=6),
    ],
    ids=["no values", "one position", "few mistakes", "no lines"],
)
def test_small_and_strange_runs_are_learned_from(tmp_path: Path, spec: Spec) -> None:
    run = make_run(tmp_path / "run", spec)
    model, report = train_model([run], TrainingConfig(test=0.0))
    assert report.rows == run.positions
    weights = model.features.weights
    assert weights is not None
    assert all(np.abs(part).max(initial=0) < 1 << 15 for part in weights)
    player, position = TreePlayer(run.board, model), Position(run.board)
    while not position.is_over:
        position = position.play(player.decide(position).move)
