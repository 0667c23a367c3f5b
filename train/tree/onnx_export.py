"""Export to ONNX."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from selfplay.errors import InputError, install
from selfplay.train.model import Model
from selfplay.train.tree.tree import LEAF

_MODES = {"threshold": "BRANCH_LEQ", "equals": "BRANCH_EQ"}


def as_onnx(model: Model) -> bytes:
    """A classifier from the features of a row to its class and the shares of all classes.

    The metadata has the names and scales of the features; the caller computes them.
    """
    try:
        from onnx import TensorProto, checker, helper
    except ImportError:
        raise InputError(f"exporting to ONNX needs another package: {install('onnx')}") from None
    tree, width = model.tree, len(model.features.names)
    if tree.split not in _MODES:
        raise InputError("ONNX needs two sides per split: train with split threshold or equals")
    nodes, leaves = np.arange(len(tree)), np.flatnonzero(tree.feature == LEAF)
    is_leaf, classes = tree.feature == LEAF, tree.counts.shape[1]
    shares = model.shares[leaves]

    def numbers(array: Any) -> list[int]:
        found: list[int] = np.asarray(array).tolist()
        return found

    # A regressor: runtimes disagree on the output of a classifier with two classes.
    ensemble = helper.make_node(
        "TreeEnsembleRegressor",
        ["features"],
        ["shares"],
        domain="ai.onnx.ml",
        nodes_treeids=[0] * len(tree),
        nodes_nodeids=numbers(nodes),
        nodes_featureids=numbers(np.where(is_leaf, 0, tree.feature)),
        nodes_values=np.where(is_leaf, 0, tree.value).astype(float).tolist(),
        nodes_modes=["LEAF" if leaf else _MODES[tree.split] for leaf in is_leaf.tolist()],
        nodes_truenodeids=numbers(np.where(is_leaf, 0, tree.child)),
        nodes_falsenodeids=numbers(np.where(is_leaf, 0, tree.child + 1)),
        n_targets=classes,
        target_treeids=[0] * (len(leaves) * classes),
        target_nodeids=numbers(np.repeat(leaves, classes)),
        target_ids=numbers(np.tile(np.arange(classes), len(leaves))),
        target_weights=shares.ravel().tolist(),
        post_transform="NONE",
    )
    largest = helper.make_node("ArgMax", ["shares"], ["class"], axis=1, keepdims=0)
    graph = helper.make_graph(
        [ensemble, largest],
        "tree",
        [helper.make_tensor_value_info("features", TensorProto.FLOAT, [None, width])],
        [
            helper.make_tensor_value_info("class", TensorProto.INT64, [None]),
            helper.make_tensor_value_info("shares", TensorProto.FLOAT, [None, classes]),
        ],
    )
    # Old versions of the format, which every reader knows.
    versions = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", 1)]
    made = helper.make_model(graph, opset_imports=versions, ir_version=8, producer_name="selfplay")
    helper.set_model_props(
        made,
        {
            "features": model.features.name,
            "features_version": str(model.features.version),
            "feature_names": json.dumps(model.features.names),
            "feature_scales": json.dumps(model.features.scales),
            "target": model.target,
            "mirror": model.mirror,
            "fingerprint": model.fingerprint,
        },
    )
    checker.check_model(made)
    data: bytes = made.SerializeToString()
    return data
