"""Label quality: the sample, its measurement, and the file in which results stay."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from selfplay.game.position import Position
from selfplay.solver.mistakes import PHASES
from selfplay.solver.solver import Solver
from selfplay.storage import label_quality
from selfplay.storage.card import render_card
from selfplay.storage.dataset import Dataset
from selfplay.storage.label_quality import NAME, LabelQuality
from selfplay.storage.location import Location
from selfplay.storage.rows import Rows
from selfplay.storage.spec import Spec
from selfplay.storage.statistics import statistics
from tests.cli.command import json_lines, run
from tests.storage.made import make_run

SPEC = Spec(games=12, shard_games=5, teacher="random", opening="14-24", seed=3).resolved()


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return make_run(tmp_path / "run", SPEC)


def silent(done: int, of: int) -> None:
    pass


def sample_of(dataset: Dataset, size: int, seed: int = 1) -> dict[int, int]:
    return LabelQuality(dataset, size, seed)._stones


def test_the_sample_has_its_share_of_each_phase(dataset: Dataset) -> None:
    plies = Rows.join([rows for _, rows in dataset.rows()]).ply.tolist()
    sample = sample_of(dataset, 60)
    assert len(sample) == 60
    assert all(plies[row] == stones for row, stones in sample.items())

    def by_phase(stones: list[int]) -> list[int]:
        counted = Counter(p for s in stones for p, plies in PHASES.items() if s in plies)
        return [counted[phase] for phase in PHASES]

    for got, whole in zip(by_phase(list(sample.values())), by_phase(plies), strict=True):
        assert abs(got - 60 * whole / len(plies)) < 1
    assert sample_of(dataset, 60) == sample != sample_of(dataset, 60, seed=2)
    assert set(sample) >= set(sample_of(dataset, 20))  # nested, but for rounding
    assert len(sample_of(dataset, 100_000)) == dataset.positions


def test_labels_are_measured_against_the_solver(dataset: Dataset) -> None:
    quality = LabelQuality(dataset, 40)
    quality.measure(silent)
    rows = Rows.join([rows for _, rows in dataset.rows()])
    solver, mistakes, contested = Solver(), 0, 0
    for row in quality._stones:
        position = Position.from_cells(rows.board[row].tolist(), dataset.board)
        values = [value for value in solver.values(position) if value is not None]
        contested += min(values) < max(values)
        mistakes += solver.values(position)[rows.move[row]] != max(values)
    counts = quality.counts
    assert (counts.all.positions, counts.all.contested, counts.all.mistakes) == (
        *(40, contested, mistakes),
    )
    assert 0 < mistakes < contested
    assert sum(count.positions for count in counts.by_phase.values()) == 40


def test_a_killed_measurement_resumes(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(done: int, of: int) -> None:
        if done == 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        LabelQuality(dataset, 30).measure(interrupt)
    assert LabelQuality.finished(dataset) is None
    begun = LabelQuality(dataset, 30)
    assert 0 < len(begun.missing) <= 21
    seen: list[int] = []
    begun.measure(lambda done, of: seen.append(done))
    assert (seen[0] >= 9, seen[-1]) == (True, 30)

    # Nothing is solved twice: not for the same sample, nor for one within it.
    monkeypatch.setattr(label_quality, "_Solve", None)
    again = LabelQuality.finished(dataset)
    assert again is not None
    assert again.counts == begun.counts
    assert again.sample == 30
    LabelQuality(dataset, 30).measure(silent)


def test_a_limit_in_nodes_is_counted(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_quality, "_MOST_NODES", 300)
    quality = LabelQuality(dataset, 40)
    quality.measure(silent)
    assert 0 < quality.unsolved < 40
    assert quality.counts.all.positions == 40 - quality.unsolved
    assert quality.missing == []
    card = render_card(dataset, statistics(dataset), quality)
    assert f"Too hard to solve, and not counted: {quality.unsolved}." in card


@pytest.mark.parametrize(
    "change",
    [
        lambda record: "{",
        lambda record: "[" * 100_000,
        lambda record: json.dumps({**record, "fingerprint": "0" * 32}),
        lambda record: json.dumps({**record, "finished": [0, 1]}),
        lambda record: json.dumps({**record, "finished": [30, True]}),
        lambda record: json.dumps({**record, "rows": [[10**9, 0, 0, 0]]}),
        lambda record: json.dumps({**record, "rows": [[0, 1, 0, 0]]}),
        lambda record: json.dumps({**record, "rows": [[0, 0, 0, 0.0]]}),
        lambda record: json.dumps({**record, "rows": [["x"]]}),
        lambda record: json.dumps({**record, "rows": [[0, 1]]}),
        lambda record: json.dumps({**record, "rows": 5}),
    ],
)
def test_a_strangers_file_counts_as_none(dataset: Dataset, change: Any) -> None:
    LabelQuality(dataset, 5).measure(silent)
    record = json.loads(dataset.place.read(NAME))
    dataset.place.write(NAME, change(record).encode())
    assert LabelQuality.finished(dataset) is None
    assert len(LabelQuality(dataset, 5).missing) == 5


def test_the_card_takes_the_measurement_over(tmp_path: Path) -> None:
    dataset = make_run(tmp_path / "my run", SPEC)
    name = str(dataset.place)
    assert run("dataset", "card", name).returncode == 0
    card = (tmp_path / "my run" / "README.md").read_text()
    assert "Not measured. `selfplay dataset quality 'my run'`" in card
    done = run("dataset", "quality", name, "--sample", "50", "--seed", "7", "--json")
    (record,) = json_lines(done.stdout)
    assert record["positions"] == 50
    assert record["sample"] == 50
    assert record.keys() >= {"interval", "by_phase", "mistake_rate", "unsolved", "fingerprint"}
    run("dataset", "card", name)
    card = (tmp_path / "my run" / "README.md").read_text()
    assert "A sample of 50 positions (seed 7;" in card
    assert "| all | 50 | " in card
    # A share of fewer than 30 is not shown, here nor there.
    few = [phase for phase, count in record["by_phase"].items() if count["positions"] < 30]  # type: ignore[attr-defined]
    shown = run("dataset", "quality", name, "--sample", "50", "--seed", "7").stdout
    assert few
    for phase in few:
        assert f"| {phase} |" not in card
        assert f"\n{phase}  " not in shown
    assert "Not shown, with fewer than 30 solved: " in card
    assert "Not shown, with fewer than 30 solved: " in shown


def test_a_run_that_cannot_be_written_to_is_measured(
    dataset: Dataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> bool:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Location, "write", refuse)
    done = run("dataset", "quality", str(dataset.place), "--sample", "40")
    assert done.returncode == 0
    assert done.stdout.startswith(f"40 of {dataset.positions} positions, seed 1\nmistakes: of ")
    assert "cannot be written to: quality.json was not saved" in done.stderr


def test_ctrl_c_says_how_to_go_on(dataset: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(LabelQuality, "measure", interrupt)
    done = run("dataset", "quality", str(dataset.place), "--sample", "40", "--seed", "2")
    assert done.returncode == 130
    assert "0 of 40 positions are solved; resume with: selfplay dataset quality" in done.stderr
    assert done.stderr.endswith("--sample 40 --seed 2\n")


def test_boards_without_a_solver_are_refused(tmp_path: Path) -> None:
    spec = Spec(games=1, board="8x8", opening="50", teacher="random")
    dataset = make_run(tmp_path / "run", spec)
    done = run("dataset", "quality", str(dataset.place))
    assert (done.returncode, done.stdout) == (2, "")
    assert "8x8" in done.stderr
    assert "Label quality" not in render_card(dataset, statistics(dataset), None)
