"""`selfplay quickstart`: from nothing to a tree of one's own, each step a command to copy."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from selfplay.cli.commands.arena import arena
from selfplay.cli.commands.evaluate import evaluate
from selfplay.cli.commands.generate import generate
from selfplay.cli.commands.train import train

RUN, MODEL = "runs/quickstart", "models/quickstart"
GAMES = 600


def quickstart() -> None:
    """Generate, train, evaluate and play a short tournament, in about a minute.

    Prints the command of each step. Run again, it resumes.

    Example: selfplay quickstart
    """
    begun = perf_counter()
    tree = f"tree:{MODEL}"
    if _has_more():
        _step(1, "The games that are there already", f"generate {RUN}", lambda: generate(RUN))
    else:
        _step(
            1,
            "Games, played and labelled by a search on all cores of this machine",
            f"generate {RUN} --games {GAMES} --teacher mcts:3000 --opening 0-16 --seed 1",
            lambda: generate(RUN, games=GAMES, teacher="mcts:3000", opening="0-16", seed=1),
        )
    _step(
        2,
        "A decision tree, trained on them",
        f"train {RUN} --out {MODEL} --min-samples-leaf 30",
        _train,
    )
    _step(
        3,
        "How often it makes a mistake, beside the bundled tree",
        f"evaluate {tree} --compare tree --compare mcts:1000",
        lambda: evaluate(tree, compare=["tree", "mcts:1000"]),
    )
    _step(
        4,
        "A short tournament",
        f"arena {tree} tree mcts:1000 --games 20 --opening 0-8",
        lambda: arena([tree, "tree", "mcts:1000"], games=20, opening="0-8"),
    )
    print(f"That took {perf_counter() - begun:.0f} seconds. Now it is your turn:\n")
    print(f"   $ selfplay play --o {tree}        against the tree of this run")
    print("   $ selfplay play --o tree                     against the bundled one")
    print(f"   $ selfplay generate {RUN} --games 5000   more of the same data")


def _step(number: int, title: str, command: str, act: Callable[[], object]) -> None:
    print(f"{number}. {title}\n\n   $ selfplay {command}\n", flush=True)
    act()
    sys.stdout.flush()
    print(flush=True)


def _train() -> None:
    if _is_trained():
        print(f"{MODEL} is there, and of this very run", flush=True)
    else:
        train([RUN], out=MODEL, min_samples_leaf=30)


def _has_more() -> bool:
    """Whether the run was extended meanwhile, as is said at the end."""
    from selfplay.storage.location import Location
    from selfplay.storage.manifest import Manifest

    there = Manifest.read(Location(RUN))
    return there is not None and there.games > GAMES


def _is_trained() -> bool:
    """Whether the tree is there already, trained on the run as it is."""
    from selfplay.errors import InputError
    from selfplay.storage.dataset import Dataset
    from selfplay.train.model import Model

    if not Path(MODEL).exists():
        return False
    try:
        runs = Model.load(MODEL).provenance["runs"]
    except (InputError, KeyError):
        return False
    return [run["fingerprint"] for run in runs] == [Dataset(RUN).fingerprint]
