"""`selfplay arena`: a tournament of players."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from selfplay.cli.durations import duration
from selfplay.cli.endings import print_failures
from selfplay.cli.executors import executor_of, refuse_both
from selfplay.cli.options import Address, BoardSize, Connect, Json, Seed, Workers
from selfplay.game.board import Board

if TYPE_CHECKING:
    from rich.live import Live

    from selfplay.storage.location import Location
    from selfplay.workers.tournament.standings import Standings
    from selfplay.workers.tournament.tournament import Progress, Tournament

_REDRAW_SECONDS = 0.5
_STOPPING = "finishing the games in work; Ctrl-C once more ends at once"


def arena(
    players: Annotated[
        list[str],
        typer.Argument(metavar="PLAYER...", help="Two or more players, such as mcts:1000 greedy."),
    ],
    games: Annotated[int, typer.Option("--games", help="Games per pair: an even number.")] = 200,
    opening: Annotated[
        str, typer.Option("--opening", help="Openings: 0-8, sensible:0-8, all:4 or file:F.")
    ] = "0-8",
    board: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    move_seconds: Annotated[
        float | None,
        typer.Option(
            "--move-seconds",
            metavar="S",
            help="Time limit per move; a player that exceeds it forfeits.",
        ),
    ] = None,
    workers: Workers = None,
    address: Address = None,
    plot: Annotated[
        Path | None,
        typer.Option(
            "--plot", metavar="FILE", help="Plot the ratings to a .svg, .png or .pdf file."
        ),
    ] = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="RUN", help="Write the games as a new run.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Play a tournament: every pair plays every opening twice, with sides swapped.

    The same seed gives the same games with any number of workers. A player that fails or exceeds
    the time limit forfeits the game. Ctrl-C prints the standings so far.

    Example: selfplay arena mcts:200 greedy random --games 10 --workers 0
    """
    from selfplay.cli.players import announce_compilation
    from selfplay.cli.plots import draw_ratings, refuse_what_cannot_be_drawn
    from selfplay.game.openings import parse_openings
    from selfplay.pipeline.job import run_job
    from selfplay.workers.executors.stopping import Stop
    from selfplay.workers.tournament.standings import standings
    from selfplay.workers.tournament.tournament import Progress, Tournament, play

    geometry = Board.parse(board, connect)
    refuse_both(workers, address)
    if plot is not None:
        refuse_what_cannot_be_drawn(plot)
    place = None if out is None else _new_place(out)
    openings = parse_openings(opening, geometry)
    tournament = Tournament.of(
        players, geometry, openings, games, seed, move_seconds, keeps_rows=place is not None
    )
    announce_compilation(geometry)
    tournament.build()
    executor = executor_of(workers, address)
    ended = run_job(
        partial(play, tournament, executor),
        Progress(tournament.games),
        executor,
        live_table(tournament),
        Stop(),
    )
    progress = ended.progress
    title = f"{geometry}, openings {opening}, seed {seed}"
    done = f"{progress.games:,} of {progress.games_total:,} games were played"
    if progress.games:
        result = standings(tournament, progress.results)
        _print(tournament, result, title, as_json=as_json)
        if place and _keep(tournament, progress, opening, place, as_json=as_json):
            done += f"; they are stored in {place}"
        if plot is not None:
            draw_ratings(result.players, plot)
    print_failures(progress.failed, "batch of games")
    ended.raise_unless_complete(done)


def _new_place(out: str) -> Location:
    from selfplay.storage.location import Location
    from selfplay.storage.recorded import refuse_if_taken

    place = Location(out)
    refuse_if_taken(place)
    return place


class NoTable:
    """For logs and pipes: nothing is shown before the end."""

    def show(self, progress: Progress) -> None:
        pass

    def stopping(self) -> None:
        print(_STOPPING, file=sys.stderr, flush=True)


class LiveTable:
    """The ratings so far, redrawn at a terminal."""

    def __init__(self, tournament: Tournament, live: Live) -> None:
        self._tournament = tournament
        self._live = live
        self._next = 0.0

    def show(self, progress: Progress) -> None:
        from rich.console import Group
        from rich.text import Text

        from selfplay.cli.standings import players_table
        from selfplay.workers.tournament.standings import standings

        start = time.monotonic()
        if progress.games and start < self._next:
            return
        line = Text(", ".join(_so_far(progress)))
        if progress.games:
            table = players_table(standings(self._tournament, progress.results))
            self._live.update(Group(table, line), refresh=True)
        else:
            self._live.update(line, refresh=True)
        # Rating many games takes long: spend at most a tenth of the time on it.
        taken = time.monotonic() - start
        self._next = start + max(_REDRAW_SECONDS, 10 * taken)

    def stopping(self) -> None:
        self._live.console.print(_STOPPING)


@contextmanager
def live_table(tournament: Tournament) -> Iterator[NoTable | LiveTable]:
    """A live table at a terminal."""
    if not sys.stderr.isatty():
        yield NoTable()
        return
    from rich.console import Console
    from rich.live import Live

    with Live(
        console=Console(stderr=True, highlight=False),
        auto_refresh=False,
        transient=True,
        redirect_stdout=False,
    ) as live:
        yield LiveTable(tournament, live)


def _so_far(progress: Progress) -> Iterator[str]:
    yield f"{progress.games:,} of {progress.games_total:,} games"
    many = "1 worker" if progress.workers == 1 else f"{progress.workers} workers"
    yield many if progress.workers else "workers are starting"
    if progress.failed:
        yield f"{len(progress.failed)} failed"
    if progress.seconds_left is not None:
        yield f"{duration(progress.seconds_left)} to go"


def _print(tournament: Tournament, found: Standings, title: str, *, as_json: bool) -> None:
    from selfplay.cli.standings import as_record

    if as_json:
        print(json.dumps(as_record(tournament, found)), flush=True)
    else:
        _show(tournament, found, title)


def _show(tournament: Tournament, found: Standings, title: str) -> None:
    from selfplay.cli.drawing import console
    from selfplay.cli.standings import pairs_table, players_table, remarks

    out = console()
    out.print(f"{found.games:,} games: {title}\n")
    out.print(players_table(found))
    out.print()
    out.print(pairs_table(found))
    out.print()
    for remark in remarks(tournament, found):
        out.print(remark, markup=False)


def _keep(
    tournament: Tournament, progress: Progress, opening: str, place: Location, *, as_json: bool
) -> bool:
    """Put the games in their place, as far as any move was made in them."""
    from selfplay.storage.recorded import keep_games

    results = sorted(progress.results, key=lambda result: result.game)
    games = [result.rows for result in results if result.rows is not None]
    if not games:
        return False
    source: dict[str, Any] = {
        "arena": {
            "players": tournament.identities,
            "opening": opening,
            "seed": tournament.seed,
            "games_per_pair": 2 * len(tournament.openings),
            "move_seconds": tournament.move_seconds,
            "repeatable": tournament.is_repeatable,
        }
    }
    dataset = keep_games(games, tournament.board, place, source)
    if not as_json:
        print(f"{place}: {dataset.games:,} games, {dataset.positions:,} positions", flush=True)
    return True
