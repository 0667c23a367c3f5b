"""Iterations of tree search per second, beside OpenSpiel's C++; rollout steps by board."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt

import numpy as np

from bench.report import Table
from bench.timing import rates
from selfplay.errors import install
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.kernels.rollouts import CAREFUL, UNIFORM, WIN_FIRST, rollouts
from selfplay.kernels.state import pack
from selfplay.registry import PlayerSpec

ROUNDS = 9

SEARCHES = (
    "usual:{},rollout=uniform,proven=off",
    "usual:{}",
    "default-0.1:{}",
    "mcts:{},early_stop=off",
)
"""All iterations are made, so that iterations per second can be compared."""


def searches() -> list[Table]:
    """Tree search from the empty 7x6 board, on one core."""
    return [_searches(1_000), _searches(10_000), _searches(100_000)]


def _searches(iterations: int) -> Table:
    contenders = {spec: _search(spec) for spec in (text.format(iterations) for text in SEARCHES)}
    base, note = "OpenSpiel MCTSBot (C++)", f"{next(iter(contenders))} searches as OpenSpiel does"
    try:
        contenders[base] = _open_spiel(min(iterations, 10_000))
    except ImportError:
        base, note = next(iter(contenders)), f"OpenSpiel is not installed: {install('bench')}"
    found = rates(contenders, ROUNDS)
    return Table.of_rates(
        f"search, 7x6, {iterations:,} iterations", "iterations/s", found, base, note
    )


def _search(spec: str) -> Callable[[], float]:
    board = Board()
    player = PlayerSpec.parse(spec).build(board)
    seeds = iter(range(1 << 30))

    def work() -> float:
        player.new_game(next(seeds))
        return player.decide(Position(board)).iterations

    return work


def _open_spiel(iterations: int) -> Callable[[], float]:
    import pyspiel

    game = pyspiel.load_game("connect_four")
    state = game.new_initial_state()
    seeds = iter(range(1 << 30))

    def work() -> float:
        seed = next(seeds)
        evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
        bot = pyspiel.MCTSBot(game, evaluator, sqrt(2), iterations, 1000, False, seed, False)
        bot.step(state)
        return iterations

    return work


def steps() -> list[Table]:
    """Rollout steps from the empty board: boards of one machine word, and beyond."""
    boards = [Board(), Board(8, 7), Board(8, 8), Board(16, 16)]
    tables = []
    for name, policy in (("careful", CAREFUL), ("win-first", WIN_FIRST), ("uniform", UNIFORM)):
        found = rates({str(board): _rollouts(board, policy) for board in boards}, ROUNDS)
        tables.append(Table.of_rates(f"rollouts, {name}", "steps/s", found, str(Board())))
    return tables


def _rollouts(board: Board, policy: int) -> Callable[[], float]:
    packed = pack(Position(board))
    seeds = iter(range(1 << 30))

    def work() -> float:
        _, plies = rollouts(board, packed, 50_000, np.uint64(next(seeds)), policy)
        return float(plies)

    return work
