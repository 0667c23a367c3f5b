"""`make fuzz`: feed mutants of every file that is read to every command that reads it.

A fault is anything but an orderly end within 10 seconds and 1 GB: an exit code of 0, 1 or 2, and
one line of the program's own where it refuses. Every mutant follows from the seed and its number
alone: `python -m tests.fuzz --seed 1 --only 4711` shows one again.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import typer.main

from tests.fuzz import mutants
from tests.fuzz.mutants import Mutate

SECONDS, BYTES = 10.0, 1 << 30


@dataclass(frozen=True)
class Target:
    """A file, how it is changed, and what reads it."""

    file: str
    mutations: tuple[Mutate, ...]
    commands: tuple[str, ...]


READERS_OF_RUNS = (
    "status run",
    "dataset info run --json",
    "dataset verify run",
    "dataset verify run --quarantine",
    "dataset card run",
    "dataset quality run --sample 3",
    "dataset export run --format csv --out out.csv",
    "dataset split run --out parts",
    "dataset merge run other --out merged",
    "train run --out out.model --min-samples-leaf 5",
    "train run --out out.model --labels optimal",
    "train run --out out.model --target move --features cells",
    "generate run --max-time 1s --workers 0",
)
READERS_OF_MODELS = (
    "explain model",
    "explain model 44352",
    "explain model --export json",
    "analyse 44352 --player tree:model",
    "arena tree:model random --games 2 --workers 0",
)
IMPROVE = (
    "improve better --rounds 1 --games 2 --benchmark random --benchmark-games 2 --workers 0 "
    "--opening 30 --opponent greedy --min-samples-leaf 2"
)
TARGETS = (
    Target("run/run.json", (mutants.of_json, mutants.of_json, mutants.of_bytes), READERS_OF_RUNS),
    Target(
        "run/shards/part-00000.parquet",
        (mutants.of_bytes, mutants.of_shard, mutants.of_shard),
        READERS_OF_RUNS,
    ),
    Target("model", (mutants.of_bytes, mutants.of_model, mutants.of_model), READERS_OF_MODELS),
    Target(
        "table.csv", (mutants.of_lines, mutants.of_bytes), ("dataset import table.csv imported",)
    ),
    Target("games.txt", (mutants.of_lines, mutants.of_bytes), ("play --replay games.txt",)),
    Target(
        "openings.txt",
        (mutants.of_lines, mutants.of_bytes),
        ("openings file:openings.txt --games 3",),
    ),
    Target(
        "book.npz",
        (mutants.of_bytes, mutants.of_arrays),
        ("solve 44444412121256 --book book.npz", "solve 4 --book book.npz --seconds 1"),
    ),
    Target(
        "set.npz",
        (mutants.of_bytes, mutants.of_arrays),
        ("evaluate centre --set set.npz --no-baselines",),
    ),
    Target(
        "better/improve.json",
        (mutants.of_json, mutants.of_bytes),
        (IMPROVE,),
    ),
    Target(
        "better/rounds.jsonl",
        (mutants.of_json, mutants.of_bytes),
        (IMPROVE,),
    ),
    Target(
        "recipe.toml",
        (mutants.of_lines, mutants.of_bytes),
        ("generate new --spec recipe.toml --games 1 --max-time 1s --workers 0",),
    ),
)


def make_template(folder: Path) -> None:
    """Good files of every kind."""
    from tests.cli.command import ROOT, run

    for words in (
        f"generate run --games 6 --shard-games 3 --teacher perfect:scores=off --explorer mcts:30 "
        f"--opponent mcts:20 --opening file:{ROOT}/tests/openings.txt --workers 0",
        "generate other --games 2 --shard-games 2 --teacher mcts:30 --workers 0",
        "train other --out model --min-samples-leaf 5",
        "dataset export other --format csv-012 --out table.csv",
        "book build --board 5x4 --plies 2 --out book.npz",
        "evaluation build --board 5x4 --positions 20 --out set.npz --workers 0",
        IMPROVE,
    ):
        done = run(*words.split(), cwd=folder)
        if done.returncode:
            raise SystemExit(f"{words}: {done.stderr}")
    shutil.copy(ROOT / "selfplay/solver/books/7x6-4.npz", folder / "book.npz")
    shutil.copy(ROOT / "tests/openings.txt", folder / "openings.txt")
    (folder / "games.txt").write_text(
        "11213\thuman\tmcts:20\tX wins\t5x4 connect 4\n# again\n1234\ta\tb\t\t5x4 connect 4\n"
    )
    (folder / "recipe.toml").write_text('teacher = "mcts:20"\ngames = 2\nseed = 3\nnoise = 0.1\n')


def generate_command(target: Target, chance: random.Random) -> list[str]:
    return chance.choice(target.commands).split()


def mutant(number: int, seed: int, template: Path) -> tuple[Target, list[str], bytes]:
    """The mutant of this number."""
    chance = random.Random(f"{seed} {number}")
    target = TARGETS[number % len(TARGETS)]
    words = generate_command(target, chance)
    data = (template / target.file).read_bytes()
    for _ in range(20):
        changed = chance.choice(target.mutations)(chance, data)
        if changed != data:
            return target, words, changed
    return target, words, data[:-1]


def fault_of(words: list[str], file: Path, data: bytes, template: Path) -> str | None:
    """Run a command, on good files but this one, in a process of its own; what is wrong."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    try:
        shutil.copytree(template, folder / "in")
        (folder / "in" / file).write_bytes(data)
        return _judged(words, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _judged(words: list[str], folder: Path) -> str | None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    child = os.fork()
    if child == 0:
        _run(words, folder)
    code, usage = _wait(child)
    said = (folder / "err").read_text(errors="replace")
    shown = (folder / "out").read_text(errors="replace")
    if code is None:
        return f"no end within {SECONDS:.0f} s"
    if usage.ru_maxrss > before + BYTES // 1024:
        return f"{usage.ru_maxrss / 1e6:.1f} GB"
    if code not in (0, 1, 2):
        return f"exit code {code}: {said[-300:]}"
    if "this is a bug" in said or "Traceback" in said or "Warning" in said:
        return said[-500:]
    if "\x1b" in said + shown or re.search(r"s3://\S*hunter2", said + shown):
        return f"shown as it was: {said[-300:]}"
    if code == 2 and said.count("\n") != 1:
        return f"not one line: {said[-300:]}"
    return None


def _run(words: list[str], folder: Path) -> None:
    """In the child: the command as a person gives it."""
    os.chdir(folder / "in")
    for name, number in (("out", 1), ("err", 2)):
        os.dup2(os.open(folder / name, os.O_WRONLY | os.O_CREAT), number)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    sys.argv = ["selfplay", *words]
    code = 99
    try:
        from selfplay.cli.main import run

        run()
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 0
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)


def _wait(child: int) -> tuple[int | None, resource.struct_rusage]:
    end = time.monotonic() + SECONDS
    pause = 0.002
    while time.monotonic() < end:
        found, status, usage = os.wait4(child, os.WNOHANG)
        if found:
            return os.waitstatus_to_exitcode(status), usage
        time.sleep(pause)
        pause = min(pause * 1.3, 0.05)
    os.kill(child, signal.SIGKILL)
    _, _, usage = os.wait4(child, 0)
    return None, usage


def warm_up(template: Path) -> None:
    """Import, compile and build here what all children need, so that forks have it."""
    typer.main.get_command = cache(typer.main.get_command)
    for command in sorted({command for target in TARGETS for command in target.commands}):
        folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        shutil.copytree(template, folder / "in")
        here, argv, out, err = os.getcwd(), sys.argv, os.dup(1), os.dup(2)
        os.chdir(folder / "in")
        for number in (1, 2):
            os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        sys.argv = ["selfplay", *command.split()]
        try:
            from selfplay.cli.main import run

            run()
        except SystemExit:
            pass
        finally:
            sys.stdout.flush()
            os.dup2(out, 1)
            os.dup2(err, 2)
            os.chdir(here)
            sys.argv = argv
            shutil.rmtree(folder, ignore_errors=True)


def faults(
    template: Path, seed: int, numbers: range, seconds: float | None = None
) -> Iterator[tuple[int, str | None]]:
    """Every mutant's number and what is wrong with how it was taken."""
    end = None if seconds is None else time.monotonic() + seconds
    for number in numbers:
        if end is not None and time.monotonic() > end:
            return
        target, words, data = mutant(number, seed, template)
        wrong = fault_of(words, Path(target.file), data, template)
        yield number, None if wrong is None else f"{target.file}, {' '.join(words)}: {wrong}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0)
    parser.add_argument("--only", type=int, help="this mutant alone; it is kept")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        template = Path(name)
        make_template(template)
        if options.only is not None:
            target, words, data = mutant(options.only, options.seed, template)
            kept = Path(tempfile.mkdtemp(prefix="fuzz-kept-"))
            shutil.copytree(template, kept, dirs_exist_ok=True)
            (kept / target.file).write_bytes(data)
            print(f"cd {kept} && selfplay {' '.join(words)}")
            return
        warm_up(template)
        counts: Counter[bool] = Counter()
        numbers = range(options.start, options.start + options.count)
        for number, wrong in faults(template, options.seed, numbers):
            counts[wrong is None] += 1
            if wrong is not None:
                print(f"{number}: {wrong}", flush=True)
            if sum(counts.values()) % 1000 == 0:
                print(f"{sum(counts.values()):,} mutants, {counts[False]:,} faults", flush=True)
    print(f"{sum(counts.values()):,} mutants, {counts[False]:,} faults")
    sys.exit(bool(counts[False]))


if __name__ == "__main__":
    main()
