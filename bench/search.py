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
from selfplay.mcts.player import MctsOptions, MctsPlayer

ROUNDS = 9


def searches() -> list[Table]:
    """Tree search from the empty 7x6 board, on one core."""
    return [_searches(1_000), _searches(10_000), _searches(100_000)]


def _searches(iterations: int) -> Table:
    contenders = {
        "mcts": _search(MctsOptions(iterations=iterations)),
        "mcts, proven=off": _search(MctsOptions(iterations=iterations, proven=False)),
        "mcts, rollout=win-first": _search(MctsOptions(iterations=iterations, rollout="win-first")),
        "mcts, rollout=uniform": _search(MctsOptions(iterations=iterations, rollout="uniform")),
    }
    try:
        contenders["OpenSpiel MCTSBot (C++)"] = _open_spiel(min(iterations, 10_000))
        base, note = "OpenSpiel MCTSBot (C++)", ""
    except ImportError:
        base, note = "mcts", f"OpenSpiel is not installed: {install('bench')}"
    found = rates(contenders, ROUNDS)
    return Table.of_rates(
        f"search, 7x6, {iterations:,} iterations", "iterations/s", found, base, note
    )


def _search(options: MctsOptions) -> Callable[[], float]:
    board = Board()
    player = MctsPlayer(board, options)
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
