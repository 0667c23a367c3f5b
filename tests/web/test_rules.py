"""The rules of the page are those of the engine."""

from __future__ import annotations

import random
import shutil
import subprocess
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from selfplay.game.board import Board
from selfplay.game.position import FIRST, SECOND, Position
from tests import ROOT
from tests.conftest import GOLDEN

BOARDS = (Board(), Board(), Board(4, 4), Board(9, 7, 5), Board(12, 4), Board(5, 6, 3))

SCRIPT = """
import { readFileSync } from "node:fs";
const [rules, golden] = process.argv.slice(1).map((path) => readFileSync(path, "utf8"));
const module = await import(`data:text/javascript,${encodeURIComponent(rules)}`);
const positions = JSON.parse(golden);
for (const wanted of positions) {
  const { size, connect, moves } = wanted;
  const at = module.Position.parse(moves, new module.Board(size, connect));
  const found = {
    size, connect, moves: at.notation, columns: at.columns, legal: at.legal, winner: at.winner,
    line: at.line.sort((a, b) => a[0] - b[0] || a[1] - b[1]),
    threats: [1, 2].map((side) => at.threats(side)),
  };
  if (JSON.stringify(found) !== JSON.stringify(wanted)) {
    throw new Error(`${JSON.stringify(found)} is not ${JSON.stringify(wanted)}`);
  }
}
for (const [moves, size] of [["8", "7x6"], ["0", "7x6"], ["4444444", "7x6"], ["11223344", "7x6"],
                             ["a", "7x6"], ["", "99x9"], ["", "/"]]) {
  let refused = false;
  try { module.Position.parse(moves, new module.Board(size)); } catch { refused = true; }
  if (!refused) throw new Error(`${moves} on ${size} is not refused`);
}
console.log(positions.length);
"""


def games() -> Iterator[Position]:
    """Positions from random games: each some plies before its end, and the end."""
    chance = random.Random(0)
    for number in range(60):
        positions = [Position(BOARDS[number % len(BOARDS)])]
        while not positions[-1].is_over:
            positions.append(positions[-1].play(chance.choice(positions[-1].legal_moves)))
        yield from {0: positions[0], 1: chance.choice(positions), 2: positions[-1]}.values()


def seen(position: Position) -> dict[str, Any]:
    """A position as the page sees it: columns from the bottom up, cells as column and row."""
    board, cells = position.board, position.cells()
    bottom_up = [cells[column :: board.columns][::-1] for column in range(board.columns)]
    line = [(i % board.columns, board.rows - 1 - i // board.columns) for i in position.winning_line]
    own, other = position.winning_moves, position.blocking_moves
    return {
        "size": board.size,
        "connect": board.connect,
        "moves": position.notation,
        "columns": [[side for side in column if side] for column in bottom_up],
        "legal": position.legal_moves,
        "winner": position.winner,
        "line": sorted(line),
        "threats": (own, other) if position.to_move == FIRST else (other, own),
    }


def test_the_positions_are_the_engines(golden: Callable[[str, Any], None]) -> None:
    golden("rules", [seen(position) for position in games()])
    assert {position.winner for position in games()} == {FIRST, SECOND, None}


@pytest.mark.skipif(shutil.which("node") is None, reason="node, which runs rules.js, is not here")
def test_the_page_sees_them_so() -> None:
    rules = ROOT / "web" / "static" / "rules.js"
    done = subprocess.run(
        ["node", "--input-type=module", "-e", SCRIPT, str(rules), str(GOLDEN / "rules.json")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 100
