"""`selfplay train`: train an ID3 decision tree on runs."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from selfplay.cli.options import Json, takes_options_of
from selfplay.options import read_options
from selfplay.train.config import TrainingConfig
from selfplay.wording import counted

if TYPE_CHECKING:
    from selfplay.storage.dataset import Dataset
    from selfplay.train.model import Model
    from selfplay.train.trainer import OnProgress, TrainingReport


@takes_options_of(TrainingConfig)
def train(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Runs to train on.")],
    out: Annotated[str, typer.Option("--out", metavar="MODEL", help="Model file to write.")],
    given: dict[str, Any],
    config_file: Annotated[
        Path | None,
        typer.Option("--config", metavar="FILE", help="TOML file with any of the options above."),
    ] = None,
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
    from selfplay.cli.compilation import announce_compilation
    from selfplay.cli.progress import phases
    from selfplay.storage.dataset import Dataset
    from selfplay.train.model import ready_to_write
    from selfplay.train.trainer import train_model
    from selfplay.train.training_set import left_out_text, refuse_repeated

    options = {} if config_file is None else read_options(config_file, TrainingConfig, "a config")
    config = TrainingConfig(**options | given)
    ready_to_write(out)
    datasets = [Dataset(run) for run in runs]
    refuse_repeated(datasets)
    announce_compilation(datasets[0].board)
    with phases() as tell:
        if distributed:
            model, report = _train_distributed(datasets, config, workers, address, tell)
        else:
            model, report = train_model(datasets, config, tell)
    model.save(out)
    if sum(report.left_out.values()) > report.rows:
        told = f"{left_out_text(report.left_out)}; only {report.rows:,} are used"
        print(told, file=sys.stderr)
    if as_json:
        print(json.dumps(as_record(model, report, out)))
    else:
        show(report, out)


def _train_distributed(
    datasets: list[Dataset],
    config: TrainingConfig,
    workers: int | None,
    address: str | None,
    tell: OnProgress,
) -> tuple[Model, TrainingReport]:
    from selfplay.machine import usable_cores
    from selfplay.train.trainer import train_distributed
    from selfplay.workers.executors.ray import RayExecutor

    count = workers or usable_cores()
    with RayExecutor(count, address).start():
        model, report, traffic = train_distributed(datasets, config, count, tell)
    most = max(traffic.levels)
    print(
        f"{counted(count, 'worker')}, {counted(len(traffic.levels), 'level')}; "
        f"{sum(traffic.levels) / 1e6:,.1f} MB travelled, {most / 1e6:,.1f} MB for the widest "
        f"level; workers lost: {traffic.lost}",
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
    from selfplay.cli.rendering import console, plain_table

    facts = report.facts
    facts += [(name, f"{taken:.2f} s") for name, taken in report.seconds.items()]
    target = console()
    target.print(plain_table(("", ""), facts))
    if not report.test_rows:
        target.print(f"\n{out}")
        return
    target.print("\ntest set: the teacher's column against the tree's")
    target.print(plain_table(*report.confusion_table))
    target.print(f"\n{out}")
