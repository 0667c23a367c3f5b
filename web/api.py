"""What the page asks for, answered by the code of the commands: `analyse`, `explain`, `solve`."""

from __future__ import annotations

import signal
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from time import perf_counter
from typing import TYPE_CHECKING, Any

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.signals import deferring
from selfplay.web.asked import Answer, Asked
from selfplay.web.players import BUNDLED, OFFERED, spec_of, tree_spec_of
from selfplay.web.records import (
    Record,
    analysis_record,
    explanation_record,
    result_of,
    review_record,
    solution_record,
)

if TYPE_CHECKING:
    from selfplay.players import Player
    from selfplay.registry import PlayerSpec
    from selfplay.solver.solver import Solver

VALUES_SECONDS = 3.0
SCORES_SECONDS = 10.0
_SOLVER_MEMORY = 64
_MOST_MOVES = 256
_MOST_SEED = 1 << 53
"""What JavaScript counts up to."""

Models = Mapping[str, str]
"""Model files by the names that a page has for them."""


@dataclass(frozen=True, slots=True)
class Question(Asked):
    """A position, and whom to ask about it."""

    moves: str = ""
    board: str = "7x6"
    connect: int = 4
    player: str = BUNDLED
    seed: int = 0
    last: int = 0
    """Of a review: how many moves, counted from the last; 0 is all."""

    def __post_init__(self) -> None:
        Asked.__post_init__(self)
        if not 0 <= self.seed <= _MOST_SEED:
            raise InputError(f"seed is a number from 0 to {_MOST_SEED:,}")
        if not 0 <= self.last <= _MOST_MOVES:
            raise InputError(f"last is a number of moves from 0 to {_MOST_MOVES}")

    @property
    def position(self) -> Position:
        return Position.parse(self.moves, Board.parse(self.board, self.connect))


def position(question: Question) -> Record:
    """What the rules say: cells from the top left, whose turn it is, and how the game ended."""
    found = question.position
    return {
        "position": found.notation,
        "board": found.board.size,
        "connect": found.board.connect,
        "cells": found.cells(),
        "to_move": found.to_move,
        "legal_moves": found.legal_moves,
        "is_over": found.is_over,
        "winner": found.winner,
        "winning_line": found.winning_line,
    }


def analyse(question: Question, models: Models) -> Record:
    """A player's move, and what it knows of every column."""
    found, spec = question.position, spec_of(question.player, models)
    player = _player(spec, found.board)
    player.new_game(question.seed)
    decision = player.decide(found)
    return analysis_record(question.moves, found, question.player, question.seed, decision)


def explain(question: Question, models: Models) -> Record:
    """Why a tree plays what it plays."""
    found = question.position
    player = _player(tree_spec_of(question.player, models), found.board)
    player.new_game(question.seed)
    why = player.decide(found).why
    return explanation_record(question.moves, why)


def offered(question: Question, models: Models) -> Record:
    """Who can play on a board: trees by their names, and others; and how many levels trees have."""
    from selfplay.train.levels import LEVELS

    board = Board.parse(question.board, question.connect)
    trees = [name for name in (BUNDLED, *models) if spec_of(name, models).board == board]
    players = [name for name in OFFERED if name != "perfect" or board.fits_word]
    return {
        "board": board.size,
        "connect": board.connect,
        "trees": trees,
        "players": players,
        "levels": LEVELS,
    }


def values(question: Question, _models: Models) -> Record:
    """The game value of every column, and the same as words; None if not solved in time."""
    from selfplay.solver.solver import Limit

    found = question.position
    known = _solver(found.board).values(found, Limit(seconds=VALUES_SECONDS))
    results = [result_of(found, value, None) for value in known]
    return {"position": question.moves.strip(), "values": known, "results": results}


def solve(question: Question, _models: Models) -> Record:
    """The exact score of every column, and the same as words."""
    from selfplay.solver.solver import Limit, sign

    found = question.position
    solver = _solver(found.board)
    start, before = perf_counter(), solver.nodes
    scores = solver.scores(found, Limit(seconds=SCORES_SECONDS))
    searched, taken = solver.nodes - before, perf_counter() - start
    record = solution_record(question.moves, found, scores, searched, taken)
    record["results"] = [
        None if score is None else result_of(found, sign(score), score) for score in scores
    ]
    return record


def review(question: Question, _models: Models) -> Record:
    """The game value before and after each of the last moves, and what a mistake gave away."""
    from selfplay.solver.review import REVIEW_SECONDS, review

    found = question.position
    moves = found.moves or ()
    positions = list(accumulate(moves, Position.play, initial=Position(found.board)))[:-1]
    since = -question.last  # 0 is all
    done = review(positions[since:], moves[since:], _solver(found.board), REVIEW_SECONDS)
    return review_record(question.moves, found, done)


ANSWERS = {
    answer.__name__: Answer(Question, "models", answer)
    for answer in (analyse, offered, explain, values, solve, review)
}
"""The questions about positions that take time."""


@lru_cache(maxsize=3)
def _player(spec: PlayerSpec, board: Board) -> Any:
    """A player that is ready. What is being compiled is not dropped half way."""
    with deferring(signal.SIGINT):
        player: Player = spec.build(board)
        return player


@lru_cache(maxsize=1)
def _solver(board: Board) -> Solver:
    with deferring(signal.SIGINT):
        from selfplay.solver.solver import Solver

        return Solver(board, memory=_SOLVER_MEMORY)
