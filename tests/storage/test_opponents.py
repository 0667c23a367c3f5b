"""Runs in which an opponent moves: its plies have no rows, and some games have none at all."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.storage.merge import merge
from selfplay.storage.row_checks import faults
from selfplay.storage.rows import Rows
from selfplay.storage.statistics import statistics
from selfplay.storage.verify import verify
from selfplay.workers.executors.local import LocalExecutor
from selfplay.workers.generation.games import GameMaker
from selfplay.workers.generation.generate import generate
from selfplay.workers.generation.plan import plan
from tests.cli.command import run

OPTIONS = {
    "games": 60,
    "shard_games": 20,
    "teacher": "mcts:50",
    "explorer": "random",
    "opponent": "mcts:50",
    "opening": "0-30",
    "seed": 5,
}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    place = Location(str(tmp_path_factory.mktemp("opponents")))
    what = plan(place, OPTIONS)
    what.begin()
    *_, progress = generate(what, LocalExecutor(), lambda: False)
    assert progress.is_complete
    return Dataset(place)


def test_a_run_against_an_opponent_is_right(made: Dataset) -> None:
    assert list(verify(made)) == []
    there = {int(game) for _, rows in made.rows() for game in np.unique(rows.game)}
    assert 0 < len(there) < made.games  # some the opponent won before there was a row


def test_what_is_wrong_with_its_games_is_found_all_the_same(made: Dataset) -> None:
    games = made.footers[0].games
    rows = made.read(0)
    at = int(np.flatnonzero(rows.game[1:] == rows.game[:-1])[0])

    def found(change: dict[str, tuple[int, int]]) -> str:
        columns = {name: column.copy() for name, column in rows.columns()}
        for name, (row, value) in change.items():
            columns[name][row] = value
        return " ".join(
            what for what, _ in faults(Rows(**columns), made.board, games, skips_replies=True)
        )

    assert found({}) == ""
    other = next(c for c in range(7) if c != rows.played[at] and not rows.board[at, c])
    assert "does not lead to the next position" in found({"played": (at, other)})
    assert "outcome changes" in found({"outcome": (at, -int(rows.outcome[at]) or 1)})
    ends = np.flatnonzero(rows.game[1:] != rows.game[:-1])
    lost = next(int(end) for end in ends if rows.outcome[end] == -1)
    assert found({"outcome": (lost, 1)}) != ""
    assert found({}) == ""
    inner = next(k for k in range(len(rows) - 2) if rows.game[k] == rows.game[k + 2])
    without = np.arange(len(rows)) != inner + 1
    assert "does not lead" in " ".join(
        what for what, _ in faults(rows[without], made.board, games, skips_replies=True)
    )


def test_statistics_count_games_without_rows_and_the_opponents_last_move(made: Dataset) -> None:
    found = statistics(made)
    assert made.spec is not None
    assert found.games == 60
    maker, lengths, empty = GameMaker(made.spec, _Remembered(made)), [], 0
    for game in range(60):
        rows = maker.rows(game)
        if not len(rows):
            empty += 1
            continue
        last = int((rows.board[-1] != 0).sum()) + 1
        # Who moved last has won, or the board was full.
        lengths.append(last if rows.outcome[-1] == 1 or last == 42 else last + 1)
    assert found.games_without_rows == empty > 0
    assert sum(found.lengths.values()) == 60 - empty
    assert sum(length * count for length, count in found.lengths.items()) == sum(lengths)
    assert found.by_first_move == {}


class _Remembered:
    """The openings of a run."""

    def __init__(self, dataset: Dataset) -> None:
        from selfplay.storage.openings import load_openings

        assert dataset.spec is not None
        self._openings = load_openings(dataset.place, dataset.spec)

    def opening(self, seed: int, game: int):  # type: ignore[no-untyped-def]
        return self._openings.opening(seed, game)

    def distinct(self) -> None:
        return None


def test_merged_they_are_still_right(made: Dataset, tmp_path: Path) -> None:
    merged = merge([made, made], Location(str(tmp_path / "merged")))
    assert list(verify(merged)) == []
    assert merged.games == 60 - statistics(made).games_without_rows


def test_every_command_reads_a_run_without_any_row(tmp_path: Path) -> None:
    """One game that the opponent wins at once."""
    options = {**OPTIONS, "opening": f"file:{tmp_path}/book", "games": 1, "shard_games": 1}
    # The second player is to lose: the opponent is second in game 0, and to move.
    (tmp_path / "book").write_text("1212327\n")
    what = plan(Location(str(tmp_path / "run")), options)
    what.begin()
    list(generate(what, LocalExecutor(), lambda: False))
    dataset = Dataset(str(tmp_path / "run"))
    if dataset.positions:
        pytest.fail("the opponent was expected to win at once")
    for words in ("info", "verify", "quality", "card", "export --out x", "split --out y"):
        verb, *more = words.split()
        done = run("dataset", verb, "run", *more, cwd=tmp_path)
        assert (done.returncode, done.stderr) == (0, ""), words
    for words in ("dataset merge run --out z", "train run --out m"):
        done = run(*words.split(), cwd=tmp_path)
        assert done.returncode == 2, words
        assert "there are no positions" in done.stderr
    info = json.loads(run("dataset", "info", "run", "--json", cwd=tmp_path).stdout)
    assert (info["games"], info["games_without_rows"], info["positions"]) == (1, 1, 0)


def test_a_table_of_no_positions_is_not_imported(tmp_path: Path) -> None:
    header = ",".join([*(f"cell_{number}" for number in range(42)), "move"])
    (tmp_path / "x.csv").write_text(header + "\n")
    done = run("dataset", "import", "x.csv", "run", cwd=tmp_path)
    assert (done.returncode, "has no positions" in done.stderr) == (2, True)
    assert not (tmp_path / "run").exists()
    (tmp_path / "y.csv").write_text(header + "\n" + "1" * 200_000 + "\n")
    done = run("dataset", "import", "y.csv", "run", cwd=tmp_path)
    assert (done.returncode, "line 2: 1 values instead of 43" in done.stderr) == (2, True)
