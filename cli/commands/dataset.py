"""`selfplay dataset`: inspect, verify, convert, merge and split runs."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from selfplay.cli.options import BoardSize, Connect, Json, Plot, Run
from selfplay.errors import InputError, printable, quoted
from selfplay.game.board import Board

if TYPE_CHECKING:
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.statistics import Statistics

_STRAYS_SHOWN = 5

app = typer.Typer(help="Inspect, verify, convert, merge and split runs.")


@app.command()
def info(run: Run, plot: Plot = None, as_json: Json = False) -> None:
    """Print statistics of a run: games, positions, results, the teacher's moves.

    Example: selfplay dataset info examples/tiny
    """
    from selfplay.cli.plots import check_plot_file, draw_statistics
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.statistics import statistics

    check_plot_file(plot)
    dataset = Dataset(run)
    numbers = statistics(dataset)
    if plot is not None:
        draw_statistics(numbers, dataset.board, plot)
    if as_json:
        print(json.dumps(as_record(dataset, numbers)))
    else:
        show(dataset, numbers)


def as_record(dataset: Dataset, numbers: Statistics) -> dict[str, object]:
    """The statistics of a run for `--json`."""
    spec = dataset.spec
    return {
        **asdict(numbers),
        "board": dataset.board.size,
        "connect": dataset.board.connect,
        "shards": len(dataset.shards()),
        "missing_shards": len(dataset.missing()),
        "strays": dataset.unexpected_files(),
        "bytes": dataset.bytes,
        "fingerprint": dataset.fingerprint,
        "spec_hash": dataset.manifest.identity,
        "spec": None if spec is None else asdict(spec),
        "source": dataset.manifest.source,
    }


def show(dataset: Dataset, numbers: Statistics) -> None:
    from selfplay.cli.rendering import bar, console, has_unicode, plain_table

    out = console()
    spec, results, strays = dataset.spec, numbers.results, dataset.unexpected_files()
    without_rows = numbers.games_without_rows
    repeated = numbers.positions - numbers.unique_positions
    bytes_each = dataset.bytes / max(1, numbers.positions)
    facts = [
        ("board", str(dataset.board)),
        ("teacher", "-" if spec is None else spec.teacher),
        ("shards", f"{len(dataset.shards()):,} of {dataset.manifest.shards:,}"),
        (
            "games",
            f"{numbers.games:,}"
            + (f", {without_rows:,} of them without a position" if without_rows else ""),
        ),
        ("positions", f"{numbers.positions:,}, {bytes_each:.1f} bytes each"),
        (
            "unique positions",
            f"{numbers.unique_positions:,} (up to mirror images; {repeated:,} are repeats)",
        ),
        ("unique openings", f"{numbers.unique_openings:,}"),
        ("fingerprint", dataset.fingerprint),
    ]
    if games := results.games:
        lengths = numbers.lengths
        mean = sum(length * count for length, count in lengths.items()) / games
        wins, draws, losses = results.wins / games, results.draws / games, results.losses / games
        facts += [
            ("first player", f"wins {wins:.1%}, draws {draws:.1%}, loses {losses:.1%}"),
            ("game length", f"{min(lengths)} to {max(lengths)} stones, {mean:.1f} on average"),
        ]
    if strays:
        more = f" and {len(strays) - _STRAYS_SHOWN:,} more" * (len(strays) > _STRAYS_SHOWN)
        names = ", ".join(quoted(name) for name in strays[:_STRAYS_SHOWN])
        facts.append(("unknown files", names + more))
    out.print(plain_table(("", ""), facts))

    def bar_of(share: float) -> str:
        return bar(share, 40, unicode=has_unicode(out))

    total, most = max(1, sum(numbers.moves)), max(1, *numbers.moves)
    rows = [
        (f"{column}", f"{count:,}", f"{count / total:.1%}", bar_of(count / most))
        for column, count in enumerate(numbers.moves, 1)
    ]
    out.print("\nthe teacher's moves")
    out.print(plain_table(("column", "positions", "share", ""), rows))
    unique = numbers.unique_by_ply
    rows = [
        (f"{ply}", f"{count:,}", f"{unique.get(ply, 0):,}", bar_of(1 - unique.get(ply, 0) / count))
        for ply, count in numbers.by_ply.items()
        if unique.get(ply, 0) < count
    ]
    out.print("\nrepeated positions, by stones")
    out.print(plain_table(("stones", "positions", "unique", ""), rows))


@app.command()
def verify(
    run: Run,
    quarantine: Annotated[
        bool,
        Option("--quarantine", help="Move bad shards to quarantine/; `generate` replaces them."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify a run: check every shard against its footer and replay every game.

    Problems are listed by file and game, and the exit code is 1.

    Example: selfplay dataset verify examples/tiny
    """
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.verify import quarantine_shards
    from selfplay.storage.verify import verify as problems_of

    dataset = Dataset(run)
    problems = list(problems_of(dataset))
    moved = quarantine_shards(dataset, problems) if quarantine else []
    positions = 0 if problems else dataset.positions
    if as_json:
        record = {
            "ok": not problems,
            "shards": len(dataset.files),
            "positions": positions,
            "problems": [asdict(problem) for problem in problems],
            "set_aside": moved,
        }
        print(json.dumps(record))
    else:
        for problem in problems:
            print(printable(str(problem)))
        for name in moved:
            print(f"moved to quarantine: {name}")
        verdict = f"{len(problems):,} problems" if problems else "no problems"
        print(f"{run}: {len(dataset.files):,} shards, {positions:,} positions: {verdict}")
    if problems:
        raise typer.Exit(1)


@app.command()
def export(
    run: Run,
    out: Annotated[Path, Option(metavar="FILE", help="Output file.")],
    form: Annotated[
        Literal["csv-012", "csv-signed", "csv"],
        Option("--format", help="Columns of the file; csv: all columns of the run."),
    ] = "csv-012",
) -> None:
    """Export a run as a CSV file.

    csv-012: cell_0 to cell_41, row by row from the top left, values 0, 1, 2. csv-signed: pos_0 to
    pos_41, column by column from the bottom left, values 0, 1, -1. The move, counted from 0, is
    the last column.

    Example: selfplay dataset export examples/tiny --out tiny.csv
    """
    from selfplay.storage.csv_io import export as export_csv
    from selfplay.storage.dataset import Dataset

    print(f"{out}: {export_csv(Dataset(run), form, out):,} positions")


@app.command("import")
def import_(
    file: Annotated[Path, Argument(metavar="FILE", help="CSV file, csv-012 or csv-signed.")],
    run: Run,
    size: BoardSize = "7x6",
    connect: Connect = 4,
) -> None:
    """Import a CSV file of positions and moves as a run.

    A bad line is reported by its number, and nothing is imported.

    Example: selfplay dataset import examples/tiny.csv imported
    """
    from selfplay.storage.csv_io import import_csv
    from selfplay.storage.location import Location

    dataset = import_csv(file, Location(run), Board.parse(size, connect))
    print(f"{run}: {dataset.positions:,} positions")


@app.command()
def merge(
    runs: Annotated[list[str], Argument(metavar="RUN", help="Runs to merge.")],
    out: Annotated[str, Option(metavar="RUN", help="Output run.")],
) -> None:
    """Merge several runs into one. Duplicate games are kept once.

    Example: selfplay dataset merge examples/tiny examples/tiny --out merged
    """
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.location import Location
    from selfplay.storage.merge import games_with_rows
    from selfplay.storage.merge import merge as merge_runs

    datasets = [Dataset(run) for run in runs]
    merged = merge_runs(datasets, Location(out))
    removed = games_with_rows(datasets) - merged.games
    counts = f"{merged.games:,} games, {merged.positions:,} positions"
    print(f"{out}: {counts}; {removed:,} duplicate games removed")


@app.command()
def split(
    run: Run,
    out: Annotated[Path, Option(metavar="FOLDER", help="Output folder.")],
    test: Annotated[float, Option(help="Share of positions in the test set.")] = 0.2,
) -> None:
    """Split a run into train.parquet and test.parquet; no position, nor its mirror, is in both.

    Example: selfplay dataset split examples/tiny --test 0.2 --out parts
    """
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.split import write_split

    if not 0 < test < 1:
        raise InputError(f"test is a share between 0 and 1, not {test:g}")
    for name, count in write_split(Dataset(run), test, out).items():
        print(f"{name}: {count:,} positions")


@app.command()
def card(run: Run) -> None:
    """Write the data card: README.md in the run, as the Hugging Face hub reads it.

    It describes the run, the command that makes it again, its columns, statistics, and the label
    quality of a sample.

    Example: selfplay dataset card examples/tiny
    """
    from selfplay.cli.data_card import write_card
    from selfplay.storage.dataset import Dataset

    print(f"{run}/{write_card(Dataset(run))}")
