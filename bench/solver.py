"""The exact solver by classes of positions, as solvers are usually compared.

A class is how many stones are on the board, and how many plies remain until the game is decided
under perfect play. The positions are random openings in which nobody wins at once; they are kept
in `positions.txt` with their scores, and `python -m bench.solver` makes them again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from time import perf_counter

import numpy as np

from bench.report import Table
from selfplay.game.board import Board
from selfplay.game.openings import RandomPlies
from selfplay.game.position import Position
from selfplay.solver import kernel
from selfplay.solver.solver import Solver

POSITIONS = Path(__file__).parent / "positions.txt"
CLASSES = {
    "end": "over 28 stones",
    "middle, easy": "15-28 stones, under 14 plies to go",
    "middle": "15-28 stones, 14-28 plies to go",
    "beginning, easy": "up to 14 stones, under 14 plies to go",
    "beginning": "up to 14 stones, 14-28 plies to go",
    "beginning, hard": "up to 14 stones, over 28 plies to go",
}
ROUNDS = 3

# How many to look for, and with how many stones.
_WANTED = {
    (29, 38): {"end": 1000},
    (15, 28): {"middle, easy": 1000, "middle": 600},
    (5, 14): {"beginning, easy": 20, "beginning": 60, "beginning, hard": 20},
}


def solver() -> list[Table]:
    """One core, exact scores, the table cleared between positions; the scores are checked."""
    board = Board()
    found = _read()
    rows = []
    for name, meaning in CLASSES.items():
        pairs = found[name]
        owns = np.array([position.own for position, _ in pairs], np.uint64)
        masks = np.array([position.mask for position, _ in pairs], np.uint64)
        scores = np.zeros(len(pairs), np.int64)
        judge = Solver(board, threads=1)
        judge.score(pairs[0][0])  # chooses how much of the table serves such positions
        memory = judge._memory
        seconds = float("inf")
        for _ in range(1 if "hard" in name else ROUNDS):
            before = int(memory.counters[0]["nodes"])
            start = perf_counter()
            kernel.score_all(board, memory, owns, masks, scores, 1 << 60, True)
            seconds = min(seconds, perf_counter() - start)
            nodes = int(memory.counters[0]["nodes"]) - before
        if scores.tolist() != [score for _, score in pairs]:
            raise AssertionError(f"a wrong score among the positions of class {name}")
        count = len(pairs)
        numbers = (seconds / count * 1e6, nodes / count, nodes / seconds, count)
        rows.append((f"{name}: {meaning}", numbers))
    header = ("µs/position", "nodes/position", "nodes/s", "positions")
    return [Table("solver, 7x6, exact scores", header, tuple(rows))]


def _read() -> dict[str, list[tuple[Position, int]]]:
    found = defaultdict(list)
    for line in POSITIONS.read_text().splitlines():
        if line and not line.startswith("#"):
            name, notation, score = line.split(";")
            found[name].append((Position.parse(notation), int(score)))
    return dict(found)


def _plies_to_go(position: Position, score: int) -> int:
    """How long the game lasts if the winner hurries and the loser delays."""
    cells, ply = position.board.cells, position.ply
    if score == 0:
        return cells - ply
    stones = cells + 1 - 2 * abs(score)  # before the winning one; or one less, by whose turn it is
    winner_moves_at = ply % 2 if score > 0 else (ply + 1) % 2
    return stones - (stones % 2 != winner_moves_at) + 1 - ply


def _class_of(position: Position, score: int) -> str:
    to_go = _plies_to_go(position, score)
    if position.ply > 28:
        return "end"
    if position.ply >= 15:
        return "middle, easy" if to_go < 14 else "middle"
    return "beginning, easy" if to_go < 14 else "beginning" if to_go <= 28 else "beginning, hard"


def _make() -> Iterator[str]:
    board = Board()
    judge = Solver(board)
    for (least, most), wanted in _WANTED.items():
        left = dict(wanted)
        openings = RandomPlies(board, least, most)
        for game in range(1_000_000):
            position = openings.opening(7, game)
            if any(position.play(move).is_over for move in position.legal_moves):
                continue
            score = judge.score(position)
            assert score is not None
            name = _class_of(position, score)
            if left.get(name, 0) > 0:
                left[name] -= 1
                yield f"{name};{position};{score}"
            if not any(left.values()):
                break


if __name__ == "__main__":
    head = "# class; columns played; exact score. Made by `python -m bench.solver`."
    POSITIONS.write_text("\n".join([head, *sorted(_make())]) + "\n")
