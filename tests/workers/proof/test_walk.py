"""The walk of a proof finds what a plain walker finds, however it is cut into parts or stopped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np
import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import FIRST, SECOND, Position
from selfplay.registry import PlayerSpec
from selfplay.solver.solver import Solver
from selfplay.train.features.feature_set import FeatureSet
from selfplay.train.model import Model
from selfplay.train.tree.tree import LEAF, Tree
from selfplay.workers.executors.local import LocalExecutor
from selfplay.workers.proof import files
from selfplay.workers.proof.certificate import certificate_of, differences, load, save
from selfplay.workers.proof.lines import shortest, worst
from selfplay.workers.proof.players import Asking
from selfplay.workers.proof.walk import Proof, Walk, begin, run

SMALL = Board(4, 4, 3)
SYMMETRIC = "4456326523226665233157"
"""A position that is its own mirror image, a draw, late on the usual board."""


def plain(proof: Proof, most: int | None) -> dict[int, Counter[str]]:
    """By stones: distinct positions, and what the decisions in them do; one position after the
    other, without arrays, mirror images or bounds."""
    player, solver = PlayerSpec.parse(proof.player).build(proof.board), Solver(proof.board)
    player.new_game(0)
    start, found, level = proof.position, {}, set()
    if start.to_move == proof.side:
        level = {start}
    else:
        level = {start.play(reply) for reply in start.legal_moves}
        level = {position for position in level if not position.is_over}
    while level and (most is None or min(p.ply for p in level) <= most):
        decisions, following = {}, set()
        for position in level:
            move = player.decide(position).move
            after = position.play(move)
            kind = what(solver, position, after)
            key = position.key(canonical=True)
            seen = move if position.key() == key else proof.board.columns - 1 - move
            decisions[key, seen] = kind
            if kind in ("keeps", "lost") and not after.is_over:
                replies = (after.play(reply) for reply in after.legal_moves)
                following |= {reply for reply in replies if not reply.is_over}
        stones = min(position.ply for position in level)
        found[stones] = Counter(decisions.values())
        found[stones]["positions"] = len({key for key, _ in decisions})
        level = following
    return found


def what(solver: Solver, position: Position, after: Position) -> str:
    if after.winner is not None:
        return "wins"
    value, kept = solver.value(position), 0 if after.is_over else -(solver.value(after) or 0)
    if value == -1:
        return "lost"
    if kept == value:
        return "draws" if after.is_over else "keeps"
    return "to_draw" if kept == 0 else "to_loss"


def walked(proof: Proof, folder: Path, most: int | None = None, at_once: int = 1000) -> Walk:
    """A complete walk, stopped and resumed after `at_once` parts each time."""
    asking = Asking(PlayerSpec.parse(proof.player), proof.board)
    for _ in range(1000):
        walk = Walk(proof=proof, folder=folder, most_stones=most)
        begin(walk, asking, Solver(proof.board, memory=1))
        list(run(walk, LocalExecutor(), 1, partial(_is_over, count(), at_once)))
        assert not walk.failed
        if walk.is_complete:
            return walk
    raise AssertionError("it never ends")


def _is_over(asked: Iterator[int], at_once: int) -> bool:
    return next(asked) >= at_once


def numbers(walk: Walk) -> dict[int, Counter[str]]:
    names = ("positions", "wins", "keeps", "draws", "lost", "to_draw", "to_loss")
    return {
        level["stones"]: Counter({name: level[name] for name in names if level[name]})
        for level in walk.levels
    }


def random_tree(folder: Path, seed: int) -> str:
    """A tree that sees the cells as they are, so that it plays mirror images differently."""
    features = FeatureSet("cells", Board(), "absolute", "move")
    draw = np.random.default_rng(seed)
    inner, nodes = 31, 63
    feature = np.where(np.arange(nodes) < inner, draw.integers(0, 42, nodes), LEAF)
    value = np.where(np.arange(nodes) < inner, draw.integers(0, 2, nodes), 0)
    child = np.where(np.arange(nodes) < inner, 2 * np.arange(nodes) + 1, 0)
    counts = draw.integers(1, 9, (nodes, 7))
    for node in range(inner - 1, -1, -1):
        counts[node] = counts[2 * node + 1] + counts[2 * node + 2]
    as_int = (array.astype(np.int32) for array in (feature, value, child))
    file = folder / "random-tree"
    Model(Tree("threshold", *as_int, counts), features, "move", "off").save(str(file))
    return f"tree:{file}"


CASES = {
    "perfect": ("perfect", SMALL, "", FIRST, None),
    "weak": ("minimax:1", SMALL, "", FIRST, None),
    "weak and second": ("minimax:2", SMALL, "", SECOND, None),
    "not to move": ("minimax:1", SMALL, "12", SECOND, None),
    "cut": ("centre", Board(5, 4), "3324", FIRST, 10),
    "bundled tree": ("tree", Board(), SYMMETRIC, SECOND, 27),
    "random tree": ("", Board(), SYMMETRIC, SECOND, 31),
}
WITHOUT_MISTAKES = {"perfect"}


@pytest.mark.parametrize("name", CASES)
def test_a_plain_walker_finds_the_same(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    player, board, start, side, most = CASES[name]
    proof = Proof.of(player or random_tree(tmp_path, 1), board, start, side)
    walk = walked(proof, tmp_path / "walk", most)
    found = plain(proof, most)
    assert {stones: +counter for stones, counter in found.items()} == numbers(walk)
    assert sum(level["positions"] for level in walk.levels) > 30
    assert walk.is_whole == (most is None)
    # However it is cut and stopped, its certificate is the same.
    monkeypatch.setattr(files, "_WAYS", ((256, 24),))
    monkeypatch.setattr(files, "_SAMPLED", 2)
    again = walked(proof, tmp_path / "again", most, at_once=40)
    parts = (len(parts_in(tmp_path / folder)) for folder in ("walk", "again"))
    assert next(parts) < next(parts) or max(n["positions"] for n in walk.levels) < 24
    assert certificate_of(again) == certificate_of(walk)
    assert bool(walk.mistakes) != (name in WITHOUT_MISTAKES)
    if walk.mistakes:
        assert_lines_show_mistakes(proof, again)


def parts_in(walk: Path) -> list[Path]:
    return list(walk.glob("level-*/part-*.npz"))


def assert_lines_show_mistakes(proof: Proof, walk: Walk) -> None:
    player, solver = PlayerSpec.parse(proof.player).build(proof.board), Solver(proof.board)
    player.new_game(0)
    reached = walk.proof, walk.folder, walk.most_stones
    shown = worst(*reached, 10)
    assert len(shown) == min(10, walk.mistakes)
    least = min(level["stones"] for level in walk.levels if files.mistakes_in(level))
    assert shortest(*reached).stones == least
    given = [mistake.value - mistake.after for mistake in shown]
    assert given == sorted(given, reverse=True)
    for mistake in (shortest(*reached), *shown):
        final = Position.parse(mistake.line, proof.board)
        position = proof.position
        assert mistake.line.startswith(proof.start)
        for move in (final.moves or ())[position.ply :]:
            before = position
            if position.to_move == proof.side:
                assert player.decide(position).move == move
            position = position.play(move)
        assert (before.ply, before.to_move) == (mistake.stones, proof.side)
        assert solver.value(before) == mistake.value
        assert what(solver, before, position) in ("to_draw", "to_loss")


def test_mirror_images_may_be_played_differently(tmp_path: Path) -> None:
    """Trees prefer the left column of two, and a random one knows no images."""
    for player in ("tree", random_tree(tmp_path, 1)):
        proof = Proof.of(player, Board(), SYMMETRIC, SECOND)
        walk = walked(proof, tmp_path / f"walk of {player[:5]}", 27)
        rows = np.concatenate(
            [
                level.open(part)["rows"]
                for level in files.levels_of(walk.folder)
                for part in level.parts()
            ]
        )
        both = rows["moves"][rows["images"] == 3]
        assert len(both)
        assert (both >= 0).all()
        if player != "tree":
            assert (both[:, 0] != both[:, 1]).any()


def test_a_walk_goes_on_with_more_stones(tmp_path: Path) -> None:
    proof = Proof.of("minimax:1", SMALL, "", FIRST)
    short = walked(proof, tmp_path / "walk", 4)
    assert not short.is_whole
    assert [level["stones"] for level in short.levels] == [0, 2, 4]
    long = walked(proof, tmp_path / "walk")
    assert certificate_of(long) == certificate_of(walked(proof, tmp_path / "another"))
    with pytest.raises(InputError, match="another proof"):
        walked(Proof.of("centre", SMALL, "", FIRST), tmp_path / "walk")


def test_a_certificate_that_was_changed_is_refused(tmp_path: Path) -> None:
    walk = walked(Proof.of("minimax:1", SMALL, "", FIRST), tmp_path / "walk")
    good, file = certificate_of(walk), tmp_path / "certificate.json"
    save(good, file)
    assert load(file) == good
    assert not list(differences(good, good))
    file.write_text(file.read_text().replace('"given away"', '"proven"'))
    with pytest.raises(InputError, match="its checksum does not match"):
        load(file)
    # Who makes the checksum anew is found out by the walk.
    changed = json.loads(json.dumps(good))
    changed["levels"][1]["positions"] += 1
    changed["verdict"] = "proven"
    assert len(list(differences(changed, good))) == 2


@pytest.mark.parametrize("player", ["random", "greedy", "mcts:10", "human", "minimax:seconds=1"])
def test_players_that_may_move_otherwise_are_refused(player: str) -> None:
    with pytest.raises(InputError, match="needs a player whose move follows from the stones"):
        Proof.of(player, SMALL, "", FIRST)
