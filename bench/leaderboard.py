"""`python -m bench.leaderboard`: the players side by side, written into the README.

How often each gives something away in the examination, by phase, and its score against one
opponent as first and as second player. All of it is measured anew.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from selfplay.game.board import Board
from selfplay.game.openings import parse_openings
from selfplay.machine import usable_cores
from selfplay.registry import PlayerSpec
from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.train.evaluation.evaluation import Result, examine
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.evaluation.statistics import wilson
from selfplay.train.trainer import TrainingConfig, train_model
from selfplay.workers.executors.ray import RayExecutor
from selfplay.workers.generation.generate import generate
from selfplay.workers.generation.plan import plan
from selfplay.workers.tournament.standings import Tally, standings
from selfplay.workers.tournament.tournament import Tournament, play

README = Path(__file__).parent.parent / "README.md"
BEGIN, END = "<!-- leaderboard -->", "<!-- end of leaderboard -->"

OPPONENT = "mcts:10000"
GAMES, OPENING, SEED = 400, "0-2", 0
SLOW = {"perfect": (40, 500)}
"""Of players that take seconds over a move: fewer games, and fewer of the questions."""
PLAYERS = (
    "random",
    "greedy",
    "minimax:depth=3",
    "cells",
    "mcts:1000",
    "mcts:10000",
    "mcts:100000",
    "tree",
    "perfect",
)

CLASSIC_RUN = {"games": 15_000, "teacher": "mcts:10000", "opening": "0-20", "noise": 0.05}
CLASSIC = TrainingConfig(target="move", features="cells", smoothing=0.0)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        executor = RayExecutor(usable_cores())
        with executor.start():
            classic = _classic(folder, executor)
            rows = []
            for name in PLAYERS:
                rows.append(_row(name, classic, executor))
                print(" | ".join(rows[-1]), file=sys.stderr, flush=True)
    text = "\n".join(_table(rows))
    page = README.read_text()
    before, rest = page.split(BEGIN)
    _, after = rest.split(END)
    README.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}")
    print(text)


def _classic(folder: str, executor: RayExecutor) -> str:
    """The tree as reports have it: the cells of the board to the teacher's column."""
    todo = plan(Location(f"{folder}/run"), {**CLASSIC_RUN, "seed": 7})
    todo.begin()
    for _ in generate(todo, executor, lambda: False):
        pass
    model, _ = train_model([Dataset(todo.place)], CLASSIC)
    model.save(f"{folder}/cells")
    return f"tree:{folder}/cells"


def _row(name: str, classic: str, executor: RayExecutor) -> list[str]:
    player = classic if name == "cells" else name
    print(f"{name} …", file=sys.stderr, flush=True)
    games, asked = SLOW.get(name, (GAMES, None))
    result = examine(name, PlayerSpec.parse(player).build(Board()), EvaluationSet.load()[:asked])
    first, second = ("–", "–") if name == OPPONENT else _scores(player, games, executor)
    shown = "tree on cells, the classic" if name == "cells" else f"`{name}`"
    phases = [f"{tally.mistake_rate:.1%}" for tally in result.by_phase.values()]
    low, high = result.all.interval
    return [
        f"**{shown}**" if name == "tree" else shown,
        *phases,
        f"{result.all.mistake_rate:.1%} ({low:.1%}–{high:.1%})",
        first,
        second,
        _time(result),
    ]


def _time(result: Result) -> str:
    taken = result.microseconds_per_move
    return f"{taken:,.0f} µs" if taken < 1000 else f"{taken / 1000:,.1f} ms"


def _scores(player: str, games: int, executor: RayExecutor) -> tuple[str, str]:
    board = Board()
    openings = parse_openings(OPENING, board)
    tournament = Tournament.of([player, OPPONENT], board, openings, games, SEED)
    *_, progress = play(tournament, executor, lambda: False)
    assert progress.is_complete, progress.failed
    (pair,) = standings(tournament, progress.results).pairs
    return _score(pair.a_first), _score(pair.a_second)


def _score(tally: Tally) -> str:
    share = tally.points / tally.games
    low, high = wilson(share, tally.games)
    return f"{share:.0%} ({low:.0%}–{high:.0%})"


def _table(rows: list[list[str]]) -> Iterator[str]:
    header = [
        "player",
        "up to 15 stones",
        "16–25",
        "26 and more",
        "mistakes in all",
        "as first",
        "as second",
        "a move",
    ]
    yield f"| {' | '.join(header)} |"
    yield "|---|" + "---:|" * (len(header) - 1)
    for row in rows:
        yield f"| {' | '.join(row)} |"
    yield ""
    yield (
        "Mistakes: the share of contested positions in which the move gives something away, by "
        f"stones on the board. Scores: {GAMES // 2} games each against `{OPPONENT}`, from "
        f"openings of {OPENING.replace('-', ' to ')} random plies "
        f"(`perfect`: {SLOW['perfect'][0] // 2}, and "
        f"{SLOW['perfect'][1]} of the questions). 95 % confidence intervals in "
        "brackets. A row is `selfplay evaluate PLAYER` and "
        f"`selfplay arena PLAYER {OPPONENT} --games {GAMES} --opening {OPENING}`; "
        "all of them, `make leaderboard`."
    )


if __name__ == "__main__":
    main()
