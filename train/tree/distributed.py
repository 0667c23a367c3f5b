"""Distributed growing: the rows are spread over Ray actors, the tree is the same, node for node.

Level by level each actor counts its rows in the open nodes. The driver adds up these histograms and
chooses the splits. Counts are integers, so the partition of the rows does not matter. Traffic grows
with the number of open nodes, not with that of the rows.

A lost actor is replaced: the new one reads its part again and walks its rows down the tree so far.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import ray
from ray.exceptions import RayError, RayTaskError

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.kernels.jit import kernel
from selfplay.train.config import Criterion, Split
from selfplay.train.tree.branch import Limits, Rows, Rules, choose, is_leaf, totals_of_sides
from selfplay.train.tree.criterion import NOTHING
from selfplay.train.tree.grower import Matrix
from selfplay.train.tree.tree import LEAF, Tree, side_of

# Histograms are requested in batches of this size.
_MAX_BYTES = 1 << 26
REPLACED = 3
"""How often a worker is replaced during one call."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the rows, and how to evaluate a tree on those held out of the same part."""

    matrix: Matrix
    evaluate: Callable[[Tree], Any]


Load = Callable[[int, int], Part]
"""Loads part `number` of so many, the same each time. It is pickled."""


class Holder:
    """An actor: the rows of a part, and the node that each has reached."""

    def __init__(self, load: Load, number: int, of: int) -> None:
        self._load, self._number, self._of = load, number, of

    @cached_property
    def _part(self) -> Part:
        # Lazy, so that an InputError is the answer to a call, not the end of the actor.
        return self._load(self._number, self._of)

    @cached_property
    def _at(self) -> Array:
        return np.zeros(len(self._part.matrix.codes), np.int64)

    def process(self) -> int:
        return os.getpid()

    def totals(self) -> Array:
        matrix = self._part.matrix
        found: Array = np.bincount(matrix.labels, matrix.weights, minlength=matrix.classes)
        return found.astype(np.int64)

    def widths(self) -> Array:
        return self._part.matrix.widths

    def count(self, nodes: Growing, wanted: Array, split: int) -> Array:
        """int64 [node, value of any feature, class]: the histograms of the wanted nodes."""
        matrix = self._part.matrix
        slots = np.full(len(nodes.feature), -1, np.int64)
        slots[wanted] = np.arange(len(wanted))
        out = np.zeros((len(wanted), int(matrix.starts[-1]), matrix.classes), np.int64)
        rows = Rows(matrix.codes, matrix.labels, matrix.weights)
        _count_in_nodes(rows, matrix.starts, self._at, nodes, split, slots, out)
        return out

    def evaluate(self, tree: Tree) -> Any:
        return self._part.evaluate(tree)


class Growing(NamedTuple):
    """The nodes so far."""

    feature: Array
    value: Array
    child: Array

    def with_splits(self, splits: list[tuple[int, int, int, Array]]) -> Growing:
        """With these nodes split: node, feature, value and the class counts of the children."""
        feature, value, child = (array.copy() for array in (self.feature, self.value, self.child))
        end = len(feature)
        for node, chosen, at, children in splits:
            feature[node], value[node], child[node] = chosen, at, end
            end += len(children)
        more = end - len(feature)
        return Growing(
            np.append(feature, np.full(more, LEAF, np.int32)),
            np.append(value, np.zeros(more, np.int32)),
            np.append(child, np.zeros(more, np.int32)),
        )


@dataclass(slots=True)
class Traffic:
    """Bytes sent and workers lost."""

    levels: list[int] = field(default_factory=list)
    """Bytes by level."""
    lost: int = 0
    """Workers that were replaced."""


class DistributedGrower:
    """Grows a tree over the actors of a running Ray."""

    def __init__(self, load: Load, parts: int) -> None:
        self._load, self._parts = load, parts
        self._actors = [self._spawn(number) for number in range(parts)]
        self.traffic = Traffic()

    def _spawn(self, number: int) -> Any:
        actor = ray.remote(Holder).options(num_cpus=1, max_restarts=0, max_task_retries=0)
        return actor.remote(self._load, number, self._parts)

    def call(self, method: str, *arguments: Any) -> Iterator[Any]:
        """Call a method on all actors; lost ones are replaced and called again."""
        futures = [getattr(actor, method).remote(*arguments) for actor in self._actors]
        for number, future in enumerate(futures):
            yield self._result(number, future, method, arguments)

    def _result(self, number: int, future: Any, method: str, arguments: tuple[Any, ...]) -> Any:
        for _ in range(REPLACED):
            try:
                return ray.get(future)
            except RayTaskError as error:
                if isinstance(error.cause, InputError):
                    raise InputError(str(error.cause)) from None
                raise
            except RayError:
                self.traffic.lost += 1
                ray.kill(self._actors[number])
                self._actors[number] = self._spawn(number)
                future = getattr(self._actors[number], method).remote(*arguments)
        return ray.get(future)

    def close(self) -> None:
        for actor in self._actors:
            ray.kill(actor)

    def grow(
        self,
        criterion: Criterion,
        split: Split,
        limits: Limits,
        on_progress: Callable[[str, int, int], None] = lambda phase, done, of: None,
    ) -> Tree:
        """Grow the tree of all rows."""
        totals = np.sum(list(self.call("totals")), axis=0)
        widths = next(self.call("widths"))
        rules = Rules.of(criterion, split, limits, widths, int(totals.sum()))
        nodes = Growing(np.full(1, LEAF, np.int32), *np.zeros((2, 1), np.int32))
        counts, level, depth = totals[None], range(1), 0
        while level:
            unsplit = [node for node in level if not is_leaf(counts[node], depth, rules)]
            splits = []
            phase = f"level {depth}, nodes"
            on_progress(phase, 0, len(unsplit))
            for done, (node, histogram) in enumerate(
                self._histograms(nodes, unsplit, rules, counts.shape[1]), 1
            ):
                on_progress(phase, done, len(unsplit))
                feature, value = choose(histogram, counts[node], rules)
                if feature != NOTHING:
                    sides = totals_of_sides(histogram, counts[node], rules, feature, value)
                    splits.append((node, feature, value, sides))
            level, depth = (
                range(len(counts), len(counts) + sum(len(s[3]) for s in splits)),
                depth + 1,
            )
            nodes = nodes.with_splits(splits)
            counts = np.concatenate([counts, *(sides for *_, sides in splits)])
        return Tree(split, nodes.feature, nodes.value, nodes.child, counts)

    def _histograms(
        self, nodes: Growing, unsplit: list[int], rules: Rules, classes: int
    ) -> Iterator[tuple[int, Array]]:
        """The histogram of each of these nodes over all parts, in batches."""
        size = 8 * int(rules.starts[-1]) * classes
        at_once = max(1, _MAX_BYTES // size)
        sent = ray.put(nodes)
        self.traffic.levels.append(self._parts * 12 * len(nodes.feature))
        for start in range(0, len(unsplit), at_once):
            batch = np.array(unsplit[start : start + at_once], np.int64)
            answers = self.call("count", sent, batch, rules.split)
            self.traffic.levels[-1] += self._parts * size * len(batch)
            yield from zip(batch.tolist(), np.sum(list(answers), axis=0), strict=True)


@kernel
def _count_in_nodes(
    rows: Rows, starts: Array, at: Array, nodes: Growing, split: int, slots: Array, out: Array
) -> None:
    for row in range(len(rows.codes)):
        node = at[row]
        while nodes.feature[node] != LEAF:
            code = rows.codes[row, nodes.feature[node]]
            node = nodes.child[node] + side_of(code, nodes.value[node], split)
        at[row] = node
        slot = slots[node]
        if slot >= 0:
            label, weight = np.intp(rows.labels[row]), rows.weights[row]
            for k in range(rows.codes.shape[1]):
                out[slot, starts[k] + rows.codes[row, k], label] += weight
