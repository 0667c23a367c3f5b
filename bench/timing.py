"""Fair timing on a machine that is never quite still."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import perf_counter

TURN_SECONDS = 0.1


def rates(contenders: Mapping[str, Callable[[], float]], rounds: int) -> dict[str, float]:
    """Work per second of each contender: the median over rounds.

    A contender does some work and returns how much. All take their turn in every round, so
    that whatever slows the machine down for a while slows all of them down; a turn is long
    enough for caches to forget whose turn it was before. The first call, which may compile,
    does not count.
    """
    for contender in contenders.values():
        contender()
    found: dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(rounds):
        for name, contender in contenders.items():
            start = perf_counter()
            work = seconds = 0.0
            while seconds < TURN_SECONDS:
                work += contender()
                seconds = perf_counter() - start
            found[name].append(work / seconds)
    return {name: median(values) for name, values in found.items()}
