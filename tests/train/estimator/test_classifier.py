"""The estimator is one as scikit-learn knows them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, export_text
from sklearn.utils.estimator_checks import check_estimator

from selfplay.errors import InputError
from selfplay.train.estimator.classifier import ID3Classifier

# The array API is behind a switch of scipy's that is off.
NOT_APPLICABLE = {"check_array_api_input"}


@pytest.mark.parametrize("split", ["multiway", "equals", "threshold"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@pytest.mark.filterwarnings("ignore:.*does not inherit from:UserWarning")
def test_it_passes_the_checks_of_estimators(split: Any) -> None:
    results = check_estimator(ID3Classifier(split=split), on_fail=None)
    others = {r["check_name"]: str(r["exception"]) for r in results if r["status"] != "passed"}
    assert others.keys() == NOT_APPLICABLE, others


def test_it_works_inside_what_works_with_estimators() -> None:
    data = load_iris()
    pipeline = make_pipeline(StandardScaler(), ID3Classifier())
    assert cross_val_score(pipeline, data.data, data.target).mean() > 0.9
    search = GridSearchCV(ID3Classifier(), {"max_depth": [1, 4]})
    search.fit(data.data, data.target)
    assert search.best_params_ == {"max_depth": 4}
    copy = clone(ID3Classifier(criterion="gini", min_gain=0.1))
    assert copy.get_params() == ID3Classifier(criterion="gini", min_gain=0.1).get_params()
    assert repr(copy) == "ID3Classifier(criterion='gini', min_gain=0.1)"


def test_thresholds_are_as_good_as_scikit_learns() -> None:
    X, y = make_classification(6000, 20, n_informative=8, n_classes=3, random_state=1)  # noqa: N806
    X = np.round(X, 1)  # noqa: N806
    for options in ({"max_depth": 8}, {"min_samples_leaf": 10}):
        ours = ID3Classifier(split="threshold", **options).fit(X[:4000], y[:4000])
        theirs = DecisionTreeClassifier(criterion="entropy", random_state=0, **options)
        theirs.fit(X[:4000], y[:4000])
        assert ours.score(X[:4000], y[:4000]) == pytest.approx(
            theirs.score(X[:4000], y[:4000]), abs=0.003
        )


def test_names_are_values_like_any_other() -> None:
    frame = pd.DataFrame({"sky": ["sun", "rain", "sun", "fog"], "wind": ["no", "no", "yes", "no"]})
    model = ID3Classifier(split="multiway").fit(frame, ["out", "in", "in", "out"])
    assert model.feature_names_in_.tolist() == ["sky", "wind"]
    assert model.predict(frame).tolist() == ["out", "in", "in", "out"]
    strange = pd.DataFrame({"sky": ["hail"], "wind": ["no"]})
    assert model.predict_proba(strange).tolist() == [[0.5, 0.5]]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(frame[["wind", "sky"]])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"split": "binary"}, "split is one of multiway, equals, threshold, not 'binary'"),
        ({"criterion": "mse"}, "criterion is one of"),
        ({"max_depth": -1}, "max_depth is a whole number from 0 up"),
        ({"min_samples_split": 1}, "min_samples_split is a whole number from 2 up"),
        ({"min_samples_leaf": 0.5}, "min_samples_leaf is a whole number"),
        ({"min_gain": -1}, "min_gain is a number"),
        ({"prune": 1.0}, "prune is a share"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        ID3Classifier(**options).fit([[0], [1]], [0, 1])
    with pytest.raises(InputError, match="compares numbers"):
        ID3Classifier().fit([["a"], ["b"]], [0, 1])


def test_quartiles_are_the_candidates_of_features_with_many_values() -> None:
    X = np.arange(100)[:, None]  # noqa: N806
    y = np.arange(100) >= 60
    assert ID3Classifier(split="threshold", max_depth=1).fit(X, y).score(X, y) == 1
    model = ID3Classifier(split="threshold", thresholds="quartiles", max_depth=1).fit(X, y)
    assert model.tree_.value[0] == 49
    few = ID3Classifier(split="threshold", thresholds="quartiles", max_depth=1)
    assert few.fit(X % 10, X[:, 0] % 10 >= 6).tree_.value[0] == 5


def noisy(rows: int, seed: int) -> tuple[Any, Any]:
    chance = np.random.default_rng(seed)
    X = chance.integers(0, 3, (rows, 8))  # noqa: N806
    y = np.where(chance.random(rows) < 0.3, chance.integers(0, 2, rows), X[:, 0] == X[:, 1])
    return X, y


def test_pruning_takes_off_what_does_not_help() -> None:
    (X, y), (unseen_x, unseen_y) = noisy(3000, 0), noisy(3000, 1)  # noqa: N806
    full = ID3Classifier(split="multiway").fit(X, y)
    pruned = ID3Classifier(split="multiway", prune=0.25).fit(X, y)
    assert pruned.get_n_leaves() < full.get_n_leaves() / 4
    assert pruned.score(unseen_x, unseen_y) > full.score(unseen_x, unseen_y) + 0.03
    order = np.random.default_rng(5).permutation(len(X))
    again = ID3Classifier(split="multiway", prune=0.25).fit(X[order], y[order])
    assert np.array_equal(again.tree_.counts, pruned.tree_.counts)


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
def test_the_most_useful_leaves_are_kept(criterion: Any) -> None:
    X, y = noisy(2000, 0)  # noqa: N806
    scores = []
    for most in (1, 3, 10, 50):
        model = ID3Classifier(criterion=criterion, split="equals", max_leaves=most).fit(X, y)
        assert model.get_n_leaves() == most
        scores.append(model.score(X, y))
    assert scores == sorted(scores)


def test_it_needs_no_scikit_learn() -> None:
    code = (
        "import sys; sys.modules['sklearn'] = None\n"
        "from selfplay.train.estimator.classifier import ID3Classifier\n"
        "model = ID3Classifier(split='equals').fit([['a'], ['b']], [0, 1])\n"
        "assert model.predict([['b']]).tolist() == [1]\n"
        "try:\n    ID3Classifier().predict([[1]])\n"
        "except ValueError as error:\n    assert 'fit' in str(error)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_it_is_a_tree_as_tutorials_use_one() -> None:
    data = load_iris(as_frame=True)
    model = ID3Classifier(max_depth=4).fit(data.data, data.target)
    chosen = SelectFromModel(ID3Classifier(max_depth=4), threshold="mean").fit(
        data.data, data.target
    )
    assert chosen.get_support().tolist() == [False, False, True, True]
    assert model.feature_importances_.sum() == pytest.approx(1)
    leaves = model.apply(data.data)
    passed = model.decision_path(data.data).toarray()
    assert (passed[:, 0] == 1).all()
    assert (passed[np.arange(150), leaves] == 1).all()
    assert (passed.sum(axis=1) == model.tree_.depths[leaves] + 1).all()
    assert model.to_text(1, class_names=data.target_names.tolist()).startswith(
        "petal length (cm) <= 2.45: setosa (50)\n"
    )
    assert ">width &lt;= 1.75<" in model.to_svg(feature_names=["a", "b", "length", "width"])
    with pytest.raises(InputError, match="3 names for class_names, not 1"):
        model.to_text(class_names=["setosa"])
    assert "<svg" in model._repr_html_()


@pytest.mark.parametrize("options", [{}, {"criterion": "gini", "class_weight": "balanced"}])
def test_scikit_learn_has_the_same_tree(options: dict[str, Any]) -> None:
    X, y = make_classification(800, 6, n_informative=4, weights=[0.8], random_state=3)  # noqa: N806
    ours = ID3Classifier(max_depth=6, **options).fit(X, y)
    theirs = ours.to_sklearn()
    assert np.array_equal(theirs.apply(X), ours.apply(X))
    np.testing.assert_allclose(theirs.predict_proba(X), ours.predict_proba(X))
    np.testing.assert_allclose(theirs.feature_importances_, ours.feature_importances_)
    assert (theirs.get_depth(), theirs.get_n_leaves()) == (6, ours.get_n_leaves())
    assert export_text(theirs).count("class: ") == ours.get_n_leaves()
    with pytest.raises(InputError, match="train with split='threshold', not 'multiway'"):
        ID3Classifier(split="multiway").fit(X, y).to_sklearn()


def test_classes_are_weighted() -> None:
    X, y = np.array([[0], [0], [0], [0], [1]]), [0, 0, 0, 1, 1]  # noqa: N806
    assert ID3Classifier().fit(X, y).predict([[0]]) == [0]
    assert ID3Classifier(class_weight={1: 3.5}).fit(X, y).predict([[0]]) == [1]
    balanced = ID3Classifier(class_weight="balanced", max_depth=0).fit(X, y)
    np.testing.assert_allclose(balanced.predict_proba([[0]]), [[0.5, 0.5]], atol=1e-6)
    assert balanced.to_text() == "0 (2.5 of 5.0)"
    for wrong in ("even", {7: 2.0}, {0: -1.0}, {0: 0, 1: 0}):
        with pytest.raises(InputError, match="class_weight"):
            ID3Classifier(class_weight=wrong).fit(X, y)


def test_limits_count_rows_by_weight() -> None:
    X, y = noisy(600, 0)  # noqa: N806
    limits = {"min_samples_split": 50, "min_samples_leaf": 10}
    for weights in (None, np.full(600, 0.5)):
        tree = (model := ID3Classifier(**limits).fit(X, y, weights)).tree_
        rows = tree.counts.sum(axis=1) / model.unit_
        assert rows[tree.feature >= 0].min() >= 50
        assert 10 <= rows[tree.feature < 0].min() < 50
        assert rows[0] == (600 if weights is None else 300)


def test_a_feature_may_have_thousands_of_values() -> None:
    X, y = np.arange(3000)[:, None], np.arange(3000) % 3  # noqa: N806
    model = ID3Classifier(split="multiway").fit(X, y)
    assert (model.score(X, y), model.get_n_leaves()) == (1, 3000)
