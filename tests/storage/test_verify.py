"""A run that is right passes; whatever is changed in one is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from selfplay.cli.data_card import write_card
from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.storage.dataset import Dataset, shard_path, write_shard
from selfplay.storage.location import Location
from selfplay.storage.row_checks import _has_line, faults
from selfplay.storage.rows import NO_MOVE, Rows
from selfplay.storage.shard import decode
from selfplay.storage.spec import Spec
from selfplay.storage.verify import verify
from tests.cli.command import json_lines, run
from tests.storage.made import SPEC, games_of, make_run, shard_of


def problems(dataset: Dataset) -> list[str]:
    return [str(problem) for problem in verify(Dataset(dataset.place))]


@pytest.mark.parametrize(
    "spec",
    [
        SPEC,
        Spec(games=4, shard_games=3, teacher="mcts:50", board="9x8", connect=5, opening="60"),
        Spec(games=3, shard_games=3, teacher="random", board="4x15", connect=5),
        Spec(games=3, shard_games=9, teacher="random", board="4x4", opening="0-3"),
    ],
    ids=lambda spec: spec.board,
)
def test_what_is_right_is_found_right(tmp_path: Path, spec: Spec) -> None:
    assert problems(make_run(tmp_path, spec)) == []


def middle(rows: Rows) -> int:
    """A row that is neither the first nor the last of its game."""
    inside = np.flatnonzero(
        (rows.game[1:-1] == rows.game[:-2]) & (rows.game[1:-1] == rows.game[2:])
    )
    return int(inside[len(inside) // 2]) + 1


def end(rows: Rows) -> int:
    """The last row of the first game."""
    return int(np.flatnonzero(rows.game != rows.game[0])[0]) - 1


def set_board(rows: Rows, at: int, position: Position) -> None:
    rows.board[at], rows.ply[at] = position.cells(), position.ply


def swap_stones(rows: Rows) -> None:
    at = middle(rows)
    one, two = np.flatnonzero(rows.board[at] == 1)[-1], np.flatnonzero(rows.board[at] == 2)[-1]
    rows.board[at, [one, two]] = rows.board[at, [two, one]]


CHANGES: dict[str, Callable[[Rows], object]] = {
    "a cell holds neither": lambda r: r.board.__setitem__((middle(r), 0), 3),
    "a stone floats": lambda r: r.board.__setitem__(
        (middle(r), slice(35, 42)), r.board[middle(r), 35:42] * 0
    ),
    "do not alternate": lambda r: r.board.__setitem__(middle(r), r.board[middle(r)].clip(0, 1)),
    "the ply is not": lambda r: r.ply.__setitem__(middle(r), 41),
    "was over before": lambda r: set_board(r, middle(r), Position.parse("1212121")),
    "teacher's move is not legal": lambda r: r.move.__setitem__(middle(r), 7),
    "visits of an illegal move": lambda r: r.visits.__setitem__((middle(r), 0), -1),
    "a value of an illegal move": lambda r: r.value.__setitem__((middle(r), 0), 1.5),
    "a proven result": lambda r: r.proven.__setitem__((middle(r), 0), 2),
    "differs from the proven": lambda r: (
        r.value.__setitem__((middle(r), r.move[middle(r)]), 0.5),
        r.proven.__setitem__((middle(r), r.move[middle(r)]), 1),
    ),
    "the played move is not legal": lambda r: r.played.__setitem__(middle(r), 100),
    "does not lead to the next": swap_stones,
    "lead to the next": lambda r: r.played.__setitem__(middle(r), NO_MOVE),
    "not in order": lambda r: r.game.__setitem__(0, r.game[-1]),
    "stops before its end": lambda r: r.played.__setitem__(
        end(r), next(c for c in range(7) if c != r.played[end(r)] and r.board[end(r), c] == 0)
    ),
    "not the result of the game": lambda r: r.outcome.__imul__(-1),
    "changes during": lambda r: r.outcome.__setitem__(middle(r), -r.outcome[middle(r)]),
    "it is missing": lambda r: r.game.__setitem__(r.game == r.game[0], r.game[-1]),
    "another shard": lambda r: r.game.__setitem__(r.game == r.game[-1], 77),
}


@pytest.mark.parametrize("fault", CHANGES)
def test_what_is_wrong_with_a_game_is_found(fault: str) -> None:
    rows = shard_of(SPEC, 1)
    games = games_of(SPEC, 1)
    assert list(faults(rows, Board(), games)) == []
    CHANGES[fault](rows)
    found = [what for what, _ in faults(rows, Board(), games)]
    assert any(fault in what for what in found), found


def test_lines_are_found_where_the_rules_see_them() -> None:
    for board in (Board(), Board(9, 5, 5), Board(4, 12, 6)):
        for ply in (board.cells // 2, board.cells - 2):
            positions = []
            for game in range(60):
                position = RandomPlies(board, ply, ply).opening(1, game)
                positions += [position, *(position.play(move) for move in position.legal_moves)]
            cells = np.array([position.cells() for position in positions])
            grid = cells.reshape(-1, board.rows, board.columns)
            found = _has_line(grid == 1, board) | _has_line(grid == 2, board)
            assert found.tolist() == [position.winner is not None for position in positions]


def test_files_that_are_not_right_are_named(tmp_path: Path) -> None:
    dataset = make_run(tmp_path / "run")
    other = make_run(tmp_path / "other", Spec(games=20, shard_games=5, teacher="mcts:100"))
    shards = tmp_path / "run" / "shards"
    (shards / "part-00000.parquet").write_bytes(b"")
    data = (shards / "part-00001.parquet").read_bytes()
    (shards / "part-00001.parquet").write_bytes(data[: len(data) // 2])
    (shards / "part-00002.parquet").write_bytes(other.place.read(shard_path(2)))
    (shards / "part-00003.parquet").rename(shards / "part-00009.parquet")
    found = problems(dataset)
    assert [text.split(": ")[0] for text in found] == [
        "'part-00009.parquet' does not belong to the run",
        "part-00000.parquet",
        "part-00001.parquet",
        "part-00002.parquet",
        "part-00003.parquet",
    ]
    assert "another run" in found[3]
    assert "not made yet" in found[4]


def test_every_flipped_byte_is_noticed_or_changes_nothing(tmp_path: Path) -> None:
    spec = Spec(games=2, shard_games=2, teacher="mcts:100", opening="12", seed=5)
    dataset = make_run(tmp_path, spec)
    place = Location(str(tmp_path))
    data = place.read(shard_path(0))
    fingerprint = decode(data, Board())[1].fingerprint()
    path = tmp_path / shard_path(0)
    random = np.random.default_rng(1)
    harmless = 0
    for at, flip in zip(
        random.integers(0, len(data), 1000), random.integers(1, 256, 1000), strict=True
    ):
        changed = bytearray(data)
        changed[at] ^= flip
        path.write_bytes(changed)
        if not problems(dataset):
            assert decode(bytes(changed), Board())[1].fingerprint() == fingerprint
            harmless += 1
    assert harmless < 300


def test_an_extended_run_has_its_last_shard_to_do_again(tmp_path: Path) -> None:
    spec = Spec(games=12, shard_games=5, teacher="mcts:50", opening="8")
    dataset = make_run(tmp_path, spec)
    assert dataset.missing() == []
    dataset.manifest.with_games(20).write(dataset.place)
    longer = Dataset(dataset.place)
    assert longer.missing() == [2, 3]
    assert [text.split(": ")[1] for text in problems(longer)] == [
        "it lacks games",
        "it is not made yet",
    ]
    assert all(problem.is_open for problem in verify(longer))
    assert longer.spec is not None
    for shard in longer.missing():
        write_shard(longer.place, longer.manifest, shard, shard_of(longer.spec, shard))
    at_once = make_run(tmp_path / "at-once", longer.spec)
    assert Dataset(tmp_path.as_posix()).fingerprint == at_once.fingerprint


def test_an_unfinished_run_is_not_a_damaged_one(tmp_path: Path) -> None:
    there = make_run(tmp_path / "run", shards=range(2))
    done = run("dataset", "verify", "run", "--quarantine", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (
        1,
        f"run: 2 of 4 shards, {there.positions} positions: no problems in them; 2 are not made "
        "yet: resume with selfplay generate run\n",
    )
    (record,) = json_lines(run("dataset", "verify", "run", "--json", cwd=tmp_path).stdout)
    assert (record["ok"], record["unfinished"], record["problems"]) == (False, True, [])
    assert record["positions"] == there.positions
    write_shard(there.place, there.manifest, 3, shard_of(SPEC, 3))
    done = run("dataset", "verify", "run", cwd=tmp_path)
    assert done.stdout.startswith(
        "part-00002.parquet: it is missing\n`selfplay generate run` makes it again\nrun: 3 shards, "
    )


def test_a_shard_that_a_complete_run_has_lost_is_missing(tmp_path: Path) -> None:
    dataset = make_run(tmp_path)
    write_card(dataset)
    (tmp_path / shard_path(3)).unlink()
    assert problems(dataset) == ["part-00003.parquet: it is missing"]


def test_the_positions_of_sound_shards_are_counted(tmp_path: Path) -> None:
    dataset = make_run(tmp_path / "run")
    sound = dataset.positions - dataset.footers[1].rows
    (tmp_path / "run" / shard_path(1)).write_bytes(b"")
    done = run("dataset", "verify", "run", cwd=tmp_path)
    assert done.stdout.endswith(f"run: 4 shards, {sound} positions in sound ones: 1 problem\n")
