"""`selfplay bench`: what the parts of a search are worth."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from cli.options import BoardSize, Connect, Json
from selfplay.board import Board

app = typer.Typer(help="What the parts of a search are worth, measured here and now.")

_ROUNDS = 3


@app.command("minimax")
def minimax(
    board: BoardSize = "16x16",
    connect: Connect = 4,
    depth: Annotated[int, typer.Option("--depth", min=1, max=256, help="Plies ahead.")] = 4,
    evaluation: Annotated[
        str, typer.Option("--eval", help="segments, threats or windows.")
    ] = "segments",
    position: Annotated[str, typer.Option("--position", help="Columns played before.")] = "",
    as_json: Json = False,
) -> None:
    """Minimax with and without what makes it fast.

    All rows choose a move of the same value. "Runs" are the lines of cells that were looked at to
    evaluate positions; the time is the best of three.

    Example: selfplay bench minimax --board 9x7 --depth 3
    """
    from cli.players import build
    from cli.positions import unfinished
    from selfplay.specs import PlayerSpec

    geometry = Board.parse(board, connect)
    start = unfinished(position, geometry)
    rows = []
    for name, options in ABLATION.items():
        spec = PlayerSpec.parse(f"minimax:{depth},eval={evaluation},{options}")
        player = build(spec, geometry)
        decisions = [player.decide(start) for _ in range(_ROUNDS)]
        rows.append((name, spec, min(decisions, key=lambda decision: decision.seconds)))
    if as_json:
        for name, spec, found in rows:
            evaluations, proven = found.evaluations or (), found.proven or ()
            record = {
                "search": name,
                "player": str(spec),
                "nodes": found.nodes,
                "leaves": found.leaves,
                "runs": found.runs,
                "seconds": found.seconds,
                "move": found.move,
                "evaluation": evaluations[found.move],
                "proven": proven[found.move],
            }
            print(json.dumps(record))
        return
    from cli.drawing import console, plain_table

    slowest = rows[0][2].seconds
    table = [
        (
            name,
            f"{found.nodes:,}",
            f"{found.leaves:,}",
            f"{found.runs:,}",
            f"{found.seconds:.4f}",
            f"{slowest / found.seconds:,.0f}x",
        )
        for name, _, found in rows
    ]
    out = console()
    out.print(f"minimax, {geometry}, depth {depth}, eval={evaluation}\n")
    out.print(plain_table(("", "nodes", "leaves", "runs", "seconds", "faster"), table))


# Each row with the options of its player; the first is minimax as in the textbook.
ABLATION = {
    "plain": "pruning=off,order=left,skip_empty=off,incremental=off",
    "pruning": "pruning=on,skip_empty=off,incremental=off",
    "empty runs skipped": "pruning=off,incremental=off",
    "both": "incremental=off",
    "both, sums kept up to date": "incremental=on",
}
