"""Runs in an object store, by the same code: what is there is whole, whatever fails."""

from __future__ import annotations

from pathlib import Path

import pytest

from selfplay.errors import InputError
from selfplay.storage.dataset import Dataset, shard_path, write_shard
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.verify import quarantine_shards, verify
from tests.cli.command import run
from tests.object_store import Store
from tests.storage.made import SPEC, make_run, shard_of


def test_a_run_is_the_same_there_as_here(store: Store, tmp_path: Path) -> None:
    there, here = make_run(store.uri), make_run(tmp_path / "run")
    assert there.fingerprint == here.fingerprint
    assert there.missing() == []
    assert list(verify(there)) == []
    assert there.scan().to_table().num_rows == here.positions == len(there.to_pandas(["game"]))
    assert sum(batch.num_rows for batch in there.batches(["move"])) == here.positions
    assert len(there.paths()) == 4
    assert there.paths()[0].startswith(store.uri.removeprefix("s3://"))


def test_a_shard_is_asked_for_and_put_in_one_request(store: Store) -> None:
    make_run(store.uri, shards=range(1))
    path = f"/{store.uri.removeprefix('s3://')}/shards/part-00000.parquet"
    assert [r for r in store.requests if "part-00000" in r] == [f"HEAD {path}", f"PUT {path}"]


def test_a_run_goes_on_where_it_was(store: Store) -> None:
    dataset = make_run(store.uri, shards=range(2))
    assert (dataset.missing(), dataset.shards()) == ([2, 3], [0, 1])
    for shard in dataset.missing():
        write_shard(dataset.place, dataset.manifest, shard, shard_of(SPEC, shard))
    assert Dataset(store.uri).missing() == []


def test_an_upload_that_fails_leaves_nothing(store: Store) -> None:
    dataset = make_run(store.uri, shards=range(1))
    store.fail = lambda verb, path, number: (
        "hang up" if verb == "PUT" and "part-00001" in path else None
    )
    with pytest.raises(OSError, match=store.uri):
        write_shard(dataset.place, dataset.manifest, 1, shard_of(SPEC, 1))
    store.fail = lambda verb, path, number: None
    again = Dataset(store.uri)
    assert (again.shards(), again.unexpected_files()) == ([0], [])


def test_a_server_that_is_busy_now_and_then_is_asked_again(store: Store) -> None:
    faults = ("503 SlowDown", "500 InternalError")
    store.fail = lambda verb, path, number: faults[number // 3 % 2] if number % 3 == 0 else None
    dataset = make_run(store.uri)
    assert list(verify(dataset)) == []
    assert len(store.requests) > 12


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("403 AccessDenied", "access is denied"),
        ("403 InvalidAccessKeyId", "the credentials are not known"),
        ("403 SignatureDoesNotMatch", "the credentials are wrong"),
        ("404 NoSuchBucket", "there is no such bucket"),
    ],
)
def test_what_people_get_wrong_is_told_in_a_line(store: Store, fault: str, message: str) -> None:
    store.fail = lambda verb, path, number: fault
    with pytest.raises(InputError, match=message) as caught:
        Manifest.of_spec(SPEC).write(Location(store.uri))
    assert "\n" not in str(caught.value)


def test_bad_shards_are_set_aside_there_too(store: Store) -> None:
    dataset = make_run(store.uri, shards=range(2))
    dataset.place.write(shard_path(1), b"PAR1 no more")
    problems = [p for p in verify(Dataset(store.uri)) if not p.is_open]
    assert [p.shard for p in problems] == [1]
    assert quarantine_shards(Dataset(store.uri), problems) == ["quarantine/part-00001.parquet"]
    assert Dataset(store.uri).missing() == [1, 2, 3]


def test_nothing_there_is_no_run(store: Store) -> None:
    with pytest.raises(InputError, match="there is no run at s3://"):
        Dataset(store.uri)
    assert Location(store.uri).files("shards") == {}


def test_outputs_go_there_as_well(store: Store) -> None:
    make_run(store.uri)
    place = Location(store.uri)
    for words, name in (
        (["export", store.uri, "--out", place.below("out.csv")], "out.csv"),
        (["info", store.uri, "--plot", place.below("plot.svg")], "plot.svg"),
    ):
        done = run("dataset", *words)
        assert (done.returncode, done.stderr) == (0, "")
        assert len(place.read(name)) > 1000
        assert run("dataset", *words).stderr == f"{words[-1]} exists: it is replaced\n"
    assert run("dataset", "split", store.uri, "--out", place.below("parts")).returncode == 0
    assert list(verify(Dataset(place.below("parts/test")))) == []
    assert place.read("plot.svg").startswith(b"<?xml")


def test_an_output_that_fails_leaves_nothing(store: Store) -> None:
    place = Location(store.uri)

    def stop_half_way() -> None:
        with place.writing("out.csv") as file:
            file.write(b"half")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        stop_half_way()
    assert place.files("") == {}
