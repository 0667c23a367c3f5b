"""Export to scikit-learn: a `DecisionTreeClassifier` with the same splits."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfplay.errors import InputError
from selfplay.train.config import Criterion
from selfplay.train.tree.importances import impurity
from selfplay.train.tree.tree import LEAF

_NO_CHILD, _NO_FEATURE = -1, -2


def as_sklearn(model: Any) -> Any:
    """An `ID3Classifier` as a fitted `DecisionTreeClassifier`; its nodes keep their numbers."""
    if model.split != "threshold":
        raise InputError(
            f"scikit-learn's trees have thresholds: train with split='threshold', not "
            f"{model.split!r}"
        )
    try:
        from sklearn.tree import DecisionTreeClassifier
        from sklearn.tree._tree import NODE_DTYPE, Tree
    except ImportError:
        raise InputError("to_sklearn needs scikit-learn: pip install scikit-learn") from None
    criterion: Criterion = "gini" if model.criterion == "gini" else "entropy"
    tree, features = model.tree_, model.encoding_.features
    totals = tree.counts.sum(axis=1)
    nodes = np.zeros(len(tree), NODE_DTYPE)
    is_leaf = tree.feature == LEAF
    nodes["left_child"] = np.where(is_leaf, _NO_CHILD, tree.child)
    nodes["right_child"] = np.where(is_leaf, _NO_CHILD, tree.child + 1)
    nodes["feature"] = np.where(is_leaf, _NO_FEATURE, tree.feature)
    nodes["threshold"] = [
        _NO_FEATURE if feature == LEAF else features[feature].bounds[value]
        for feature, value in zip(tree.feature.tolist(), tree.value.tolist(), strict=True)
    ]
    nodes["impurity"] = impurity(tree, criterion) / totals
    nodes["weighted_n_node_samples"] = totals / model.unit_
    nodes["n_node_samples"] = np.round(totals / model.unit_)
    inner = Tree(model.n_features_in_, np.array([len(model.classes_)], np.intp), 1)
    inner.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": len(tree),
            "nodes": nodes,
            "values": np.ascontiguousarray(tree.shares[:, None, :]),
        }
    )
    found = DecisionTreeClassifier(
        criterion=criterion,
        max_depth=model.max_depth,
        min_samples_split=model.min_samples_split,
        min_samples_leaf=model.min_samples_leaf,
        max_leaf_nodes=model.max_leaves,
        class_weight=model.class_weight,
    )
    found.tree_, found.classes_, found.n_classes_ = inner, model.classes_, len(model.classes_)
    found.n_features_in_ = found.max_features_ = model.n_features_in_
    found.n_outputs_ = 1
    if hasattr(model, "feature_names_in_"):
        found.feature_names_in_ = model.feature_names_in_
    return found
