"""The same set whoever builds it; it ends where there are no more positions."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.solver.solver import Solver, sign
from selfplay.workers.evaluation_set import build as building
from selfplay.workers.evaluation_set.build import SetJob, SetParts, SetProgress
from selfplay.workers.evaluation_set.candidates import SOURCES, Candidates
from selfplay.workers.executors.local import LocalExecutor
from selfplay.workers.solving.build import build

SMALL, PLIES = Board(5, 4), range(8, 14)


def never() -> bool:
    return False


def progress_in(
    folder: Path, wanted: int = 60, plies: range = PLIES, board: Board = SMALL
) -> SetProgress:
    folder.mkdir(exist_ok=True)
    return SetProgress.wanting(SetParts(folder / "s.npz", Candidates(board, plies, 5)), wanted)


def job(plies: range = PLIES, board: Board = SMALL) -> SetJob:
    return SetJob(board, 1, plies, 5)


def test_one_set_at_once_and_resumed(tmp_path: Path) -> None:
    *_, whole = build(job(), progress_in(tmp_path / "a"), LocalExecutor(), never)
    assert (whole.is_complete, whole.chunks_left, len(whole.rows)) == (True, 0, 60)

    solver = Solver(SMALL)
    positions = [Position(SMALL, own, mask, None) for own, mask, *_ in whole.rows]
    assert len({position.key(canonical=True) for position in positions}) == 60
    assert {position.ply for position in positions} == set(PLIES)
    assert {SOURCES[source] for _, _, source, *_ in whole.rows} == set(SOURCES)
    for position, (_, _, _, *scores) in zip(positions, whole.rows, strict=True):
        assert scores == [score for score in solver.scores(position) if score is not None]
        assert len(set(map(sign, scores))) > 1

    asked = count()
    stopped = progress_in(tmp_path / "b")
    *_, stopped = build(job(), stopped, LocalExecutor(), lambda: next(asked) >= 2)
    assert sorted(stopped.solved) == [0, 1]
    first = stopped.parts.folder / "part-00000.txt"
    first.unlink()
    resumed = progress_in(tmp_path / "b")
    assert (resumed.positions, resumed.missing[:2]) == (0, [0, 2])
    *_, resumed = build(job(), resumed, LocalExecutor(), never)
    assert resumed.rows == whole.rows

    # More positions begin with the same.
    *_, more = build(job(), progress_in(tmp_path / "b", 80), LocalExecutor(), never)
    assert more.rows[:60] == whole.rows
    with pytest.raises(InputError, match=r"not 'part 0, 8-9 plies, seed 5, on 5x4 connect 4'"):
        progress_in(tmp_path / "b", plies=range(8, 10))


def test_a_search_for_positions_that_do_not_exist_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(building, "CHUNK", 5)
    board, plies = Board(4, 4), range(2, 3)
    progress = progress_in(tmp_path, 100, plies, board)
    *_, progress = build(job(plies, board), progress, LocalExecutor(), never)
    assert (progress.is_complete, progress.is_exhausted) == (False, True)
    assert len(progress.found) <= 10  # as many as there are with two stones
