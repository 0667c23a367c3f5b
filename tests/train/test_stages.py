"""A tree of stages says what the tree of the stage would say."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from selfplay.board import Board
from selfplay.errors import InputError
from storage.dataset import Dataset
from storage.spec import Spec
from tests.storage.made import make_run
from train.features import FeatureSet
from train.fitting import Recipe, matrix_of, train
from train.grower import Limits, Matrix, grow
from train.lessons import lessons_of, parse_emphasis
from train.model import Model
from train.stages import EARLY, grow_stages, joined, parse_stages
from train.tree import LEAF, Tree

FORESIGHT = FeatureSet("foresight", Board())
STONES = FORESIGHT.names.index("stones")


@pytest.fixture(scope="module")
def solved(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    where = tmp_path_factory.mktemp("solved") / "run"
    spec = Spec(games=40, shard_games=40, teacher="perfect:scores=off,memory=8", opening="20-28")
    return make_run(where, spec)


@pytest.fixture(scope="module")
def matrix(solved: Dataset) -> Matrix:
    return matrix_of(lessons_of([solved], "optimal"), FORESIGHT)


def grown(matrix: Matrix, least: int) -> Tree:
    return grow(matrix, limits=Limits(min_samples_leaf=least))


def test_each_row_goes_to_its_own_stage(matrix: Matrix) -> None:
    counted = matrix.codes[:, STONES].astype(int)
    trees = [grown(matrix[counted <= 26], 3), grown(matrix[counted > 22], 9), grown(matrix, 200)]
    tree = joined(trees, STONES, [24, 28])
    assert tree.leaves == sum(part.leaves for part in trees)
    expected = np.select(
        [counted[:, None] <= 24, counted[:, None] <= 28],
        [trees[0].probabilities(matrix.codes), trees[1].probabilities(matrix.codes)],
        trees[2].probabilities(matrix.codes),
    )
    assert np.array_equal(tree.probabilities(matrix.codes), expected)


def test_early_stages_ask_for_little_and_the_last_not_for_cells(matrix: Matrix) -> None:
    tree = grow_stages(matrix, FORESIGHT, ((26, 5),), 5, grown)
    assert (tree.feature[0], tree.value[0]) == (STONES, 26)
    early, late = names_below(tree, 1), names_below(tree, 2)
    assert early
    assert all(name in EARLY or name.startswith("the cell ") for name in early)
    assert late
    assert not any(name.startswith("the cell ") for name in late)


def names_below(tree: Tree, node: int) -> set[str]:
    if tree.feature[node] == LEAF:
        return set()
    found = {FORESIGHT.names[tree.feature[node]]}
    for side in range(2):
        found |= names_below(tree, int(tree.child[node]) + side)
    return found


def test_a_model_of_stages_is_read_as_it_was_written(solved: Dataset, tmp_path: Path) -> None:
    recipe = Recipe(features="foresight", labels="optimal", stages="24:2,30:5", test=0)
    model, report = train([solved], recipe)
    assert report.test_accuracy is None
    model.save(str(tmp_path / "model"))
    again = Model.load(str(tmp_path / "model"))
    own, mask = next(solved.rows())[1].stones(Board())
    assert np.array_equal(again.scores(own, mask), model.scores(own, mask))
    assert again.fingerprint == model.fingerprint


def test_rows_count_by_the_emphasis_of_their_run(solved: Dataset) -> None:
    plain = lessons_of([solved], "optimal")
    stones = np.bitwise_count(plain.mask)
    found = lessons_of([solved], "optimal", emphases=[parse_emphasis("24:5,30:2,42:0")])
    assert found.rows == 5 * (stones <= 24).sum() + 2 * ((stones > 24) & (stones <= 30)).sum()
    assert len(found) == (stones <= 30).sum()


@pytest.mark.parametrize("text", ["5", "5:0", "x:1", "9:1,5:2", "5:1,5:2"])
def test_stages_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="stages"):
        parse_stages(text)
    with pytest.raises(InputError, match="stages"):
        Recipe(stages=text)


def test_stages_need_to_see_the_stones() -> None:
    with pytest.raises(InputError, match="stages are for features=foresight"):
        Recipe(stages="5:1", features="tactics")
