"""Files of strangers: nothing that they name is opened, no key is kept, no terminal is steered."""

from __future__ import annotations

import json
import os
import re
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

from selfplay.errors import InputError, printable, quoted
from selfplay.storage.dataset import Dataset, shard_path
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.verify import verify
from tests.cli.command import ROOT, run
from tests.storage.made import SPEC, make_run

DIGEST = "0" * 32
READERS = ("status", "dataset info", "dataset verify", "dataset card", "dataset export --out x.csv")


def rewritten(folder: Path, **changes: Any) -> Path:
    """A run whose description says something else."""
    make_run(folder, shards=range(1))
    path = folder / "run.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return path


def with_spec(folder: Path, **changes: Any) -> Path:
    path = rewritten(folder)
    record = json.loads(path.read_text())
    record["spec"].update(changes)
    path.write_text(json.dumps(record))
    return path


@pytest.mark.parametrize("reader", READERS)
def test_what_a_description_names_is_neither_opened_nor_contacted(
    tmp_path: Path, reader: str
) -> None:
    """A pipe would hold whoever opens it for ever, and a server would see whoever calls."""
    os.mkfifo(tmp_path / "pipe")
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        host = f"127.0.0.1:{server.getsockname()[1]}"
        names = {
            "teacher": f"tree:model={tmp_path}/pipe,fingerprint={DIGEST}",
            "explorer": f"tree:model=s3://b/m?endpoint_override={host},fingerprint={DIGEST}",
            "opening": f"file:{tmp_path}/pipe",
            "opening_digest": DIGEST,
        }
        with_spec(tmp_path / "run", **names)
        done = run(
            *reader.split()[:2][: 1 if reader == "status" else 2],
            "run",
            *reader.split()[2:],
            cwd=tmp_path,
            AWS_ACCESS_KEY_ID="KEY",
            AWS_SECRET_ACCESS_KEY="SECRET",
        )
        assert "Traceback" not in done.stderr
        assert done.returncode == (1 if "verify" in reader else 0), done.stderr
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_player_of_a_package_that_is_not_here_can_be_read_about(tmp_path: Path) -> None:
    with_spec(tmp_path / "run", teacher="brand-new:depth=3")
    done = run("dataset", "info", "run", cwd=tmp_path)
    assert "brand-new:depth=3" in done.stdout
    more = run("generate", "run", "--workers=0", cwd=tmp_path)
    assert (more.returncode, "there is no player 'brand-new'" in more.stderr) == (2, True)


@pytest.mark.parametrize(
    "changes",
    [
        {"spec": None, "source": {}, "games": 10**15, "shard_games": 1},
        {"spec": None, "source": {}, "games": 10**12, "shard_games": 1},
        {"spec": None, "source": []},
        {"spec": None, "source": 3},
        {"engine": "x"},
        {"spec_hash": "\x1b]0;owned\x07" * 4},
        {"board": "\x1b[2J"},
        {"made_with": {"x": "s3://KEY:hunter2@b/x"}},
        {"spec": None, "source": {"merged": [{"run": "s3://KEY:hunter2@b/x"}]}},
    ],
    ids=str,
)
def test_a_description_of_what_cannot_be_is_refused(
    tmp_path: Path, changes: dict[str, Any]
) -> None:
    rewritten(tmp_path, **changes)
    with pytest.raises(InputError, match=r"run\.json is damaged") as caught:
        Dataset(str(tmp_path))
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("text", ["[" * 100_000, '{"schema_version": NaN}', "9" * 5000, "\0"])
def test_nonsense_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "run.json").write_text(text)
    with pytest.raises(InputError, match=r"run\.json is damaged"):
        Dataset(str(tmp_path))


def test_pipes_and_devices_are_no_descriptions(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "run.json")
    with pytest.raises(InputError, match="a pipe or a device"):
        Dataset(str(tmp_path))
    (tmp_path / "run.json").unlink()
    (tmp_path / "run.json").symlink_to("/dev/zero")
    with pytest.raises(InputError, match="a pipe or a device"):
        Dataset(str(tmp_path))
    (tmp_path / "run.json").unlink()
    with (tmp_path / "run.json").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(InputError, match="too large"):
        Dataset(str(tmp_path))


def test_many_missing_shards_are_told_in_a_line(tmp_path: Path) -> None:
    rewritten(tmp_path, spec=None, source={}, games=10**7, shard_games=1)
    (tmp_path / "shards" / "part-00000.parquet").unlink()
    (problem,) = verify(Dataset(str(tmp_path)))
    assert str(problem) == "part-00000.parquet: it is missing, and all up to part-9999999.parquet"


SECRETS = {"AKIA7", "hunter2", "hun", "ter2"}
URIS = (
    "s3://AKIA7:hunter2@bucket/run",
    "s3://AKIA7:hun/ter2@bucket/run",
    "s3://AKIA7@bucket/run",
    "gs://user:hunter2@bucket/run",
    "abfss://box:hunter2@account/run",
    "s3://bucket/run?secret_key=hunter2",
    "s3://bucket/run#secret_key=hunter2",
    "s3://AKIA7%3Ahunter2%40bucket/run",
    "abfss://box@account/run?sig=hunter2",
    "gs://bucket/run?json_credentials=hunter2",
    "s3://bucket/run?endpoint_override=http://AKIA7:hunter2@host",
)


@pytest.mark.parametrize("uri", URIS)
def test_keys_in_a_uri_are_refused_and_never_shown(uri: str, tmp_path: Path) -> None:
    for act in (Location, Location.of_file):
        with pytest.raises(InputError, match="holds a key") as caught:
            act(uri)  # type: ignore[operator]
        assert not SECRETS & set(re.split(r"\W", str(caught.value)))
    done = run("play", "--o", f"tree:{uri}", stdin="", cwd=tmp_path)
    assert done.returncode == 2
    assert not SECRETS & set(re.split(r"\W", done.stderr))


def test_no_message_quotes_a_key() -> None:
    for uri in URIS[:5]:
        assert not SECRETS & set(re.split(r"\W", quoted(f"tree:{uri}", 300)))
    assert Location("s3://bucket/user@host/run?region=x").path == "bucket/user@host/run"
    assert quoted("s3://bucket/user@host/run", 100) == "'s3://bucket/user@host/run'"
    assert Location("gs://anonymous@bucket/run").uri == "gs://anonymous@bucket/run"


def test_what_files_say_does_not_steer_a_terminal(tmp_path: Path) -> None:
    assert printable("a\x1b]0;x\x07\x9b2J‮b") == "a\\x1b]0;x\\x07\\x9b2J\\u202eb"
    dataset = make_run(tmp_path, shards=range(1))
    (tmp_path / "shards" / "\x1b]0;owned\x07").touch()
    path = tmp_path / shard_path(0)
    table = pq.read_table(path)
    metadata = {**table.schema.metadata, b"selfplay.board": b"\x1b]0;owned\x07"}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    for words in (["status"], ["dataset", "info"], ["dataset", "verify"]):
        done = run(*words, str(tmp_path))
        assert done.returncode in (1, 2)
        assert "\x1b" not in done.stdout + done.stderr
    assert dataset.spec == SPEC


def test_hidden_files_of_other_programs_are_nobodys_business(tmp_path: Path) -> None:
    dataset = make_run(tmp_path)
    (tmp_path / "shards" / ".DS_Store").write_bytes(b"\0\0\0\1Bud1")
    assert list(verify(Dataset(dataset.place))) == []


def forged(tmp_path: Path, change: Any) -> Path:
    """A shard with a right checksum and footer, and nonsense in it."""
    dataset = make_run(tmp_path, shards=range(1))
    path = tmp_path / shard_path(0)
    table = pq.read_table(path)
    pq.write_table(change(table), path)
    assert dataset.manifest == Manifest.read(dataset.place)
    return path


@pytest.mark.parametrize("column", ["move", "visits", "game"])
def test_a_column_that_is_missing_is_told_by_file(tmp_path: Path, column: str) -> None:
    forged(tmp_path, lambda table: table.drop_columns([column]))
    for words in (["info"], ["verify"], ["export", "--out", str(tmp_path / "x")]):
        done = run("dataset", words[0], str(tmp_path), *words[1:])
        assert "part-00000.parquet" in done.stdout + done.stderr
        assert "its columns are not those of a run" in done.stdout + done.stderr
        assert "this is a bug" not in done.stderr


def test_a_flipped_bit_is_told_by_file_whoever_reads(tmp_path: Path) -> None:
    make_run(tmp_path / "run", shards=range(1))
    path = tmp_path / "run" / shard_path(0)
    data = bytearray(path.read_bytes())
    data[1000] ^= 4
    path.write_bytes(data)
    for words in (
        "dataset info run",
        "dataset export run --out x",
        "dataset merge run --out y",
        "dataset split run --out z",
        "dataset card run",
        "train run --out m",
    ):
        done = run(*words.split(), cwd=tmp_path)
        assert done.returncode == 2
        assert "run/shards/part-00000.parquet: it cannot be read" in done.stderr, words
        assert "see `selfplay dataset verify" in done.stderr


def test_a_shard_that_claims_too_much_is_not_unpacked(tmp_path: Path) -> None:
    import pyarrow as pa

    def many(table: pa.Table) -> pa.Table:
        return table.take(pa.array(np.zeros(3_000_000, np.int64)))

    forged(tmp_path, many)
    with pytest.raises(InputError, match="claims 3,000,000 rows, more than its games can have"):
        Dataset(str(tmp_path)).read(0)


def test_nobody_is_told_to_generate_what_was_imported(tmp_path: Path) -> None:
    assert run("dataset", "import", str(ROOT / "examples/tiny.csv"), "run", cwd=tmp_path).stdout
    (tmp_path / "run" / shard_path(0)).unlink()
    told = run("status", "run", cwd=tmp_path).stdout
    assert "import, merge or record the missing shards again" in told
    assert "selfplay generate" not in told
