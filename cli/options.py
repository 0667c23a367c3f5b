"""Options that mean the same in every command that has them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BoardSize = Annotated[
    str, typer.Option("--board", metavar="COLUMNSxROWS", help="Board size, 4x4 to 16x16.")
]
Connect = Annotated[
    int, typer.Option("--connect", metavar="K", help="Stones in a row that win, 3 to 6.")
]
Positions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[POSITION]...",
        help="Columns played, such as 44352. [default: the lines of stdin]",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]
Memory = Annotated[
    int, typer.Option("--memory", metavar="MB", help="Size of the transposition table.")
]
BookFile = Annotated[
    Path | None,
    typer.Option(
        "--book", metavar="FILE", help="Opening book from `selfplay book build`. [default: bundled]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object per line.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=0,
        help="Number of Ray workers; 0 runs without Ray. [default: all cores]",
    ),
]
Address = Annotated[
    str | None,
    typer.Option("--address", metavar="auto|HOST:PORT", help="Ray cluster to use."),
]
