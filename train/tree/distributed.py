"""Growing a tree of rows that are spread over several workers: the same tree, node for node.

Every worker holds some of the rows. Level by level each counts its own, in the nodes that are open;
the counts are added up here, the splits are chosen here, by what chooses them in one process, and
sent out. Counts are whole numbers: it does not matter who counted what. What travels grows with the
number of open nodes, not with that of the rows.

A worker that is lost is replaced. The new one reads its part again, and walks its rows down the
tree so far.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import ray
from ray.exceptions import RayError, RayTaskError

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.kernels.jit import kernel
from selfplay.train.tree.criterion import CRITERIA, NOTHING, SPLITS, Criterion, Split, table_of_logs
from selfplay.train.tree.grower import (
    DEEPEST,
    Limits,
    Matrix,
    Rules,
    choose,
    is_leaf,
    totals_of_sides,
)
from selfplay.train.tree.tree import LEAF, Tree, side_of

# So many bytes of counts are asked for at a time.
_MOST_BYTES = 1 << 26
REPLACED = 3
"""How often a worker is replaced, while it is asked one thing."""


@dataclass(frozen=True, slots=True)
class Part:
    """Some of the rows, and what is needed to examine the tree on the others of the same part."""

    matrix: Matrix
    examine: Callable[[Tree], Any]


Load = Callable[[int, int], Part]
"""Gives a part, of so many. It can be pickled, and gives the same each time."""


class Holder:
    """What runs in an actor: the rows of a part, and the node in which each is."""

    def __init__(self, load: Load, number: int, of: int) -> None:
        self._load, self._number, self._of = load, number, of

    @cached_property
    def _part(self) -> Part:
        # Not at once: what is wrong with it is an answer, not the end of the actor.
        return self._load(self._number, self._of)

    @cached_property
    def _at(self) -> Array:
        return np.zeros(len(self._part.matrix.codes), np.int64)

    def process(self) -> int:
        """The process that it is."""
        return os.getpid()

    def totals(self) -> Array:
        matrix = self._part.matrix
        found: Array = np.bincount(matrix.labels, matrix.weights, minlength=matrix.classes)
        return found.astype(np.int64)

    def widths(self) -> Array:
        return self._part.matrix.widths

    def count(self, nodes: Growing, asked: Array, split: int) -> Array:
        """The classes of every value of every feature, in each of these nodes."""
        matrix = self._part.matrix
        slots = np.full(len(nodes.feature), -1, np.int64)
        slots[asked] = np.arange(len(asked))
        found = np.zeros((len(asked), int(matrix.starts[-1]), matrix.classes), np.int64)
        _count_in_nodes(
            matrix.codes,
            matrix.labels,
            matrix.weights,
            matrix.starts,
            self._at,
            nodes.feature,
            nodes.value,
            nodes.child,
            split,
            slots,
            found,
        )
        return found

    def examine(self, tree: Tree) -> Any:
        return self._part.examine(tree)


@dataclass(frozen=True, slots=True)
class Growing:
    """The nodes so far."""

    feature: Array
    value: Array
    child: Array

    def with_splits(self, splits: list[tuple[int, int, int, Array]]) -> Growing:
        """With these nodes split: each with a feature, a value and the classes of its children."""
        feature, value, child = (array.copy() for array in (self.feature, self.value, self.child))
        end = len(feature)
        for node, asked, at, children in splits:
            feature[node], value[node], child[node] = asked, at, end
            end += len(children)
        more = end - len(feature)
        return Growing(
            np.append(feature, np.full(more, LEAF, np.int32)),
            np.append(value, np.zeros(more, np.int32)),
            np.append(child, np.zeros(more, np.int32)),
        )


@dataclass(slots=True)
class Traffic:
    """What has travelled."""

    levels: list[int] = field(default_factory=list)
    """Bytes, by level."""
    lost: int = 0
    """Workers that had to be replaced."""


class DistributedGrower:
    """Rows that are held by several actors of a Ray that runs."""

    def __init__(self, load: Load, parts: int) -> None:
        self._load, self._parts = load, parts
        self._actors = [self._spawn(number) for number in range(parts)]
        self.traffic = Traffic()

    def _spawn(self, number: int) -> Any:
        actor = ray.remote(Holder).options(num_cpus=1, max_restarts=0, max_task_retries=0)
        return actor.remote(self._load, number, self._parts)

    def ask(self, what: str, *arguments: Any) -> Iterator[Any]:
        """The answer of every part; a worker that is lost is replaced, and its successor asked."""
        promises = [getattr(actor, what).remote(*arguments) for actor in self._actors]
        for number, promise in enumerate(promises):
            yield self._answer(number, promise, what, arguments)

    def _answer(self, number: int, promise: Any, what: str, arguments: tuple[Any, ...]) -> Any:
        for _ in range(REPLACED):
            try:
                return ray.get(promise)
            except RayTaskError as error:
                if isinstance(error.cause, InputError):
                    raise InputError(str(error.cause)) from None
                raise
            except RayError:
                self.traffic.lost += 1
                ray.kill(self._actors[number])
                self._actors[number] = self._spawn(number)
                promise = getattr(self._actors[number], what).remote(*arguments)
        return ray.get(promise)

    def dismiss(self) -> None:
        for actor in self._actors:
            ray.kill(actor)

    def grow(
        self,
        criterion: Criterion,
        split: Split,
        limits: Limits,
        tell: Callable[[str, int, int], None] = lambda what, done, of: None,
    ) -> Tree:
        """The tree of all rows."""
        totals = np.sum(list(self.ask("totals")), axis=0)
        widths = next(self.ask("widths"))
        starts = np.concatenate([[0], np.cumsum(widths)]).astype(np.int64)
        rules = Rules(
            starts=starts,
            cuts=np.ones(starts[-1], np.bool_),
            split=SPLITS[split],
            criterion=CRITERIA[criterion],
            max_depth=DEEPEST if limits.max_depth is None else limits.max_depth,
            least=limits.min_samples_leaf,
            min_gain=limits.min_gain,
            logs=table_of_logs(int(totals.sum())),
        )
        nodes = Growing(np.full(1, LEAF, np.int32), *np.zeros((2, 1), np.int32))
        counts, level, depth = totals[None], range(1), 0
        while level:
            unsplit = [node for node in level if not is_leaf(counts[node], depth, rules)]
            splits = []
            doing = f"level {depth}, nodes"
            tell(doing, 0, len(unsplit))
            for done, (node, histogram) in enumerate(
                self._histograms(nodes, unsplit, rules, counts.shape[1]), 1
            ):
                tell(doing, done, len(unsplit))
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
        """The counts in each of these nodes, over all parts; some nodes at a time travel."""
        size = 8 * int(rules.starts[-1]) * classes
        at_once = max(1, _MOST_BYTES // size)
        sent = ray.put(nodes)
        self.traffic.levels.append(self._parts * 12 * len(nodes.feature))
        for start in range(0, len(unsplit), at_once):
            asked = np.array(unsplit[start : start + at_once], np.int64)
            answers = self.ask("count", sent, asked, rules.split)
            self.traffic.levels[-1] += self._parts * size * len(asked)
            yield from zip(asked.tolist(), np.sum(list(answers), axis=0), strict=True)


@kernel
def _count_in_nodes(
    codes: Array,
    labels: Array,
    weights: Array,
    starts: Array,
    at: Array,
    feature: Array,
    value: Array,
    child: Array,
    split: int,
    slots: Array,
    out: Array,
) -> None:
    for row in range(len(codes)):
        node = at[row]
        while feature[node] != LEAF:
            node = child[node] + side_of(codes[row, feature[node]], value[node], split)
        at[row] = node
        slot = slots[node]
        if slot >= 0:
            label, weight = np.intp(labels[row]), weights[row]
            for k in range(codes.shape[1]):
                out[slot, starts[k] + codes[row, k], label] += weight
