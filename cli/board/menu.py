"""The menu before a game: who plays, and who moves first."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from time import time_ns
from typing import TYPE_CHECKING

from rich.console import Console

from selfplay.cli.board.game import Seat
from selfplay.cli.rendering import plain_table
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.seeding import derive

if TYPE_CHECKING:
    from selfplay.train.model import Model

MODELS = Path("models")
_SEARCHES = (
    ("mcts:1000", "thinks for a millisecond"),
    ("mcts:10000", "hard to beat"),
    ("mcts:100000", "harder"),
    ("minimax:depth=6,eval=threats", "looks six moves ahead"),
    ("greedy", "looks one move ahead"),
    ("random", "for a first game"),
)
_PERFECT = ("perfect", "never makes a mistake")


def choose_seats(console: Console, board: Board) -> tuple[Seat, Seat] | None:
    """Ask who plays; None if the user quits."""
    try:
        modes = ("you against a player", "two people", "two players, and you watch")
        mode = _choose(console, "Who plays?", [(name, "") for name in modes])
        if mode == 1:
            return _person(console, "X, your name", "X"), _person(console, "O, your name", "O")
        players = _players(board)
        if mode == 2:
            first = players[_choose(console, "Who moves first?", players)][0]
            second = players[_choose(console, "Who moves second?", players)][0]
            return Seat.of(first), Seat.of(second)
        opponent = Seat.of(players[_choose(console, "Against which player?", players)][0])
        you = _person(console, "Your name", "you")
        sides = [(str(you), ""), (str(opponent), ""), ("toss a coin", "")]
        first_mover = _choose(console, "Who moves first?", sides)
        if first_mover == 2:
            first_mover = derive(time_ns(), "coin") % 2
        return (you, opponent) if first_mover == 0 else (opponent, you)
    except EOFError:
        console.print()
        return None


def _person(console: Console, prompt: str, default: str) -> Seat:
    answer = input(f"{prompt} [{default}]: ").strip()
    return Seat.of("human", answer[:20] or default)


def _choose(console: Console, question: str, choices: Sequence[tuple[str, str]]) -> int:
    """The index of the choice made; 0 for an empty answer."""
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
        console.print(f"type a number from 1 to {len(choices)}, not {quoted(answer)}; q quits")


def _players(board: Board) -> list[tuple[str, str]]:
    """The players for this board, trained models first, each with a note on its strength."""
    from selfplay.train.model import BASE, Model

    trees = []
    files = sorted(str(path) for path in MODELS.iterdir()) if MODELS.is_dir() else []
    for path in dict.fromkeys([BASE, *files]):
        try:
            model = Model.load(path)
        except InputError:  # not a model
            continue
        if model.board == board:
            trees.append((f"tree:{path}", _strength(model)))
    perfect = [_PERFECT] if board.fits_word else []
    return [*trees, *_SEARCHES, *perfect]


def _strength(model: Model) -> str:
    """A tree's mistake rate on the evaluation set, if that is for its board, and its size."""
    from selfplay.train.evaluation.positions import EvaluationSet

    positions, leaves = EvaluationSet.load(), f"{model.tree.leaves:,} leaves"
    if positions.board != model.board:
        return leaves
    contested = positions.contested
    scores = model.scores(positions.own[contested], positions.mask[contested])
    values, best = positions.values[contested], positions.best[contested]
    mistakes = values[range(len(values)), scores.argmax(axis=1)] < best
    return f"{mistakes.mean():.1%} mistakes, {leaves}"
