"""`selfplay dataset`: inspect, verify, convert, merge and split runs."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from typer import Argument, Option

from selfplay.cli.options import BoardSize, Connect, Json, Plot, Run
from selfplay.errors import InputError, printable, quoted
from selfplay.game.board import Board
from selfplay.pipeline.job import StoppedError
from selfplay.signals import interrupting
from selfplay.web.records import quality_record, statistics_record
from selfplay.wording import counted

if TYPE_CHECKING:
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.label_quality import LabelQuality
    from selfplay.storage.statistics import Statistics
    from selfplay.storage.verify import Problem

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
        print(json.dumps(statistics_record(dataset, numbers)))
    else:
        show(dataset, numbers)


def show(dataset: Dataset, numbers: Statistics) -> None:
    from selfplay.cli.rendering import bar, console, has_unicode, plain_table

    out = console()
    results, strays = numbers.results, dataset.unexpected_files()
    without_rows = numbers.games_without_rows
    repeated = numbers.positions - numbers.unique_positions
    bytes_each = dataset.bytes / max(1, numbers.positions)
    facts = [
        ("board", str(dataset.board)),
        ("teacher", " and ".join(dataset.manifest.teachers) or "-"),
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
        (
            "exact labels",
            f"{numbers.exact_labels:,} ({numbers.exact_labels / max(1, numbers.positions):.0%}): "
            "the move is proven to be optimal",
        ),
        *(
            [("unique openings", f"{numbers.unique_openings:,}")]
            if numbers.unique_openings is not None
            else []
        ),
        ("fingerprint", dataset.fingerprint),
    ]
    if games := results.games:
        wins, draws, losses = results.wins / games, results.draws / games, results.losses / games
        facts.append(("first player", f"wins {wins:.1%}, draws {draws:.1%}, loses {losses:.1%}"))
    if lengths := numbers.lengths:
        known = sum(lengths.values())
        mean = sum(length * count for length, count in lengths.items()) / known
        of = f", in {counted(known, 'game')} whose last position is here" * (known < games)
        facts.append(
            ("game length", f"{min(lengths)} to {max(lengths)} stones, {mean:.1f} on average{of}")
        )
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
        Option(
            "--quarantine",
            help="Move bad shards to quarantine/; `selfplay generate RUN` makes them again.",
        ),
    ] = False,
    as_json: Json = False,
) -> None:
    """Verify a run: check every shard against its footer and replay every game.

    Problems are listed by file and game, and the exit code is 1. So it is of an unfinished run,
    whose present shards are verified.

    Example: selfplay dataset verify examples/tiny
    """
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.verify import quarantine_shards, sound_positions
    from selfplay.storage.verify import verify as problems_of

    dataset = Dataset(run)
    found = list(problems_of(dataset))
    problems = [problem for problem in found if not problem.is_open]
    positions = sound_positions(dataset, problems)
    moved = quarantine_shards(dataset, problems) if quarantine else []
    total, wanted = dataset.manifest.shards, dataset.manifest.positions
    there = len(dataset.planned_files)
    is_open = len(found) > len(problems) or (not problems and positions < (wanted or 0))
    if as_json:
        record = {
            "ok": not (problems or is_open),
            "shards": there,
            "shards_total": total,
            "positions": positions,
            "unfinished": is_open,
            "problems": [asdict(problem) for problem in problems],
            "set_aside": moved,
        }
        print(json.dumps(record))
    else:
        for problem in problems:
            print(printable(str(problem)))
        for name in moved:
            print(f"moved to quarantine: {name}")
        lost = {problem.shard for problem in problems} - {None, *dataset.planned_files}
        resume = "" if dataset.spec is None else dataset.spec.command_to_resume(run)
        if resume and (moved or lost):
            print(f"`{resume}` makes {'them' if len({*moved, *lost}) > 1 else 'it'} again")
        verdict = counted(len(problems), "problem") if problems else "no problems"
        shards, sound = counted(there, "shard"), " in sound ones" if problems else ""
        if is_open:
            shards = f"{there:,} of {counted(total, 'shard')}"
            verdict += f"{'' if problems else ' in them'}; {_unfinished(dataset, found)}"
            verdict += f": resume with {resume}"
        print(f"{run}: {shards}, {counted(positions, 'position')}{sound}: {verdict}")
    if problems or is_open:
        raise typer.Exit(1)


def _unfinished(dataset: Dataset, found: Sequence[Problem]) -> str:
    """What an unfinished run has not got yet."""
    there = dataset.planned_files
    said = []
    if any(problem.is_open and problem.shard in there for problem in found):
        said.append("the last lacks games, since the run was extended")
    if later := dataset.manifest.shards - max(there, default=-1) - 1:
        said.append(f"{later:,} {'is' if later == 1 else 'are'} not made yet")
    return " and ".join(said) or f"it is to have {dataset.manifest.positions:,} positions"


@app.command()
def export(
    run: Run,
    out: Annotated[str, Option(metavar="FILE", help="Output file or its URI.")],
    form: Annotated[
        Literal["csv", "csv-012", "csv-signed", "jsonl"],
        Option("--format", help="Format of the file; csv and jsonl have all columns of the run."),
    ] = "csv",
) -> None:
    """Export a run as a CSV file, or as JSON lines.

    csv: all columns, lists as one column per element. jsonl: all columns, a JSON object per line.
    The others have the position and the move alone, and can be imported. csv-012: cell_0 to
    cell_41, row by row from the top left, values 0, 1, 2. csv-signed: pos_0 to pos_41, column by
    column from the bottom left, values 0, 1, -1. The move, counted from 0, is their last column.

    Example: selfplay dataset export examples/tiny --out tiny.csv
    """
    from selfplay.cli.outputs import output_file
    from selfplay.storage.csv_io import check_ending
    from selfplay.storage.csv_io import export as export_rows
    from selfplay.storage.dataset import Dataset

    check_ending(out, form)
    dataset = Dataset(run)
    place, name = output_file(out)
    print(f"{out}: {counted(export_rows(dataset, form, place, name), 'position')}")


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
    print(f"{run}: {counted(dataset.positions, 'position')}")


@app.command()
def merge(
    runs: Annotated[list[str], Argument(metavar="RUN", help="Runs to merge.")],
    out: Annotated[str, Option(metavar="RUN", help="Output run.")],
) -> None:
    """Merge several runs into one. Duplicate games are kept once, parts of a split are joined.

    Example: selfplay dataset merge examples/tiny examples/tiny --out merged
    """
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.location import Location
    from selfplay.storage.merge import games_with_rows, teachers
    from selfplay.storage.merge import merge as merge_runs

    datasets = [Dataset(run) for run in runs]
    merged = merge_runs(datasets, Location(out))
    if len(different := teachers(datasets)) > 1:
        said = "; the merged run does not say which of them labelled a row"
        print(f"different teachers: {' and '.join(different)}{said}", file=sys.stderr)
    removed = games_with_rows(datasets) - merged.games
    print(f"{out}: {merged.sizes}; {counted(removed, 'duplicate game')} removed")


@app.command()
def split(
    run: Run,
    out: Annotated[str, Option(metavar="FOLDER", help="Folder or URI of the two new runs.")],
    test: Annotated[float, Option(help="Share of positions in the test set.")] = 0.2,
) -> None:
    """Split a run into two, FOLDER/train and FOLDER/test, that share no position.

    All rows of a position and of its mirror image are in the same one. Both are runs for `info`,
    `verify`, `train` and the other commands.

    Example: selfplay dataset split examples/tiny --test 0.2 --out parts
    """
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.split import write_split

    if not 0 < test < 1:
        raise InputError(f"test is a share between 0 and 1, not {test:g}")
    for part in write_split(Dataset(run), test, out):
        print(f"{part.place}: {counted(part.positions, 'position')}")


@app.command()
def quality(
    run: Run,
    sample: Annotated[int, Option(min=1, max=100_000, help="Number of positions to solve.")] = 1000,
    seed: Annotated[int, Option(help="Random seed of the sample.")] = 1,
    as_json: Json = False,
) -> None:
    """Measure label quality: how often the teacher's move is a mistake, against perfect play.

    The sample follows from the rows, the seed and its size, and has as many positions of each
    phase of the game as the run, in proportion. Results stay in quality.json of the run: the same
    command resumes after Ctrl-C, and `selfplay dataset card` takes them over.

    Example: selfplay dataset quality examples/tiny --sample 1000
    """
    from selfplay.cli.compilation import announce_compilation
    from selfplay.cli.progress import progress
    from selfplay.storage.dataset import Dataset
    from selfplay.storage.label_quality import NAME, LabelQuality

    dataset = Dataset(run)
    measured = LabelQuality(dataset, sample, seed)
    announce_compilation(dataset.board)
    with progress("positions solved", in_logs=True) as update, interrupting():
        try:
            measured.measure(update)
        except KeyboardInterrupt:
            raise StoppedError(_stopped(measured, run, sample, seed)) from None
    if not measured.is_saved:
        print(f"{run} cannot be written to: {NAME} was not saved", file=sys.stderr)
    if as_json:
        print(json.dumps(quality_record(dataset, measured)))
    else:
        _show_quality(measured, dataset)


def _stopped(measured: LabelQuality, run: str, sample: int, seed: int) -> str:
    done = f"{measured.sample - len(measured.missing):,} of {measured.sample:,} positions"
    again = ["selfplay", "dataset", "quality", run, "--sample", f"{sample}", "--seed", f"{seed}"]
    kept = f"resume with: {shlex.join(again)}" if measured.is_saved else "none could be saved"
    return f"stopped: {done} are solved; {kept}"


def _show_quality(measured: LabelQuality, dataset: Dataset) -> None:
    from selfplay.cli.rendering import MISTAKES, console, mistake_cells, plain_table
    from selfplay.storage.card import LEAST, left_out

    out, counts = console(), measured.counts
    of = f"{measured.sample:,} of {dataset.positions:,} positions, seed {measured.seed}"
    solved, contested = counts.all.positions, counts.all.contested
    bases = f"mistakes: of {contested:,} contested positions; optimal: of all {solved:,} solved"
    out.print(f"{of}\n{bases}\n")
    rows = [
        (*mistake_cells(phase, found), f"{found.positions:,}")
        for phase, found in counts.rows().items()
        if found.positions >= LEAST
    ]
    out.print(plain_table((*MISTAKES, "solved"), rows))
    for sentence in left_out(measured):
        out.print(f"\n{sentence}.", style="dim")


@app.command()
def card(run: Run) -> None:
    """Write the data card: README.md in the run, as the Hugging Face hub reads it.

    It describes the run, the command that makes it again, its columns, statistics, and the label
    quality if `selfplay dataset quality` has measured it.

    Example: selfplay dataset card examples/tiny
    """
    from selfplay.cli.data_card import write_card
    from selfplay.storage.dataset import Dataset

    print(f"{run}/{write_card(Dataset(run))}")
