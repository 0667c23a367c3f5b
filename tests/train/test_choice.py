"""Before ratings come two rules, whatever the model: win at once, and do not let the other side."""

from __future__ import annotations

import random
import re
from functools import cache

import numpy as np
import pytest

from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.train.choice import best_move, best_moves, decided_by
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.model import Model
from selfplay.train.player import TreePlayer
from selfplay.train.tree.tree import LEAF, Tree
from tests.train.features.test_feature_set import as_arrays
from tests.train.weights.definitions import some_weights


def expected(position: Position, scores: list[float]) -> int:
    """The move by the rules, one after the other."""
    legal = position.legal_moves
    safe = [move for move in legal if not position.play(move).winning_moves]
    allowed = position.winning_moves or safe or legal
    middle = (position.board.columns - 1) / 2
    return min(allowed, key=lambda move: (-scores[move], abs(move - middle), move))


@cache
def some_positions(board: Board) -> list[Position]:
    """Of random games; those of the end are often sharp."""
    openings = RandomPlies(board, 0, board.cells - 2)
    return [openings.opening(7, number) for number in range(500)]


@pytest.mark.parametrize("board", [Board(), Board(6, 5)], ids=str)
def test_a_win_is_not_put_off_nor_let_through(board: Board) -> None:
    draw, told = random.Random(5), set()
    positions, scores = some_positions(board), []
    for position in positions:
        rated = [draw.choice((0.0, 0.25, 0.5, 1.0)) for _ in range(board.columns)]
        legal = position.legal_moves
        scores.append([rated[k] if k in legal else -1.0 for k in range(board.columns)])
    moves = best_moves(board, *as_arrays(positions), np.array(scores)).tolist()
    for position, rated, move in zip(positions, scores, moves, strict=True):
        assert move == best_move(position, rated) == expected(position, rated)
        why = decided_by(position, rated)
        others = [rated[other] for other in position.legal_moves if other != move]
        assert (why is None) == (rated[move] > max(others, default=-1))
        told.add(why and re.sub(r"column [0-9, ]+", "", why))
    assert len(told) == 7


def test_what_decides_is_told() -> None:
    flat = [0.5] * 7
    for text, scores, told in (
        ("", flat, "column 1, 2, 3, 5, 6, 7 is rated the same: nearness to the middle decides"),
        ("", [0.5, 0.2, 0.4, 0.4, 0.4, 0.2, 0.5],
         "column 7 is rated the same: the middle, the left of two decides"),
        ("", [0.5, 0.2, 0.4, 0.6, 0.4, 0.2, 0.5], None),
        ("112233", [0.9, 0.9, 0.1, 0.3, 0.1, 0.2, 0.1],
         "column 1, 2 is rated higher, but this one wins at once"),
        ("11223", [0.9, 0.2, 0.1, 0.3, 0.1, 0.2, 0.1],
         "column 1 is rated higher, but lets the other side win at once"),
        ("11223", flat,
         "column 1, 2, 3, 5, 6, 7 is rated the same, but lets the other side win at once"),
        # Nothing helps: the rating decides again.
        ("22334", [0.9, 0.2, 0.1, 0.3, 0.1, 0.2, 0.1], None),
    ):  # fmt: skip
        assert decided_by(Position.parse(text), scores) == told


def level(features: FeatureSet) -> Model:
    """A tree of one leaf: all moves are rated the same."""
    nothing = np.zeros(1, np.int32)
    classes = 2 if features.by_move else features.board.columns
    tree = Tree(
        "threshold", np.array([LEAF], np.int32), nothing, nothing, np.ones((1, classes), int)
    )
    return Model(tree, features, features.target, "off")


def test_players_keep_the_rules_whatever_the_model() -> None:
    sets = FeatureSet("static", Board()), FeatureSet("cells", Board(), target="move")
    for features in sets:
        if features.by_move:
            features = FeatureSet("static", Board(), weights=some_weights(features))
        player = TreePlayer(Board(), level(features))
        positions = some_positions(Board())
        moves = player.moves(*as_arrays(positions)).tolist()
        for position, move in zip(positions, moves, strict=True):
            assert move == player.decide(position).move == expected(position, [0.5] * 7)
    assert player.decide(Position.parse("223344")).move == 4  # both ends open: nearest the middle
    assert player.decide(Position.parse("112233")).move == 3
    assert player.decide(Position.parse("11223")).move == 3  # else the other side wins there
    assert player.decide(Position.parse("")).move == 3
