"""`selfplay iris`: the ID3 warm-up on Fisher's flowers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from selfplay.cli.options import Json, Seed


def iris(
    splits: Annotated[
        int, typer.Option("--splits", help="Number of random train/test splits.")
    ] = 100,
    seed: Seed = 0,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the tree, as .svg.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train an ID3 tree on Fisher's irises and measure its test accuracy.

    Each measure is cut into low, mid and high, with equally many flowers in each; 80 % of the
    flowers are learned from. The tree that is shown is that of the first division.

    Example: selfplay iris --splits 20
    """
    from selfplay.train.estimator.iris import warm_up
    from selfplay.train.tree.exports import Wording, as_svg, as_text

    found = warm_up(splits, seed)
    tree, wording = found.model.tree_, Wording.of(found.model)
    if plot is not None:
        plot.write_text(as_svg(tree, wording), encoding="utf-8")
    if as_json:
        record = {
            "accuracy": found.accuracy,
            "mean_accuracy": found.mean,
            "std": found.std,
            "splits": splits,
            "leaves": tree.leaves,
            "depth": tree.depth,
        }
        print(json.dumps(record))
        return
    print(as_text(tree, wording))
    print()
    print(f"{tree.leaves} leaves; right about {found.accuracy:.1%} of the flowers it had not seen")
    if splits > 1:
        print(f"over {splits} divisions: {found.mean:.1%} on average, spread {found.std:.1%}")
