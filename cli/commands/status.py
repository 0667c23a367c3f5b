"""`selfplay status`: the progress of a run, read from its files."""

from __future__ import annotations

import json
import shlex
from dataclasses import asdict

from selfplay.cli.durations import duration
from selfplay.cli.options import Json, Run


def status(run: Run, as_json: Json = False) -> None:
    """Show the progress of a run, from any machine that can read it.

    Example: selfplay status examples/tiny
    """
    from selfplay.cli.rendering import console, plain_table
    from selfplay.storage.dataset import Dataset
    from selfplay.workers.generation.status import status_of

    dataset = Dataset(run)
    now = status_of(dataset)
    if as_json:
        print(json.dumps({**asdict(now), "complete": now.is_complete}))
        return
    facts = [
        ("shards", f"{now.shards:,} of {now.shards_total:,}"),
        ("games", f"{now.games:,} of {now.games_total:,}"),
        (
            "positions",
            f"{now.positions:,}"
            + ("" if now.positions_total is None else f" of {now.positions_total:,}"),
        ),
        ("size", f"{now.bytes / 1e6:,.1f} MB"),
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
    else:
        words = shlex.join(["selfplay", "generate", run, *dataset.spec.words_to_resume])
        remaining = f"unknown: nobody seems to work on it; resume with: {words}"
    facts.append(("remaining", remaining))
    console().print(plain_table(("", ""), facts))
