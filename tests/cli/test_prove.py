"""`selfplay prove`: tables, exit codes, the mistakes as a run, and certificates repeated."""

from __future__ import annotations

import json
from pathlib import Path

from selfplay.game.position import Position
from selfplay.solver.solver import Solver
from selfplay.storage.dataset import Dataset
from selfplay.storage.row_checks import validate_rows
from selfplay.storage.rows import NO_RESULT
from selfplay.storage.verify import verify
from tests.cli.command import json_lines, run

SMALL = ("--board", "4x4", "--connect", "3", "--workers", "0")
BY_CHANCE = """
import random
from selfplay.players import Decision
class Mine:
    def __init__(self, board):
        pass
    def new_game(self, seed):
        self.random = random.Random(seed)
    def decide(self, position):
        return Decision(move=self.random.choice(position.legal_moves))
"""


def test_a_player_that_is_proven(tmp_path: Path) -> None:
    done = run("prove", "perfect", *SMALL, cwd=tmp_path)
    assert (done.returncode, "proven: it never gives" in done.stdout) == (0, True), done.stderr
    (folder,) = tmp_path.glob("proof-*")
    assert not (folder / "run.json").exists()
    file = str(folder / "certificate.json")
    checked = run("prove", "--check", file, "--workers", "0", "--json", cwd=tmp_path)
    assert checked.returncode == 0
    assert json_lines(checked.stdout)[-1]["differences"] == []
    assert not Path(f"{file}.check").exists()


def test_mistakes_are_a_run(tmp_path: Path) -> None:
    out = str(tmp_path / "out")
    arguments = "prove", "minimax:1", *SMALL, "--out", out, "--json"
    short = run(*arguments, "--stones", "6")
    assert short.returncode == 1
    before = Dataset(out).positions
    done = run(*arguments)
    *levels, verdict = json_lines(done.stdout)
    assert (done.returncode, verdict["verdict"]) == (1, "given away")
    dataset = Dataset(out)
    assert 0 < before < dataset.positions == verdict["mistakes"]
    assert sum(level["to_draw"] + level["to_loss"] for level in levels) == verdict["mistakes"]
    assert len(verdict["worst"]) == min(10, verdict["mistakes"])
    assert verdict["shortest"]["line"]
    assert not list(verify(dataset))
    solver = Solver(dataset.board)
    for _, rows in dataset.rows(validate_rows):
        stones = (array.tolist() for array in rows.stones(dataset.board))
        for own, mask, proven in zip(*stones, rows.proven.tolist(), strict=True):
            values = solver.values(Position(dataset.board, own, mask, None))
            assert [None if v == NO_RESULT else v for v in proven] == list(values)
            assert len(set(values) - {None}) > 1


def test_a_forged_certificate_is_found_out(tmp_path: Path) -> None:
    from selfplay.workers.proof.certificate import _checksum

    run("prove", "minimax:1", *SMALL, "--stones", "4", "--out", str(tmp_path / "out"))
    file = tmp_path / "out" / "certificate.json"
    record = json.loads(file.read_text())
    record["levels"][1]["hash"] = "0" * 32
    file.write_text(json.dumps(record))
    done = run("prove", "--check", str(file))
    assert (done.returncode, "checksum does not match" in done.stderr) == (2, True)
    del record["checksum"]
    file.write_text(json.dumps({**record, "checksum": _checksum(record)}))
    done = run("prove", "--check", str(file), "--workers", "0")
    assert (done.returncode, "1 difference" in done.stdout) == (1, True)
    assert done.stdout.count("2 stones: hash 0000") == 1
    done = run("prove", "perfect", "--check", str(file))
    assert (done.returncode, "not of 'perfect" in done.stderr) == (2, True)


def test_bad_input_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(BY_CHANCE)
    for words, said in (
        (["random"], "moves by chance"),
        (["py:mine.py:Mine", *SMALL], "moves by chance: in"),
        ([], "a PLAYER is missing"),
        (["perfect", *SMALL, "--from", "12121"], "is a finished game"),
        (["perfect", "--board", "9x9"], "64 bits"),
        (["perfect", *SMALL, "--out", "s3://bucket/run"], "no URI"),
        (["perfect", *SMALL, "--as", "second", "--stones", "0"], "first with 1 stone"),
        (["--check", "nothing.json"], "there is no certificate"),
        (["--check", "mine.py"], "is not a certificate"),
        (["--check", "mine.py", "--as", "second"], "leave the others out"),
    ):
        done = run("prove", *words, cwd=tmp_path)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), (words, done.stderr)
        assert said in done.stderr
