"""`selfplay status`: how far a run is, from anywhere."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from selfplay.cli.durations import duration
from selfplay.cli.options import Json


def status(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="A folder or a URI: s3://…, gs://…, file://….")
    ],
    as_json: Json = False,
) -> None:
    """Show the progress of a run, from any machine that can read it.

    Example: selfplay status examples/tiny
    """
    from selfplay.cli.drawing import console, plain_table
    from selfplay.storage.dataset import Dataset
    from selfplay.workers.generation.status import status_of

    dataset = Dataset(run)
    found = status_of(dataset)
    if as_json:
        print(json.dumps({**asdict(found), "complete": found.is_complete}))
        return
    facts = [
        ("shards", f"{found.shards:,} of {found.shards_total:,}"),
        ("games", f"{found.games:,} of {found.games_total:,}"),
        ("positions", f"{found.positions:,}"),
        ("size", f"{found.bytes / 1e6:,.1f} MB"),
    ]
    if found.seconds_since_last is not None:
        facts.append(("last shard", f"{duration(found.seconds_since_last)} ago"))
    if found.positions_per_second is not None and not found.is_complete:
        facts.append(("speed", f"{found.positions_per_second:,.0f} positions/s"))
    if found.is_complete:
        facts.append(("to go", "nothing: it is complete"))
    elif found.seconds_left is not None:
        facts.append(("to go", duration(found.seconds_left)))
    elif dataset.spec is None:
        facts.append(("to go", "what is missing has to be imported, merged or recorded again"))
    else:
        facts.append(("to go", f"nobody seems to be at work: selfplay generate {run}"))
    console().print(plain_table(("", ""), facts))
