"""Evaluation sets at the command line: built once, used by halves."""

from __future__ import annotations

from pathlib import Path

import pexpect
import pytest

from tests.cli.command import SELFPLAY, json_lines, run

BUILD = ["evaluation", "build", "--board", "5x4", "--out", "s.npz", "--workers", "0"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    found = tmp_path_factory.mktemp("set")
    (record,) = json_lines(run(*BUILD, "--positions", "40", "--json", cwd=found).stdout)
    assert (record["positions"], record["recipe"]) == (40, "8-14 plies, seed 0")
    assert record["development"] + record["final"] == 40  # type: ignore[operator]
    assert [path.name for path in found.iterdir()] == ["s.npz"]
    return found


def test_a_set_is_built_once(folder: Path) -> None:
    again = run(*BUILD, "--positions", "40", cwd=folder)
    assert again.stdout.startswith("s.npz: 40 contested positions of 5x4 connect 4, 8-14 plies")
    other = run(*BUILD, "--positions", "41", cwd=folder)
    assert (other.returncode, "s.npz is another evaluation set" in other.stderr) == (2, True)


def test_the_final_half_is_read_on_purpose(folder: Path) -> None:
    on_set = ("evaluate", "greedy", "--set", "s.npz", "--json")
    done, final = run(*on_set, cwd=folder), run(*on_set, "--final", cwd=folder)
    counts = [json_lines(one.stdout)[0]["positions"] for one in (done, final)]
    assert sum(counts) == 40  # type: ignore[arg-type]
    assert min(counts) > 0  # type: ignore[type-var]
    assert done.stderr == ""
    (line,) = final.stderr.splitlines()
    assert "once per release" in line
    other = run(*on_set, "--board", "6x5", cwd=folder)
    assert "s.npz is an evaluation set of 5x4 connect 4, not of 6x5" in other.stderr


def test_too_few_positions_end_with_what_there_is(tmp_path: Path) -> None:
    tiny = ["evaluation", "build", "--board", "4x4", "--plies", "2", "--out", "s.npz"]
    done = run(*tiny, cwd=tmp_path)
    (line,) = done.stderr.splitlines()
    assert done.returncode == 2
    assert "of 4x4 connect 4 with 2-2 stones" in line


def test_an_interrupted_build_resumes(tmp_path: Path) -> None:
    build = [*BUILD, "--positions", "1000"]
    child = pexpect.spawn(SELFPLAY[0], [*SELFPLAY[1:], *build], cwd=str(tmp_path), timeout=60)
    child.expect(r"[1-9]\d* of \d+ chunks, .* remaining")
    child.sendintr()
    child.expect("of 1,000 positions are solved; the same command resumes from s.npz.parts")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 130
