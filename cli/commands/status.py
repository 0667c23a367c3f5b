"""`selfplay status`: the progress of a run, read from its files."""

from __future__ import annotations

import json

from selfplay.cli.durations import duration
from selfplay.cli.options import Json, Run
from selfplay.web.records import status_record
from selfplay.wording import size


def status(run: Run, as_json: Json = False) -> None:
    """Show the progress of a run, from any machine that can read it.

    Example: selfplay status examples/tiny
    """
    from selfplay.cli.rendering import console, plain_table
    from selfplay.storage.dataset import Dataset
    from selfplay.workers.generation.status import status_of

    dataset = Dataset(run)
    now = status_of(dataset)
    wanted, about = now.positions_total, ""
    if wanted is not None and not now.is_complete:
        about = "about " if now.positions else "at least "
    if as_json:
        print(json.dumps(status_record(now)))
        return
    facts = [
        ("shards", f"{now.shards:,} of {about}{now.shards_expected:,}"),
        ("games", f"{now.games:,} of {about}{now.games_expected:,}"),
        ("positions", f"{now.positions:,}" + ("" if wanted is None else f" of {wanted:,}")),
        ("size", size(now.bytes)),
    ]
    if now.seconds_since_last is not None:
        facts.append(("last shard", f"{duration(now.seconds_since_last)} ago"))
    if now.positions_per_second is not None and not now.is_complete:
        facts.append(("speed", f"{now.positions_per_second:,.0f} positions/s"))
    if now.is_complete:
        remaining = "nothing, the run is complete"
    elif now.seconds_left is not None:
        remaining = duration(now.seconds_left)
    elif dataset.spec is None:
        remaining = "unknown: import, merge or record the missing shards again"
    elif not now.is_idle:
        remaining = "not known yet"
    else:
        command = dataset.spec.command_to_resume(run)
        remaining = f"unknown: nobody seems to work on it; resume with: {command}"
    facts.append(("remaining", remaining))
    console().print(plain_table(("", ""), facts))
