"""The questions before a game: who plays."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from selfplay.cli.board.game import Seat
from selfplay.cli.drawing import plain_table
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.seeding import derive

if TYPE_CHECKING:
    from selfplay.train.model import Model

MODELS = Path("models")
_OTHERS = (
    ("mcts:1000", "thinks for a millisecond"),
    ("mcts:10000", "hard to beat"),
    ("mcts:100000", "harder"),
    ("minimax:depth=6,eval=threats", "looks six moves ahead"),
    ("greedy", "looks one move ahead"),
    ("random", "for a first game"),
)
_PERFECT = ("perfect", "never makes a mistake")


def ask_who_plays(console: Console, board: Board) -> tuple[Seat, Seat] | None:
    """Ask at a terminal; None if somebody leaves."""
    try:
        mode = _choose(
            console,
            "Who plays?",
            [("you against a player", ""), ("two people", ""), ("two players, and you watch", "")],
        )
        if mode == 1:
            return _person(console, "X, your name", "X"), _person(console, "O, your name", "O")
        listed = _listed(board)
        if mode == 2:
            first = listed[_choose(console, "Who moves first?", listed)][0]
            second = listed[_choose(console, "And second?", listed)][0]
            return Seat.of(first), Seat.of(second)
        opponent = Seat.of(listed[_choose(console, "Against whom?", listed)][0])
        you = _person(console, "Your name", "you")
        who = [(str(you), ""), (str(opponent), ""), ("toss a coin", "")]
        first_mover = _choose(console, "Who moves first?", who)
        if first_mover == 2:
            first_mover = _coin()
        return (you, opponent) if first_mover == 0 else (opponent, you)
    except EOFError:
        console.print()
        return None


def _coin() -> int:
    from time import time_ns

    return derive(time_ns(), "coin") % 2


def _person(console: Console, question: str, usual: str) -> Seat:
    answer = input(f"{question} [{usual}]: ").strip()
    return Seat.of("human", answer[:20] or usual)


def _choose(console: Console, question: str, choices: Sequence[tuple[str, str]]) -> int:
    """The number of one of them, 0-based; the first, if nothing is answered."""
    console.print(f"\n{question}")
    rows = [(f"  {number}", *choice) for number, choice in enumerate(choices, 1)]
    console.print(plain_table(("", "", ""), rows))
    while True:
        answer = input("[1]: ").strip().lower()
        if answer in ("q", "quit"):
            raise EOFError
        if not answer:
            return 0
        is_number = answer.isascii() and answer.isdigit() and len(answer) < 4
        if is_number and 1 <= int(answer) <= len(choices):
            return int(answer) - 1
        console.print(f"a number from 1 to {len(choices)}, not {quoted(answer)}; q leaves")


def _listed(board: Board) -> list[tuple[str, str]]:
    """The players there are, trained models first, each with a word on its strength."""
    from selfplay.train.model import BASE, Model

    found = []
    mine = sorted(str(path) for path in MODELS.iterdir()) if MODELS.is_dir() else []
    for path in dict.fromkeys([BASE, *mine]):
        try:
            model = Model.load(path)
        except InputError:  # what lies there may be anything
            continue
        if model.board == board:
            found.append((f"tree:{path}", _strength(model)))
    perfect = [_PERFECT] if board.fits_word else []
    return [*found, *_OTHERS, *perfect]


def _strength(model: Model) -> str:
    """How often a tree goes wrong where one can, of the questions that are for its board."""
    from selfplay.train.evaluation.positions import EvaluationSet

    questions = EvaluationSet.load()
    if questions.board != model.board:
        return f"{model.tree.leaves:,} leaves"
    asked = questions.contested
    scores = model.scores(questions.own[asked], questions.mask[asked])
    values, best = questions.values[asked], questions.best[asked]
    wrong = (values[range(len(values)), scores.argmax(axis=1)] < best).mean()
    return f"{wrong:.1%} mistakes, {model.tree.leaves:,} leaves"
