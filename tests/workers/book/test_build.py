"""The same book whoever builds it, and however often it is stopped."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.solver import book_builder
from selfplay.solver.book_builder import book_of
from selfplay.workers.book.build import BookJob, BookParts, BookProgress
from selfplay.workers.executors.interface import DoItem, JobError
from selfplay.workers.executors.local import LocalExecutor
from selfplay.workers.executors.ray import RayExecutor
from selfplay.workers.solving.build import build

SMALL, PLIES = Board(5, 4), 4
JOB = BookJob(SMALL, memory=1, plies=PLIES)


def never() -> bool:
    return False


def parts_in(folder: Path, plies: int = PLIES) -> BookParts:
    return BookParts(folder / "b.npz", SMALL, plies)


def stopped_in(folder: Path, chunks: int = 2) -> BookParts:
    """A build that was stopped after some chunks."""
    parts = parts_in(folder)
    asked = count()
    *_, progress = build(
        JOB, BookProgress.of(parts), LocalExecutor(), lambda: next(asked) >= chunks
    )
    assert len(progress.solved) == chunks < parts.chunks
    return parts


def book_file(progress: BookProgress, file: Path) -> bytes:
    assert (progress.is_complete, progress.failed) == (True, [])
    book_of(SMALL, PLIES, progress.scores).save(file)
    return file.read_bytes()


@dataclass(frozen=True)
class DiesOnce(BookJob):
    """Its worker is killed in the first chunk."""

    marker: str = ""

    def prepare(self) -> DoItem:
        solve: Callable[[int], object] = super().prepare()

        def die_once(chunk: int) -> object:
            if chunk == 0 and not Path(self.marker).exists():
                Path(self.marker).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            return solve(chunk)

        return die_once


def test_one_book_in_process_on_workers_and_resumed(tmp_path: Path) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()
    *_, here = build(JOB, BookProgress.of(parts_in(tmp_path / "a")), LocalExecutor(), never)
    expected = book_file(here, tmp_path / "a.npz")

    resumed = BookProgress.of(stopped_in(tmp_path / "b"))
    assert len(resumed.solved) == 2
    assert resumed.seconds_left is None
    *_, resumed = build(JOB, resumed, LocalExecutor(), never)
    assert resumed.timed == resumed.parts.chunks - 2
    assert book_file(resumed, tmp_path / "b.npz") == expected

    executor = RayExecutor(2)
    job = DiesOnce(SMALL, 1, PLIES, str(tmp_path / "died"))
    with executor.start():
        *_, spread = build(job, BookProgress.of(parts_in(tmp_path / "c")), executor, never)
    assert (spread.lost, spread.retries >= 1) == (1, True)
    assert book_file(spread, tmp_path / "c.npz") == expected
    assert BookProgress.of(spread.parts).scores == spread.scores
    spread.parts.remove()
    assert not spread.parts.folder.exists()


def test_a_part_that_is_damaged_or_of_another_book_is_refused_by_name(tmp_path: Path) -> None:
    parts = stopped_in(tmp_path)
    first, second = sorted(parts.folder.iterdir())
    (parts.folder / ".part-00002.txt.0123456789abcdef.aside").write_text("a killed writer's")
    whole = first.read_bytes()
    for damaged in (whole[:-20], b"", b"\xff" + whole[1:], whole.replace(b" 1\n", b" 2\n", 1)):
        assert damaged != whole
        first.write_bytes(damaged)
        with pytest.raises(InputError, match=r"part-00000.txt is damaged: remove it"):
            parts.read()
    first.write_bytes(second.read_bytes())
    with pytest.raises(InputError, match=r"part-00000.txt is 'part 1 of 3, 4 plies on"):
        parts.read()
    first.write_bytes(whole)
    assert sorted(parts.read()) == [0, 1]
    with pytest.raises(InputError, match=r"not 'part 0 of 1, 3 plies on 5x4 connect 4': remove"):
        parts_in(tmp_path, 3).read()
    mine = parts.folder / "thoughts.txt"
    mine.touch()
    with pytest.raises(InputError, match=r"thoughts.txt is not a part of this book"):
        parts.read()
    parts.remove()
    assert list(parts.folder.iterdir()) == [mine]


def test_a_worker_with_other_chunks_and_a_full_disk_end_the_job(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    progress = BookProgress.of(parts_in(tmp_path))
    with monkeypatch.context() as patch:
        patch.setattr(book_builder, "CHUNK", 50)
        with pytest.raises(JobError, match="install the same version on every node"):
            list(build(JOB, progress, LocalExecutor(), never))
    progress.parts.folder.touch()
    with pytest.raises(JobError, match="File exists"):
        list(build(JOB, progress, LocalExecutor(), never))
