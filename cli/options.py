"""Options that mean the same in every command that has them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

BoardSize = Annotated[
    str, typer.Option("--board", metavar="COLUMNSxROWS", help="The board, from 4x4 to 16x16.")
]
Connect = Annotated[
    int, typer.Option("--connect", metavar="K", help="How many in a line win, 3 to 6.")
]
Positions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[POSITION]...",
        help="Columns played, such as 44352; without any, the lines of stdin.",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="All randomness comes from this number.")]
Memory = Annotated[
    int, typer.Option("--memory", metavar="MB", help="What the table of positions may take.")
]
BookFile = Annotated[
    Path | None,
    typer.Option(
        "--book", metavar="FILE", help="An opening book of your own, from `selfplay book build`."
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write JSON, one object a line.")]
Workers = Annotated[
    int | None,
    typer.Option("--workers", min=0, help="Processes: all cores; 0 is this process alone."),
]
Address = Annotated[
    str | None,
    typer.Option("--address", metavar="auto|HOST:PORT", help="Work on this Ray cluster."),
]
