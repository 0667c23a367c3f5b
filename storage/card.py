"""The data card: a README.md that says what a run is, how it was made, and how good it is.

Its head is what the Hugging Face hub reads, so that a run's folder can be uploaded as it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from time import perf_counter

import numpy as np

from selfplay.errors import printable
from selfplay.game.position import Position
from selfplay.seeding import Stream, derive
from selfplay.solver.mistakes import MistakeCount, MistakesByPhase
from selfplay.solver.solver import Limit, Solver
from selfplay.storage.dataset import Dataset
from selfplay.storage.rows import schema
from selfplay.storage.spec import Spec
from selfplay.storage.statistics import Statistics
from selfplay.storage.verify import refuse_impossible

NAME = "README.md"

SAMPLE = 300
_MOST_NODES = 20_000_000

MEANINGS = {
    "game": "index of the game in the run",
    "ply": "stones on the board",
    "board": "row by row from the top left: 0 empty, 1 first player's stone, 2 second player's",
    "move": "the teacher's move, a column counted from 0",
    "visits": "the teacher's visits per column; 0 where it has none",
    "value": "the teacher's value per column for the side to move, from -1 to 1",
    "proven": "the game value per column where the teacher knows it for certain: 1, 0, -1",
    "played": "the move that was really played next; null where none was",
    "outcome": "how the game ended for the side to move: 1, 0, -1; null if it was not played out",
}


def label_quality(
    dataset: Dataset, tell: Callable[[int, int], None], seconds: float | None = None
) -> dict[str, MistakeCount]:
    """Judge a sample of the labels by the exact solver, as many as there is time for; none where
    the board is not for it."""
    board = dataset.board
    if not board.fits_word:
        return {}
    end = None if seconds is None else perf_counter() + seconds
    solver = Solver(board)
    stream = Stream(derive("label quality", dataset.fingerprint))
    positions = [row for row in _sample(dataset, stream) if row[0].ply >= 8]
    stream.shuffle(positions)
    found = MistakesByPhase()
    for number, (position, move) in enumerate(positions):
        tell(number, len(positions))
        left = None if end is None else end - perf_counter()
        if left is not None and left <= 0:
            break
        solver.forget()
        limit = Limit(nodes=_MOST_NODES, seconds=left)
        values = {c: solver.value(position.play(c), limit) for c in position.legal_moves}
        if None in values.values():
            continue
        known = {column: -value for column, value in values.items() if value is not None}
        found.add(position.ply, known.values(), known[move])
    return found.by_phase


def _sample(dataset: Dataset, stream: Stream) -> list[tuple[Position, int]]:
    total = dataset.positions
    wanted = sorted({stream.below(total) for _ in range(SAMPLE)}) if total else []
    found: list[tuple[Position, int]] = []
    before = 0
    for shard in dataset.shards():
        count = dataset.footers[shard].rows
        inside = [number - before for number in wanted if before <= number < before + count]
        if inside:
            rows = dataset.read(shard, refuse_impossible)[np.array(inside)]
            for cells, move in zip(rows.board.tolist(), rows.move.tolist(), strict=True):
                found.append((Position.from_cells(cells, dataset.board), move))
        before += count
    return found


def text(dataset: Dataset, found: Statistics, quality: Mapping[str, MistakeCount]) -> str:
    """The card."""
    described = dataset.description
    blocks = [
        "---\n"
        "license: cc0-1.0\n"
        "task_categories:\n- tabular-classification\n"
        "tags:\n- connect-four\n- self-play\n"
        f"size_categories:\n- {_size_category(found.positions)}\n"
        "configs:\n- config_name: default\n  data_files: shards/*.parquet\n"
        "---",
        f"# Connect Four: {found.positions:,} labelled positions of {described.board}",
        _origin(dataset),
        "## Counts\n\n"
        + _table(
            ("", ""),
            [
                ("games", f"{found.games:,}"),
                ("positions", f"{found.positions:,}"),
                ("different positions, mirror images apart", f"{found.unique_positions:,}"),
                ("different openings, mirror images apart", f"{found.unique_openings:,}"),
                (
                    "games won, drawn, lost by the first player",
                    f"{found.results.wins:,}, {found.results.draws:,}, {found.results.losses:,}",
                ),
                ("shards", f"{len(dataset.shards()):,} of {described.shards:,}"),
                ("fingerprint", f"`{dataset.fingerprint}`"),
            ],
        ),
        "## Columns\n\n"
        + _table(
            ("column", "type", "meaning"),
            [
                (
                    f"`{column.name}`",
                    f"`{column.type}`".replace("element: ", "").replace(" not null", ""),
                    MEANINGS[column.name],
                )
                for column in schema(described.board)
            ],
        )
        + f"\n\nschema_version {described.schema_version}",
    ]
    if quality:
        blocks.append(
            "## Quality of the labels\n\nA sample, judged by an exact solver. A move is optimal if "
            "it keeps the value of the game; a mistake can be made in contested positions "
            "alone.\n\n"
            + _table(
                ("stones", "judged", "optimal", "contested", "mistakes in contested"),
                [
                    (
                        phase,
                        f"{count.positions}",
                        f"{100 * count.optimal_share:.1f} %" if count.positions else "",
                        f"{count.contested}",
                        f"{100 * count.mistake_rate:.1f} %" if count.contested else "",
                    )
                    for phase, count in quality.items()
                ],
            )
        )
    blocks.append(
        "## Use\n\n"
        '```python\nimport pyarrow.dataset as ds\n\nds.dataset("shards").to_table()\n```\n\n'
        "Positions of one game, and openings that many games share, repeat: split by position, not "
        "by row. `selfplay dataset split` does.\n\n## Licence\n\nCC0 1.0: no rights reserved."
    )
    return printable("\n\n".join(blocks) + "\n")  # some of it was written by strangers


def command_of(spec: Spec, place: str) -> str:
    """The command that makes such a run."""
    words = ["selfplay", "generate", place]
    default = Spec()
    for name in Spec.__slots__:
        value = getattr(spec, name)
        if name in ("schema_version", "opening_digest") or value == getattr(default, name):
            continue
        words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


def _origin(dataset: Dataset) -> str:
    described = dataset.description
    made = ", ".join(f"{name} {value}" for name, value in described.made_with.items())
    if described.spec is None:
        return f"Where it comes from: `{dict(described.source or {})}`\n\nMade with {made}."
    again = (
        "The same command gives the same rows on any machine and any number of cores"
        if described.is_repeatable
        else "A player goes by the clock: the same command gives other rows each time"
    )
    name = str(dataset.place).rsplit("/", 1)[-1]
    return f"    {command_of(described.spec, name)}\n\n{again}.\n\nMade with {made}."


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [header, tuple("---" for _ in header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _size_category(rows: int) -> str:
    for limit, name in (
        (10**3, "n<1K"),
        (10**4, "1K<n<10K"),
        (10**5, "10K<n<100K"),
        (10**6, "100K<n<1M"),
        (10**7, "1M<n<10M"),
    ):
        if rows < limit:
            return name
    return "10M<n<100M" if rows < 10**8 else "n>100M"
