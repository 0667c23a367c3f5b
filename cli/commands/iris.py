"""`selfplay iris`: ID3 on Fisher's irises, to try the tree on a known data set."""

from __future__ import annotations

import json
from typing import Annotated

from typer import Option

from selfplay.cli.options import Json, Seed
from selfplay.wording import counted


def iris(
    splits: Annotated[int, Option(help="Number of random train/test splits.")] = 100,
    seed: Seed = 0,
    plot: Annotated[
        str | None, Option(metavar="FILE", help="Plot the tree to a .svg file, or its URI.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train an ID3 tree on Fisher's irises and measure its test accuracy.

    Each measurement is binned into low, mid and high by terciles; 80 % of the flowers are the
    training set. The tree shown is that of the first split.

    Example: selfplay iris --splits 20
    """
    from selfplay.cli.outputs import output_file
    from selfplay.train.estimator.iris import warm_up
    from selfplay.train.tree.exports import Wording, as_svg, as_text

    target = None if plot is None else output_file(plot)
    result = warm_up(splits, seed)
    tree, wording = result.model.tree_, Wording.of(result.model)
    if target is not None:
        place, name = target
        place.write(name, as_svg(tree, wording).encode())
    if as_json:
        record = {
            "accuracy": result.accuracy,
            "mean_accuracy": result.mean,
            "std": result.std,
            "splits": splits,
            "leaves": tree.leaves,
            "depth": tree.depth,
        }
        print(json.dumps(record))
        return
    print(as_text(tree, wording))
    print(f"\n{counted(tree.leaves, 'leaf', 'leaves')}; test accuracy {result.accuracy:.1%}")
    if splits > 1:
        print(f"{splits} splits: mean {result.mean:.1%}, standard deviation {result.std:.1%}")
