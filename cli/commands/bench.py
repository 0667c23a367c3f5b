"""`selfplay bench`: what the parts of a search are worth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from selfplay.cli.options import BoardSize, Connect, Json, Seed
from selfplay.game.board import Board

app = typer.Typer(help="Benchmark the parts of a search on this machine.")

_ROUNDS = 3


@app.command("minimax")
def minimax(
    board: BoardSize = "16x16",
    connect: Connect = 4,
    depth: Annotated[
        int, typer.Option("--depth", min=1, max=256, help="Search depth in plies.")
    ] = 4,
    evaluation: Annotated[
        str, typer.Option("--eval", help="Heuristic: segments, threats or windows.")
    ] = "segments",
    position: Annotated[
        str, typer.Option("--position", help="Start position, such as 44352.")
    ] = "",
    as_json: Json = False,
) -> None:
    """Minimax with and without its optimizations.

    All rows choose a move of the same value. "Runs" are the lines of cells that were looked at to
    evaluate positions; the time is the best of three.

    Example: selfplay bench minimax --board 9x7 --depth 3
    """
    from selfplay.cli.players import build
    from selfplay.cli.positions import unfinished
    from selfplay.registry import PlayerSpec

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
                "runs": found.lines,
                "seconds": found.seconds,
                "move": found.move,
                "evaluation": evaluations[found.move],
                "proven": proven[found.move],
            }
            print(json.dumps(record))
        return
    from selfplay.cli.drawing import console, plain_table

    slowest = rows[0][2].seconds
    table = [
        (
            name,
            f"{found.nodes:,}",
            f"{found.leaves:,}",
            f"{found.lines:,}",
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


@app.command("rollouts")
def rollouts(
    seconds: Annotated[float, typer.Option("--seconds", help="Seconds per move.")] = 0.5,
    step: Annotated[
        int, typer.Option("--step", min=1, help="Step between rows of the table, in stones.")
    ] = 4,
    positions: Annotated[
        int, typer.Option("--positions", min=1, help="Positions per row of the table.")
    ] = 5,
    board: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw it: .svg, .png or .pdf.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Measure the rollouts per move in a fixed time, by stones on the board.

    Positions are of sensible random play. Results are not proven, so that every search takes its
    time; an iteration that comes to the end of the game within the tree needs no rollout.

    Example: selfplay bench rollouts --seconds 0.05 --positions 1 --step 8
    """
    from selfplay.cli.players import build
    from selfplay.cli.progress import progress
    from selfplay.game.openings import RandomPlies
    from selfplay.registry import PlayerSpec

    geometry = Board.parse(board, connect)
    spec = PlayerSpec.parse(f"mcts:seconds={seconds},proven=off")
    if plot is not None:
        from selfplay.cli.plots import refuse_what_cannot_be_drawn

        refuse_what_cannot_be_drawn(plot)
    player = build(spec, geometry)
    counts = range(0, geometry.cells, step)
    found = []
    with progress("positions") as tell:
        for line, stones in enumerate(counts):
            openings = RandomPlies(geometry, stones, stones, sensible=True)
            decisions = []
            for number in range(positions):
                tell(line * positions + number, len(counts) * positions)
                player.new_game(seed)
                decisions.append(player.decide(openings.opening(seed, number)))
            found.append(
                {
                    "stones": stones,
                    "rollouts": sum(d.rollouts for d in decisions) / positions,
                    "iterations": sum(d.iterations for d in decisions) / positions,
                    "seconds": sum(d.seconds for d in decisions) / positions,
                }
            )
    if plot is not None:
        from selfplay.cli.plots import draw_rollouts

        title = f"{spec}, {geometry}"
        draw_rollouts(list(counts), [row["rollouts"] for row in found], title, plot)
    if as_json:
        for row in found:
            print(json.dumps(row))
        return
    from selfplay.cli.drawing import console, plain_table

    out = console()
    out.print(f"{spec}, {geometry}, the mean of {positions} positions each\n")
    table = [
        (
            f"{row['stones']}",
            f"{row['rollouts']:,.0f}",
            f"{row['iterations']:,.0f}",
            f"{row['seconds']:.3f}",
        )
        for row in found
    ]
    out.print(plain_table(("stones", "rollouts", "iterations", "seconds"), table))
