"""How fast a tree grows, beside scikit-learn's; and how fast it answers."""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from bench.report import Table
from selfplay.machine import usable_cores
from selfplay.train.tree.branch import Limits
from selfplay.train.tree.grower import Matrix, grow

DEPTH = 20
ROUNDS = 3
SHAPES = ((300_000, 42, 3), (300_000, 230, 4))


def training() -> list[Table]:
    """Growing on one core and on all, and answering."""
    from sklearn.tree import DecisionTreeClassifier

    tables = []
    for rows, features, values in SHAPES:
        matrix = made_up(rows, features, values)

        def ours(threads: int, matrix: Matrix = matrix) -> Callable[[], Any]:
            return lambda: grow(matrix, "entropy", "threshold", Limits(max_depth=DEPTH), threads)

        def theirs(matrix: Matrix = matrix) -> Any:
            tree = DecisionTreeClassifier(criterion="entropy", max_depth=DEPTH, random_state=0)
            return tree.fit(matrix.codes, matrix.labels)

        cores = usable_cores()
        contenders: dict[str, Callable[[], Any]] = {
            "scikit-learn": theirs,
            "here, 1 thread": ours(1),
            f"here, {cores} threads": ours(cores),
        }
        ours(cores)()  # compiled before anything is timed
        times: dict[str, list[float]] = {name: [] for name in contenders}
        for _ in range(ROUNDS):
            for name, contender in contenders.items():
                start = perf_counter()
                contender()
                times[name].append(perf_counter() - start)
        rates = {name: rows / median(taken) for name, taken in times.items()}
        tree = ours(1)()
        tree.predict(matrix.codes[:1])
        start = perf_counter()
        answers = tree.predict(matrix.codes)
        speed = rows / (perf_counter() - start)
        right = (answers == matrix.labels).mean()
        theirs_right = (theirs().predict(matrix.codes) == matrix.labels).mean()
        tables.append(
            Table.of_rates(
                f"growing, {rows:,} rows x {features} features of {values} values, depth {DEPTH}",
                "rows/s",
                rates,
                "scikit-learn",
                f"{tree.leaves:,} leaves, right about {right:.1%} (scikit-learn "
                f"{theirs_right:.1%}); "
                f"it answers {speed:,.0f} rows/s",
            )
        )
    return tables


def made_up(rows: int, features: int, values: int) -> Matrix:
    """Rows of chance whose class follows from some of the features, and from chance."""
    chance = np.random.default_rng(0)
    codes = chance.integers(0, values, (rows, features)).astype(np.uint8)
    hidden = (codes[:, :8] * np.arange(1, 9)).sum(axis=1) // 6 % 7
    labels = np.where(chance.random(rows) < 0.3, chance.integers(0, 7, rows), hidden)
    return Matrix(
        codes,
        np.full(features, values, np.int64),
        labels.astype(np.uint8),
        np.ones(rows, np.int64),
        7,
    )
