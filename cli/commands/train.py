"""`selfplay train`: train an ID3 decision tree on runs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from selfplay.cli.options import Json

if TYPE_CHECKING:
    from selfplay.storage.dataset import Dataset
    from selfplay.train.model import Model
    from selfplay.train.trainer import Tell, TrainingConfig, TrainingReport


def train(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs to train on.")],
    out: Annotated[str, typer.Option("--out", metavar="MODEL", help="Model file to write.")],
    target: Annotated[
        str,
        typer.Option(
            "--target",
            help="One row per legal move (candidate: played or not) or per position (move: which).",
        ),
    ] = "candidate",
    labels: Annotated[
        str,
        typer.Option(
            "--labels",
            help="Correct moves: the teacher's, or every optimal one (needs exact values).",
        ),
    ] = "teacher",
    features: Annotated[
        str | None,
        typer.Option("--features", help="What the tree sees: lookahead, tactics or cells."),
    ] = None,
    perspective: Annotated[
        str,
        typer.Option(
            "--perspective", help="Stones by side to move (mover) or by player (absolute)."
        ),
    ] = "mover",
    mirror: Annotated[
        str,
        typer.Option(
            "--mirror", help="Mirror images: augment adds them, canonical merges them, or off."
        ),
    ] = "augment",
    criterion: Annotated[
        str, typer.Option("--criterion", help="Split criterion: entropy, gain_ratio or gini.")
    ] = "entropy",
    split: Annotated[
        str,
        typer.Option("--split", help="threshold (<=), equals (=) or multiway: a branch per value."),
    ] = "threshold",
    thresholds: Annotated[
        str,
        typer.Option(
            "--thresholds",
            help="Thresholds to try: all, or quartiles for features with over ten values.",
        ),
    ] = "all",
    max_depth: Annotated[
        int | None, typer.Option("--max-depth", help="Maximum depth of the tree.")
    ] = None,
    min_samples_leaf: Annotated[
        int, typer.Option("--min-samples-leaf", help="Minimum rows in a leaf.")
    ] = 20,
    smoothing: Annotated[
        float,
        typer.Option(
            "--smoothing",
            help="Shrink class shares toward the parent's by this many pseudo-rows; 0: off.",
        ),
    ] = 400.0,
    min_gain: Annotated[
        float, typer.Option("--min-gain", help="Minimum information gain of a split, in bits.")
    ] = 0.0,
    max_leaves: Annotated[
        int | None, typer.Option("--max-leaves", help="Maximum number of leaves.")
    ] = None,
    prune: Annotated[
        float | None,
        typer.Option("--prune", help="Share of the rows held out for reduced-error pruning."),
    ] = None,
    duplicates: Annotated[
        str,
        typer.Option(
            "--duplicates", help="Repeated positions: merge them into one weighted row, or keep."
        ),
    ] = "merge",
    max_weight: Annotated[
        int | None,
        typer.Option("--max-weight", help="Cap on a position's weight when games repeat it."),
    ] = None,
    test: Annotated[
        float, typer.Option("--test", help="Share of positions in the test set; 0: train on all.")
    ] = 0.2,
    test_split: Annotated[
        str,
        typer.Option(
            "--test-split",
            help="Split the test set by position, or by row (leaks repeated positions).",
        ),
    ] = "position",
    distributed: Annotated[
        bool,
        typer.Option(
            "--distributed",
            help="Train on Ray workers when rows do not fit one machine; the tree is the same.",
        ),
    ] = False,
    workers: Annotated[
        int | None, typer.Option("--workers", min=1, help="Number of workers. [default: all cores]")
    ] = None,
    address: Annotated[
        str | None, typer.Option("--address", metavar="auto|HOST:PORT", help="Ray cluster to use.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Train an ID3 decision tree on runs, and report its accuracy on a test set.

    No position, nor its mirror image, is in both the training set and the test set.

    Example: selfplay train examples/tiny --out model
    """
    from selfplay.cli.progress import phases
    from selfplay.storage.dataset import Dataset
    from selfplay.train.model import ready_to_write
    from selfplay.train.trainer import TrainingConfig, train_model

    options: dict[str, Any] = {
        "target": target,
        "labels": labels,
        "features": features,
        "perspective": perspective,
        "mirror": mirror,
        "criterion": criterion,
        "split": split,
        "thresholds": thresholds,
        "max_depth": max_depth,
        "min_samples_leaf": min_samples_leaf,
        "smoothing": smoothing,
        "min_gain": min_gain,
        "max_leaves": max_leaves,
        "prune": prune,
        "duplicates": duplicates,
        "max_weight": max_weight,
        "test": test,
        "test_split": test_split,
    }
    recipe = TrainingConfig(**options)
    ready_to_write(out)
    datasets = [Dataset(run) for run in runs]
    with phases() as tell:
        if distributed:
            model, report = _fit_spread(datasets, recipe, workers, address, tell)
        else:
            model, report = train_model(datasets, recipe, tell)
    model.save(out)
    if as_json:
        print(json.dumps(as_record(model, report, out)))
    else:
        show(report, out)


def _fit_spread(
    datasets: list[Dataset],
    recipe: TrainingConfig,
    workers: int | None,
    address: str | None,
    tell: Tell,
) -> tuple[Model, TrainingReport]:
    from selfplay.machine import usable_cores
    from selfplay.train.trainer import train_distributed
    from selfplay.workers.executors.ray import RayExecutor

    count = workers or usable_cores()
    with RayExecutor(count, address).start():
        model, report, traffic = train_distributed(datasets, recipe, count, tell)
    most = max(traffic.levels)
    print(
        f"{count} workers, {len(traffic.levels)} levels; {sum(traffic.levels) / 1e6:,.1f} MB "
        f"travelled, {most / 1e6:,.1f} MB for the widest level; {traffic.lost} workers were lost",
        file=sys.stderr,
    )
    return model, report


def as_record(model: Model, report: TrainingReport, out: str) -> dict[str, object]:
    """A training in the words of `--json`."""
    return {
        **asdict(report),
        "seconds": sum(report.seconds.values()),
        "seconds_by_phase": report.seconds,
        "model": out,
        "fingerprint": model.fingerprint,
    }


def show(report: TrainingReport, out: str) -> None:
    from selfplay.cli.drawing import console, plain_table

    facts = [
        ("rows", f"{report.rows:,}, {report.test_rows:,} of them in the test set"),
        ("unique training rows", f"{report.unique_rows:,}"),
        ("leaves", f"{report.leaves:,}"),
        ("depth", f"{report.depth}"),
        ("training accuracy", f"{report.train_accuracy:.1%}"),
    ]
    if report.test_interval is not None:
        low, high = report.test_interval
        facts += [
            (
                "test accuracy",
                f"{report.test_accuracy:.1%} ({low:.1%} to {high:.1%})",
            ),
            ("always the middle column", f"{report.constant_accuracy:.1%}"),
        ]
    facts += [(name, f"{taken:.2f} s") for name, taken in report.seconds.items()]
    target = console()
    target.print(plain_table(("", ""), facts))
    if not report.test_rows:
        target.print(f"\n{out}")
        return
    columns = range(len(report.confusion))
    target.print("\ntest set: the teacher's column against the tree's")
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
