"""The grown tree is the one of the blackboard, whoever grows it and however rows come."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import selfplay.train.tree.grower
from selfplay.train.tree.branch import Limits
from selfplay.train.tree.criterion import CRITERIA, SPLITS
from selfplay.train.tree.grower import Matrix, grow
from selfplay.train.tree.tree import LEAF, Tree, unseen
from tests.train.tree.naive import as_nested, grown

WIDTHS = [3, 2, 5]
CLASSES = 3


def matrix_of(
    rows: list[tuple[tuple[int, ...], int]], weights: list[int] | None = None, kind: Any = np.uint8
) -> Matrix:
    return Matrix(
        codes=np.array([row[0] for row in rows], kind).reshape(len(rows), -1),
        widths=np.array(WIDTHS, np.int64),
        labels=np.array([row[1] for row in rows], np.uint8),
        weights=np.array(weights or [1] * len(rows), np.int64),
        classes=CLASSES,
    )


def same(one: Tree, other: Tree) -> bool:
    return all(
        np.array_equal(getattr(one, field.name), getattr(other, field.name))
        for field in fields(Tree)
        if field.name != "split"
    )


ROW = st.tuples(
    st.tuples(*(st.integers(0, width - 1) for width in WIDTHS)), st.integers(0, CLASSES - 1)
)


@pytest.mark.parametrize("split", SPLITS)
@pytest.mark.parametrize("criterion", CRITERIA)
@given(
    rows=st.lists(ROW, min_size=1, max_size=40),
    max_depth=st.integers(0, 6),
    least=st.integers(1, 4),
    min_gain=st.sampled_from([0.0, 0.05, 0.3]),
)
def test_it_is_the_tree_of_the_blackboard(
    criterion: Any, split: Any, rows: Any, max_depth: int, least: int, min_gain: float
) -> None:
    limits = Limits(max_depth=max_depth, min_samples_leaf=least, min_gain=min_gain)
    tree = grow(matrix_of(rows), criterion, split, limits, threads=1)
    assert as_nested(tree) == grown(rows, WIDTHS, criterion, split, max_depth, least, min_gain)


def random_matrix(rows: int, seed: int = 0, width: int = 4) -> Matrix:
    chance = np.random.default_rng(seed)
    codes = chance.integers(0, width, (rows, 9)).astype(np.uint8)
    noisy = np.where(chance.random(rows) < 0.3, chance.integers(0, 5, rows), codes[:, 0] % 5)
    return Matrix(
        codes,
        np.full(9, width, np.int64),
        noisy.astype(np.uint8),
        chance.integers(1, 4, rows).astype(np.int64),
        5,
    )


@pytest.mark.parametrize("split", SPLITS)
def test_the_order_of_rows_and_the_number_of_threads_do_not_show(
    split: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(selfplay.train.tree.grower, "_SHARED", 100)
    matrix = random_matrix(6000)
    first = grow(matrix, "entropy", split, threads=1)
    before = matrix.codes.copy()
    assert len(first) > 500
    for threads in (2, 3, 7):
        assert same(grow(matrix, "entropy", split, threads=threads), first)
    assert np.array_equal(matrix.codes, before)
    order = np.random.default_rng(1).permutation(6000)
    shuffled = Matrix(
        matrix.codes[order],
        matrix.widths,
        matrix.labels[order],
        matrix.weights[order],
        matrix.classes,
    )
    assert same(grow(shuffled, "entropy", split, threads=3), first)


@pytest.mark.parametrize("split", SPLITS)
def test_a_weight_is_so_many_rows(split: Any) -> None:
    matrix = random_matrix(500)
    weights = matrix.weights
    repeated = Matrix(
        np.repeat(matrix.codes, weights, axis=0),
        matrix.widths,
        np.repeat(matrix.labels, weights),
        np.ones(int(weights.sum()), np.int64),
        matrix.classes,
    )
    assert same(grow(matrix, "gini", split), grow(repeated, "gini", split))


def test_codes_of_two_bytes_grow_the_same_tree() -> None:
    rows = [((k % 3, k % 2, k % 5), k % 3) for k in range(60)]
    assert same(grow(matrix_of(rows)), grow(matrix_of(rows, kind=np.uint16)))


@pytest.mark.parametrize("split", SPLITS)
def test_nodes_stand_in_the_order_of_their_depth(split: Any) -> None:
    tree = grow(random_matrix(800), "entropy", split)
    assert (np.diff(tree.depths) >= 0).all()
    inner = np.flatnonzero(tree.feature != LEAF)
    for node in inner.tolist():
        first, sides = int(tree.child[node]), int(tree.sides[node])
        assert (tree.counts[first : first + sides].sum(axis=0) == tree.counts[node]).all()
        assert (tree.parent[first : first + sides] == node).all()
    assert tree.depth == tree.depths.max()
    ends = tree.leaf_of(random_matrix(800).codes)
    assert (tree.feature[ends] == LEAF).all()
    assert tree.leaves == len(set(ends.tolist()))


@pytest.mark.parametrize("split", ["multiway", "equals"])
def test_an_unseen_value_ends_where_it_is_met(split: Any) -> None:
    rows = [((0, 0, k % 2), k % 2) for k in range(10)]
    tree = grow(matrix_of(rows), "entropy", split)
    strange = np.array([[0, 0, unseen(np.zeros(1, np.uint8))]], np.uint8)
    assert tree.leaf_of(strange).tolist() == [0]
    if split == "multiway":  # nor a value that others have, but no row that came so far
        assert tree.leaf_of(np.array([[0, 0, 4]], np.uint8)).tolist() == [0]
    assert tree.probabilities(strange).tolist() == [[0.5, 0.5, 0.0]]
