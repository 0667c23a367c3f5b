"""CSV, merged runs, split positions, statistics, the data card."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.storage.card import render_card
from selfplay.storage.csv_io import export, import_csv
from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.storage.merge import merge
from selfplay.storage.origin import generate_command
from selfplay.storage.row_checks import faults
from selfplay.storage.rows import NO_RESULT, Rows
from selfplay.storage.spec import Spec
from selfplay.storage.split import in_test_set, write_split
from selfplay.storage.statistics import statistics
from selfplay.storage.verify import verify
from tests.cli.command import json_lines, run
from tests.storage.made import SPEC, make_run, shard_of

NAMES = "train", "test"


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    return make_run(tmp_path_factory.mktemp("runs") / "run")


@pytest.mark.parametrize(
    ("form", "first", "third"),
    [
        ("csv-012", "cell_0,cell_1,cell_2", "35"),
        ("csv-signed", "pos_0,pos_1,pos_2", "0"),
    ],
)
def test_csv_goes_out_and_comes_back(
    dataset: Dataset, tmp_path: Path, form: str, first: str, third: str
) -> None:
    out = tmp_path / "out.csv"
    assert export(dataset, form, *Location.of_file(str(out))) == dataset.positions  # type: ignore[arg-type]
    lines = out.read_text().splitlines()
    assert len(lines) == dataset.positions + 1
    assert lines[0].startswith(first)
    assert lines[0].endswith("41,move")
    # The bottom left cell, as either form numbers it.
    column = lines[0].split(",").index(f"{first.split('_')[0]}_{third}")
    corner = [int(line.split(",")[column]) for line in lines[1:]]
    rows = Rows.join([rows for _, rows in dataset.rows()])
    assert [abs(code) for code in corner] == [
        code if form == "csv-012" else min(code, 1) for code in rows.board[:, 35].tolist()
    ]
    again = import_csv(out, Location(str(tmp_path / "again")), Board())
    assert list(verify(again)) == []
    ((_, back),) = again.rows()
    np.testing.assert_array_equal(back.board, rows.board)
    np.testing.assert_array_equal(back.move, rows.move)
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_csv_of_all_columns(dataset: Dataset, tmp_path: Path) -> None:
    out = tmp_path / "out.csv"
    export(dataset, "csv", *Location.of_file(str(out)))
    header, line, *_ = out.read_text().splitlines()
    assert header.startswith("game,ply,board_0,")
    assert header.endswith("proven_6,played,outcome")
    assert len(header.split(",")) == len(line.split(",")) == 2 + 42 + 1 + 3 * 7 + 2


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda lines: ["a,b"], "the first line is not that of csv-012"),
        (lambda lines: [lines[0], lines[1] + ",5"], "line 2: 44 values instead of 43"),
        (lambda lines: [*lines[:3], "x" + lines[3][1:]], "line 4: 'x' is not a cell or a column"),
        (lambda lines: [*lines[:3], "", *lines[3:]], "line 4: 0 values instead of 43"),
        (lambda lines: [*lines[:3], "1" + lines[3][1:]], "line 4: a stone floats"),
        (
            lambda lines: [*lines[:2], lines[2][:-1] + "7"],
            "line 3: the teacher's move is not legal",
        ),
    ],
)
def test_a_bad_csv_is_told_by_its_line_and_leaves_nothing(
    dataset: Dataset, tmp_path: Path, change: object, message: str
) -> None:
    out = tmp_path / "out.csv"
    export(dataset, "csv-012", *Location.of_file(str(out)))
    out.write_text("\n".join(change(out.read_text().splitlines())) + "\n")  # type: ignore[operator]
    with pytest.raises(InputError, match=message):
        import_csv(out, Location(str(tmp_path / "again")), Board())
    assert not (tmp_path / "again").exists()


def test_merging_drops_what_both_hold(dataset: Dataset, tmp_path: Path) -> None:
    other = make_run(tmp_path / "other", Spec(games=9, shard_games=4, teacher="mcts:50", seed=9))
    merged = merge([dataset, other, dataset], Location(str(tmp_path / "merged")))
    assert merged.games == dataset.games + other.games
    assert merged.positions == dataset.positions + other.positions
    assert list(verify(merged)) == []
    # The same again is the same; something else in its place is refused.
    again = merge([dataset, other, dataset], Location(str(tmp_path / "merged")))
    assert again.fingerprint == merged.fingerprint
    with pytest.raises(InputError, match="holds another run"):
        merge([other], Location(str(tmp_path / "merged")))
    small = make_run(tmp_path / "small", Spec(games=1, board="4x4", opening="0", teacher="random"))
    with pytest.raises(InputError, match="cannot be merged"):
        merge([dataset, small], Location(str(tmp_path / "none")))


def test_no_position_nor_its_mirror_image_is_on_both_sides(
    dataset: Dataset, tmp_path: Path
) -> None:
    parts = write_split(dataset, 0.3, str(tmp_path / "parts"))
    assert [str(part.place) for part in parts] == [f"{tmp_path}/parts/{n}" for n in NAMES]
    assert sum(part.positions for part in parts) == dataset.positions
    sides = []
    for part in parts:
        assert list(verify(part)) == []
        rows = Rows.join([rows for _, rows in part.rows()])
        positions = [Position.from_cells(cells) for cells in rows.board.tolist()]
        sides.append({position.key(canonical=True) for position in positions})
    assert not sides[0] & sides[1]
    assert 0.2 < len(sides[1]) / (len(sides[0]) + len(sides[1])) < 0.4
    # The same again is the same; another split is refused there.
    again = write_split(dataset, 0.3, str(tmp_path / "parts"))
    assert [part.fingerprint for part in again] == [part.fingerprint for part in parts]
    with pytest.raises(InputError, match="holds another run"):
        write_split(dataset, 0.2, str(tmp_path / "parts"))
    # A larger share only adds.
    rows = shard_of(SPEC, 0)
    small, large = (in_test_set(rows, Board(), share) for share in (0.2, 0.5))
    assert (large >= small).all()


def test_the_parts_of_a_split_are_runs(dataset: Dataset, tmp_path: Path) -> None:
    done = run("dataset", "split", str(dataset.place), "--out", "parts", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    for name in NAMES:
        (info,) = json_lines(run("dataset", "info", f"parts/{name}", "--json", cwd=tmp_path).stdout)
        assert f"parts/{name}: {info['positions']} positions" in done.stdout
        assert (info["games"], info["unique_openings"]) == (dataset.games, None)
        lengths = statistics(dataset).lengths
        assert set(info["lengths"]) <= {str(length) for length in lengths}  # type: ignore[call-overload]
        for words in (["dataset", "info"], ["dataset", "verify"], ["dataset", "card"], ["status"]):
            assert run(*words, f"parts/{name}", cwd=tmp_path).returncode == 0, words
    shown = run("dataset", "info", "parts/test", cwd=tmp_path).stdout
    mean = re.search(r"game length +(\d+) to \d+ stones, ([\d.]+) on average, in", shown)
    assert mean is not None
    assert float(mean[2]) >= int(mean[1])
    done = run("dataset", "merge", *(f"parts/{name}" for name in NAMES), "--out", "m", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert run("dataset", "verify", "m", cwd=tmp_path).returncode == 0
    # Parts of one run are joined to what they were; of the run and a part, the run is enough.
    assert Dataset(f"{tmp_path}/m").fingerprint == dataset.fingerprint
    assert not Dataset(f"{tmp_path}/m").manifest.has_gaps
    again = merge([Dataset(f"{tmp_path}/parts/test"), dataset], Location(f"{tmp_path}/again"))
    assert again.fingerprint == dataset.fingerprint
    # Where they come from is not lost on the way.
    teacher = dataset.manifest.teachers
    for name in ("parts/train", "m"):
        found = Dataset(f"{tmp_path}/{name}")
        assert found.manifest.teachers == teacher
        assert f"teacher           {teacher[0]}" in run("dataset", "info", str(found.place)).stdout
        card = render_card(found, statistics(found), None)
        assert dataset.fingerprint in card
        assert "`selfplay generate run --games 20 " in card
        assert "{'" not in card
    train = ["train", "parts/train", "--out", "tree", "--features", "cells", "--target", "move"]
    done = run(*train, cwd=tmp_path)
    assert (done.returncode, (tmp_path / "tree").exists()) == (0, True), done.stderr


def test_a_gap_excuses_no_other_fault(dataset: Dataset, tmp_path: Path) -> None:
    train, _ = write_split(dataset, 0.3, str(tmp_path / "parts"))
    rows = Rows.join([rows for _, rows in train.rows()])
    games = range(dataset.games)
    assert list(faults(rows, train.board, games, has_gaps=True)) == []
    assert list(faults(rows, train.board, games))
    rows.outcome[5] = -rows.outcome[5] or 1
    (fault, *_) = faults(rows, train.board, games, has_gaps=True)
    assert fault[0] == "the outcome changes during the game"


def test_an_export_has_all_columns_and_says_what_it_replaces(
    dataset: Dataset, tmp_path: Path
) -> None:
    words = ["dataset", "export", str(dataset.place), "--out"]
    done = run(*words, "out.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "out.csv").read_text().startswith("game,ply,board_0,")
    done = run(*words, "out.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "out.csv exists: it is replaced\n")
    for out, message in (("nowhere/out.csv", "there is no folder"), (".", "its name is missing")):
        done = run(*words, out, cwd=tmp_path)
        assert (done.returncode, message in done.stderr) == (2, True)
    (tmp_path / "folder").mkdir()
    assert "is a folder, not a file" in run(*words, "folder", cwd=tmp_path).stderr


@pytest.mark.parametrize("name", ["a.json", "a.parquet", "a.csv.gz"])
def test_an_ending_of_another_format_is_refused(
    dataset: Dataset, tmp_path: Path, name: str
) -> None:
    done = run("dataset", "export", str(dataset.place), "--out", name, cwd=tmp_path)
    assert (done.returncode, "csv, csv-012, csv-signed, jsonl" in done.stderr) == (2, True)
    assert list(tmp_path.iterdir()) == []


def test_json_lines_have_the_rows(dataset: Dataset, tmp_path: Path) -> None:
    words = ["dataset", "export", str(dataset.place), "--format", "jsonl", "--out"]
    assert run(*words, "a.csv", cwd=tmp_path).returncode == 2
    assert run(*words, "a.jsonl", cwd=tmp_path).returncode == 0
    lines = (tmp_path / "a.jsonl").read_text().splitlines()
    assert [json.loads(line) for line in lines] == dataset.scan().to_table().to_pylist()


def test_merging_different_teachers_says_so(dataset: Dataset, tmp_path: Path) -> None:
    make_run(tmp_path / "other", Spec(games=2, shard_games=2, teacher="random", opening="20"))
    words = ["dataset", "merge", str(dataset.place), "other", "--out"]
    done = run(*words, "merged", cwd=tmp_path)
    assert done.returncode == 0
    assert done.stderr.startswith("different teachers: mcts:iterations=200,")
    assert " and random; the merged run does not say" in done.stderr
    refused = run(*words, "other", cwd=tmp_path)
    assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)


@pytest.mark.parametrize("spec", [SPEC, Spec(games=2, board="12x9", teacher="mcts:20")])
def test_canonical_keys_are_those_of_positions(spec: Spec) -> None:
    rows = shard_of(spec, 0)
    keys = rows.canonical_keys(spec.parsed_board).tolist()
    for cells, key in zip(rows.board.tolist(), keys, strict=True):
        position = Position.from_cells(cells, spec.parsed_board)
        assert key == position.key(canonical=True) == position.mirror().key(canonical=True)


def test_statistics_count_what_is_there(dataset: Dataset) -> None:
    found = statistics(dataset)
    rows = Rows.join([rows for _, rows in dataset.rows()])
    positions = [Position.from_cells(cells) for cells in rows.board.tolist()]
    keys = {position.key(canonical=True): position.ply for position in positions}
    assert (found.games, found.positions) == (20, len(positions))
    assert found.unique_positions == len(keys)
    assert found.unique_by_ply == dict(sorted(Counter(keys.values()).items()))
    assert found.by_ply == dict(sorted(Counter(p.ply for p in positions).items()))
    assert found.moves == np.bincount(rows.move, minlength=7).tolist()
    exact = [
        rows.proven[at][move] == 1
        or all(rows.proven[at][column] != NO_RESULT for column in position.legal_moves)
        for at, (position, move) in enumerate(zip(positions, rows.move.tolist(), strict=True))
    ]
    assert found.exact_labels == sum(exact) > 0
    ends: Counter[int | None] = Counter()
    lengths: Counter[int] = Counter()
    for game in range(20):
        final = positions[np.flatnonzero(rows.game == game)[-1]].play(
            int(rows.played[rows.game == game][-1])
        )
        ends[final.winner] += 1
        lengths[final.ply] += 1
    assert (found.results.wins, found.results.draws, found.results.losses) == (
        ends[1],
        ends[None],
        ends[2],
    )
    assert found.lengths == dict(sorted(lengths.items()))
    assert sum(results.games for results in found.by_first_move.values()) == 20


def test_the_card_says_what_the_run_is(dataset: Dataset) -> None:
    card = render_card(dataset, statistics(dataset), None)
    assert card.startswith("---\nlicense:")
    for part in (
        "shards/*.parquet",
        dataset.fingerprint,
        "--teacher",
        "`outcome`",
        "fixed_size_list",
    ):
        assert part in card


def test_the_command_on_the_card_makes_the_same_spec() -> None:
    spec = Spec(games=7, teacher="mcts:50", noise=0.25, mode="positions", seed=4)
    words = generate_command(spec, "run").split()
    assert words[:3] == ["selfplay", "generate", "run"]
    options = dict(zip(words[3::2], words[4::2], strict=True))
    assert options.pop("--mode") == "positions"
    assert options.keys() == {"--games", "--teacher", "--noise", "--seed"}


@pytest.mark.parametrize("reader", ["pandas", "polars", "duckdb"])
def test_other_programs_open_the_folder_as_it_is(dataset: Dataset, reader: str) -> None:
    folder = dataset.place.full("shards")
    code = {
        "pandas": f"import pandas; print(len(pandas.read_parquet({folder!r})))",
        "polars": f"import polars; print(len(polars.read_parquet({folder + '/*.parquet'!r})))",
        "duckdb": f"import duckdb; print(len(duckdb.read_parquet({folder + '/*.parquet'!r})))",
    }[reader]
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert int(done.stdout) == dataset.positions
