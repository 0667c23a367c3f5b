"""Several at work on one run: nothing is lost, replaced or mixed."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import selfplay.storage.location
import selfplay.workers.generation.engine
import selfplay.workers.generation.shard_job
from selfplay.errors import InputError
from selfplay.storage.dataset import Dataset, read_footer, write_shard
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.verify import verify
from selfplay.workers.executors.local import LocalExecutor
from selfplay.workers.generation.engine import engine_digest
from selfplay.workers.generation.generate import generate
from selfplay.workers.generation.plan import plan
from selfplay.workers.generation.shard_job import ShardJob
from tests.cli.command import ROOT, run
from tests.object_store import Store
from tests.storage.made import SPEC, make_run, shard_of

OPTIONS: dict[str, Any] = {
    "games": 20,
    "shard_games": 5,
    "teacher": "mcts:200",
    "opening": "4-20",
    "seed": 3,
}


def never() -> bool:
    return False


@pytest.fixture(params=["folder", "store"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Location:
    if request.param == "folder":
        return Location(str(tmp_path))
    store: Store = request.getfixturevalue("store")
    return Location(store.uri)


def test_a_shard_of_another_spec_is_never_replaced(place: Location) -> None:
    """Who has begun first, has no shard yet; another one exchanges the run, and finishes."""
    early = plan(place, OPTIONS)
    early.begin()
    slow = ShardJob(place.absolute, early.manifest).prepare()
    other = {**OPTIONS, "seed": 4}
    late = plan(place, other, restart=True)
    late.begin()
    *_, progress = generate(late, LocalExecutor(), never)
    assert progress.is_complete
    fingerprint = Dataset(place).fingerprint
    with pytest.raises(InputError, match="was changed meanwhile"):
        slow(0)
    # Even if the description were the right one again.
    early.manifest.write(place)
    with pytest.raises(InputError, match="belongs to another run: not overwritten"):
        slow(0)
    late.manifest.write(place)
    assert Dataset(place).fingerprint == fingerprint
    assert list(verify(Dataset(place))) == []


def test_the_last_shard_of_a_shorter_run_does_not_replace_a_longer_one(place: Location) -> None:
    """Whatever comes between what the shorter writer has asked and what it writes."""
    shorter = plan(place, {**OPTIONS, "games": 6})
    shorter.begin()
    longer = plan(place, {**OPTIONS, "games": 9})
    longer.begin()
    write_shard(place, longer.manifest, 1, shard_of(longer.spec, 1))
    with pytest.raises(InputError, match="was changed meanwhile"):
        write_shard(place, shorter.manifest, 1, shard_of(shorter.spec, 1))
    shorter.manifest.write(place)
    there = write_shard(place, shorter.manifest, 1, shard_of(shorter.spec, 1))
    assert (there.end_game, read_footer(place, 1).end_game) == (9, 9)


def test_between_the_question_and_the_file_no_other_writer_comes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = Location(str(tmp_path))
    begun = plan(place, {**OPTIONS, "games": 6})
    begun.begin()
    longer = plan(place, {**OPTIONS, "games": 9})
    asked, real = threading.Event(), Manifest.read
    other = threading.Thread(target=longer.begin)

    def read_and_dawdle(where: Location) -> Manifest | None:
        found = real(where)
        if not asked.is_set() and threading.current_thread() is threading.main_thread():
            asked.set()
            other.start()
            other.join(0.5)
            assert other.is_alive()  # it waits
        return found

    monkeypatch.setattr(Manifest, "read", read_and_dawdle)
    write_shard(place, begun.manifest, 1, shard_of(begun.spec, 1))
    other.join()
    monkeypatch.undo()
    assert Dataset(place).missing() == [0, 1]  # extended after the shorter shard was there
    assert selfplay.storage.location._LOCK_SECONDS > 1


def test_who_makes_other_rows_of_the_same_spec_is_told(place: Location) -> None:
    dataset = make_run(place.uri, shards=range(1))
    with pytest.raises(InputError, match="different rows from another process"):
        write_shard(place, dataset.manifest, 0, shard_of(replace(SPEC, seed=9), 0))
    assert write_shard(place, dataset.manifest, 0, shard_of(SPEC, 0)) == dataset.footers[0]


EDIT = """
import sys
from pathlib import Path
import selfplay.seeding as seeding
path = Path(seeding.__file__)
path.write_text(path.read_text().replace("0x9E3779B97F4A7C15", "0x9E3779B97F4A7C17"))
"""


def test_an_engine_that_changes_in_the_middle_of_a_run_is_noticed(tmp_path: Path) -> None:
    """A copy of the program, of which one number is changed; and one, of which a comment is."""
    copy = tmp_path / "copy"
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "selfplay", copy / "selfplay", ignore=ignored)
    environment = {**os.environ, "PYTHONPATH": str(copy), "NUMBA_CACHE_DIR": str(tmp_path / "nb")}

    def generated(*more: str) -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "selfplay", "generate", str(tmp_path / "run"), "--workers=0"]
        return subprocess.run(
            [*words, *more], cwd=copy, env=environment, text=True, capture_output=True, check=False
        )

    spec = ("--teacher=random", "--opening=0-4", "--shard-games=3", "--seed=1")
    assert generated("--games=3", *spec).returncode == 0
    before = Dataset(str(tmp_path / "run")).fingerprint
    board = copy / "selfplay" / "game" / "board.py"
    board.write_text(board.read_text() + "# nothing\n")
    refused = generated("--games=6")
    assert refused.returncode == 2
    assert "made by another or unknown version of the code" in refused.stderr
    assert "--check-engine" in refused.stderr
    assert generated("--games=6", "--check-engine").returncode == 0
    assert generated("--games=6").returncode == 0
    subprocess.run([sys.executable, "-c", EDIT], cwd=copy, env=environment, check=True)
    assert generated().returncode == 0  # nothing is missing: nothing is mixed
    changed = generated("--games=9", "--check-engine")
    assert changed.returncode == 2
    assert "differs with this engine" in changed.stderr
    assert Dataset(str(tmp_path / "run")).footers[0].fingerprint
    assert before != Dataset(str(tmp_path / "run")).fingerprint


def test_a_worker_with_another_engine_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    what = plan(Location(str(tmp_path)), OPTIONS)
    what.begin()
    monkeypatch.setattr(
        selfplay.workers.generation.shard_job, "engine_digest", lambda spec: "0" * 32
    )
    with pytest.raises(InputError, match="a worker's code differs"):
        ShardJob(what.place.absolute, what.manifest).prepare()
    assert engine_digest(SPEC) == what.manifest.engine != "0" * 32
    with_tree = replace(SPEC, explorer="tree")
    assert engine_digest(with_tree) != engine_digest(SPEC)  # what a tree sees decides, too


def test_the_program_does_not_mind_files_of_its_own_names(tmp_path: Path) -> None:
    """Ray has its workers look where the command was given before anywhere else."""
    for name in ("storage", "train", "workers", "cli", "selfplay", "numpy", "ray", "typer"):
        (tmp_path / f"{name}.py").write_text(f"raise SystemExit('the {name}.py of a user')\n")
    for name in ("pyarrow", "bench"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "__init__.py").write_text("raise SystemExit('a folder of a user')\n")
    command = Path(sys.executable).parent / "selfplay"
    spec = ["--teacher=mcts:50", "--shard-games=5"]
    for words in (
        ["generate", "run", "--games=10", *spec, "--workers=0"],
        ["train", "run", "--out", "model"],
        ["generate", "more", "--explorer=tree:model", "--games=10", *spec, "--workers=2"],
    ):
        done = subprocess.run(
            [command, *words], cwd=tmp_path, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, (words, done.stderr)


def test_a_worker_says_what_it_died_of(tmp_path: Path) -> None:
    code = (
        "import sys\n"
        "from selfplay.workers.executors import ray\n"
        "ray._START_RETRIES = 0\n"
        "class Poison:\n"
        "    def __init__(self, words): self.words = words\n"
        "    def __reduce__(self): return (exec, (self.words,))\n"
        "executor, out = ray.RayExecutor(1), sys.stdout\n"
        "with executor.start():\n"
        "    for words in sys.argv[1:]:\n"
        "        try: list(executor.run(Poison(words), [1], lambda: False))\n"
        "        except Exception as error: print(str(error).splitlines()[-1], file=out)\n"
    )
    last_words = {
        "import nothing_of_the_kind": "No module named 'nothing_of_the_kind'",
        "raise SystemExit('so it ends')": "exit code so it ends",
        "import os; os.abort()": "Fatal Python error: Aborted",
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *last_words],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    for error, last in zip(done.stdout.splitlines(), last_words.values(), strict=True):
        assert "no worker could be started" in error
        assert last in error


LISTENING = """
import os, subprocess, sys
from pathlib import Path
from selfplay.workers.executors.ray import RayExecutor

def below(process):
    found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(process)], capture_output=True)
    return [process, *(p for child in found.stdout.split() for p in below(int(child)))]

def sockets(process):
    try:
        for name in Path(f"/proc/{process}/fd").iterdir():
            yield os.readlink(name)
    except OSError:  # it is gone, or that file is
        pass

out = sys.stdout
with RayExecutor(1).start():
    ours = {one for process in below(os.getpid()) for one in sockets(process)}
    for table in ("/proc/net/tcp", "/proc/net/tcp6"):
        for line in Path(table).read_text().splitlines()[1:]:
            words = line.split()
            if words[3] == "0A" and f"socket:[{words[9]}]" in ours:
                print(words[1].split(":")[0], file=out)
"""
LOOPBACK = {"0100007F", "0000000000000000FFFF00000100007F", "00000000000000000000000001000000"}


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_ray_on_one_machine_is_heard_by_it_alone() -> None:
    done = subprocess.run(
        [sys.executable, "-c", LISTENING],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    heard = done.stdout.split()
    assert len(heard) >= 3, done.stderr
    assert set(heard) <= LOOPBACK


def test_a_store_that_fails_at_the_end_does_not_fail_the_run(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One 503 of one footer: all readers wait, not workers alone; and no answer is no damage."""
    monkeypatch.setattr(selfplay.storage.location, "RETRY_SECONDS", 120.0)
    monkeypatch.setattr(selfplay.storage.location.time, "sleep", lambda seconds: None)
    make_run(store.uri)
    seen: list[str] = []

    def fail(verb: str, path: str, number: int) -> str | None:
        if "part-00002" in path and verb == "GET" and len(seen) < 8:
            seen.append(path)
            return "400 Odd"
        return None

    store.fail = fail
    dataset = Dataset(store.uri)
    assert dataset.missing() == []
    assert len(seen) == 8
    assert run("status", store.uri).returncode == 0
    seen.clear()
    assert len(dataset.read(2)) == dataset.footers[2].rows
    assert list(verify(Dataset(store.uri))) == []
