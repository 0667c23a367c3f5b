"""Rounds of improvement: each builds on the one before, and none is made twice."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

import pexpect
import pytest

from selfplay.pipeline.improve import Improvement
from selfplay.storage.dataset import Dataset
from selfplay.train.model import Model
from tests.cli.command import ROOT, SELFPLAY, json_lines, run, terminal

SMALL = [
    "--games=12", "--benchmark=random", "--benchmark-games=4", "--opening=18-24",
    "--opponent=greedy", "--opponent=self", "--workers=0", "--json", "--min-samples-leaf=5",
]  # fmt: skip


@pytest.fixture(scope="module")
def rounds(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[dict[str, object]]]:
    folder = tmp_path_factory.mktemp("improved")
    done = run("improve", "here", "--rounds=3", *SMALL, cwd=folder)
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "here", json_lines(done.stdout)


def test_a_round_learns_from_all_before(rounds: tuple[Path, list[dict[str, object]]]) -> None:
    folder, lines = rounds
    assert [line["round"] for line in lines] == [0, 1, 2]
    models = [Model.load(str(folder / "models" / f"{number:02d}")) for number in range(3)]
    assert [line["model"] for line in lines] == [model.fingerprint for model in models]
    learned_from = [
        f"here/runs/{number:02d}-{opponent}" for number in range(3) for opponent in range(2)
    ]
    for number, model in enumerate(models, start=1):
        # As they were called, not where they were on this machine.
        assert [run["run"] for run in model.provenance["runs"]] == learned_from[: 2 * number]
    latest = Dataset(str(folder / "runs" / "02-0"))
    assert latest.spec is not None
    assert models[1].fingerprint in (latest.spec.explorer or "")
    assert (latest.spec.opponent, latest.spec.opening) == ("greedy", "18-24")
    assert Dataset(str(folder / "runs" / "02-1")).spec.opponent is None  # type: ignore[union-attr]


def test_the_same_command_goes_on(
    rounds: tuple[Path, list[dict[str, object]]], tmp_path: Path
) -> None:
    folder, lines = rounds
    again = run("improve", "here", "--rounds=3", *SMALL, cwd=folder.parent)
    assert json_lines(again.stdout) == lines
    # Elsewhere, stopped where it hurts: what comes of it is the same.
    process = subprocess.Popen(
        [*SELFPLAY, "improve", "there", "--rounds=3", *SMALL],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    while not (tmp_path / "there" / "runs" / "01-0" / "shards").exists():
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "the same command resumes" in errors
    after = run("improve", "there", "--rounds=3", *SMALL, cwd=tmp_path)
    assert json_lines(after.stdout) == lines


def test_the_rounds_asked_for_last_are_kept(
    rounds: tuple[Path, list[dict[str, object]]], tmp_path: Path
) -> None:
    folder, lines = rounds
    again = run("improve", "here", *SMALL, cwd=folder.parent)
    assert json_lines(again.stdout) == lines
    # Stopped before its first round is complete, and resumed.
    shutil.copytree(folder, tmp_path / "here")
    (tmp_path / "here" / "rounds.jsonl").unlink()
    kept = json.loads((tmp_path / "here" / "improve.json").read_text())["rounds"]
    assert (kept, Improvement(str(tmp_path / "here"), {}).total) == (3, 3)
    assert Improvement(str(tmp_path / "here"), {}, 4).total == 4
    # Fewer are shown, none is forgotten.
    assert (
        json_lines(run("improve", "here", "--rounds=1", *SMALL, cwd=folder.parent).stdout)
        == lines[:1]
    )
    assert Improvement(str(folder), {}).total == 3


def test_the_tree_with_the_fewest_mistakes_is_suggested(
    rounds: tuple[Path, list[dict[str, object]]],
) -> None:
    folder, lines = rounds
    table = [word for word in SMALL if word != "--json"]
    done = run("improve", "here", "--rounds=3", *table, cwd=folder.parent)
    best = min(lines, key=lambda line: line["mistake_rate"])  # type: ignore[arg-type,return-value]
    assert f"fewest mistakes: round {best['round']}," in done.stdout
    assert done.stdout.rstrip().endswith(f"models/{best['round']:02d}")


def test_another_command_is_refused(rounds: tuple[Path, list[dict[str, object]]]) -> None:
    folder, _ = rounds
    other = run("improve", "here", "--rounds=3", *SMALL, "--noise=0.5", cwd=folder.parent)
    assert (other.returncode, other.stdout) == (2, "")
    assert "was begun with noise 0.03, not 0.5" in other.stderr
    taken = run("improve", ".", "--rounds=1", *SMALL, cwd=folder.parent)
    assert "is not empty" in taken.stderr
    odd = run("improve", "odd", "--benchmark-games=3", cwd=folder.parent)
    assert "an even number" in odd.stderr


@pytest.mark.parametrize(
    ("option", "message"),
    [
        ("--benchmark-opening=nonsense", "nonsense"),
        ("--noise=2", "from 0 to 1"),
        ("--board=5x4", "makes one for --evaluation-set FILE"),
        ("--evaluation-set=pyproject.toml", "there is no evaluation set 'pyproject.toml'"),
        ("--opponent=human", "not a human"),
        ("--benchmark=human", "can only play in"),
        ("--smoothing=-1", "smoothing is a number from 0"),
        ("--stone-weights=x", "written STONES:TIMES"),
    ],
)
def test_nothing_is_begun_that_cannot_be(tmp_path: Path, option: str, message: str) -> None:
    done = run("improve", "new", *SMALL, option, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_judge_that_fails_is_no_victory(tmp_path: Path) -> None:
    failing = [word for word in SMALL if "benchmark=" not in word]
    done = run(
        "improve",
        "new",
        "--rounds=1",
        *failing,
        "--benchmark=perfect:seconds=0.000001",
        cwd=tmp_path,
    )
    assert done.returncode == 1
    assert "were forfeited" in done.stderr


def test_results_pass_by_the_bar_and_by_ray(tmp_path: Path) -> None:
    on_ray = [word for word in SMALL if "workers" not in word]
    child = terminal(
        ["improve", "new", "--rounds=1", *on_ray, "--workers=2"],
        cwd=tmp_path,
        stdout=tmp_path / "out",
    )
    child.expect(pexpect.EOF)
    assert json_lines((tmp_path / "out").read_text())[0]["round"] == 0


def test_any_folder_will_do(tmp_path: Path) -> None:
    done = run("improve", "a=b", "--rounds=2", *SMALL, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json_lines(done.stdout)) == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("improve.json", "[1]"),
        ("improve.json", "[" * 100_000),
        ("rounds.jsonl", "[1]\n"),
        ("rounds.jsonl", '{"number": 1}\n'),
        ("rounds.jsonl", '{"strange": 1}\n'),
    ],
)
def test_files_that_are_damaged_are_named(
    rounds: tuple[Path, list[dict[str, object]]], tmp_path: Path, name: str, text: str
) -> None:
    shutil.copytree(rounds[0], tmp_path / "here")
    (tmp_path / "here" / name).write_text(text)
    done = run("improve", "here", "--rounds=3", *SMALL, cwd=tmp_path)
    assert done.returncode == 2
    assert f"here/{name} is damaged" in done.stderr
