"""A file is there or it is not: whatever kills the writer, and whenever."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from selfplay.errors import InputError
from selfplay.files import aside_of
from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.storage.verify import verify
from tests import ROOT
from tests.storage.made import make_run

# Before, during and after the data; before and after the renaming.
STAGES = {
    "before": "pathlib.Path.open",
    "after the data": "os.fsync",
    "before the renaming": "pathlib.Path.replace",
    "after the renaming": "selfplay.files.flush_folder",
}

WRITE = """
import os, pathlib, signal, sys, selfplay.files
from selfplay.storage.location import Location
def die(*arguments, **options):
    os.kill(os.getpid(), signal.SIGKILL)
{patch}
Location(sys.argv[1]).write("shards/part-00001.parquet", b"x" * 1_000_000)
"""


def make_old(folder: Path) -> None:
    for path in folder.glob(".*"):
        os.utime(path, (0, 0))


def write_and_die(where: Path, patch: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WRITE.format(patch=patch), str(where)], check=False
    )
    assert done.returncode == -signal.SIGKILL


@pytest.mark.parametrize("stage", STAGES)
def test_a_writer_that_is_killed_leaves_all_or_nothing(tmp_path: Path, stage: str) -> None:
    make_run(tmp_path, shards=range(1))
    write_and_die(tmp_path, f"{STAGES[stage]} = die")
    place = Location(str(tmp_path))
    whole = "part-00001.parquet" in place.files("shards")
    assert whole == (stage == "after the renaming")
    if whole:
        assert place.files("shards")["part-00001.parquet"].size == 1_000_000
        return
    dataset = Dataset(place)
    assert (dataset.shards(), dataset.unexpected_files()) == ([0], [])
    assert len(dataset.scan().to_table()) == dataset.positions
    left = len(list((tmp_path / "shards").glob(".*.aside")))
    assert left == (0 if stage == "before" else 1)
    assert place.clean("shards") == 0  # it may still be at work
    make_old(tmp_path / "shards")
    assert place.clean("shards") == left
    assert [path.name for path in (tmp_path / "shards").iterdir()] == ["part-00000.parquet"]


def test_a_writer_that_is_killed_in_the_middle_of_the_data(tmp_path: Path) -> None:
    patch = (
        "real = pathlib.Path.open\n"
        "class Half:\n"
        "    def __init__(self, file): self.file = file\n"
        "    def __enter__(self): return self\n"
        "    def __exit__(self, *error): pass\n"
        "    def write(self, data):\n"
        "        self.file.write(data[:1000]); self.file.flush(); die()\n"
        "pathlib.Path.open = lambda path, mode: Half(real(path, mode))\n"
    )
    write_and_die(tmp_path, patch)
    assert Location(str(tmp_path)).files("shards") == {}
    make_old(tmp_path / "shards")
    assert Location(str(tmp_path)).clean("shards") == 1


def test_what_another_writer_has_in_hand_is_left_alone(tmp_path: Path) -> None:
    """Age alone tells: process numbers mean nothing where containers share a folder."""
    place = Location(str(tmp_path))
    place.write("shards/a", b"")
    young, old = (aside_of(tmp_path / "shards" / "b") for _ in range(2))
    for path in (young, old):
        path.touch()
    assert place.clean("shards") == 0
    os.utime(old, (0, 0))
    assert place.clean("shards") == 1
    assert young.exists()


def test_two_writers_of_one_name_do_not_meet(tmp_path: Path) -> None:
    """Even where both believe to be the same process of the same machine."""
    write = (
        "import os, socket; os.getpid = lambda: 7; socket.gethostname = lambda: 'same'\n"
        "import sys; from selfplay.storage.location import Location\n"
        "data = sys.argv[2].encode() * 3_000_000\n"
        "for _ in range(40): Location(sys.argv[1]).write('shards/a', data)"
    )
    writers = [
        subprocess.Popen([sys.executable, "-c", write, str(tmp_path), letter]) for letter in "xyz"
    ]
    seen = set()
    while any(writer.poll() is None for writer in writers):
        with suppress(FileNotFoundError):
            data = (tmp_path / "shards" / "a").read_bytes()
            assert len(data) == 3_000_000
            seen |= set(data)
    assert [writer.returncode for writer in writers] == [0, 0, 0]
    assert seen <= set(b"xyz")
    assert list((tmp_path / "shards").glob(".*")) == []


def test_a_full_disk_is_one_clear_error_and_harms_nothing(tmp_path: Path) -> None:
    dataset = make_run(tmp_path / "run", shards=range(2))
    before = dataset.fingerprint
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    ignored = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2000, limits[1]))
    try:
        with pytest.raises(OSError, match="File too large"):
            make_run(tmp_path / "run")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, ignored)
    again = Dataset(str(tmp_path / "run"))
    assert (again.fingerprint, again.missing()) == (before, [2, 3])
    assert list((tmp_path / "run" / "shards").glob(".*")) == []
    assert list(verify(make_run(tmp_path / "run"))) == []


def test_a_description_that_is_damaged_is_told(tmp_path: Path) -> None:
    make_run(tmp_path, shards=range(1))
    path = tmp_path / "run.json"
    text = path.read_text()
    for damaged, message in (
        (text[: len(text) // 2], "is damaged"),
        ("", "is damaged"),
        ("[]", "is damaged"),
        (text.replace('"schema_version": 1', '"schema_version": 99'), "by a later version"),
    ):
        path.write_text(damaged)
        with pytest.raises(InputError, match=message) as caught:
            Dataset(str(tmp_path))
        assert "\n" not in str(caught.value)
    path.write_text(text)


def test_no_place_is_told() -> None:
    for uri, message in (
        ("", "a run has a name"),
        ("ftp://somewhere/run", "is not a location"),
        ("/nowhere/at/all", "there is no run"),
    ):
        with pytest.raises(InputError, match=message):
            Dataset(uri)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_folder_without_permission(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(PermissionError):
        make_run(tmp_path / "run")


def test_a_run_of_the_first_schema_version_can_be_read() -> None:
    """`examples/tiny` was written with schema_version 1 and stays as it is."""
    dataset = Dataset(str(ROOT / "examples" / "tiny"))
    assert dataset.manifest.schema_version == 1
    assert list(verify(dataset)) == []
    assert dataset.positions == len(dataset.to_pandas())
