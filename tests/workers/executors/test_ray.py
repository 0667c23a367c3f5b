"""On a real Ray: the same rows, whatever happens to workers, nodes and whoever started them."""

from __future__ import annotations

import gc
import json
import os
import random
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from selfplay.errors import InputError
from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.workers.executors.interface import Done, Event, Failed, JobError, WorkerStatus
from selfplay.workers.executors.ray import MAX_RETRIES, RayExecutor
from selfplay.workers.generation.generate import generate
from selfplay.workers.generation.plan import plan
from tests.workers.executors.jobs import Squares
from tests.workers.generation.test_generate import FINGERPRINT, OPTIONS

GAMES = 400
# Long enough for something to happen to it.
LONG = {**OPTIONS, "games": GAMES, "teacher": "mcts:2000"}
LONG_FINGERPRINT = "3ffda1f3a222ac94f50a9f38e8e4fa31"


def never() -> bool:
    return False


@pytest.fixture(scope="module")
def on_ray() -> Iterator[RayExecutor]:
    """Ray on this machine with two workers, for all tests that do not need one of their own."""
    executor = RayExecutor(2)
    with executor.start():
        yield executor
    forgive_ray()


def forgive_ray() -> None:
    """Ray leaves files and processes for the end to close: that is no fault of a test."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


def squares(events: list[Event]) -> list[int]:
    return sorted(event.receipt for event in events if isinstance(event, Done))


def test_one_fingerprint_whoever_makes_the_run(on_ray: RayExecutor, tmp_path: Path) -> None:
    what = plan(Location(str(tmp_path)), OPTIONS)
    what.begin()
    *_, progress = generate(what, on_ray, never)
    assert (progress.is_complete, progress.failed, progress.lost) == (True, [], 0)
    assert progress.positions == Dataset(what.place).positions
    assert progress.new_rollouts > 0
    assert Dataset(what.place).fingerprint == FINGERPRINT


def test_a_poisoned_item_is_told_once_and_the_others_are_done(
    on_ray: RayExecutor, tmp_path: Path
) -> None:
    job = Squares(str(tmp_path), bad=3, how="raise")
    events = list(on_ray.run(job, range(8), never))
    assert squares(events) == [0, 1, 4, 16, 25, 36, 49]
    (failed,) = (event for event in events if isinstance(event, Failed))
    assert (failed.item, failed.reason) == (3, "ZeroDivisionError: poisoned")
    assert "be_bad" in failed.traceback
    assert job.times(3) == 1


def test_an_item_that_kills_its_workers_is_given_up(on_ray: RayExecutor, tmp_path: Path) -> None:
    job = Squares(str(tmp_path), bad=3, how="die")
    events = list(on_ray.run(job, range(8), never))
    assert squares(events) == [0, 1, 4, 16, 25, 36, 49]
    (failed,) = (event for event in events if isinstance(event, Failed))
    assert failed.reason.startswith(f"its worker was lost {MAX_RETRIES + 1} times; last: ")
    assert job.times(3) == MAX_RETRIES + 1
    crew = [event for event in events if isinstance(event, WorkerStatus)][-1]
    assert (crew.lost, crew.retries) == (MAX_RETRIES + 1, MAX_RETRIES)


def test_an_item_whose_worker_was_lost_is_done_by_another(
    on_ray: RayExecutor, tmp_path: Path
) -> None:
    job = Squares(str(tmp_path), bad=3, how="die once")
    events = list(on_ray.run(job, range(6), never))
    assert squares(events) == [0, 1, 4, 9, 16, 25]
    assert job.times(3) == 2


def test_an_item_that_hangs_is_done_by_another_as_well(
    on_ray: RayExecutor, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.workers.executors.ray._STRAGGLER_SECONDS", 1.0)
    job = Squares(str(tmp_path), bad=1, how="hang once")
    events = list(on_ray.run(job, range(4), never))
    assert squares(events) == [0, 1, 4, 9]
    assert job.times(1) == 2


def test_at_a_wish_to_stop_what_was_begun_is_finished(on_ray: RayExecutor, tmp_path: Path) -> None:
    job = Squares(str(tmp_path), seconds=0.2)
    found: list[Event] = []
    found.extend(on_ray.run(job, range(100), lambda: len(list(tmp_path.iterdir())) >= 3))
    begun = len(list(tmp_path.iterdir()))
    assert 3 <= begun <= 6
    assert len(squares(found)) == begun


def test_workers_that_cannot_work_at_all_say_why(on_ray: RayExecutor) -> None:
    with pytest.raises(InputError, match="the run is not to be seen from here"):
        list(on_ray.run(Squares(how="unwilling"), range(4), never))
    with pytest.raises(JobError, match=r"a worker cannot work: .*no such kernel"):
        list(on_ray.run(Squares(how="unable"), range(4), never))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("10.0.0.1", "an address is auto or HOST:PORT"),
        ("ray://10.0.0.1:10001", "an address is auto or HOST:PORT"),
        ("127.0.0.1:1", r"nobody answers at 127.0.0.1:1 .*refused"),
    ],
)
def test_an_address_where_nobody_is_says_so_at_once(address: str, message: str) -> None:
    with pytest.raises(InputError, match=message), RayExecutor(1, address).start():
        pass


# Whoever started it, in a process of its own.


def command(run: Path, workers: int, *more: str) -> list[str]:
    options = {**LONG, "workers": workers}
    words = [f"--{name.replace('_', '-')}={value}" for name, value in options.items()]
    return [sys.executable, "-m", "selfplay", "generate", str(run), *words, *more]


def below(driver: int, name: str) -> list[int]:
    """The processes of that name that a driver has started, or those have."""
    listed = subprocess.run(
        ["ps", "-ewwo", "pid,ppid,args"], capture_output=True, text=True, check=True
    ).stdout
    found = {}
    for line in listed.splitlines()[1:]:
        pid, parent, args = line.split(None, 2)
        found[int(pid)] = (int(parent), args)

    def is_below(pid: int) -> bool:
        while pid in found:
            if pid == driver:
                return True
            pid = found[pid][0]
        return False

    return [pid for pid, (_, args) in found.items() if name in args and is_below(pid)]


def wait_for(condition: Callable[[], object], seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def shards_in(run: Path) -> int:
    return len(list((run / "shards").glob("part-*.parquet")))


def test_killed_workers_and_a_killed_driver_change_nothing(tmp_path: Path) -> None:
    chance, kills = random.Random(1), 0
    run = tmp_path / "run"
    driver = subprocess.Popen(
        command(run, 3), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    while kills < 3 and driver.poll() is None:
        there = below(driver.pid, "ray::Worker")
        if len(there) > 1 and shards_in(run) >= 5 * (kills + 1):
            os.kill(chance.choice(there), signal.SIGKILL)
            kills += 1
        time.sleep(0.02)
    assert kills == 3
    there = below(driver.pid, "ray::Worker")
    driver.kill()
    driver.communicate()
    assert 15 <= shards_in(run) < GAMES // 5
    wait_for(lambda: not any(Path(f"/proc/{pid}").exists() for pid in there))
    resumed = subprocess.run(command(run, 2), capture_output=True, text=True, check=False)
    assert resumed.returncode == 0
    assert Dataset(str(run)).fingerprint == LONG_FINGERPRINT


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=lambda s: s.name)
def test_a_signal_ends_in_order_and_the_command_goes_on(
    tmp_path: Path, number: signal.Signals
) -> None:
    run = tmp_path / "run"
    driver = subprocess.Popen(
        command(run, 2, "--json"), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(lambda: shards_in(run) > 3)
    driver.send_signal(number)
    out, err = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert f"resume with: selfplay generate {run}" in err
    assert "Traceback" not in err
    records = [json.loads(line) for line in out.splitlines()]  # and nothing of Ray's
    assert [record["event"] for record in records][-1] == "stopped"
    assert records[-1]["shards"] == shards_in(run) < GAMES // 5


def test_ctrl_c_while_ray_starts_leaves_nothing_behind(tmp_path: Path) -> None:
    driver = subprocess.Popen(command(tmp_path / "run", 2), stderr=subprocess.PIPE)
    wait_for(lambda: below(driver.pid, "gcs_server"))
    (server,) = below(driver.pid, "gcs_server")
    driver.send_signal(signal.SIGINT)
    _, err = driver.communicate(timeout=60)
    assert driver.returncode == 130
    assert b"resume with" in err
    wait_for(lambda: not Path(f"/proc/{server}").exists())
