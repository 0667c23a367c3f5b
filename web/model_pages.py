"""What the page of a model asks for: its nodes, the positions that fall into them, what matters."""

from __future__ import annotations

import signal
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from selfplay.errors import InputError, printable, without_keys
from selfplay.game.position import Position
from selfplay.signals import deferring
from selfplay.web.asked import Answer, Asked
from selfplay.web.players import BUNDLED, tree_spec_of
from selfplay.web.records import Record, explanation_record

if TYPE_CHECKING:
    from selfplay.train.evaluation.positions import EvaluationSet
    from selfplay.train.evaluation.reached import Reached, ReachedBy
    from selfplay.train.model import Model
    from selfplay.train.player import TreePlayer

Models = Mapping[str, str]

MOST_LINES = 3000
"""Nodes beside a path; a grown tree has tens, or hundreds if its splits are multiway."""
EXAMPLES = 6
"""Positions on a part of a list."""
_LEAVES, _EXAMPLES_OF_LEAF = 10, 3
_MOST_RUNS, _LONGEST = 100, 200
_FACTS = ("labels", "criterion", "min_samples_leaf", "max_depth", "max_leaves", "prune")
_RESULTS = {1: "win", 0: "draw", -1: "loss"}


@dataclass(frozen=True, slots=True)
class ModelQuestion(Asked):
    """A model, and what is asked of it."""

    name: str = BUNDLED
    node: int = 0
    start: int = 0
    """The first of a list to answer with."""
    moves: str = ""


def model(question: ModelQuestion, models: Models) -> Record:
    """What a model is: its board, features, sizes and provenance."""
    from selfplay.train.explanation.path import wording_of

    found = _model(question.name, models)
    tree, features, provenance = found.tree, found.features, found.provenance
    evaluated_on = _evaluation_set(found)
    return {
        "name": question.name,
        "fingerprint": found.fingerprint,
        "board": found.board.size,
        "connect": found.board.connect,
        "features": features.name,
        "feature_count": len(features.names),
        "target": found.target,
        "split": tree.split,
        "smoothing": tree.smoothing,
        "leaves": tree.leaves,
        "nodes": len(tree),
        "depth": tree.depth,
        "classes": wording_of(found).classes,
        "rows": _plain(provenance.get("rows")),
        "test_accuracy": _plain(provenance.get("test_accuracy")),
        "parameters": {name: _plain(found.parameters.get(name)) for name in _FACTS},
        "runs": _runs_of(provenance),
        "evaluation_positions": None if evaluated_on is None else len(evaluated_on),
        "root": _node_record(found, 0, ""),
    }


def node(question: ModelQuestion, models: Models) -> Record:
    """A node: the children of all nodes on the way to it, what holds in it, its classes."""
    from selfplay.train.explanation.path import conditions_of, steps_to
    from selfplay.train.tree.exports import conclusion, sides_of

    found = _model(question.name, models)
    tree, at = found.tree, _node_of(found, question.node)
    path = [above for above, _ in steps_to(tree, at)] + [at]
    if tree.sides[path].sum() > MOST_LINES:
        raise InputError(f"beside the way to node {at} are more than {MOST_LINES:,} others")
    wording = _wording(found)
    levels = [
        [
            _node_record(
                found, child, wording.answer(int(tree.feature[above]), int(tree.value[above]), side)
            )
            for side, child in sides_of(tree, above)
        ]
        for above in path
    ]
    return {
        "node": at,
        "path": path,
        "levels": levels,
        "conditions": conditions_of(found, at),
        "conclusion": conclusion(tree, at, wording),
        "classes": [
            {"class": name, "rows": rows, "share": round(share, 6)}
            for name, rows, share in zip(
                wording.classes, tree.counts[at].tolist(), tree.shares[at].tolist(), strict=True
            )
        ],
    }


def examples(question: ModelQuestion, models: Models) -> Record:
    """Positions of the evaluation set, development half, that fall into a node, some at a time."""
    found = _model(question.name, models)
    at = _node_of(found, question.node)
    if question.start < 0:
        raise InputError("start counts from 0")
    reached = _reached(found)
    inside = reached.in_node(at)
    shown = inside[question.start : question.start + EXAMPLES].tolist()
    return {
        "node": at,
        "start": question.start,
        "moves": len(inside),
        "of": len(reached),
        "mistakes": reached.mistakes_among(inside),
        "examples": [_example_record(reached.entry(number)) for number in shown],
    }


def walk(question: ModelQuestion, models: Models) -> Record:
    """Why the tree plays its move in a position, as `explain` says it; the node that each move
    reaches."""
    player = _player(_model(question.name, models))
    position = Position.parse(question.moves, player.model.board)
    if position.is_over:
        raise InputError("the game is over: nothing is left to explain")
    why = player.decide(position).why
    nodes = player.model.predict([position.own], [position.mask])[1][0].tolist()
    return {
        "explanation": explanation_record(question.moves, why),
        "node": why.node,
        "nodes": [None if reached < 0 else reached for reached in nodes],
        "cells": position.cells(),
        "to_move": position.to_move,
    }


def weights(question: ModelQuestion, models: Models) -> Record:
    """The learned weights, the heaviest first, as `explain --weights` has them."""
    from selfplay.train.weights.heaviest import heaviest

    found = _model(question.name, models)
    features, patterns = heaviest(found.features)
    assert found.features.weights is not None
    return {
        "phases_from": [0, *found.features.weights.edges.tolist()],
        "features": [asdict(one) for one in features],
        "patterns": [{"name": one.name, **asdict(one)} for one in patterns],
    }


def importances(question: ModelQuestion, models: Models) -> Record:
    """The features by importance, as `explain --importances` has them."""
    from selfplay.train.evaluation import importances as measured

    found = _model(question.name, models)
    positions = _evaluation_set(found)
    judged = None if positions is None else measured.Judged.of_evaluation_set(positions)
    if judged is not None:
        _player(found)
    return {
        "positions": None if judged is None else len(judged.own),
        "mistake_rate": None if judged is None else measured.wrong_moves(found, judged),
        "repeats": measured.REPEATS,
        "features": [asdict(one) for one in measured.importances(found, judged)],
    }


def mistakes(question: ModelQuestion, models: Models) -> Record:
    """Mistakes by phase, as `evaluate` counts them, and the leaves that give most away."""
    from selfplay.train.evaluation.evaluation import evaluate
    from selfplay.train.explanation.path import conditions_of

    found = _model(question.name, models)
    reached = _reached(found)
    result = evaluate(question.name, _player(found), reached.positions)
    leaves = []
    for leaf in reached.costliest(_LEAVES):
        wrong = reached.mistakes_in(leaf.node)[:_EXAMPLES_OF_LEAF].tolist()
        leaves.append(
            {
                **asdict(leaf),
                "conditions": conditions_of(found, leaf.node),
                "examples": [_example_record(reached.entry(number)) for number in wrong],
            }
        )
    return {**result.as_record(), "mean_regret": result.mean_regret, "leaves": leaves}


ANSWERS = {
    answer.__name__: Answer(ModelQuestion, "models", answer)
    for answer in (model, node, examples, walk, weights, importances, mistakes)
}
"""The questions about models."""


def _model(name: str, models: Models) -> Model:
    from selfplay.train.player import loaded

    spec = tree_spec_of(name, models)
    with deferring(signal.SIGINT):
        try:
            found: Model = loaded(spec.options.model)
        except InputError:  # it says where the file is, which is nobody's business
            raise InputError(f"the model {name} cannot be read any more") from None
        return found


@lru_cache(maxsize=3)
def _player(model: Model) -> TreePlayer:
    """A player that is ready. What is being compiled is not dropped half way."""
    from selfplay.train.player import TreePlayer

    with deferring(signal.SIGINT):
        return TreePlayer(model.board, model)


def _evaluation_set(model: Model) -> EvaluationSet | None:
    """The half to look at as often as one likes, if there is a set of this board."""
    from selfplay.train.evaluation.positions import bundled

    found = bundled(model.board)
    return None if found is None else found.development


@lru_cache(maxsize=3)
def _reached(model: Model) -> Reached:
    from selfplay.train.evaluation.reached import Reached

    positions = _evaluation_set(model)
    if positions is None:
        raise InputError(f"there is no bundled evaluation set for {model.board}")
    _player(model)
    return Reached(model, positions)


@lru_cache(maxsize=3)
def _leaves_below(model: Model) -> Any:
    from selfplay.train.tree.subtrees import leaves_below

    return leaves_below(model.tree)


@lru_cache(maxsize=3)
def _wording(model: Model) -> Any:
    from selfplay.train.explanation.path import wording_of

    return wording_of(model)


def _node_of(model: Model, node: int) -> int:
    """The number of a node that any training row reached."""
    last = len(model.tree) - 1
    if not 0 <= node <= last or not model.tree.filled[node]:
        raise InputError(f"node is the number of a node, 0 to {last:,}")
    return node


def _node_record(model: Model, node: int, condition: str) -> Record:
    """A node as a line in a drawing of the tree."""
    from selfplay.train.tree.tree import LEAF

    tree = model.tree
    is_leaf = int(tree.feature[node]) == LEAF
    return {
        "node": node,
        "if": condition,
        "splits_by": None if is_leaf else model.features.names[int(tree.feature[node])],
        "rows": int(tree.counts[node].sum()),
        "leaves": int(_leaves_below(model)[node]),
        "shares": [round(share, 4) for share in tree.shares[node].tolist()],
    }


def _example_record(found: ReachedBy) -> Record:
    position = found.position
    return {
        "moves": position.notation,
        "cells": position.cells(),
        "to_move": position.to_move,
        "column": found.column,
        "result": _RESULTS[found.value],
        "lost": found.lost,
        "is_played": found.is_played,
    }


def _runs_of(provenance: Mapping[str, Any]) -> list[Record]:
    """What a model file says of its runs; it may say anything."""
    runs = provenance.get("runs")
    listed: Iterable[Any] = runs[:_MOST_RUNS] if isinstance(runs, list) else ()
    names = ("run", "positions", "fingerprint")
    return [
        {name: _plain(run.get(name)) for name in names} for run in listed if isinstance(run, dict)
    ]


def _plain(value: object) -> object:
    """A number, or text that is short and safe to show."""
    if value is None or isinstance(value, (bool, int)) or (type(value) is float and value == value):
        return value
    return printable(without_keys(str(value)))[:_LONGEST]
