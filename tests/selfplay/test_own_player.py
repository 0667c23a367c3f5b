"""Players of one's own: by file, by module and by package; changed, broken, or named by a file."""

from __future__ import annotations

import json
import os
import re
import tomllib
from pathlib import Path

import pytest

from selfplay.errors import InputError, PlayerError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.registry import PlayerSpec
from selfplay.storage.dataset import Dataset
from tests.cli.command import ROOT, run, run_process

EXAMPLE = ROOT / "examples/own_player/own_player.py"
CAUTIOUS = f"py:{EXAMPLE}:Cautious"
MINE = """
from selfplay import Decision

class Mine:
    def __init__(self, board, level=3, name: str = "x", strict: bool = False):
        self.given = level, name, strict
    def new_game(self, seed): pass
    def decide(self, position):
        {body}
"""
FAULTS = {
    "1 // 0": "ZeroDivisionError: integer division or modulo by zero (mine.py:9)",
    "position.play(8)": "InputError: column 9 is not on the board: columns are 1 to 7 (mine.py:9)",
    "return 7": "it decided move 7, counted from 0, where 0, 1, 2, 3, 4, 5, 6 are legal",
    "return 'x'": "it decided 'x', neither a column nor a Decision of numbers",
    "return Decision(move=0, visits=(1, 2))": "it decided visits with 2 entries",
    "return Decision(move=0, value=(2,) * 7)": "it decided value 2 in column 0",
    "return Decision(move=0, proven='abcdefg')": "neither a column nor a Decision of numbers",
}
OPTIONS = ["--games=4", "--shard-games=2", "--opening=20-24", "--workers=0"]


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(MINE.format(body="return position.legal_moves[0]"))
    return path


def test_the_example_is_the_one_of_the_page() -> None:
    page = (ROOT / "docs/own-player.md").read_text()
    assert f"```python\n{EXAMPLE.read_text()}```" in page
    player = PlayerSpec.parse(f"{CAUTIOUS},column=2").build(Board())
    decided = [player.decide(Position.parse(text)).move for text in ("", "112233", "11223")]
    assert decided == [1, 3, 3]


def test_options_have_the_types_of_the_constructor(mine: Path) -> None:
    spec = PlayerSpec.parse(f"py:{mine}:Mine,strict=on,name=7,level=2.5")
    assert PlayerSpec.parse(str(spec)) == spec
    assert PlayerSpec.parse(spec.complete).full == spec.full
    assert str(mine) not in spec.full  # where it is does not matter
    assert spec.build(Board())._player.given == (2.5, "7", True)  # type: ignore[attr-defined]
    assert PlayerSpec.parse(f"py:{mine}:Mine,seconds=2").is_timed


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("mine.py", "a class is named as in py:mine.py:Mine or py:package.module:Mine"),
        ("nowhere.py:Mine", "'nowhere.py' cannot be read here .No such file"),
        ("mine.py:Min", "mine.py has no class 'Min'; did you mean 'Mine'"),
        ("mine.py:Mine,levle=2", "no option 'levle'; did you mean 'level'"),
        ("mine.py:Mine,strict=2", "strict is on or off, not '2'"),
        ("mine.py:Mine,level=1,level=2", "level is given twice"),
        ("no_such_package.one:Mine", "'no_such_package.one' cannot be loaded here: ModuleNotFound"),
        ("broken.py:Mine", r"ModuleNotFoundError: No module named 'nothing' \(broken.py:2\)"),
        ("odd.py:Mine", r"cannot be built: ZeroDivisionError: .* \(odd.py:3\)"),
        ("odd.py:Empty", "it cannot be built: TypeError|Empty has no method new_game"),
    ],
)
def test_what_cannot_be_loaded_is_refused_by_name(mine: Path, text: str, message: str) -> None:
    (mine.parent / "broken.py").write_text("\nimport nothing\n")
    (mine.parent / "odd.py").write_text(
        "class Mine:\n    def __init__(self, board):\n        1 // 0\n\nclass Empty:\n    pass\n"
    )
    done = run("analyse", "44", "--player", f"py:{text}", cwd=mine.parent)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "player 'py:" in done.stderr
    assert re.search(message, done.stderr), done.stderr


@pytest.mark.parametrize(("body", "message"), FAULTS.items())
def test_who_fails_is_named(mine: Path, body: str, message: str) -> None:
    mine.write_text(MINE.format(body=body))
    with pytest.raises(PlayerError, match=re.escape(message)) as failed:
        PlayerSpec.parse(f"py:{mine}:Mine").build(Board()).decide(Position())
    assert str(failed.value).startswith(f"player py:{mine}:Mine failed: ")


def test_a_failure_is_no_bug_of_the_program(mine: Path) -> None:
    mine.write_text(MINE.format(body="1 // 0"))
    told = f"player py:mine.py:Mine failed: {FAULTS['1 // 0']}"
    for words, code in (
        (["analyse", "44", "--player=py:mine.py:Mine"], 1),
        (["evaluate", "py:mine.py:Mine", "--limit=3"], 1),
        (["play", "--x=py:mine.py:Mine", "--o=random"], 1),
        (["generate", "run", "--teacher=py:mine.py:Mine", *OPTIONS], 1),
        (["arena", "py:mine.py:Mine", "random", "--games=2", "--opening=0", "--workers=0"], 0),
    ):
        done = run(*words, cwd=mine.parent)
        assert done.returncode == code, done.stderr
        assert told in " ".join((done.stdout + done.stderr).split())
        assert "this is a bug" not in done.stderr


def test_a_run_is_resumed_by_naming_its_players_again(mine: Path) -> None:
    folder, name = mine.parent, "--explorer=py:mine.py:Mine,level=2"
    begun = run("generate", "run", "--teacher=random", name, *OPTIONS, cwd=folder)
    assert begun.returncode == 0, begun.stderr
    spec = Dataset(f"{folder}/run").spec
    assert spec is not None
    assert re.fullmatch(r"py:player=mine.py:Mine,source=Mine-[0-9a-f]{16},level=2", spec.explorer)
    refused = run("generate", "run", "--games=6", "--workers=0", cwd=folder)
    assert refused.returncode == 2
    assert "command line names it: add --explorer py:mine.py:Mine,level=2\n" in refused.stderr
    assert run("generate", "run", "--games=6", name, "--workers=0", cwd=folder).returncode == 0
    other = run("generate", "run", name.replace("2", "3"), cwd=folder)
    assert (other.returncode, "is another run: its explorer" in other.stderr) == (2, True)
    mine.write_text(mine.read_text() + "# changed\n")
    changed = run("generate", "run", "--games=8", name, cwd=folder)
    assert changed.returncode == 2
    assert re.search(
        r"the explorer py:mine.py:Mine,level=2 has changed since run was begun: it was Mine-\w+ "
        r"and is Mine-\w+; restore it",
        changed.stderr,
    )
    with pytest.raises(InputError, match="it has changed"):
        PlayerSpec.parse(spec.explorer.replace("mine.py", str(mine))).build(Board())


def test_a_player_that_changed_before_the_first_shard_is_replaced(mine: Path) -> None:
    words = ["generate", "run", "--teacher=py:mine.py:Mine", *OPTIONS]
    mine.write_text(MINE.format(body="1 // 0"))
    assert run(*words, cwd=mine.parent).returncode == 1
    mine.write_text(MINE.format(body="return position.legal_moves[0]"))
    refused = run(*words, cwd=mine.parent)
    assert (refused.returncode, "it has no shards yet: --restart" in refused.stderr) == (2, True)
    assert run(*words, "--restart", cwd=mine.parent).returncode == 0


def test_a_player_that_ignores_its_seed_is_noticed_when_a_shard_grows(mine: Path) -> None:
    body = "import random; return random.SystemRandom().choice(position.legal_moves)"
    mine.write_text(MINE.format(body=body))
    words = ["generate", "run", "--teacher=py:mine.py:Mine", "--opening=8", "--workers=0"]
    assert run(*words, "--games=9", cwd=mine.parent).returncode == 0
    before = Dataset(f"{mine.parent}/run").fingerprint
    done = run(*words, "--games=12", cwd=mine.parent)
    assert done.returncode == 1
    assert re.search(
        r"part-00000.parquet stays as it was: game \d was \d+ and is \d+ now: is the player's "
        r"randomness seeded by new_game\?\n",
        done.stderr,
    ), done.stderr
    assert Dataset(f"{mine.parent}/run").fingerprint == before


def test_what_a_file_names_is_never_imported(mine: Path) -> None:
    folder, marker = mine.parent, mine.parent / "imported"
    text = mine.read_text()
    run("generate", "run", "--teacher=py:mine.py:Mine", *OPTIONS, cwd=folder)
    record = json.loads((folder / "run/run.json").read_text())
    (folder / "run/shards/part-00001.parquet").unlink()
    mine.write_text(f"open({str(marker)!r}, 'w').close()\n{text}")
    for teacher in (record["spec"]["teacher"], " py:mine:Mine,source=Mine-0"):
        record["spec"]["teacher"] = teacher
        (folder / "run/run.json").write_text(json.dumps(record))
        for words in ("status run", "dataset verify run", "dataset info run", "dataset export run"):
            done = run(*words.split(), *(["--out=x"] if "export" in words else ()), cwd=folder)
            assert done.returncode in (0, 1), done.stderr
        for words in ("generate run", "generate run --dry-run", "generate run --check-engine"):
            done = run(*words.split(), cwd=folder)
            assert (done.returncode, "add --teacher py:" in done.stderr) == (2, True)
    record["spec"]["teacher"] = "py:mine:Mine"
    (folder / "run/run.json").write_text(json.dumps(record))
    done = run("generate", "run", "--teacher=py:mine.py:Mine", cwd=folder)
    assert (done.returncode, "a player's code has no digest" in done.stderr) == (2, True)
    (folder / "run.toml").write_text('teacher = "py:mine.py:Mine"\n')
    done = run("generate", "new", "--spec=run.toml", cwd=folder)
    assert (done.returncode, "add --teacher py:" in done.stderr) == (2, True)
    (folder / "better").mkdir()
    settings = {"options": {"teacher": "py:mine.py:Mine"}, "extra_run_fingerprints": []}
    (folder / "better/improve.json").write_text(json.dumps(settings))
    for words in ("improve better", "improve other --config run.toml"):
        done = run(*words.split(), cwd=folder)
        assert (done.returncode, "add --teacher py:" in done.stderr) == (2, True)
    assert not marker.exists()


def installed(folder: Path, version: str) -> None:
    """The example package, installed as pip does, which would need its build backend here."""
    project = tomllib.loads((EXAMPLE.parent / "pyproject.toml").read_text())["project"]
    info = folder / "own_player.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    (folder / "own_player.py").write_text(EXAMPLE.read_text())
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {version}\n"
    )
    (group, entries), *_ = project["entry-points"].items()
    lines = [f"{name} = {value}" for name, value in entries.items()]
    (info / "entry_points.txt").write_text("\n".join([f"[{group}]", *lines]) + "\n")


def test_a_package_brings_a_player(tmp_path: Path) -> None:
    packages = tmp_path / "packages"
    path = f"{packages}{os.pathsep}{ROOT}"
    installed(packages, "0.1.0")

    def generate(*words: str) -> str:
        done = run_process("generate", "run", *words, cwd=tmp_path, PYTHONPATH=path)
        assert done.returncode == (2 if "--games=8" in words else 0), done.stderr
        return done.stderr

    generate("--teacher=cautious:column=3", *OPTIONS)
    spec = Dataset(f"{tmp_path}/run").spec
    assert spec is not None
    assert re.fullmatch(r"cautious:source=own-player-0.1.0-[0-9a-f]{16},column=3", spec.teacher)
    generate("--games=6", "--workers=0")
    installed(packages, "0.2.0")
    told = generate("--games=8", "--workers=0")
    assert "the teacher cautious:column=3 has changed since run was begun" in told
    (packages / "own_player.py").write_text("import nothing\n")
    told = generate("--games=8", "--workers=0")
    assert "player cautious of own-player-0.2.0 cannot be loaded: ModuleNotFoundError" in told


def test_a_worker_has_the_file(mine: Path) -> None:
    words = ["generate", "run", "--teacher=py:mine.py:Mine", *OPTIONS[:3], "--workers=1"]
    done = run_process(*words, cwd=mine.parent)
    assert done.returncode == 0, done.stderr
