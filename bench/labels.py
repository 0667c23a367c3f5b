"""How good the labels are that searches give, and what they cost, beside exact ones.

Positions of 8 to 30 stones on the 7x6 board, half of random and half of sensible play, judged by
the solver. A mistake is a move that throws away the value of the game; it can be made in contested
positions only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from math import sqrt
from threading import local
from time import perf_counter
from typing import TypeVar

from bench.report import Table
from selfplay.game.board import Board
from selfplay.game.openings import parse_openings
from selfplay.game.position import Position
from selfplay.machine import usable_cores
from selfplay.players import Player
from selfplay.registry import PlayerSpec
from selfplay.solver.solver import Solver

POSITIONS = 4000
ITERATIONS = (100, 1_000, 10_000, 100_000)
EXPLORATIONS = (0.3, 0.5, 0.7, 1.0, round(sqrt(2), 3), 2.0)
STONES = (8, 10, 12, 14, 16, 20, 24)
PER_STONES = 40

R = TypeVar("R")
S = TypeVar("S")


def quality() -> list[Table]:
    """Mistakes among contested positions, by iterations, proofs, rollouts and exploration."""
    positions, values = _judged()
    rows, shares = [], []
    for rollout, iterations, proven in [
        *(("careful", n, proven) for n in ITERATIONS for proven in ("on", "off")),
        *(("win-first", n, proven) for n in ITERATIONS[:3] for proven in ("on", "off")),
    ]:
        found = [
            _mistakes(
                f"mcts:{iterations},rollout={rollout},proven={proven},exploration={exploration}",
                positions,
                values,
            )
            for exploration in EXPLORATIONS
        ]
        name = f"{rollout}, {iterations:,} iterations, proven={proven}"
        rows.append((name, tuple(100 * mistakes for mistakes, _ in found)))
        shares.append((name, tuple(100 * right for _, right in found)))
    header = tuple(f"{exploration:g}" for exploration in EXPLORATIONS)
    contested = sum(len(set(v.values())) > 1 for v in values)
    return [
        Table(
            f"mistakes of mcts in {contested:,} contested positions, %, by exploration",
            header,
            tuple(rows),
        ),
        Table(
            f"optimal moves of mcts in all {len(positions):,} positions, %, by exploration",
            header,
            tuple(shares),
        ),
    ]


def costs() -> list[Table]:
    """Positions labelled in a second on one core: by search, by exact scores of all columns, and
    by their win, draw or loss alone."""
    board = Board()
    search = PlayerSpec.parse("mcts:10000").build(board)
    solver = Solver(board, threads=1, book=None)

    def searched(position: Position) -> None:
        search.new_game(0)
        search.decide(position)

    def scored(position: Position) -> None:
        solver.forget()
        solver.scores(position)

    def valued(position: Position) -> None:
        solver.forget()
        for move in position.legal_moves:
            solver.value(position.play(move))

    rows = []
    for stones in STONES:
        openings = parse_openings(f"sensible:{stones}", board)
        positions = [openings.opening(2, game) for game in range(PER_STONES)]
        rates = []
        for label in (searched, scored, valued):
            start = perf_counter()
            for position in positions:
                label(position)
            rates.append(len(positions) / (perf_counter() - start))
        rows.append((f"{stones} stones", (*rates, rates[2] / rates[0])))
    header = ("mcts:10000", "scores", "values", "values/mcts")
    return [Table("labels per second, one core, no book", header, tuple(rows))]


@cache
def _judged() -> tuple[list[Position], list[dict[int, int]]]:
    """The positions, and what each move is worth."""
    board = Board()
    kinds = [parse_openings(text, board) for text in ("8-30", "sensible:8-30")]
    positions = [kinds[game % 2].opening(1, game) for game in range(POSITIONS)]

    def judge(solver: Solver, _: int, position: Position) -> dict[int, int]:
        values = {m: solver.value(position.play(m)) for m in position.legal_moves}
        return {move: -value for move, value in values.items() if value is not None}

    return positions, _on_all_cores(lambda: Solver(board, threads=1), judge, positions)


def _mistakes(
    player: str, positions: Sequence[Position], values: Sequence[dict[int, int]]
) -> tuple[float, float]:
    """The share of mistakes in contested positions, and of optimal moves in all."""

    def lost(searcher: Player, number: int, position: Position) -> int:
        searcher.new_game(number)
        value = values[number]
        return max(value.values()) - value[searcher.decide(position).move]

    losses = _on_all_cores(lambda: PlayerSpec.parse(player).build(Board()), lost, positions)
    mistakes = sum(loss > 0 for loss in losses)
    contested = sum(len(set(value.values())) > 1 for value in values)
    return mistakes / contested, 1 - mistakes / len(positions)


def _on_all_cores(
    make: Callable[[], S], work: Callable[[S, int, Position], R], positions: Sequence[Position]
) -> list[R]:
    """Work on every position, with a helper for every thread: kernels run side by side."""
    mine = local()

    def do(numbered: tuple[int, Position]) -> R:
        if not hasattr(mine, "helper"):
            mine.helper = make()
        return work(mine.helper, *numbered)

    make()  # compiles
    with ThreadPoolExecutor(usable_cores()) as pool:
        return list(pool.map(do, enumerate(positions)))
