"""A tree that is taught on a walk never gives the value away on it again, and says what it was
taught."""

from __future__ import annotations

from pathlib import Path

import pytest

from selfplay.game.position import FIRST, SECOND, Position
from selfplay.registry import PlayerSpec
from selfplay.storage.dataset import Dataset
from selfplay.train.model import Model
from selfplay.workers.proof.certificate import PROVEN, certificate_of, load, proof_in
from tests import ROOT
from tests.cli.command import json_lines, run
from tests.workers.proof.test_walk import SYMMETRIC, random_tree, walked


@pytest.mark.parametrize("side", [FIRST, SECOND])
def test_a_taught_tree_is_proven(tmp_path: Path, side: int) -> None:
    tree, taught = random_tree(tmp_path, 3), str(tmp_path / "taught")
    who = "--as", "first" if side == FIRST else "second"
    arguments = "--from", SYMMETRIC, *who, "--workers", "0", "--json"
    wrong = run("prove", tree, *arguments, "--out", str(tmp_path / "wrong"))
    assert wrong.returncode == 1
    done = run("prove", tree, *arguments, "--teach", taught, "--out", str(tmp_path / "walk"))
    assert done.returncode == 0, done.stderr
    said = json_lines(done.stdout)[-1]
    assert (said["event"], said["whole"]) == ("taught", True)
    model = Model.load(taught)
    assert model.taught is not None
    assert said["taught"] == len(model.taught) >= json_lines(wrong.stdout)[-1]["mistakes"] > 0
    assert Dataset(str(tmp_path / "walk")).positions >= len(model.taught)
    right = run("prove", f"tree:{taught}", *arguments, "--out", str(tmp_path / "right"))
    verdict = json_lines(right.stdout)[-1]
    assert (right.returncode, verdict["verdict"], verdict["mistakes"]) == (0, "proven", 0)


def test_it_says_what_it_was_taught(tmp_path: Path) -> None:
    tree, taught = random_tree(tmp_path, 3), str(tmp_path / "taught")
    arguments = "--from", SYMMETRIC, "--as", "second", "--workers", "0", "--stones", "23"
    walk = str(tmp_path / "walk")
    assert run("prove", tree, *arguments, "--teach", taught, "--out", walk).returncode == 0
    rows = next(Dataset(walk).rows())[1]
    (own, *_), (mask, *_) = rows.stones(Model.load(taught).board)
    position = Position(Model.load(taught).board, int(own), int(mask), None)
    moves = []
    for player in (tree, f"tree:{taught}"):
        why = PlayerSpec.parse(player).build(position.board).decide(position).why
        moves.append(why.move)
    remark, first, *_ = why.reasons.sentences()
    assert moves[0] != moves[1]
    assert remark == (
        f"It was taught this position: by its ratings it would play column {moves[0] + 1}, "
        "and give something away."
    )
    assert first.startswith(f"Column {moves[1] + 1} ")
    refused = run("prove", "centre", "--teach", taught, "--workers", "0")
    assert (refused.returncode, len(refused.stderr.splitlines())) == (2, 1)
    assert "only a tree can be taught" in refused.stderr


def test_the_certificate_of_the_bundled_tree_is_found_again(tmp_path: Path) -> None:
    """As far as it takes a second: `selfplay prove --check` repeats the rest."""
    file = ROOT / "train" / "models" / "base.certificate.json"
    certificate = load(file)
    assert (certificate["verdict"], certificate["mistakes"]) == (PROVEN, 0)
    assert certificate["stones"] is None  # to the end of every game
    walk = walked(proof_in(certificate, file, "tree"), tmp_path / "walk", 4)
    levels = certificate_of(walk)["levels"]
    assert certificate["levels"][: len(levels)] == levels
    assert [level["positions"] for level in levels] == [1, 4, 24]


def test_the_bundled_tree_wins_whatever_is_replied() -> None:
    """Games against random replies, and replies that build and block: it moves first."""
    tree = PlayerSpec.parse("tree").build(Position().board)
    for name, games in (("random", 200), ("greedy", 50), ("mcts:50", 50)):
        other = PlayerSpec.parse(name).build(Position().board)
        for seed in range(games):
            other.new_game(seed)
            position = Position()
            while not position.is_over:
                player = tree if position.to_move == FIRST else other
                position = position.play(player.decide(position).move)
            assert position.winner == FIRST, position.notation
