"""`selfplay arena`: a tournament of players."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from selfplay.cli.durations import duration
from selfplay.cli.executors import STOPPING, check_executor_options, executor_of, print_failures
from selfplay.cli.options import Address, BoardSize, Connect, Json, Plot, Seed, Workers
from selfplay.game.board import Board
from selfplay.wording import counted

if TYPE_CHECKING:
    from rich.live import Live

    from selfplay.pipeline.job import Display
    from selfplay.storage.location import Location
    from selfplay.workers.tournament.standings import Standings
    from selfplay.workers.tournament.tournament import Progress, Tournament

_REDRAW_SECONDS = 0.5


def arena(
    players: Annotated[
        list[str], Argument(metavar="PLAYER", help="Two or more players, such as mcts:1000 greedy.")
    ],
    games: Annotated[int, Option(help="Games per pair: an even number.")] = 200,
    opening: Annotated[str, Option(help="Openings: 0-8, sensible:0-8, all:4 or file:F.")] = "0-8",
    size: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    move_seconds: Annotated[
        float | None,
        Option(metavar="S", help="Time limit per move; a player that exceeds it forfeits."),
    ] = None,
    workers: Workers = None,
    address: Address = None,
    plot: Plot = None,
    out: Annotated[str | None, Option(metavar="RUN", help="Write the games as a new run.")] = None,
    as_json: Json = False,
) -> None:
    """Play a tournament: every pair plays every opening twice, with sides swapped.

    The same seed gives the same games with any number of workers. A player that fails or exceeds
    the time limit forfeits the game. Ctrl-C prints the standings so far.

    Example: selfplay arena mcts:200 greedy random --games 10 --workers 0
    """
    from selfplay.cli.compilation import announce_compilation
    from selfplay.cli.plots import check_plot_file, draw_ratings
    from selfplay.game.openings import parse_openings
    from selfplay.pipeline.job import run_job
    from selfplay.storage.location import Location
    from selfplay.storage.recorded import require_new_location
    from selfplay.workers.executors.stopping import Stop
    from selfplay.workers.tournament.standings import standings
    from selfplay.workers.tournament.tournament import Progress, Tournament, play

    board = Board.parse(size, connect)
    check_executor_options(workers, address)
    check_plot_file(plot)
    place = None if out is None else Location(out)
    if place is not None:
        require_new_location(place)
    openings = parse_openings(opening, board)
    tournament = Tournament.of(
        players, board, openings, games, seed, move_seconds, keeps_rows=place is not None
    )
    announce_compilation(board)
    tournament.build()
    executor = executor_of(workers, address)
    ended = run_job(
        partial(play, tournament, executor),
        Progress(tournament.games),
        executor,
        _display(tournament),
        Stop(),
    )
    progress = ended.progress
    done = f"{progress.games:,} of {progress.games_total:,} games were played"
    if progress.games:
        result = standings(tournament, progress.results)
        title = f"{board}, openings {opening}, seed {seed}"
        show(tournament, result, title, as_json=as_json)
        if place and _write_run(tournament, progress, result, opening, place, as_json=as_json):
            done += f"; they are stored in {place}"
        if plot is not None:
            draw_ratings(result.players, plot)
    print_failures(progress.failed, "batch of games")
    ended.raise_unless_complete(done)


class Quiet:
    """The display for logs and pipes: nothing before the end."""

    def show(self, progress: Progress) -> None:
        pass

    def stopping(self) -> None:
        print(STOPPING.format("games"), file=sys.stderr, flush=True)


class LiveTable:
    """The ratings so far, redrawn at a terminal."""

    def __init__(self, tournament: Tournament, live: Live) -> None:
        self._tournament = tournament
        self._live = live
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        from rich.console import Group
        from rich.text import Text

        from selfplay.cli.tournament_tables import players_table
        from selfplay.workers.tournament.standings import standings

        start = time.monotonic()
        if progress.games and start < self._next:
            return
        parts: list[object] = [Text(", ".join(_counts(progress)))]
        if progress.games:
            parts.insert(0, players_table(standings(self._tournament, progress.results)))
        self._live.update(Group(*parts), refresh=True)  # type: ignore[arg-type]
        # Rating many games takes long: spend at most a tenth of the time on it.
        taken = time.monotonic() - start
        self._next = start + max(_REDRAW_SECONDS, 10 * taken)

    def stopping(self) -> None:
        self._live.console.print(STOPPING.format("games"))


@contextmanager
def _display(tournament: Tournament) -> Iterator[Display[Progress]]:
    """A live table at a terminal."""
    if not sys.stderr.isatty():
        yield Quiet()
        return
    from rich.console import Console
    from rich.live import Live

    console = Console(stderr=True, highlight=False)
    with Live(console=console, auto_refresh=False, transient=True, redirect_stdout=False) as live:
        yield LiveTable(tournament, live)


def _counts(progress: Progress) -> Iterator[str]:
    yield f"{progress.games:,} of {progress.games_total:,} games"
    many = counted(progress.workers, "worker")
    yield many if progress.workers else "workers are starting"
    if progress.failed:
        yield f"{len(progress.failed)} failed"
    if progress.seconds_left is not None:
        yield f"{duration(progress.seconds_left)} remaining"


def show(tournament: Tournament, result: Standings, title: str, *, as_json: bool) -> None:
    from selfplay.cli.rendering import console
    from selfplay.cli.tournament_tables import as_record, pairs_table, players_table, remarks

    if as_json:
        print(json.dumps(as_record(tournament, result)), flush=True)
        return
    out = console()
    out.print(f"{counted(result.games, 'game')}: {title}\n")
    for table in (players_table(result), pairs_table(result)):
        out.print(table)
        out.print()
    for remark in remarks(tournament, result):
        out.print(remark)


def _write_run(
    tournament: Tournament,
    progress: Progress,
    result: Standings,
    opening: str,
    place: Location,
    *,
    as_json: bool,
) -> bool:
    """Write the games as a run, and the standings beside it; False if no game has a row."""
    from selfplay.cli.tournament_tables import as_record
    from selfplay.storage.recorded import save_games
    from selfplay.workers.tournament.stored import store

    results = sorted(progress.results, key=lambda result: result.game)
    games = [result.rows for result in results if result.rows is not None]
    if not games:
        return False
    source = {
        "players": tournament.identities,
        "opening": opening,
        "seed": tournament.seed,
        "games_per_pair": 2 * len(tournament.openings),
        "move_seconds": tournament.move_seconds,
        "repeatable": tournament.is_repeatable,
    }
    dataset = save_games(games, tournament.board, place, {"arena": source})
    store(place, tournament, opening, as_record(tournament, result), results)
    if not as_json:
        print(f"{place}: {dataset.sizes}", flush=True)
    return True
