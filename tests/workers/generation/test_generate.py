"""A run comes out the same however it was made, and what goes wrong is told and made good."""

from __future__ import annotations

import os
import re
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from itertools import zip_longest
from pathlib import Path

import pytest

import selfplay.storage.location
import selfplay.workers.generation.shard_job
from selfplay.errors import InputError
from selfplay.storage.dataset import Dataset, write_shard
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.verify import verify
from selfplay.workers.executors.interface import Done, Failed, WorkerStatus
from selfplay.workers.executors.local import LocalExecutor
from selfplay.workers.generation.estimate import estimate
from selfplay.workers.generation.generate import FAILURES_IN_A_ROW, Progress, generate
from selfplay.workers.generation.plan import plan
from selfplay.workers.generation.shard_job import Receipt, ShardJob
from selfplay.workers.generation.status import status_of
from tests import ROOT
from tests.object_store import Store
from tests.storage.made import SPEC
from tests.workers.executors.jobs import Squares

OPTIONS = {"games": 20, "shard_games": 5, "teacher": "mcts:200", "opening": "4-20", "seed": 3}
# Games as `generate` makes them of these options: written down once, true on every machine.
FINGERPRINT = "f21a925335906614ec46a68bc0d66d90"


def never() -> bool:
    return False


def made(place: Location, stop: Callable[[], bool] = never, **options: object) -> Progress:
    what = plan(place, {**OPTIONS, **options})
    what.begin()
    *_, last = generate(what, LocalExecutor(), stop)
    return last


def test_a_run_is_made_as_its_spec_says(tmp_path: Path) -> None:
    progress = made(Location(str(tmp_path)))
    dataset = Dataset(str(tmp_path))
    assert (progress.is_complete, progress.games, progress.failed) == (True, 20, [])
    assert progress.positions == dataset.positions
    assert dataset.manifest.spec == SPEC
    assert list(verify(dataset)) == []
    assert dataset.fingerprint == FINGERPRINT


def test_the_example_is_what_its_command_makes(tmp_path: Path) -> None:
    example = Dataset(str(ROOT / "examples" / "tiny"))
    assert example.spec is not None
    options = asdict(example.spec)
    for name in ("opening_digest", "schema_version"):  # not for users
        del options[name]
    made(Location(str(tmp_path)), **options)
    assert Dataset(str(tmp_path)).fingerprint == example.fingerprint


def test_a_position_takes_at_most_20_bytes(tmp_path: Path) -> None:
    made(Location(str(tmp_path)), games=100, shard_games=100, teacher="mcts:10000", opening="0-20")
    dataset = Dataset(str(tmp_path))
    assert dataset.bytes / dataset.positions <= 20


def test_a_run_that_was_extended_is_the_one_made_at_once(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    made(place, games=8)
    progress = made(place)
    assert (progress.games, progress.new_shards) == (20, 3)
    assert Dataset(place).fingerprint == FINGERPRINT


def test_a_run_that_was_stopped_goes_on(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    calls = iter([False, False, True])
    assert made(place, lambda: next(calls)).shards == 2
    assert made(place).new_shards == 2
    assert Dataset(place).fingerprint == FINGERPRINT


def test_here_everything_is_done_but_what_cannot_be(tmp_path: Path) -> None:
    events = list(LocalExecutor().run(Squares(bad=2, how="raise"), [1, 2, 3], never))
    done = [event.receipt for event in events if isinstance(event, Done)]
    failed = [event for event in events if isinstance(event, Failed)]
    assert done == [1, 9]
    assert [(f.item, f.reason, f.is_common) for f in failed] == [
        (2, "ZeroDivisionError: poisoned", False)
    ]
    assert "be_bad" in failed[0].traceback
    assert [event.ready for event in events if isinstance(event, WorkerStatus)] == [0, 1]


def test_what_is_in_the_way_of_all_ends_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    place = Location(str(tmp_path))
    monkeypatch.setattr(selfplay.workers.generation.shard_job, "write_shard", full)
    progress = made(place)
    assert [failure.reason for failure in progress.failed] == ["No space left on device"]
    monkeypatch.setattr(selfplay.workers.generation.shard_job, "write_shard", write_shard)
    assert made(place).is_complete
    assert Dataset(place).fingerprint == FINGERPRINT


def test_after_many_failures_in_a_row_there_is_no_hope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(selfplay.workers.generation.shard_job, "write_shard", broken)
    assert len(made(Location(str(tmp_path)), shard_games=1).failed) == FAILURES_IN_A_ROW


def test_a_worker_that_is_not_the_drivers_like_refuses(tmp_path: Path) -> None:
    what = plan(Location(f"{tmp_path}/run"), OPTIONS)
    with pytest.raises(InputError, match="does not see the run at"):
        ShardJob(what.place.absolute, what.manifest).prepare()
    with pytest.raises(InputError, match=r"selfplay .*, but the run was started with 0\.0\.1"):
        ShardJob(what.place.absolute, what.manifest, "0.0.1").prepare()


def test_a_store_that_is_out_of_order_for_a_while_is_waited_for(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    pauses: list[float] = []
    monkeypatch.setattr(selfplay.storage.location, "RETRY_SECONDS", 120.0)
    monkeypatch.setattr(selfplay.storage.location.time, "sleep", pauses.append)
    place = Location(store.uri)
    store.fail = lambda verb, path, number: (
        "403 Odd" if verb == "PUT" and "part-00001" in path and len(pauses) < 2 else None
    )
    assert made(place).failed == []
    assert pauses == [1, 2]
    assert Dataset(place).fingerprint == FINGERPRINT


def test_a_full_disk_is_one_line_and_room_completes_the_run(tmp_path: Path) -> None:
    """A limit on the size of files stands in for a disk that is full."""
    run = tmp_path / "run"
    words = [sys.executable, "-m", "selfplay", "generate", str(run), "--workers", "0"]
    words += [f"--{name.replace('_', '-')}={value}" for name, value in OPTIONS.items()]
    made(Location(str(run)), games=10)
    largest = max(file.size for file in Dataset(str(run)).files.values())

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (largest // 2, resource.RLIM_INFINITY))

    done = subprocess.run(words, preexec_fn=limit, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stdout == ""
    told = [line for line in done.stderr.splitlines() if line.startswith("shard")]
    assert [re.sub(r" \(.*\)", "", line) for line in told] == ["shard 2: File too large"]
    assert "2 of 4 shards are complete" in done.stderr
    assert list(verify(Dataset(str(run)))) != []  # two are missing, those that are there are whole
    assert Dataset(str(run)).shards() == [0, 1]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, Dataset(str(run)).fingerprint) == (0, FINGERPRINT)


def test_status_tells_from_the_run_alone(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    made(place, games=15)
    plan(place, OPTIONS).begin()
    times = [1000.0, 1010.0, 1020.0]
    for shard, when in enumerate(times):
        path = tmp_path / "shards" / f"part-{shard:05d}.parquet"
        os.utime(path, (when, when))
    os.utime(tmp_path / "run.json", (900, 900))
    dataset = Dataset(place)
    rows = [dataset.footers[shard].rows for shard in range(3)]
    found = status_of(dataset, now=1025.0)
    assert (found.shards, found.shards_total, found.games, found.positions) == (3, 4, 15, sum(rows))
    assert found.seconds_since_last == 5
    assert found.positions_per_second == pytest.approx((rows[1] + rows[2]) / 20)
    assert found.seconds_left == pytest.approx(10)
    # Long after the last shard there is nobody at work, so that nothing can be foretold.
    late = status_of(dataset, now=1079.0)
    assert (late.seconds_left is not None, late.is_idle) == (True, False)
    late = status_of(dataset, now=1081.0)
    assert (late.seconds_left, late.is_idle) == (None, True)


def test_a_driver_is_not_taken_for_idle_before_shards_show_its_speed(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    plan(place, OPTIONS).begin()
    os.utime(tmp_path / "run.json", (900, 900))
    found = [status_of(Dataset(place), now=900.0 + seconds) for seconds in (300, 3000)]
    assert [status.is_idle for status in found] == [False, True]
    made(place)
    assert not status_of(Dataset(place), now=1e12).is_idle


def test_between_waves_the_status_says_what_is_to_be_expected(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    positions_run(place, 300, 12)
    dataset = Dataset(place)
    found = status_of(dataset)
    assert (found.is_complete, found.is_idle, found.positions < 300) == (False, False, True)
    assert found.games_expected == -(-found.games * 300 // found.positions) > found.games
    assert found.shards_expected == -(-found.games_expected // 4)


def test_time_left_and_speed_count_work_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the start of the workers, nor the shards that others are still working on."""
    clock = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: clock[0])
    progress = Progress(shards=0, shards_total=9, games=0, games_total=90, positions=0)

    def done(at: float, seconds: float) -> None:
        clock[0] = at
        progress.update(Done(0, Receipt(0, 10, 100, 0, seconds, 50)))

    progress.update(WorkerStatus(ready=2))
    done(60.0, 10.0)
    assert progress.seconds_left == 40  # 8 shards of 10 s for 2 workers
    clock[0] = 63.0
    assert progress.seconds_left == 37
    assert progress.positions_per_second_now == 20
    done(100.0, 5.0)
    assert progress.positions_per_second_now == 40  # of the last half minute alone
    assert progress.positions_per_second == 2


def test_time_left_is_not_known_before_anything_is_done() -> None:
    progress = Progress(shards=0, shards_total=4, games=0, games_total=20, positions=0)
    progress.update(WorkerStatus(ready=1))
    time.sleep(0.01)
    progress.update(Failed(0, "broken"))
    assert progress.seconds_left is None
    assert progress.positions_per_second == 0


BY_POSITIONS = {"teacher": "random", "opening": "0-20", "shard_games": 4, "seed": 3}


def positions_run(place: Location, positions: int | None, stop_after: int = 10**9) -> Progress:
    """Generate by positions, stop after this many checks, and assert that shards stay."""
    what = plan(place, {} if Manifest.read(place) else BY_POSITIONS, positions=positions)
    before = {name: file.modified for name, file in place.files("shards").items()}
    what.begin()
    calls = iter(range(10**9))
    *_, progress = [Progress.of(what)] + [
        replace(found)
        for found in generate(what, LocalExecutor(), lambda: next(calls) >= stop_after)
    ]
    after = {name: file.modified for name, file in place.files("shards").items()}
    assert before.items() <= after.items()  # written once
    return progress


@pytest.mark.parametrize("positions", [1, 43, 300])
def test_a_run_ends_with_the_game_that_has_the_positions(tmp_path: Path, positions: int) -> None:
    place = Location(f"{tmp_path}/run")
    assert positions_run(place, positions).is_complete
    dataset = Dataset(place)
    last = dataset.to_pandas(["game"]).game.value_counts()[dataset.games - 1]
    assert dataset.positions - last < positions <= dataset.positions
    # The same games as a run of this number of games, and as a run stopped and resumed often.
    what = plan(Location(f"{tmp_path}/games"), {**BY_POSITIONS, "games": dataset.games})
    what.begin()
    list(generate(what, LocalExecutor(), never))
    assert Dataset(what.place).fingerprint == dataset.fingerprint
    for calls in (3, 7):
        stopped = Location(f"{tmp_path}/stopped{calls}")
        attempts = [positions_run(stopped, positions, calls)]
        while not attempts[-1].is_complete:
            calls += 3
            attempts.append(positions_run(stopped, None, calls))
        assert len(attempts) > 1 or positions < 300
        assert Dataset(stopped).fingerprint == dataset.fingerprint
        assert list(verify(Dataset(stopped))) == []


def test_a_run_by_positions_is_extended_by_either(tmp_path: Path) -> None:
    place, other = Location(f"{tmp_path}/run"), Location(f"{tmp_path}/other")
    positions_run(place, 100)
    with pytest.raises(InputError, match="positions, and cannot shrink to 50: "):
        plan(place, {}, positions=50)
    with pytest.raises(InputError, match="by --games or by --positions"):
        plan(place, {"games": 3}, positions=50)
    with pytest.raises(InputError, match="positions is a number from 1 to"):
        plan(place, {}, positions=0)
    assert plan(place, {}).is_complete
    (tmp_path / "run/shards/part-00000.parquet").unlink()
    assert positions_run(place, None).is_complete
    for found, options, positions in ((place, {}, 200), (other, BY_POSITIONS, 200)):
        what = plan(found, options, positions=positions)
        what.begin()
        list(generate(what, LocalExecutor(), never))
    assert Dataset(place).fingerprint == Dataset(other).fingerprint
    more = plan(place, {"games": Dataset(place).games + 5})
    more.begin()
    list(generate(more, LocalExecutor(), never))
    assert plan(place, {}).is_complete
    assert Dataset(place).manifest.positions is None


def test_games_without_a_search_are_counted_too(tmp_path: Path) -> None:
    for name, options in (("labels", {"mode": "positions"}), ("replies", {"opponent": "centre"})):
        what = plan(Location(f"{tmp_path}/{name}"), {**BY_POSITIONS, **options}, positions=30)
        what.begin()
        list(generate(what, LocalExecutor(), never))
        dataset = Dataset(what.place)
        assert dataset.missing() == []
        assert dataset.positions >= 30
    assert Dataset(f"{tmp_path}/labels").games == 30


def test_two_drivers_by_positions_make_one_run(tmp_path: Path) -> None:
    """They take turns, event by event; the later one notices the other."""
    place = Location(f"{tmp_path}/run")
    one = plan(place, BY_POSITIONS, positions=200)
    one.begin()
    other = plan(place, {}, positions=200)
    other.begin()
    steps = [generate(what, LocalExecutor(), never) for what in (one, other)]
    last: list[Progress] = []
    for turns in zip_longest(*steps):
        last = [turn or was for turn, was in zip_longest(turns, last)]
    assert [progress.failed for progress in last] == [[], []]
    assert all(progress.is_complete for progress in last)
    shard, seconds = last[1].other or (None, None)
    assert (shard, seconds is not None and seconds < 60) == (0, True)
    positions_run(Location(f"{tmp_path}/alone"), 200)
    assert Dataset(place).fingerprint == Dataset(f"{tmp_path}/alone").fingerprint


def test_an_estimate_by_positions_says_how_many_games_they_take(tmp_path: Path) -> None:
    found = estimate(plan(Location(str(tmp_path)), BY_POSITIONS, positions=10_000), 0.05)
    assert found.positions_missing == pytest.approx(10_000, rel=0.01)
    assert 300 < found.games_missing < 2000
    assert found.games_played == found.games_missing + (found.games_total - 1) % 4 + 1


@pytest.mark.parametrize("more", [{"positions": 400}, {"games": 30}], ids=str)
def test_an_estimate_of_more_counts_the_shard_that_is_written_again(
    tmp_path: Path, more: dict[str, int]
) -> None:
    place, games = Location(str(tmp_path)), 10
    made(place, **{**BY_POSITIONS, "games": games, "opening": "0-20"})
    options = {"games": more["games"]} if "games" in more else {}
    found = estimate(plan(place, options, positions=more.get("positions")), 0.05)
    total = found.games_total
    assert (found.shards_rewritten, found.shards_missing) == (1, -(-total // 4) - 2)
    assert found.games_missing == total - games
    assert found.games_played >= total - 8
