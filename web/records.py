"""What `--json` says of a position or a run, as records: commands print them, pages get them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from selfplay.game.position import Position
    from selfplay.players import Decision
    from selfplay.solver.review import Review
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.label_quality import LabelQuality
    from selfplay.storage.statistics import Statistics
    from selfplay.train.explanation.path import Explanation
    from selfplay.workers.generation.status import Status

Record = dict[str, Any]

_OF_DECISION = (
    *("move", "value", "visits", "proven", "wins", "iterations", "rollouts", "evaluations"),
    *("nodes", "leaves", "depth", "seconds"),
)


def analysis_record(
    text: str, position: Position, player: str, seed: int, decision: Decision
) -> Record:
    """A player's decision; `text` is the position as it was written."""
    return {
        **_place(text, position),
        "player": player,
        "seed": seed,
        "ratings": decision.shares,
        **{name: getattr(decision, name) for name in _OF_DECISION},
    }


def solution_record(
    text: str, position: Position, scores: Sequence[int | None], nodes: int, seconds: float
) -> Record:
    """The exact score of every column, and the moves that keep the game value if all are known."""
    from selfplay.solver.solver import best_of, complete

    best = best_of(complete(position, tuple(scores)))
    return {
        **_place(text, position),
        "score": max(score for score in scores if score is not None) if best else None,
        "scores": scores,
        "best": best,
        "nodes": nodes,
        "seconds": seconds,
    }


def explanation_record(text: str, why: Explanation) -> Record:
    """Why a tree makes its move; columns and rows count from 0."""
    from selfplay.train.explanation.path import wording_of
    from selfplay.train.explanation.path_text import after_path, before_path

    reasons = why.reasons
    return {
        **_place(text, why.position),
        "move": why.move,
        "sentences": reasons.sentences(),
        "motif": reasons.motif.name,
        "cells": reasons.cells,
        "line": reasons.line,
        "ratings": why.shares,
        "before_path": before_path(why),
        "path": why.path,
        "path_cells": why.path_cells,
        "after_path": after_path(why),
        "leaf": dict(zip(wording_of(why.model).classes, why.counts, strict=True)),
        "smoothing": why.model.tree.smoothing,
        "runner_up": why.runner_up,
        "counterfactual": None if why.flip is None else asdict(why.flip),
    }


def review_record(text: str, position: Position, review: Review) -> Record:
    """The moves of a game; values are those of the side that moved, null is not known."""
    from selfplay.solver.mistakes import phase_of

    moves = [
        asdict(move)
        | {"kind": move.kind or None, "better": move.better, "phase": phase_of(move.number - 1)}
        for move in review.moves
    ]
    return {**_place(text, position), "moves": moves, "unsolved": review.unsolved}


def _place(text: str, position: Position) -> Record:
    board = position.board
    return {"position": text.strip(), "board": board.size, "connect": board.connect}


def result_of(position: Position, value: int | None, score: int | None) -> str | None:
    """The result of a column: a draw, or the moves in which the winner wins if the exact score is
    known; None if nothing is."""
    if value is None:
        return None
    if value == 0:
        return "draw"
    word = "win" if value > 0 else "loss"
    if score is None:
        return word
    # A score s ends the game with cells + 1 - 2s or one more stones, the last the winner's.
    stones = position.board.cells + 1 - 2 * abs(score)
    winner_adds_odd = value > 0
    stones += (stones - position.ply) % 2 != winner_adds_odd
    return f"{word} in {(stones - position.ply + 1) // 2}"


def status_record(now: Status) -> Record:
    """The progress of a run."""
    return {**asdict(now), "complete": now.is_complete}


def statistics_record(dataset: Dataset, numbers: Statistics) -> Record:
    """The statistics of a run."""
    spec = dataset.spec
    return {
        **asdict(numbers),
        "board": dataset.board.size,
        "connect": dataset.board.connect,
        "shards": len(dataset.shards()),
        "missing_shards": len(dataset.missing()),
        "strays": dataset.unexpected_files(),
        "bytes": dataset.bytes,
        "fingerprint": dataset.fingerprint,
        "spec_hash": dataset.manifest.identity,
        "spec": None if spec is None else asdict(spec),
        "teachers": dataset.manifest.teachers,
        "source": dataset.manifest.source,
    }


def quality_record(dataset: Dataset, measured: LabelQuality) -> Record:
    """The label quality of a run."""
    return {
        "fingerprint": dataset.fingerprint,
        "seed": measured.seed,
        "sample": measured.sample,
        "unsolved": measured.unsolved,
        **measured.counts.as_record(),
    }
