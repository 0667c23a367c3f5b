"""Write a run's data card: a README.md with its origin, counts, columns and label quality.

The YAML header is for the Hugging Face hub, so a run's folder can be uploaded as it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from selfplay.errors import InputError, printable
from selfplay.storage.dataset import Dataset
from selfplay.storage.label_quality import LabelQuality
from selfplay.storage.origin import generate_command, name_of, source_text
from selfplay.storage.rows import schema
from selfplay.storage.statistics import Statistics

NAME = "README.md"
_MOST_BYTES = 1 << 20

MEANINGS = {
    "game": "index of the game in the run",
    "ply": "stones on the board",
    "board": "row by row from the top left: 0 empty, 1 first player's stone, 2 second player's",
    "move": "the teacher's move, a column counted from 0",
    "visits": "the teacher's visits per column; 0 if it has none",
    "value": "the teacher's value per column for the side to move, from -1 to 1",
    "proven": "the proven game value per column: 1, 0, -1; null if unknown",
    "played": "the move played next in the game; null if none",
    "outcome": "the game's result for the side to move: 1, 0, -1; null if it was not finished",
}

_TEMPLATE = """\
---
license: cc0-1.0
task_categories:
- tabular-classification
tags:
- connect-four
- self-play
size_categories:
- {size_category}
configs:
- config_name: default
  data_files: shards/*.parquet
---

# Connect Four: {positions:,} labelled positions of {board}

{origin}

## Counts

{counts}

## Columns

{columns}

schema_version {schema_version}
{quality}
## Use

```python
import pyarrow.dataset as ds

ds.dataset("shards").to_table()
```

Positions repeat within openings that many games share: split by position, not by row, as \
`selfplay dataset split` does.

## Licence

CC0 1.0: no rights reserved.
"""

LEAST = 30
"""Positions of a share that is shown: the interval of fewer says next to nothing."""

_QUALITY = """
## Label quality

{text}
"""

_MEASURED = """\
A sample of {sample:,} positions (seed {seed}; each phase in proportion to its positions), solved
exactly. A move is optimal if it keeps the game value; only in contested positions can a move be a
mistake. 95 % confidence intervals in brackets.{left_out}

{table}"""

_NOT_MEASURED = """\
Not measured. `selfplay dataset quality {name}` solves a sample of the positions exactly, and
`selfplay dataset card {name}` puts the result here."""

_SIZES = "n<1K", "1K<n<10K", "10K<n<100K", "100K<n<1M", "1M<n<10M", "10M<n<100M", "n>100M"


def render_card(dataset: Dataset, statistics: Statistics, quality: LabelQuality | None) -> str:
    """The card as Markdown."""
    manifest, positions, results = dataset.manifest, statistics.positions, statistics.results
    counts = [
        ("games", f"{statistics.games:,}"),
        ("positions", f"{positions:,}"),
        ("unique positions up to mirroring", f"{statistics.unique_positions:,}"),
        ("exact labels: moves proven to be optimal", f"{statistics.exact_labels:,}"),
        *_unique_openings(statistics),
        (
            "games won, drawn, lost by the first player",
            f"{results.wins:,}, {results.draws:,}, {results.losses:,}",
        ),
        ("shards", shards_made(len(dataset.shards()), manifest.shards)),
        ("fingerprint", f"`{dataset.fingerprint}`"),
    ]
    columns = [
        (
            f"`{column.name}`",
            f"`{column.type}`".replace("element: ", "").replace(" not null", ""),
            MEANINGS[column.name],
        )
        for column in schema(manifest.board)
    ]
    card = _TEMPLATE.format(
        size_category=_SIZES[min(max(len(str(positions)) - 3, 0), 6)],
        positions=positions,
        board=manifest.board,
        origin=_origin(dataset),
        counts=_table(("", ""), counts),
        columns=_table(("column", "type", "meaning"), columns),
        schema_version=manifest.schema_version,
        quality=_quality_section(dataset, quality),
    )
    return printable(card)  # parts of it come from untrusted files


def shards_made(count: int, of: int) -> str:
    return f"{count:,} of {of:,}"


def says_complete(dataset: Dataset) -> bool:
    """Whether the run's card was written when the run had all its shards."""
    try:
        card = dataset.place.read(NAME, _MOST_BYTES).decode("utf-8", "replace")
    except (OSError, InputError):
        return False
    shards = dataset.manifest.shards
    return f"| shards | {shards_made(shards, shards)} |" in card


def _unique_openings(statistics: Statistics) -> list[tuple[str, str]]:
    count = statistics.unique_openings
    return [] if count is None else [("unique openings up to mirroring", f"{count:,}")]


def _origin(dataset: Dataset) -> str:
    manifest = dataset.manifest
    made = "Made with " + ", ".join(f"{n} {value}" for n, value in manifest.made_with.items())
    if manifest.spec is None:
        text = source_text(manifest.source)
        teachers = ", ".join(f"`{name}`" for name in manifest.teachers)
        labels = f"\n\nLabels are by {teachers}." if teachers else ""
        return f"{text[0].upper()}{text[1:]}.{labels}\n\n{made}."
    again = (
        "The same command gives the same rows on any machine and any number of cores"
        if manifest.is_repeatable
        else "A player has a time limit: the same command gives different rows each time"
    )
    return f"    {generate_command(manifest.spec, name_of(dataset))}\n\n{again}.\n\n{made}."


def _quality_section(dataset: Dataset, quality: LabelQuality | None) -> str:
    if quality is None:
        if not dataset.board.fits_word:
            return ""
        return _QUALITY.format(text=_NOT_MEASURED.format(name=shlex.quote(name_of(dataset))))
    header = ("stones", "solved", "optimal", "contested", "mistakes in contested")
    rows = [
        (
            phase,
            f"{found.positions:,}",
            _share(found.optimal_share, found.optimal_interval, found.positions),
            f"{found.contested:,}",
            _share(found.mistake_rate, found.interval, found.contested),
        )
        for phase, found in quality.counts.rows().items()
        if found.positions >= LEAST
    ]
    text = _MEASURED.format(
        sample=quality.sample,
        seed=quality.seed,
        left_out="".join(f" {sentence}." for sentence in left_out(quality)),
        table=_table(header, rows),
    )
    return _QUALITY.format(text=text)


def left_out(quality: LabelQuality) -> list[str]:
    """What a table of label quality does not show."""
    few = [phase for phase, found in quality.counts.rows().items() if found.positions < LEAST]
    said = []
    if quality.unsolved:
        said.append(f"Too hard to solve, and not counted: {quality.unsolved:,}")
    if few:
        said.append(f"Not shown, with fewer than {LEAST} solved: {', '.join(few)}")
    return said


def _share(share: float, interval: tuple[float, float], count: int) -> str:
    if count < LEAST:
        return ""
    low, high = interval
    return f"{share:.1%} ({low:.1%} to {high:.1%})"


def _table(header: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
