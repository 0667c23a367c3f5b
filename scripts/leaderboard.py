"""`python -m scripts.leaderboard`: measure all players, write the table of the README."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import nullcontext

from scripts import ROOT
from selfplay.confidence import wilson
from selfplay.machine import usable_cores
from selfplay.pipeline.job import run_job
from selfplay.pipeline.leaderboard import Entry, Progress, Settings, measure
from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.train.config import TrainingConfig
from selfplay.train.evaluation.evaluation import Result
from selfplay.train.trainer import train_model
from selfplay.workers.executors.ray import RayExecutor
from selfplay.workers.executors.stopping import Stop
from selfplay.workers.generation.generate import generate
from selfplay.workers.generation.plan import plan
from selfplay.workers.tournament.standings import Tally

README = ROOT / "README.md"
BEGIN, END = "<!-- leaderboard -->", "<!-- end of leaderboard -->"

OPPONENT = "default-0.1"
CLASSIC = "tree on cells, the classic"
PLAYERS = (
    "random",
    "greedy",
    "minimax:depth=3",
    CLASSIC,
    "usual",
    "default-0.1",
    "mcts:1000",
    "mcts:10000",
    "mcts:100000",
    "tree",
    "perfect",
)
CLASSIC_RUN = {"games": 15_000, "teacher": OPPONENT, "opening": "0-20", "noise": 0.05}
CLASSIC_TREE = TrainingConfig(target="move", features="cells", smoothing=0.0)

HEADER = (
    "player",
    "up to 15 stones",
    "16–25",
    "26 and more",
    "all mistakes",
    "as first",
    "as second",
    "a move",
)


def main() -> None:
    executor = RayExecutor(usable_cores())
    with tempfile.TemporaryDirectory() as folder:
        settings = Settings(
            players={n: f"tree:{folder}/cells" if n == CLASSIC else n for n in PLAYERS},
            opponent=OPPONENT,
            games=400,
            opening="0-2",
            seed=0,
            slow={"perfect": (40, 500)},
        )

        def steps(stop: Callable[[], bool]) -> Iterator[Progress]:
            _train_classic(folder, executor, stop)
            yield from measure(settings, executor, stop)

        start = Progress((), len(PLAYERS))
        ended = run_job(steps, start, executor, nullcontext(Printer()), Stop())
    ended.raise_unless_complete(f"{len(ended.progress.entries)} of {len(PLAYERS)} are measured")
    text = "\n".join(table(settings, ended.progress.entries))
    before, rest = README.read_text().split(BEGIN)
    README.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.split(END)[1]}")


class Printer:
    """Prints each row when it is measured."""

    def __init__(self) -> None:
        self._out = sys.stdout

    def show(self, progress: Progress) -> None:
        if progress.entries:
            print(" | ".join(row(progress.entries[-1])), file=self._out, flush=True)

    def stopping(self) -> None:
        print("finishing the current games; Ctrl-C again stops at once", file=sys.stderr)


def _train_classic(folder: str, executor: RayExecutor, stop: Callable[[], bool]) -> None:
    """The tree of the student reports: from the cells of the board to the teacher's column."""
    run = plan(Location(f"{folder}/run"), {**CLASSIC_RUN, "seed": 7})
    run.begin()
    for _ in generate(run, executor, stop):
        pass
    if stop():
        raise KeyboardInterrupt
    model, _ = train_model([Dataset(run.place)], CLASSIC_TREE)
    model.save(f"{folder}/cells")


def row(entry: Entry) -> list[str]:
    result = entry.result
    low, high = result.all.interval
    name = entry.name if entry.name == CLASSIC else f"`{entry.name}`"
    return [
        f"**{name}**" if entry.name == "tree" else name,
        *(f"{tally.mistake_rate:.1%}" for tally in result.by_phase.values()),
        f"{result.all.mistake_rate:.1%} ({low:.1%}–{high:.1%})",
        _score(entry.pair.a_first) if entry.pair else "–",
        _score(entry.pair.a_second) if entry.pair else "–",
        _time(result),
    ]


def _score(tally: Tally) -> str:
    share = tally.points / tally.games
    low, high = wilson(share, tally.games)
    return f"{share:.0%} ({low:.0%}–{high:.0%})"


def _time(result: Result) -> str:
    taken = result.microseconds_per_move
    return f"{taken:,.0f} µs" if taken < 1000 else f"{taken / 1000:,.1f} ms"


def table(settings: Settings, entries: tuple[Entry, ...]) -> Iterator[str]:
    yield f"| {' | '.join(HEADER)} |"
    yield "|---|" + "---:|" * (len(HEADER) - 1)
    for entry in entries:
        yield f"| {' | '.join(row(entry))} |"
    games, positions = settings.slow["perfect"]
    yield ""
    yield (
        "Mistakes: the share of contested positions in which the move is a mistake, by "
        f"stones on the board. Scores: {settings.games // 2} games each against "
        f"`{settings.opponent}`, from openings of {settings.opening.replace('-', ' to ')} random "
        f"plies (`perfect`: {games // 2}, and {positions} of the positions). 95 % confidence "
        "intervals in brackets. A row is `selfplay evaluate PLAYER --final` and `selfplay arena "
        f"PLAYER {settings.opponent} --games {settings.games} --opening {settings.opening}`; "
        "all of them, `make leaderboard`. `usual` and `default-0.1` are "
        "[searches that stay as they are](docs/search.md#presets)."
    )


if __name__ == "__main__":
    main()
