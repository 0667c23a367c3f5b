"""Levels: a ladder below the tree, the same game from the same seed, and true explanations."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from selfplay.game.board import Board
from selfplay.game.match import match
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.registry import PlayerSpec
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.levels import LEVELS, TEMPERATURES
from selfplay.train.model import BASE, Model
from selfplay.train.player import TreePlayer
from tests.cli.command import run

BOARD = Board()
OPENINGS = RandomPlies(BOARD, 4, 20)
SOME = 200


@cache
def model() -> Model:
    return Model.load(BASE)


def at_level(level: int | None) -> TreePlayer:
    return TreePlayer(BOARD, model(), level)


def test_the_same_seed_gives_the_same_game() -> None:
    games = [match(at_level(2), at_level(3), Position(), seed).final for seed in (1, 1, 2, 3)]
    assert games[0].notation == games[1].notation
    assert len({game.notation for game in games}) == 3


def test_the_strongest_level_is_the_tree() -> None:
    tree = PlayerSpec.parse("tree")
    assert PlayerSpec.parse(f"tree:level={LEVELS}") == tree
    assert str(PlayerSpec.parse("tree:level=3")) == "tree:level=3"
    assert "level" not in tree.full
    assert "level=3" in PlayerSpec.parse("tree:level=3").full


def test_a_lower_level_makes_more_mistakes() -> None:
    evaluated = EvaluationSet.load().development
    contested = np.flatnonzero(evaluated.contested)[:SOME]
    positions = list(evaluated.positions())
    mistakes = []
    for level in (1, 3, 5, None):
        player, count = at_level(level), 0
        for number in contested.tolist():
            player.new_game(number)
            move = player.decide(positions[number]).move
            count += evaluated.values[number, move] < evaluated.best[number]
        mistakes.append(count)
    assert mistakes == sorted(set(mistakes), reverse=True), mistakes


def test_only_the_weakest_overlooks_a_win_in_one() -> None:
    drawn = [OPENINGS.opening(5, number) for number in range(SOME)]
    winning = [position for position in drawn if position.winning_moves]
    overlooked = {}
    for level in range(1, LEVELS):
        player = at_level(level)
        moves = [player.decide(position).move for position in winning]
        pairs = zip(winning, moves, strict=True)
        overlooked[level] = sum(move not in position.winning_moves for position, move in pairs)
    assert overlooked.pop(1) > 0
    assert set(overlooked.values()) == {0}


def test_a_level_explains_the_move_that_it_makes() -> None:
    worse = 0
    for number in range(40):
        position = OPENINGS.opening(8, number)
        player = at_level(1)
        player.new_game(number)
        decision = player.decide(position)
        why, best = decision.why, at_level(None).decide(position).move
        sentences = why.reasons.sentences()
        assert why.move == decision.move
        assert why.flip is None
        assert not any("the tree would play" in text for text in sentences)
        says_so = sentences[0].startswith("At level 1 it plays worse moves on purpose")
        assert says_so == (decision.move != best)
        if says_so:
            worse += 1
            assert f"it plays column {best + 1}, rated" in sentences[0]
            assert sentences[1].startswith(f"Column {decision.move + 1} ")
            assert not any("The tree rates it" in text for text in sentences)
    assert 5 < worse < 40


@pytest.mark.parametrize("level", [0, LEVELS + 1, "x"])
def test_another_level_is_refused_in_a_line(level: object) -> None:
    done = run("analyse", "44", "--player", f"tree:level={level}")
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert f"level={level}" in done.stderr


def test_temperatures_fall() -> None:
    assert list(TEMPERATURES) == sorted(TEMPERATURES, reverse=True)
