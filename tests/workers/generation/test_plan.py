"""The plan of a run: go on with what is there, refuse what does not belong to it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from selfplay.errors import InputError
from selfplay.files import aside_of
from selfplay.game.board import Board
from selfplay.storage.csv_io import import_csv
from selfplay.storage.dataset import Dataset, write_shard
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.openings import load_openings, openings_file
from selfplay.workers.generation.plan import plan
from tests import ROOT
from tests.storage.made import SPEC, make_run, shard_of

OPTIONS: dict[str, Any] = {
    "games": 20,
    "shard_games": 5,
    "teacher": "mcts:200",
    "opening": "4-20",
    "seed": 3,
}


def test_a_new_run_lacks_everything_and_nothing_is_written(tmp_path: Path) -> None:
    found = plan(Location(f"{tmp_path}/run"), OPTIONS)
    assert (found.missing, found.games, found.is_new) == ((0, 1, 2, 3), 0, True)
    assert list(tmp_path.iterdir()) == []
    found.begin()
    assert Manifest.read(found.place) is not None


@pytest.mark.parametrize("options", [OPTIONS, {}, {"seed": 3}], ids=["all", "none", "some"])
def test_what_is_not_said_is_as_it_was_begun(tmp_path: Path, options: dict[str, Any]) -> None:
    make_run(tmp_path, shards=range(1, 3))
    found = plan(Location(str(tmp_path)), options)
    assert (found.missing, found.spec, found.is_new) == ((0, 3), SPEC, False)
    assert found.games == 10
    assert found.positions == Dataset(found.place).positions


def test_another_spec_is_refused_with_the_difference(tmp_path: Path) -> None:
    make_run(tmp_path, shards=range(1))
    with pytest.raises(InputError, match=r"another run: its seed is 3, not 4$"):
        plan(Location(str(tmp_path)), {**OPTIONS, "seed": 4})
    with pytest.raises(
        InputError, match=r"its teacher is '.*=200,.*', not '.*=100,.*'; its opening"
    ):
        plan(Location(str(tmp_path)), {"teacher": "mcts:100", "opening": "8"})
    with pytest.raises(InputError, match="did you mean 'teacher'"):
        plan(Location(str(tmp_path)), {"teachr": "mcts:100"})


def test_more_games_extend_a_run_and_fewer_are_refused(tmp_path: Path) -> None:
    make_run(tmp_path, shards=range(4))
    found = plan(Location(str(tmp_path)), {"games": 28})
    assert (found.missing, found.games, found.is_written) == ((4, 5), 20, False)
    found.begin()
    # A shard that was not full is made again, with the games that it lacks.
    assert plan(found.place, {"games": 29}).missing == (4, 5)
    with pytest.raises(InputError, match="28 games, which cannot shrink to 20"):
        plan(found.place, OPTIONS)


def test_what_was_not_generated_is_not_gone_on_with(tmp_path: Path) -> None:
    imported = import_csv(ROOT / "examples/tiny.csv", Location(f"{tmp_path}/csv"), Board(7, 6))
    with pytest.raises(InputError, match="cannot be generated"):
        plan(imported.place, {})


def test_shards_without_a_run_json_are_gone_on_with_by_their_own_command(tmp_path: Path) -> None:
    make_run(tmp_path, shards=range(1, 3))
    (tmp_path / "run.json").unlink()
    with pytest.raises(InputError, match="it belongs to another run"):
        plan(Location(str(tmp_path)), {**OPTIONS, "seed": 4})
    with pytest.raises(InputError, match=r"another or unknown version .* --check-engine"):
        plan(Location(str(tmp_path)), OPTIONS)
    with pytest.raises(InputError, match="with more games than 12: raise --games"):
        plan(Location(str(tmp_path)), {**OPTIONS, "games": 12}, check_engine=True)
    with pytest.raises(InputError, match="differs with this engine"):
        plan(Location(str(tmp_path)), OPTIONS, check_engine=True)  # these were made by other means


def test_what_was_begun_binds_without_a_shard_too_unless_it_is_begun_anew(tmp_path: Path) -> None:
    plan(Location(str(tmp_path)), OPTIONS).begin()
    with pytest.raises(InputError, match=r"seed is 3, not 4; .* --restart replaces it"):
        plan(Location(str(tmp_path)), {"seed": 4})
    found = plan(Location(str(tmp_path)), {"seed": 4, "teacher": "mcts:50"}, restart=True)
    assert (found.spec.seed, found.spec.games, found.is_written) == (4, 100, False)
    found.begin()
    fewer = plan(
        Location(str(tmp_path)), {"seed": 4, "teacher": "mcts:50", "games": 7}, restart=True
    )
    fewer.begin()
    assert Manifest.read(found.place) == fewer.manifest
    late = plan(Location(str(tmp_path)), {"seed": 5}, restart=True)
    write_shard(fewer.place, fewer.manifest, 0, shard_of(fewer.spec, 0))
    with pytest.raises(InputError, match="begun by another process meanwhile"):
        late.begin()
    assert Dataset(fewer.place).missing() == []
    with pytest.raises(InputError, match="has shards: begin another run in a new place"):
        plan(Location(str(tmp_path)), {"seed": 4}, restart=True)


def test_who_begins_too_late_exchanges_no_openings(tmp_path: Path) -> None:
    place = Location(f"{tmp_path}/run")
    for name, text in (("a", "44\n45\n"), ("b", "1\n2\n")):
        (tmp_path / name).write_text(text)
    one, other = (plan(place, {**OPTIONS, "opening": f"file:{tmp_path}/{name}"}) for name in "ab")
    one.begin()
    with pytest.raises(InputError, match="begun by another process meanwhile"):
        other.begin()
    assert load_openings(place, one.spec).distinct() == 2


def test_a_pipe_in_place_of_a_shard_holds_nobody(tmp_path: Path) -> None:
    dataset = make_run(tmp_path, shards=range(1))
    os.mkfifo(tmp_path / "shards" / "part-00001.parquet")
    with pytest.raises(InputError, match="a pipe or a device"):
        write_shard(dataset.place, dataset.manifest, 1, shard_of(SPEC, 1))


def test_of_two_that_begin_a_run_one_gives_way(tmp_path: Path) -> None:
    place = Location(str(tmp_path))
    one, other = plan(place, OPTIONS), plan(place, {**OPTIONS, "seed": 4})
    longer = plan(place, {**OPTIONS, "games": 25})
    other.begin()
    with pytest.raises(InputError, match="begun by another process meanwhile"):
        one.begin()
    assert Manifest.read(place) == other.manifest
    (tmp_path / "run.json").unlink()
    longer.begin()
    one.begin()  # the same run, with fewer games: nothing to write
    assert Manifest.read(place) == longer.manifest


def test_a_spec_that_is_not_that_of_its_hash_is_not_gone_on_with(tmp_path: Path) -> None:
    make_run(tmp_path, shards=range(1))
    path = tmp_path / "run.json"
    path.write_text(path.read_text().replace('"seed": 3', '"seed": 4'))
    with pytest.raises(InputError, match="its spec does not match its hash"):
        plan(Location(str(tmp_path)), {})


def test_a_readme_of_somebody_elses_stays(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("notes")
    with pytest.raises(InputError, match=r"README\.md but no run\.json"):
        plan(Location(str(tmp_path)), OPTIONS)


def test_where_nothing_can_be_written_is_no_place(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="nothing can be written there: "):
        plan(Location(f"{tmp_path}/file/run"), OPTIONS).begin()


@pytest.mark.parametrize(
    "changes",
    [
        {"shard_games": 0},
        {"shard_games": -3},
        {"games": 1e400},
        {"games": 40},
        {"board": "8x8"},
        {"made_with": 3},
        {"spec_hash": "x"},
    ],
    ids=str,
)
def test_a_run_json_that_makes_no_sense_is_refused(tmp_path: Path, changes: dict[str, Any]) -> None:
    make_run(tmp_path, shards=range(1))
    record = json.loads((tmp_path / "run.json").read_text())
    (tmp_path / "run.json").write_text(json.dumps({**record, **changes}))
    with pytest.raises(InputError, match=r"run\.json is damaged"):
        plan(Location(str(tmp_path)), OPTIONS)


def test_a_list_of_openings_travels_with_the_run(tmp_path: Path) -> None:
    book = tmp_path / "book.txt"
    shutil.copy(ROOT / "tests/openings.txt", book)
    place = Location(f"{tmp_path}/run")
    options = {**OPTIONS, "opening": f"file:{book}"}
    begun = plan(place, options)
    begun.begin()
    same = plan(place, options)
    write_shard(place, same.manifest, 0, shard_of(same.spec, 0))
    book.rename(tmp_path / "elsewhere.txt")
    assert plan(place, {}).spec == same.spec
    there = load_openings(place, same.spec)
    assert {there.opening(1, game) for game in range(30)} <= set(
        there.positions  # type: ignore[attr-defined]
    )
    (tmp_path / "run" / openings_file(str(same.spec.opening_digest))).write_text("44\n")
    with pytest.raises(InputError, match="does not hold the openings"):
        load_openings(place, same.spec)
    book.write_text("4\n")
    with pytest.raises(InputError, match="another run: its opening_digest"):
        plan(place, options)


def test_leftovers_of_killed_writers_are_cleared_away(tmp_path: Path) -> None:
    dataset = make_run(tmp_path, shards=range(1))
    left = aside_of(tmp_path / "shards" / "part-00001.parquet")
    left.write_bytes(b"half")
    os.utime(left, (0, 0))
    plan(dataset.place, {}).begin()
    assert not left.exists()
