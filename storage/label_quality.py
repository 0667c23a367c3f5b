"""Measure label quality: how often the teacher's move is optimal, in a sample solved exactly.

The sample follows from the rows, its size and a seed. Each phase of the game has its share of it,
and a larger sample with the same seed contains the smaller one. Results stay in a file of the run,
so that a measurement resumes, and another one solves no position again.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from threading import Event, local

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.game.position import Position
from selfplay.machine import usable_cores
from selfplay.seeding import derive
from selfplay.solver.mistakes import PHASES, MistakesByPhase
from selfplay.solver.solver import Limit, Solver
from selfplay.storage.dataset import Dataset
from selfplay.storage.row_checks import validate_rows
from selfplay.storage.split import uniform_hash

NAME = "quality.json"
SAMPLE, MOST_SAMPLE, SEED = 1000, 100_000, 1

_MOST_NODES = 20_000_000  # for each move; a limit in nodes gives the same results everywhere
_MOST_BYTES = 1 << 24
_SAVE_SECONDS = 5.0

Values = tuple[int, int, int]
"""The values of the worst, the best and the teacher's move: 1, 0 or -1."""


class LabelQuality:
    """A sample of a run's positions, and what is known of them."""

    def __init__(
        self,
        dataset: Dataset,
        sample: int = SAMPLE,
        seed: int = SEED,
        plies: Iterable[Array] | None = None,
    ) -> None:
        """`plies` are those of all rows, where they are known already."""
        if not dataset.board.fits_word:
            raise InputError(f"label quality needs the solver, which has no {dataset.board.size}")
        self.seed = seed
        self.known, self._finished = _read(dataset)
        """The values of every row that was ever solved; None for those that are too hard."""
        self.is_saved = True
        self._dataset, self._asked = dataset, sample
        if plies is None:
            plies = (batch.column(0).to_numpy() for batch in dataset.batches(["ply"]))
        self._stones = _sample(dataset, plies, sample, seed)

    @classmethod
    def finished(
        cls, dataset: Dataset, plies: Iterable[Array] | None = None
    ) -> LabelQuality | None:
        """The measurement of the run that was finished last."""
        last = _read(dataset)[1]
        if last is None or not dataset.board.fits_word:
            return None
        found = cls(dataset, *last, plies)
        return None if found.missing else found

    @property
    def sample(self) -> int:
        """The number of positions in the sample: fewer than asked for if the run has fewer."""
        return len(self._stones)

    @property
    def missing(self) -> list[int]:
        """The rows that are still to be solved."""
        return [row for row in self._stones if row not in self.known]

    @property
    def unsolved(self) -> int:
        """The number of positions that were too hard."""
        return sum(row in self.known and self.known[row] is None for row in self._stones)

    @property
    def counts(self) -> MistakesByPhase:
        """The teacher's mistakes in the solved positions."""
        counts = MistakesByPhase()
        for row, stones in self._stones.items():
            if (values := self.known.get(row)) is not None:
                worst, best, value = values
                counts.add(stones, (worst, best), value)
        return counts

    def measure(self, on_progress: Callable[[int, int], None]) -> None:
        """Solve what is missing, with all cores. Results are saved every few seconds and at the
        end, however it ends; if the run cannot be written to, `is_saved` is false."""
        missing = self.missing
        if not missing and self._finished == (self._asked, self.seed):
            return
        solve = _Solve(self._dataset)
        pool = ThreadPoolExecutor(usable_cores())
        saved = time.monotonic()
        on_progress(self.sample - len(missing), self.sample)
        try:
            rows = {
                pool.submit(solve, position, move): row
                for row, position, move in _labelled(self._dataset, missing)
            }
            for done, future in enumerate(as_completed(rows), self.sample - len(missing) + 1):
                self.known[rows[future]] = future.result()
                on_progress(done, self.sample)
                if time.monotonic() - saved > _SAVE_SECONDS:
                    self._save()
                    saved = time.monotonic()
        finally:
            solve.stop.set()
            self._save()
            pool.shutdown(cancel_futures=True)

    def _save(self) -> None:
        if not self.missing:
            self._finished = self._asked, self.seed
        record = {
            "fingerprint": self._dataset.fingerprint,
            "finished": self._finished,
            "rows": [[row, *(values or ())] for row, values in sorted(self.known.items())],
        }
        try:
            self._dataset.place.write(NAME, (json.dumps(record) + "\n").encode())
        except (OSError, InputError):  # the store denies it
            self.is_saved = False


class _Solve:
    """Finds the values of a position's moves; each thread has its own solver."""

    def __init__(self, dataset: Dataset) -> None:
        self.stop = Event()
        self._board, self._thread = dataset.board, local()

    def __call__(self, position: Position, move: int) -> Values | None:
        """None if some move is too hard, or after `stop`."""
        if not hasattr(self._thread, "solver"):
            self._thread.solver = Solver(self._board, threads=1)
        solver: Solver = self._thread.solver
        solver.forget()  # the table decides what a limit in nodes reaches
        values: dict[int, int] = {}
        for column in position.legal_moves:
            value = solver.value(position.play(column), Limit(nodes=_MOST_NODES))
            if value is None or self.stop.is_set():
                return None
            values[column] = -value
        return min(values.values()), max(values.values()), values[move]


def _sample(dataset: Dataset, plies: Iterable[Array], size: int, seed: int) -> dict[int, int]:
    """The rows of the sample, in order, with their number of stones.

    Each row has a pseudorandom rank; the first ones of each phase are taken.
    """
    salt = np.uint64(derive("label quality", dataset.fingerprint, seed))
    ends = [plies.stop for plies in PHASES.values()]
    kept = [np.zeros(0, _CANDIDATE) for _ in ends]
    totals, start = np.zeros(len(ends), np.int64), 0
    for batch in plies:
        found = np.zeros(len(batch), _CANDIDATE)
        found["stones"] = batch
        found["row"] = np.arange(start, start + len(batch))
        found["rank"] = uniform_hash(found["row"].astype(np.uint64) ^ salt)
        start += len(batch)
        phase = np.searchsorted(ends[:-1], found["stones"], side="right")
        totals += np.bincount(phase, minlength=len(ends))
        for number in range(len(ends)):
            joined = np.concatenate([kept[number], found[phase == number]])
            kept[number] = joined[np.argsort(joined["rank"], kind="stable")[:size]]
    if start != dataset.positions:
        raise InputError(f"{dataset.place} is damaged: see `selfplay dataset verify`")
    shares = _shares(totals, min(size, start))
    chosen = np.concatenate([rows[:share] for rows, share in zip(kept, shares, strict=True)])
    chosen.sort(order="row")
    return dict(zip(chosen["row"].tolist(), chosen["stones"].tolist(), strict=True))


_CANDIDATE = np.dtype([("row", np.int64), ("stones", np.int16), ("rank", np.float64)])


def _shares(totals: Array, size: int) -> Sequence[int]:
    """`size` divided in proportion; what rounding leaves goes to the largest remainders."""
    exact = totals * (size / max(1, int(totals.sum())))
    shares = np.floor(exact).astype(np.int64)
    behind = np.argsort(shares - exact, kind="stable")
    shares[behind[: size - int(shares.sum())]] += 1
    return list(map(int, shares))


def _labelled(dataset: Dataset, wanted: Sequence[int]) -> Iterator[tuple[int, Position, int]]:
    """These rows, in ascending order, with their position and the teacher's move."""
    numbers, start = np.array(wanted, np.int64), 0
    for shard in dataset.shards():
        stop = start + dataset.footers[shard].rows
        inside = numbers[(numbers >= start) & (numbers < stop)]
        if len(inside):
            rows = dataset.read(shard, validate_rows)[inside - start]
            for number, cells, move in zip(
                inside.tolist(), rows.board.tolist(), rows.move.tolist(), strict=True
            ):
                yield number, Position.from_cells(cells, dataset.board), move
        start = stop


def _read(dataset: Dataset) -> tuple[dict[int, Values | None], tuple[int, int] | None]:
    """What the run's file says of these rows, and the size and seed of the sample that was
    finished last. A file that is damaged or about other rows counts as none: it is replaced."""
    try:
        record = json.loads(dataset.place.read(NAME, _MOST_BYTES))
        if record["fingerprint"] != dataset.fingerprint:
            return {}, None
        known = dict(_checked(row, dataset.positions) for row in record["rows"])
        if record["finished"] is None:
            return known, None
        sample, seed = record["finished"]
        if not (type(sample) is type(seed) is int and 1 <= sample <= MOST_SAMPLE):
            raise ValueError
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return {}, None
    return known, (sample, seed)


def _checked(row: list[int], positions: int) -> tuple[int, Values | None]:
    number, *values = row
    if any(type(item) is not int for item in row) or not 0 <= number < positions:
        raise ValueError
    if not values:
        return number, None
    worst, best, value = values
    if not -1 <= worst <= value <= best <= 1:
        raise ValueError
    return number, (worst, best, value)
