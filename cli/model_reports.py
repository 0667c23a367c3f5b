"""What matters to a tree: its features by importance, its weights by the points they move."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from selfplay.errors import InputError

if TYPE_CHECKING:
    from selfplay.train.evaluation.importances import Judged
    from selfplay.train.model import Model

_MOST_FEATURES = 20
_MOST_PATTERNS = 10


def show_weights(model: Model, *, as_json: bool) -> None:
    """Print the heaviest learned weights, or all as JSON."""
    from selfplay.cli.rendering import console, plain_table
    from selfplay.train.weights.heaviest import heaviest
    from selfplay.train.weights.weights import UNIT

    features, patterns = heaviest(model.features)
    if as_json:
        for record in (*map(asdict, features), *map(asdict, patterns)):
            print(json.dumps(record))
        return
    assert model.features.weights is not None
    edges = model.features.weights.edges.tolist()
    out = console()
    out.print(f"{UNIT} points are a unit of log odds")
    out.print()
    out.print("standard deviation of a feature's points over moves, by stones on the board")
    out.print()
    names = [f"to {edges[0] - 1}", *(f"{edge} on" for edge in edges)]
    rows = [
        (one.name, *("" if p is None else f"{p:.0f}" for p in one.points))
        for one in features[:_MOST_FEATURES]
    ]
    out.print(plain_table(("feature", *names), rows))
    out.print()
    out.print(
        "standard deviation of a pattern's points after the move; of mirror images one is named"
    )
    out.print()
    rows = [(one.name, f"{one.points:.0f}") for one in patterns[:_MOST_PATTERNS]]
    out.print(plain_table(("pattern", "points"), rows))


def show_importances(model: Model, run: str | None, *, as_json: bool) -> None:
    """Print the most important features, or all as JSON."""
    from selfplay.cli.progress import progress
    from selfplay.cli.rendering import console, plain_table
    from selfplay.train.evaluation.importances import REPEATS, importances, wrong_moves

    judged = _judged(model, run)
    with progress("features shuffled") as update:
        found = importances(model, judged, on_progress=update)
    if as_json:
        for one in found:
            print(json.dumps(asdict(one)))
        return
    out = console()
    if judged is not None:
        out.print(
            f"{len(judged.own):,} positions, {wrong_moves(model, judged):.1%} {judged.measure}"
        )
        out.print(
            "permutation: percentage points that shuffling the feature adds, mean and standard "
            f"deviation of {REPEATS}"
        )
        out.print()
    rows = [
        (
            one.feature,
            f"{one.gain:.1%}",
            "" if one.permutation is None else f"{100 * one.permutation:+.1f}",
            "" if one.permutation_std is None else f"± {100 * one.permutation_std:.1f}",
        )
        for one in found[:_MOST_FEATURES]
    ]
    out.print(plain_table(("feature", "gain", "permutation", ""), rows))
    if others := found[_MOST_FEATURES:]:
        gain = sum(one.gain for one in others)
        out.print(f"{len(others)} others, together {gain:.1%} of the gain: --json has all")


def _judged(model: Model, run: str | None) -> Judged | None:
    from selfplay.storage.dataset import Dataset
    from selfplay.train.evaluation.importances import Judged
    from selfplay.train.evaluation.positions import EvaluationSet

    if run is not None:
        dataset = Dataset(run)
        if dataset.board != model.board:
            raise InputError(f"{run} is of {dataset.board}, the model of {model.board}")
        return Judged.of_run(dataset)
    instead = ": for permutation importance give --run RUN"
    try:
        found = EvaluationSet.for_board(model.board, instead=instead)
        return Judged.of_evaluation_set(found.development)
    except InputError as error:
        print(f"selfplay: {error}", file=sys.stderr)
        return None
