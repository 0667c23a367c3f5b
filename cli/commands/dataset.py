"""`selfplay dataset`: what is in a run, whether it is right, and other forms of it."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast, get_args

import typer

from selfplay.cli.options import BoardSize, Connect, Json
from selfplay.errors import InputError, printable, quoted
from selfplay.game.board import Board

if TYPE_CHECKING:
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.statistics import Statistics

_STRAYS_SHOWN = 5

app = typer.Typer(help="Inspect, verify, convert, merge and split runs.")

Run = Annotated[
    str, typer.Argument(metavar="RUN", help="A folder or a URI: s3://…, gs://…, file://….")
]
Out = Annotated[Path, typer.Option("--out", metavar="FILE", help="The file to write.")]


@app.command("info")
def info(
    run: Run,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw it, too: .svg or .png.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print statistics of a run: games, positions, results, the teacher's moves.

    Example: selfplay dataset info examples/tiny
    """
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.statistics import statistics

    dataset = Dataset(run)
    found = statistics(dataset)
    if plot is not None:
        from selfplay.cli.plots import draw

        draw(found, dataset.board, plot)
    if as_json:
        print(json.dumps(as_record(dataset, found)))
    else:
        show(dataset, found)


def as_record(dataset: Dataset, found: Statistics) -> dict[str, object]:
    """A run in the words of `--json`."""
    spec = dataset.spec
    return {
        **asdict(found),
        "board": dataset.board.size,
        "connect": dataset.board.connect,
        "shards": len(dataset.shards()),
        "missing_shards": len(dataset.missing()),
        "strays": dataset.strays(),
        "bytes": dataset.bytes,
        "fingerprint": dataset.fingerprint,
        "spec_hash": dataset.description.identity,
        "spec": None if spec is None else asdict(spec),
        "source": dataset.description.source,
    }


def show(dataset: Dataset, found: Statistics) -> None:
    from selfplay.cli.drawing import bar, console, has_unicode, plain_table

    out = console()
    unicode = has_unicode(out)
    spec, results = dataset.spec, found.results
    shards = len(dataset.shards())
    size = dataset.bytes
    repeated = found.positions - found.unique_positions
    facts = [
        ("board", str(dataset.board)),
        ("teacher", "-" if spec is None else spec.teacher),
        ("shards", f"{shards:,} of {dataset.description.shards:,}"),
        (
            "games",
            f"{found.games:,}"
            + (
                f", {found.games_without_rows:,} of them without a position"
                if found.games_without_rows
                else ""
            ),
        ),
        ("positions", f"{found.positions:,}, {size / max(1, found.positions):.1f} bytes each"),
        (
            "unique positions",
            f"{found.unique_positions:,} (mirror images apart; {repeated:,} come up again)",
        ),
        ("unique openings", f"{found.unique_openings:,}"),
        ("fingerprint", dataset.fingerprint),
    ]
    if results.games:
        lengths = found.lengths
        mean = sum(length * count for length, count in lengths.items()) / results.games
        facts += [
            (
                "first player",
                f"wins {results.wins / results.games:.1%}, draws "
                f"{results.draws / results.games:.1%}, loses {results.losses / results.games:.1%}",
            ),
            ("game length", f"{min(lengths)} to {max(lengths)} stones, {mean:.1f} on average"),
        ]
    if dataset.strays():
        shown = [quoted(name) for name in dataset.strays()[:_STRAYS_SHOWN]]
        more = len(dataset.strays()) - len(shown)
        facts.append(("strays", ", ".join(shown) + (f" and {more:,} more" if more else "")))
    out.print(plain_table(("", ""), facts))
    total, most = max(1, sum(found.moves)), max(1, *found.moves)
    out.print("\nthe teacher's columns")
    out.print(
        plain_table(
            ("column", "positions", "share", ""),
            [
                (
                    str(column + 1),
                    f"{count:,}",
                    f"{count / total:.1%}",
                    bar(count / most, 40, unicode=unicode),
                )
                for column, count in enumerate(found.moves)
            ],
        )
    )
    out.print("\npositions that come up again, by stones")
    out.print(
        plain_table(
            ("stones", "positions", "unique", ""),
            [
                (
                    str(ply),
                    f"{count:,}",
                    f"{found.unique_by_ply.get(ply, 0):,}",
                    bar(1 - found.unique_by_ply.get(ply, 0) / count, 40, unicode=unicode),
                )
                for ply, count in found.by_ply.items()
                if found.unique_by_ply.get(ply, 0) < count
            ],
        )
    )


@app.command("verify")
def verify(
    run: Run,
    quarantine: Annotated[
        bool,
        typer.Option("--quarantine", help="Set bad files aside: they are then made again."),
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify a run: check every shard against its footer and replay every game.

    Problems are listed by file and game, and the exit code is 1.

    Example: selfplay dataset verify examples/tiny
    """
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.verify import set_aside
    from selfplay.storage.verify import verify as problems_of

    dataset = Dataset(run)
    problems = list(problems_of(dataset))
    aside = set_aside(dataset, problems) if quarantine else []
    positions = 0 if problems else dataset.positions
    if as_json:
        print(
            json.dumps(
                {
                    "ok": not problems,
                    "shards": len(dataset.files),
                    "positions": positions,
                    "problems": [asdict(problem) for problem in problems],
                    "set_aside": aside,
                }
            )
        )
    else:
        for problem in problems:
            print(printable(str(problem)))
        for name in aside:
            print(f"set aside: {name}")
        verdict = f"{len(problems):,} things are wrong" if problems else "all is right"
        print(f"{run}: {len(dataset.files):,} shards, {positions:,} positions: {verdict}")
    if problems:
        raise typer.Exit(1)


@app.command("export")
def export(
    run: Run,
    out: Out,
    form: Annotated[
        str, typer.Option("--format", help="csv-012, csv-signed, or csv: all columns.")
    ] = "csv-012",
) -> None:
    """Write a run as a CSV file.

    csv-012 has cell_0 to cell_41, row by row from the top left, 0, 1, 2; csv-signed has pos_0 to
    pos_41, column by column from the bottom left, 0, 1, -1; both then the move, counted from 0.

    Example: selfplay dataset export examples/tiny --out tiny.csv
    """
    from selfplay.storage.csv_io import Format
    from selfplay.storage.csv_io import export as export_csv
    from selfplay.storage.dataset import Dataset

    if form not in get_args(Format):
        raise InputError(f"format is one of {', '.join(get_args(Format))}, not {quoted(form)}")
    count = export_csv(Dataset(run), cast("Format", form), out)
    print(f"{out}: {count:,} positions")


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="csv-012 or csv-signed.")],
    run: Run,
    board: BoardSize = "7x6",
    connect: Connect = 4,
) -> None:
    """Import a CSV file of positions and moves as a run.

    A bad line is reported by its number, and nothing is imported.

    Example: selfplay dataset import examples/tiny.csv imported
    """
    from selfplay.storage.csv_io import import_csv
    from selfplay.storage.location import Location

    dataset = import_csv(file, Location(run), Board.parse(board, connect))
    print(f"{run}: {dataset.positions:,} positions")


@app.command("merge")
def merge(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="The runs.")],
    out: Annotated[str, typer.Option("--out", metavar="RUN", help="The run to write.")],
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
    double = games_with_rows(datasets) - merged.games
    print(f"{out}: {merged.games:,} games, {merged.positions:,} positions; {double:,} were double")


@app.command("split")
def split(
    run: Run,
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to.")],
    test: Annotated[
        float, typer.Option("--test", help="Share of positions in the test set.")
    ] = 0.2,
) -> None:
    """Split a run into train.parquet and test.parquet; no position, nor its mirror, is in both.

    Example: selfplay dataset split examples/tiny --test 0.2 --out parts
    """
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.split import write_parts

    if not 0 < test < 1:
        raise InputError(f"test is a share between 0 and 1, not {test:g}")
    for name, count in write_parts(Dataset(run), test, out).items():
        print(f"{name}: {count:,} positions")


@app.command("card")
def card(run: Run) -> None:
    """Write the data card: README.md in the run, as the Hugging Face hub reads it.

    It says what the run is, how to make it again, what its columns mean, what is in it, and how
    good a sample of its labels is.

    Example: selfplay dataset card examples/tiny
    """
    from selfplay.cli.cards import write_card
    from selfplay.storage.dataset import Dataset

    print(f"{run}/{write_card(Dataset(run))}")
