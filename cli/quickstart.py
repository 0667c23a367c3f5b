"""`selfplay quickstart`: from nothing to a tree of one's own, each step a command to copy."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from time import perf_counter

RUN, MODEL = "runs/quickstart", "models/quickstart"
GAMES = 600

STEPS = (
    (
        "Games, played and labelled by a search on all cores of this machine",
        f"generate {RUN} --games {GAMES} --teacher mcts:3000 --opening 0-16 --seed 1",
    ),
    ("A decision tree, grown of them", f"train {RUN} --out {MODEL} --min-samples-leaf 30"),
    (
        "How often it gives something away, beside the tree that comes along",
        f"evaluate tree:{MODEL} --beside tree --beside mcts:1000",
    ),
    (
        "A short tournament",
        f"arena tree:{MODEL} tree mcts:1000 --games 20 --opening 0-8",
    ),
)


def quickstart() -> None:
    """Generate, train, evaluate, play a short tournament: all of it, in about a minute.

    Every step is shown as the command that it is. Given again, it goes on where it was.

    Example: selfplay quickstart
    """
    from cli.main import app

    begun = perf_counter()
    for number, (title, command) in enumerate(STEPS, 1):
        if command.startswith("generate") and _has_more():
            command = f"generate {RUN}"
        print(f"{number}. {title}\n\n   $ selfplay {command}\n", flush=True)
        if command.startswith("train") and _is_grown():
            print(f"{MODEL} is there, and of this very run", flush=True)
        else:
            app(shlex.split(command), prog_name="selfplay", standalone_mode=False)
            sys.stdout.flush()
        print(flush=True)
    print(f"That took {perf_counter() - begun:.0f} seconds. Now it is your turn:\n")
    print(f"   $ selfplay play --o tree:{MODEL}        against the tree of this run")
    print("   $ selfplay play --o tree                     against the one that comes along")
    print(f"   $ selfplay generate {RUN} --games 5000   more of the same data")


def _has_more() -> bool:
    """Whether the run was extended meanwhile, as is said at the end."""
    from storage.description import Description
    from storage.place import Place

    there = Description.read(Place(RUN))
    return there is not None and there.games > GAMES


def _is_grown() -> bool:
    """Whether the tree is there already, grown of the run as it is."""
    from selfplay.errors import InputError
    from storage.dataset import Dataset
    from train.model import Model

    if not Path(MODEL).exists():
        return False
    try:
        runs = Model.load(MODEL).provenance["runs"]
    except (InputError, KeyError):
        return False
    return [run["fingerprint"] for run in runs] == [Dataset(RUN).fingerprint]
