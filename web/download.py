"""A process of its own for every download: the rows of chosen games of a run, to stdout."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator

from selfplay.errors import InputError
from selfplay.storage.rows import Rows
from selfplay.storage.selection import write_selection
from selfplay.storage.watch import Watch
from selfplay.web.run_data import wanted_of
from selfplay.web.run_questions import RunQuestion

READY = b"+"
"""What it begins with if the run and the question are sound."""
_NICENESS = 5


def write(place: str, question: RunQuestion, form: str) -> None:
    watch = Watch(place)
    wanted = wanted_of(question, dataset := watch.look(0))

    def shards() -> Iterator[Rows]:
        dataset = watch.look()
        for shard in dataset.shards():
            if (rows := watch.read(dataset, shard)) is not None:
                yield rows

    with os.fdopen(os.dup(1), "wb") as out:
        out.write(READY)
        out.flush()
        write_selection(shards(), dataset.manifest, wanted, form, out)


def main() -> None:
    os.nice(_NICENESS)
    place, content, form = json.loads(sys.argv[1])
    try:
        write(place, RunQuestion.of(content), form)
    except (InputError, OSError):  # which the run's page says; or nobody reads
        os._exit(1)


if __name__ == "__main__":
    main()
