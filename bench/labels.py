"""How good the labels are that searches give, and what they cost, beside exact ones.

Positions of 8 to 30 stones on the 7x6 board, half of random and half of sensible play, judged by
the solver. A mistake is a move that throws away the value of the game; it can be made in contested
positions only. What is tuned is tuned on one set of positions and judged on another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from math import log, sqrt
from pathlib import Path
from statistics import median
from threading import local
from time import perf_counter, process_time
from typing import TypeVar

from bench.report import Table
from selfplay.game.board import Board
from selfplay.game.openings import parse_openings
from selfplay.game.position import Position
from selfplay.machine import usable_cores
from selfplay.mcts.exact import typical_nodes
from selfplay.players import Player
from selfplay.registry import PlayerSpec
from selfplay.solver.solver import Solver

TUNING, JUDGING, OLD = 1801, 1902, 1
"""The seeds of the positions on which options are tuned, and of those that judge the result; of
the table of version 0.1."""
POSITIONS = 4000
ITERATIONS = (100, 1_000, 10_000, 100_000)
FRONTIER = (300, 1_000, 3_000, 10_000, 30_000, 100_000)
PHASES = ((8, 9), (10, 11), (12, 13), (14, 15), (16, 21), (22, 30))
EXPLORATIONS = (0.3, 0.5, 0.7, 1.0, round(sqrt(2), 3), 2.0)
SEARCHES = ("default-0.1", "mcts:10000")
STONES = (8, 10, 12, 14, 16, 20, 24)
PER_STONES = 40

PICTURE = Path(__file__).parent.parent / "docs" / "labels.svg"

R = TypeVar("R")
S = TypeVar("S")


def frontier() -> list[Table]:
    """Mistakes and cost by iterations, of today's search and of version 0.1; and its picture."""
    found: dict[str, list[Labelled]] = {"mcts": [], "default-0.1": []}
    for n in FRONTIER:  # side by side, as the machine may be shared
        for name in found:
            found[name].append(_labelled(f"{name}:{n}", JUDGING))
    PICTURE.write_text(_picture(found))
    return [_frontier_table(name, labels) for name, labels in found.items()]


def ablations() -> list[Table]:
    """What each part of the search is worth, on the positions on which it was tuned."""
    without = {
        "as it is": "",
        "careful rollouts": ",rollout=careful",
        "no solver": ",solver=0",
        "solver=2": ",solver=2",
        "solver=10": ",solver=10",
        "no transpositions": ",transpositions=off",
        "all iterations": ",early_stop=off",
        "exploration=0.3": ",exploration=0.3",
        "exploration=0.7": ",exploration=0.7",
        "exploration=1": ",exploration=1.0",
    }
    rows = []
    for name, options in without.items():
        labels = _labelled(f"mcts:10000{options}", TUNING)
        rows.append((name, (100 * labels.mistakes, labels.milliseconds, labels.iterations)))
    header = ("mistakes, %", "ms", "iterations")
    return [Table("mcts:10000 and its parts, contested positions of 8-30 stones", header, (*rows,))]


def solving() -> list[Table]:
    """The solver's nodes for win, draw or loss, beside what the search takes for typical."""
    board = Board()
    solver = Solver(board, threads=1, book=None)
    rows = []
    for stones in range(10, 34, 2):
        openings = parse_openings(f"sensible:{stones}", board)
        nodes = []
        for game in range(5 * PER_STONES):
            position = openings.opening(3, game)
            solver.forget()
            before = solver.nodes
            solver.value(position)
            nodes.append(solver.nodes - before)
        expected = typical_nodes(board.cells - stones)
        rows.append((f"{board.cells - stones} empty", (median(nodes), expected, max(nodes))))
    return [Table("nodes for win, draw or loss", ("median", "typical", "most"), tuple(rows))]


def quality() -> list[Table]:
    """Mistakes of version 0.1, by iterations, proofs, rollouts and exploration."""
    positions, values = _judged(OLD)
    rows, shares = [], []
    for rollout, iterations, proven in [
        *(("careful", n, proven) for n in ITERATIONS for proven in ("on", "off")),
        *(("win-first", n, proven) for n in ITERATIONS[:3] for proven in ("on", "off")),
    ]:
        found = [
            _mistakes(
                f"default-0.1:{iterations},rollout={rollout},proven={proven},"
                f"exploration={exploration}",
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
            f"mistakes of default-0.1 in {contested:,} contested positions, %, by exploration",
            header,
            tuple(rows),
        ),
        Table(
            f"optimal moves of default-0.1 in all {len(positions):,} positions, %, by exploration",
            header,
            tuple(shares),
        ),
    ]


def costs() -> list[Table]:
    """Positions labelled in a second on one core: by search, by exact scores of all columns, and
    by their win, draw or loss alone."""
    board = Board()
    searches = [PlayerSpec.parse(name).build(board) for name in SEARCHES]
    solver = Solver(board, threads=1, book=None)

    def searched(search: Player, position: Position) -> None:
        search.new_game(0)
        search.decide(position)

    def scored(position: Position) -> None:
        solver.forget()
        solver.scores(position)

    def valued(position: Position) -> None:
        solver.forget()
        for move in position.legal_moves:
            solver.value(position.play(move))

    labels: list[Callable[[Position], None]] = [
        *(partial(searched, search) for search in searches),
        scored,
        valued,
    ]
    rows = []
    for stones in STONES:
        openings = parse_openings(f"sensible:{stones}", board)
        positions = [openings.opening(2, game) for game in range(PER_STONES)]
        rates = []
        for label in labels:
            start = perf_counter()
            for position in positions:
                label(position)
            rates.append(len(positions) / (perf_counter() - start))
        rows.append((f"{stones} stones", (*rates, rates[-1] / rates[0])))
    header = (*SEARCHES, "scores", "values", f"values/{SEARCHES[0]}")
    return [Table("labels per second, one core, no book", header, tuple(rows))]


@dataclass(frozen=True, slots=True)
class Labelled:
    """What a player's labels were, of the positions of a seed."""

    mistakes: float
    """In contested positions"""
    milliseconds: float
    """A position, on one core"""
    iterations: float
    """A position"""
    by_phase: tuple[float, ...]
    """Mistakes in contested positions"""


def _labelled(player: str, seed: int) -> Labelled:
    """Label the positions one after the other; nothing is kept from one to the next."""
    positions, values = _judged(seed)
    searcher = PlayerSpec.parse(player).build(Board())
    seconds = iterations = 0.0
    wrong: list[tuple[int, bool]] = []
    for number, (position, value) in enumerate(zip(positions, values, strict=True)):
        searcher.new_game(number)
        start = process_time()
        decision = searcher.decide(position)
        seconds += process_time() - start
        iterations += decision.iterations
        if len(set(value.values())) > 1:
            wrong.append((position.ply, value[decision.move] < max(value.values())))
    phases = [[is_wrong for ply, is_wrong in wrong if a <= ply <= b] for a, b in PHASES]
    return Labelled(
        sum(is_wrong for _, is_wrong in wrong) / len(wrong),
        1000 * seconds / len(positions),
        iterations / len(positions),
        tuple(sum(phase) / len(phase) for phase in phases),
    )


def _frontier_table(name: str, found: Sequence[Labelled]) -> Table:
    rows = [
        (
            f"{n:,}",
            (
                100 * labels.mistakes,
                labels.milliseconds,
                *(100 * mistakes for mistakes in labels.by_phase),
            ),
        )
        for n, labels in zip(FRONTIER, found, strict=True)
    ]
    header = ("mistakes, %", "ms", *(f"{a}-{b} stones" for a, b in PHASES))
    return Table(f"{name}, by iterations: mistakes in contested positions", header, tuple(rows))


def _picture(found: dict[str, list[Labelled]]) -> str:
    """Mistakes against time, both logarithmic, as SVG."""
    width, height, left, bottom, top = 640, 400, 56, 48, 16
    colours = {"mcts": "#c44e52", "default-0.1": "#4c72b0"}
    milliseconds, mistakes = (0.05, 100.0), (0.3, 20.0)

    def x(ms: float) -> float:
        return left + (width - left - 16) * log(ms / milliseconds[0]) / log(2000)

    def y(percent: float) -> float:
        share = log(percent / mistakes[0]) / log(mistakes[1] / mistakes[0])
        return height - bottom - (height - bottom - top) * share

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
        'font-family="sans-serif" font-size="13" fill="#444">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for ms in (0.1, 1, 10, 100):
        parts.append(f'<path d="M{x(ms):.1f} {top}V{height - bottom}" stroke="#ddd"/>')
        parts.append(f'<text x="{x(ms):.1f}" y="{height - 28}" text-anchor="middle">{ms:g}</text>')
    for percent in (0.5, 1, 2, 5, 10, 20):
        parts.append(f'<path d="M{left} {y(percent):.1f}H{width - 16}" stroke="#ddd"/>')
        parts.append(
            f'<text x="{left - 8}" y="{y(percent) + 4:.1f}" text-anchor="end">{percent:g} %</text>'
        )
    parts.append(
        f'<text x="{width / 2}" y="{height - 8}" text-anchor="middle">milliseconds a label</text>'
    )
    for name, labels in found.items():
        points = [(x(one.milliseconds), y(100 * one.mistakes)) for one in labels]
        line = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        colour = colours[name]
        parts.append(f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for n, (px, py) in zip(FRONTIER, points, strict=True):
            parts.append(f'<circle cx="{px:.1f}" cy="{py:.1f}" r="4" fill="{colour}"/>')
            above = name != "mcts"
            parts.append(
                f'<text x="{px + 6:.1f}" y="{py + (-8 if above else 18):.1f}" font-size="11" '
                f'fill="{colour}" text-anchor="{"start" if above else "end"}">{n:,}</text>'
            )
        px, py = points[-1]
        parts.append(
            f'<text x="{px:.1f}" y="{py + (36 if name == "mcts" else -24):.1f}" fill="{colour}" '
            f'text-anchor="middle" font-weight="bold">{name}</text>'
        )
    return "\n".join([*parts, "</svg>", ""])


@cache
def _judged(seed: int) -> tuple[list[Position], list[dict[int, int]]]:
    """The positions, and what each move is worth."""
    board = Board()
    kinds = [parse_openings(text, board) for text in ("8-30", "sensible:8-30")]
    positions = [kinds[game % 2].opening(seed, game) for game in range(POSITIONS)]

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
