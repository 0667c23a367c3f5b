"""`selfplay generate` and `status`: resuming, stopping, bad options, durations."""

from __future__ import annotations

import fcntl
import os
import re
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import pytest

from selfplay.cli.durations import duration, parse_duration
from selfplay.cli.job_progress import LogLines
from selfplay.cli.run_progress import RUN, JsonLines, speed
from selfplay.errors import InputError
from selfplay.storage.dataset import Dataset
from selfplay.workers.generation.generate import Progress
from tests.cli.command import ROOT, SELFPLAY, json_lines, run

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT)}
SMALL = ["--games=20", "--shard-games=10", "--teacher=mcts:100", "--seed=1", "--workers=0"]


def test_a_run_is_generated_resumed_and_extended(tmp_path: Path) -> None:
    done = run("generate", "run", *SMALL, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "20 games" in done.stdout
    assert "fingerprint" in done.stdout
    again = run("generate", "run", cwd=tmp_path)
    assert (again.returncode, again.stderr) == (0, "")
    assert Dataset(str(tmp_path / "run")).fingerprint in again.stdout
    more = run("generate", "run", "--games=25", "--workers=0", "--json", cwd=tmp_path)
    last = json_lines(more.stdout)[-1]
    assert (last["event"], last["games"], last["shards"]) == ("done", 25, 3)
    dataset = Dataset(str(tmp_path / "run"))
    assert last["fingerprint"] == dataset.fingerprint
    assert dataset.fingerprint in (tmp_path / "run" / "README.md").read_text()
    told = json_lines(run("status", "run", "--json", cwd=tmp_path).stdout)[0]
    assert (told["complete"], told["games"], told["shards_total"]) == (True, 25, 3)


def test_a_dry_run_estimates_and_writes_nothing(tmp_path: Path) -> None:
    options = ["--games=1000000", "--teacher=mcts:50"]
    done = run("generate", "run", *options, "--dry-run", "--json", cwd=tmp_path)
    (found,) = json_lines(done.stdout)
    assert (found["games"], found["shards"]) == (1_000_000, 10_000)
    assert 12e6 < float(str(found["positions"])) < 30e6
    assert list(tmp_path.iterdir()) == []
    assert "256 cores" in run("generate", "run", *options, "--dry-run", cwd=tmp_path).stdout


def test_max_time_finishes_the_current_shards(tmp_path: Path) -> None:
    options = ["--games=1000000", "--teacher=mcts:50", "--workers=0", "--max-time=4s"]
    done = run("generate", "run", *options, cwd=tmp_path)
    assert done.returncode == 0
    assert "--max-time is over: " in done.stderr
    assert "resume with: selfplay generate run" in done.stderr
    assert Dataset(str(tmp_path / "run")).shards() == list(
        range(len(list((tmp_path / "run" / "shards").iterdir())))
    )


def test_the_second_interrupt_stops_at_once(tmp_path: Path) -> None:
    words = ["run", "--games=100", "--shard-games=100", "--teacher=mcts:1000000", "--workers=0"]
    process = subprocess.Popen(
        [sys.executable, "-m", "selfplay", "generate", *words],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    while not (tmp_path / "run" / "run.json").exists():
        time.sleep(0.05)
    time.sleep(1.5)
    process.send_signal(signal.SIGINT)
    assert "Ctrl-C again" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "0 of 1 shards are complete; resume with: selfplay generate run" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--games=0"], "games is a number from 1"),
        (["--games=1" + "0" * 400], "games is a number from 1"),
        (["--noise=2"], "noise is a number from 0 to 1"),
        (["--temperature=1"], "go together"),
        (["--max-time=xx"], "a duration is written 47h"),
        (["--teacher=human"], "not a human"),
        (["--teacher=perfect", "--board=16x16"], "64 bits"),
        (["--workers=0", "--address=auto"], "does not go with --address"),
        (["--spec=nowhere.toml"], "cannot read a spec"),
        (["--games=200000000", "--shard-games=1"], "at most 10,000,000 shards"),
        (["--mode=all"], "'all' is not one of 'games', 'positions'"),
    ],
    ids=str,
)
def test_bad_options_get_one_line(tmp_path: Path, options: list[str], message: str) -> None:
    done = run("generate", "run", "--workers=0", *options, cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert done.stderr.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_spec_is_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "run.toml").write_text('teacher = "mcts:50"\ngames = 4\nseed = 2\n')
    done = run("generate", "run", "--spec=run.toml", "--games=3", "--workers=0", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    spec = Dataset(str(tmp_path / "run")).spec
    assert spec is not None
    assert (spec.games, spec.seed) == (3, 2)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("47h", 169200), ("1h30m", 5400), ("30s", 30), ("1.5m", 90), ("2d", 172800)],
)
def test_durations_are_parsed(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "5", "h", "5x", "1h 30m", "-1h", "1e3s"])
def test_bad_durations_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="a duration is written"):
        parse_duration(text)


def test_durations_are_printed() -> None:
    found = [duration(seconds) for seconds in (1.23, 59.7, 61, 3700, 90_000)]
    assert found == ["1.2 s", "1 min 0 s", "1 min 1 s", "1 h 1 min", "1 d 1 h"]


def test_a_broken_log_does_not_stop_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    class Gone:
        def write(self, text: str) -> None:
            raise BrokenPipeError

        def flush(self) -> None:
            pass

    monkeypatch.setattr(sys, "stderr", Gone())
    lines = LogLines(RUN)
    lines.stopping()
    progress = Progress(shards=1, shards_total=4, games=5, games_total=20, positions=100, lost=1)
    lines.show(progress)
    assert "workers are starting" in speed(progress)
    progress.workers = progress.retries = 1
    assert speed(progress) == "1 worker, 1 retry"


def test_a_closed_pipe_does_not_stop_a_run(tmp_path: Path) -> None:
    """As with `| head -1`."""
    words = [*SELFPLAY, "generate", "run", "--games=40", "--shard-games=1", "--json"]
    words += ["--teacher=mcts:20000", "--workers=0"]
    process = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT
    )
    assert process.stdout is not None
    assert process.stdout.readline().startswith(b'{"event": "progress"')
    process.stdout.close()
    assert process.stderr is not None
    told = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), told.count(b"the run goes on")) == (0, 1)
    assert Dataset(str(tmp_path / "run")).missing() == []


def test_a_closed_terminal_finishes_the_current_shard(tmp_path: Path) -> None:
    ours, theirs = os.openpty()
    words = ["generate", "run", "--games=300", "--shard-games=3", "--teacher=mcts:20000"]
    process = subprocess.Popen(
        [*SELFPLAY, *words, "--workers=0"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
    )
    os.close(theirs)
    shards = tmp_path / "run" / "shards"
    while len(list(shards.glob("part-*"))) < 2:
        time.sleep(0.02)
    before = len(list(shards.glob("part-*")))
    os.close(ours)  # and the system says so to whoever was there
    assert process.wait(timeout=60) == 130
    assert len(list(shards.glob("part-*"))) > before  # the shard in work was finished
    assert list(shards.glob(".*")) == []
    assert Dataset(str(tmp_path / "run")).missing() != []


def test_a_run_by_positions_says_how_far_it_is(tmp_path: Path) -> None:
    words = ["generate", "run", "--teacher=random", "--positions=300", "--workers=0"]
    done = run(*words, "--max-time=0s", cwd=tmp_path)
    assert "resume with: selfplay generate run\n" in done.stderr
    assert "0 of 300 positions are complete" in done.stderr
    status = run("status", "run", cwd=tmp_path).stdout
    assert re.search(r"games +0 of at least 8 *\npositions +0 of 300 *\n", status), status
    assert "not known yet" in status
    assert run("generate", "run", "--workers=0", cwd=tmp_path).returncode == 0
    told = json_lines(run("status", "run", "--json", cwd=tmp_path).stdout)[0]
    assert (told["complete"], told["positions_total"]) == (True, 300)
    refused = run(*words, "--games=3", cwd=tmp_path)
    assert (refused.returncode, "by --games or by --positions" in refused.stderr) == (2, True)


def test_another_driver_is_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    progress = Progress(shards=1, shards_total=4, games=5, games_total=20, positions=100)
    progress.other = (12, 2.0)
    for display in (LogLines(RUN), JsonLines(sys.stdout)):
        display.show(progress)
        display.show(progress)
        told = capsys.readouterr().err
        assert told == "another driver wrote shard 12 2.0 s ago; both do the same work\n"
