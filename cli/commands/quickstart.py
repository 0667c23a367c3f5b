"""`selfplay quickstart`: generate, train, evaluate and play, each step a command to copy."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from selfplay.cli.commands.arena import arena
from selfplay.cli.commands.evaluate import evaluate
from selfplay.cli.commands.generate import generate
from selfplay.cli.commands.train import train
from selfplay.game.board import Board
from selfplay.game.position import Position

RUN, MODEL = "runs/quickstart", "models/quickstart"
GAMES = 600


def quickstart() -> None:
    """Generate, train, evaluate and play a short tournament, in a few minutes.

    Prints the command of each step. Run again, it resumes.

    Example: selfplay quickstart
    """
    start = perf_counter()
    tree = f"tree:{MODEL}"
    if _is_extended():
        _step(1, "The games of the existing run", f"generate {RUN}", lambda: generate(RUN))
    else:
        _step(
            1,
            "Games, played and labelled by a search on all cores",
            f"generate {RUN} --games {GAMES} --teacher mcts:3000 --opening 0-16 --seed 1",
            lambda: generate(RUN, games=GAMES, teacher="mcts:3000", opening="0-16", seed=1),
        )
    _step(
        2,
        "A decision tree, trained on the games",
        f"train {RUN} --out {MODEL} --min-samples-leaf 30",
        _train,
    )
    _step(
        3,
        "The tree's mistake rate, compared with the bundled tree's",
        f"evaluate {tree} --compare tree --compare mcts:1000",
        lambda: evaluate(tree, compare=["tree", "mcts:1000"]),
    )
    _step(
        4,
        "A short tournament",
        f"arena {tree} tree mcts:1000 --games 20 --opening 0-8",
        lambda: arena([tree, "tree", "mcts:1000"], games=20, opening="0-8"),
    )
    print("5. Compiling perfect play, for the hints and reviews of `selfplay play`", flush=True)
    from selfplay.cli.board.perfect_play import PerfectPlay

    PerfectPlay().hint(Position(Board()).play(Board().columns // 2))
    print(flush=True)
    print(f"Done in {perf_counter() - start:.0f} seconds. Your turn:\n")
    print(f"   $ selfplay play --o {tree}        against your tree")
    print("   $ selfplay play --o tree                     against the bundled tree")
    print(f"   $ selfplay generate {RUN} --games 5000   more of the same data")


def _step(number: int, title: str, command: str, run: Callable[[], object]) -> None:
    print(f"{number}. {title}\n\n   $ selfplay {command}\n", flush=True)
    run()
    print(flush=True)


def _train() -> None:
    if _is_trained():
        print(f"{MODEL} is already trained on this run", flush=True)
    else:
        train([RUN], out=MODEL, min_samples_leaf=30)


def _is_extended() -> bool:
    """Whether the user extended the run, as the last line of the output suggests."""
    from selfplay.storage.location import Location
    from selfplay.storage.manifest import Manifest

    manifest = Manifest.read(Location(RUN))
    return manifest is not None and manifest.games > GAMES


def _is_trained() -> bool:
    """Whether the model exists and was trained on the present rows of the run."""
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
