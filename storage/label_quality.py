"""Measure label quality: how often the teacher's move is optimal, in a sample solved exactly."""

from __future__ import annotations

from collections.abc import Callable
from time import perf_counter

import numpy as np

from selfplay.game.position import Position
from selfplay.seeding import Stream, derive
from selfplay.solver.mistakes import MistakeCount, MistakesByPhase
from selfplay.solver.solver import Limit, Solver
from selfplay.storage.dataset import Dataset
from selfplay.storage.row_checks import validate_rows

SAMPLE = 300
_MOST_NODES = 20_000_000


def label_quality(
    dataset: Dataset, report: Callable[[int, int], None], seconds: float | None = None
) -> dict[str, MistakeCount]:
    """Solve a sample of the positions within a time, and count the teacher's mistakes by phase;
    nothing for boards that the solver does not support."""
    board = dataset.board
    if not board.fits_word:
        return {}
    end = None if seconds is None else perf_counter() + seconds
    solver = Solver(board)
    stream = Stream(derive("label quality", dataset.fingerprint))
    positions = [row for row in _sample(dataset, stream) if row[0].ply >= 8]
    stream.shuffle(positions)
    counts = MistakesByPhase()
    for number, (position, move) in enumerate(positions):
        report(number, len(positions))
        left = None if end is None else end - perf_counter()
        if left is not None and left <= 0:
            break
        solver.forget()
        limit = Limit(nodes=_MOST_NODES, seconds=left)
        values = {c: solver.value(position.play(c), limit) for c in position.legal_moves}
        if None in values.values():
            continue
        known = {column: -value for column, value in values.items() if value is not None}
        counts.add(position.ply, known.values(), known[move])
    return counts.by_phase


def _sample(dataset: Dataset, stream: Stream) -> list[tuple[Position, int]]:
    """Random positions with the teacher's move."""
    total = dataset.positions
    wanted = sorted({stream.below(total) for _ in range(SAMPLE)}) if total else []
    sample: list[tuple[Position, int]] = []
    before = 0
    for shard in dataset.shards():
        count = dataset.footers[shard].rows
        inside = [number - before for number in wanted if before <= number < before + count]
        if inside:
            rows = dataset.read(shard, validate_rows)[np.array(inside)]
            for cells, move in zip(rows.board.tolist(), rows.move.tolist(), strict=True):
                sample.append((Position.from_cells(cells, dataset.board), move))
        before += count
    return sample
