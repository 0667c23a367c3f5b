"""Mutants of every file through every command that reads it; a minute here, `make fuzz` longer."""

from __future__ import annotations

import random
import subprocess
import sys
from contextlib import suppress

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.openings import parse_openings
from selfplay.game.position import Position
from selfplay.registry import PlayerSpec
from selfplay.storage.spec import Spec
from tests.cli.command import ROOT
from tests.fuzz.mutants import of_text, strange

MUTANTS = 60


def test_no_mutant_of_a_file_ends_a_command_in_disorder() -> None:
    words = [sys.executable, "-m", "tests.fuzz", f"--count={MUTANTS}", "--seed=1"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{MUTANTS:,} mutants, 0 faults" in done.stdout


def test_no_mutant_of_a_text_is_a_fault() -> None:
    """What people write: players, openings, positions, boards."""
    chance = random.Random(1)
    texts = "mcts:iterations=100,rollout=careful minimax:depth=3,eval=threats perfect random"
    texts += " tree:models/base sensible:0-20 all:3 44352 4,4,11 7x6"
    for _ in range(800):
        text = of_text(chance, chance.choice(texts.split()))
        for parse in (
            PlayerSpec.parse,
            lambda text: parse_openings(text, Board()),
            Position.parse,
            Board.parse,
        ):
            with suppress(InputError):
                parse(text)


def test_no_spec_of_strange_values_is_a_fault() -> None:
    chance = random.Random(2)
    names = [name for name in Spec.__slots__ if name != "opening_digest"]
    for _ in range(2000):
        options = {name: strange(chance) for name in chance.sample(names, chance.randrange(1, 4))}
        with suppress(InputError):
            Spec.from_record(options)
