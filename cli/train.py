"""`selfplay train`: fit an ID3 tree to the positions of runs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli.options import Json

if TYPE_CHECKING:
    from storage.dataset import Dataset
    from train.fitting import Recipe, Report, Tell
    from train.model import Model


def train(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="The runs to learn from.")],
    out: Annotated[str, typer.Option("--out", metavar="MODEL", help="The file to write.")],
    target: Annotated[
        str,
        typer.Option("--target", help="candidate: is this the move; or move: which is it."),
    ] = "candidate",
    labels: Annotated[
        str,
        typer.Option("--labels", help="Right is the teacher's move, or optimal: each as good."),
    ] = "teacher",
    features: Annotated[
        str | None,
        typer.Option("--features", help="foresight, tactics or cells: what the tree sees."),
    ] = None,
    perspective: Annotated[
        str, typer.Option("--perspective", help="Cells of the mover, or absolute.")
    ] = "mover",
    mirror: Annotated[
        str, typer.Option("--mirror", help="augment, canonical or off: mirror images.")
    ] = "augment",
    criterion: Annotated[
        str, typer.Option("--criterion", help="entropy, gain_ratio or gini.")
    ] = "entropy",
    split: Annotated[
        str, typer.Option("--split", help="threshold, equals or multiway: a branch per value.")
    ] = "threshold",
    candidates: Annotated[
        str,
        typer.Option("--candidates", help="all, or quartiles of what has over ten values."),
    ] = "all",
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", help="Questions in a row.")
    ] = None,
    min_samples_leaf: Annotated[
        int, typer.Option("--min-samples-leaf", help="Rows in a leaf at least.")
    ] = 20,
    smoothing: Annotated[
        float,
        typer.Option("--smoothing", help="So many rows like its parent's fill a node up; 0: none."),
    ] = 400.0,
    min_gain: Annotated[
        float, typer.Option("--min-gain", help="What a question has to tell, in bits.")
    ] = 0.0,
    max_leaves: Annotated[int | None, typer.Option("--max-leaves", help="Leaves at most.")] = None,
    prune: Annotated[
        float | None, typer.Option("--prune", help="A share of the rows to prune by.")
    ] = None,
    duplicates: Annotated[
        str, typer.Option("--duplicates", help="merge positions that come up again, or keep.")
    ] = "merge",
    at_most: Annotated[
        int | None, typer.Option("--at-most", help="How often a position counts at most.")
    ] = None,
    test: Annotated[
        float, typer.Option("--test", help="The share to be examined on; 0 learns all.")
    ] = 0.2,
    test_split: Annotated[
        str, typer.Option("--test-split", help="By position, or order: which leaks.")
    ] = "position",
    distributed: Annotated[
        bool, typer.Option("--distributed", help="Spread the rows over workers of Ray.")
    ] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="So many; all cores, if not given.")
    ] = None,
    address: Annotated[
        str | None, typer.Option("--address", metavar="auto|HOST:PORT", help="Of this cluster.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Fit an ID3 tree to the positions of runs, and say how well it knows those it has not seen.

    Positions are divided so that none, nor its mirror image, is on both sides.

    Example: selfplay train examples/tiny --out model
    """
    from cli.progress import phases
    from storage.dataset import Dataset
    from train.fitting import Recipe
    from train.fitting import train as fit
    from train.model import ready_to_write

    options: dict[str, Any] = {
        "target": target,
        "labels": labels,
        "features": features,
        "perspective": perspective,
        "mirror": mirror,
        "criterion": criterion,
        "split": split,
        "candidates": candidates,
        "max_depth": max_depth,
        "min_samples_leaf": min_samples_leaf,
        "smoothing": smoothing,
        "min_gain": min_gain,
        "max_leaves": max_leaves,
        "prune": prune,
        "duplicates": duplicates,
        "at_most": at_most,
        "test": test,
        "test_split": test_split,
    }
    recipe = Recipe(**options)
    ready_to_write(out)
    datasets = [Dataset(run) for run in runs]
    with phases() as tell:
        if distributed:
            model, report = _fit_spread(datasets, recipe, workers, address, tell)
        else:
            model, report = fit(datasets, recipe, tell)
    model.save(out)
    if as_json:
        print(json.dumps(as_record(model, report, out)))
    else:
        show(report, out)


def _fit_spread(
    datasets: list[Dataset],
    recipe: Recipe,
    workers: int | None,
    address: str | None,
    tell: Tell,
) -> tuple[Model, Report]:
    from selfplay.machine import usable_cores
    from train.fitting import train_spread
    from workers.on_ray import OnRay

    count = workers or usable_cores()
    with OnRay(count, address).start():
        model, report, traffic = train_spread(datasets, recipe, count, tell)
    most = max(traffic.levels)
    print(
        f"{count} workers, {len(traffic.levels)} levels; {sum(traffic.levels) / 1e6:,.1f} MB "
        f"travelled, {most / 1e6:,.1f} MB for the widest level; {traffic.lost} workers were lost",
        file=sys.stderr,
    )
    return model, report


def as_record(model: Model, report: Report, out: str) -> dict[str, object]:
    """A training in the words of `--json`."""
    return {
        **asdict(report),
        "seconds": sum(report.seconds.values()),
        "seconds_by_phase": report.seconds,
        "model": out,
        "fingerprint": model.fingerprint,
    }


def show(report: Report, out: str) -> None:
    from cli.drawing import console, plain_table

    facts = [
        ("rows", f"{report.rows:,}, of which {report.test_rows:,} to be examined on"),
        ("different ones learned from", f"{report.unique_rows:,}"),
        ("leaves", f"{report.leaves:,}"),
        ("depth", f"{report.depth}"),
        ("right about those it has seen", f"{report.train_accuracy:.1%}"),
    ]
    if report.test_interval is not None:
        low, high = report.test_interval
        facts += [
            (
                "right about those it has not",
                f"{report.test_accuracy:.1%} ({low:.1%} to {high:.1%})",
            ),
            ("always the middle would be", f"{report.constant_accuracy:.1%}"),
        ]
    facts += [(name, f"{taken:.2f} s") for name, taken in report.seconds.items()]
    target = console()
    target.print(plain_table(("", ""), facts))
    if not report.test_rows:
        target.print(f"\n{out}")
        return
    columns = range(len(report.confusion))
    target.print("\nunseen rows, by the teacher's column and by the tree's")
    target.print(
        plain_table(
            ("teacher", *(str(column + 1) for column in columns)),
            [
                (str(column + 1), *(f"{count:,}" for count in report.confusion[column]))
                for column in columns
            ],
        )
    )
    target.print(f"\n{out}")
