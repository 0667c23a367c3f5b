"""The examination is fair: its questions are what they say, and so are its marks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from selfplay.errors import InputError
from selfplay.game.board import Board, mirrored
from selfplay.game.position import Position
from selfplay.registry import PlayerSpec
from selfplay.solver.solver import Solver, sign
from selfplay.storage.dataset import Dataset
from selfplay.train.config import TrainingConfig
from selfplay.train.evaluation.evaluation import evaluate
from selfplay.train.evaluation.overlap import in_training_runs
from selfplay.train.evaluation.positions import (
    ILLEGAL,
    EvaluationSet,
    bundled,
    scored,
)
from selfplay.train.model import BASE, Model
from selfplay.train.player import TreePlayer
from selfplay.train.trainer import train_model
from tests import ROOT


@pytest.fixture(scope="module")
def questions() -> EvaluationSet:
    return EvaluationSet.load()


@pytest.mark.parametrize("size", ["7x6", "6x5", "8x7"])
def test_the_halves_of_a_bundled_set_share_no_position(size: str) -> None:
    found = bundled(Board.parse(size))
    assert found is not None
    development, final = set(found.development.keys.tolist()), set(found.final.keys.tolist())
    assert len(development) + len(final) == len(development | final) == len(found)
    assert min(len(development), len(final)) > 0.45 * len(found)
    # A position stays where it is, whatever else is in a set, and so does its mirror image.
    images = (mirrored(found.board, stones) for stones in (found.own, found.mask))
    image = EvaluationSet(found.board, *images, found.scores[:, ::-1])
    assert set(image[::3].final.keys.tolist()) == final & set(found[::3].keys.tolist())
    if found.sources is not None:
        assert found.contested.all()
        assert len(set(found.sources.tolist())) == 5


def test_positions_of_the_training_runs_are_counted(questions: EvaluationSet) -> None:
    run = Dataset(str(ROOT / "examples" / "tiny"))
    model, _ = train_model([run], TrainingConfig())
    own, mask = next(run.rows())[1][:5].stones(Board())
    image = mirrored(Board(), own), mirrored(Board(), mask)
    some = EvaluationSet(Board(), *image, np.zeros((5, 7), np.int8))
    assert in_training_runs(model, some) == 5
    assert in_training_runs(model, questions) == in_training_runs(model, questions[:9]) == 0
    moved = {"runs": [{**model.provenance["runs"][0], "fingerprint": "0" * 32}]}
    for provenance in (
        {},
        moved,
        {"runs": [{"run": "s3://far/away"}]},
        {"runs": [{"run": "gone"}]},
    ):
        assert in_training_runs(replace(model, provenance=provenance), some) is None


def test_the_answers_are_those_of_the_solver(questions: EvaluationSet) -> None:
    late = np.flatnonzero(np.bitwise_count(questions.mask) >= 20)[:60]
    solver = Solver(Board())
    asked = list(questions.positions())
    for number in late.tolist():
        scores = solver.scores(asked[number])
        expected = [ILLEGAL if score is None else score for score in scores]
        assert questions.scores[number].tolist() == expected
        values = {sign(score) for score in scores if score is not None}
        assert questions.contested[number] == (len(values) > 1)
    some = scored([asked[number] for number in late[:5].tolist()], lambda done, of: None)
    assert np.array_equal(some.scores, questions.scores[late[:5]])


def test_whoever_is_perfect_makes_no_mistake(questions: EvaluationSet) -> None:
    late = EvaluationSet(
        questions.board,
        *(
            array[np.bitwise_count(questions.mask) >= 24][:80]
            for array in (questions.own, questions.mask, questions.scores)
        ),
    )
    result = evaluate("perfect", PlayerSpec.parse("perfect").build(Board()), late)
    assert (result.all.positions, result.all.mistakes, result.regret) == (80, 0, 0)
    assert (result.missed_wins, result.blunders) == (0, 0)
    assert result.all.optimal_share == 1


def test_marks_follow_strength_and_are_the_same_each_time(questions: EvaluationSet) -> None:
    rates = []
    for name in ("random", "centre", "greedy", "mcts:100"):
        player = PlayerSpec.parse(name).build(Board())
        result = evaluate(name, player, questions[:600])
        again = evaluate(name, player, questions[:600])
        assert result.all == again.all
        phases = result.by_phase.values()
        assert sum(tally.positions for tally in phases) == 600
        assert sum(tally.mistakes for tally in phases) == result.all.mistakes
        low, high = result.all.interval
        assert low < result.all.mistake_rate < high
        rates.append(result.all.mistake_rate)
    assert rates == sorted(rates, reverse=True)
    assert rates[0] > 0.55


def test_what_is_one_move_ahead_is_counted() -> None:
    # X has three in a row on the ground; whoever does not see it misses a win, or blunders.
    asked = scored([Position.parse("112233"), Position.parse("11223")], lambda done, of: None)

    class Blind:
        def new_game(self, seed: int) -> None:
            pass

        def decide(self, position: Position):  # type: ignore[no-untyped-def]
            from selfplay.players import Decision

            return Decision(move=6)

    result = evaluate("blind", Blind(), asked)
    assert (result.could_win, result.missed_wins) == (1, 1)
    assert (result.could_blunder, result.blunders) == (1, 1)
    assert result.all.mistakes == 2
    assert result.by_phase["up to 15 stones"].positions == 2
    assert result.missed_wins_interval[1] == 1


def test_the_bundled_tree_plays_the_moves_it_always_played(
    questions: EvaluationSet, golden: Callable[[str, Any], None]
) -> None:
    player = TreePlayer(Board(), Model.load(BASE))
    moves = bytes(player.decide(position).move for position in questions.positions())
    assert moves == bytes(player.moves(questions.own, questions.mask).tolist())
    scores = player.model.scores(questions.own, questions.mask)
    found = {"moves": moves, "scores": scores.tobytes()}
    golden("bundled-tree", {name: sha256(data).hexdigest() for name, data in found.items()})


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"x" * 1000])
def test_what_holds_no_questions_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "questions.npz"
    path.write_bytes(content)
    with pytest.raises(InputError, match="is not an evaluation set"):
        EvaluationSet.load(path)
    with pytest.raises(InputError, match="there is no evaluation set"):
        EvaluationSet.load(tmp_path / "nowhere")
    np.savez(path, board=np.array([7, 6, 4]), own=[1], mask=[1], scores=[[1]])
    with pytest.raises(InputError, match="do not match"):
        EvaluationSet.load(path)


def test_a_set_is_read_as_it_was_written_and_a_forged_one_refused(
    tmp_path: Path, questions: EvaluationSet
) -> None:
    path = tmp_path / "questions.npz"
    good = replace(questions[:9], sources=np.array([*"abcdefghi"]), recipe="8-30 plies, seed 1")
    good.save(path)
    read = EvaluationSet.load(path)
    assert (read.fingerprint, read.recipe) == (good.fingerprint, good.recipe)
    assert read.sources is not None
    assert "".join(read.sources) == "abcdefghi"
    assert read.development.sources is not None
    other = good.scores.copy()
    other[0, other[0] == ILLEGAL] = 0
    other[0, 3] = 99
    for forged, reason in (
        (replace(good, own=good.mask), "an impossible position"),
        (replace(good, mask=good.mask << 1, own=good.own << 1), "an impossible position"),
        (replace(good, scores=other), "not those of the legal moves"),
        (replace(good, scores=good.scores[:, :6]), "do not match"),
        (replace(good, sources=good.own), "do not match"),
        (replace(good, sources=np.full(9, "\x1b[2J")), "not words"),
        (good[:0], "no positions"),
    ):
        forged.save(path)
        with pytest.raises(InputError, match=reason):
            EvaluationSet.load(path)
    good.save(path)
    with np.load(path) as arrays:
        np.savez(path, **{**arrays, "version": np.array(3)})
    with pytest.raises(InputError, match="its version is 3, not 2"):
        EvaluationSet.load(path)
    with np.load(path) as arrays:
        np.savez(path, **{**arrays, "own": np.array([{}] * 9)})
    with pytest.raises(InputError, match="is not an evaluation set"):
        EvaluationSet.load(path)
