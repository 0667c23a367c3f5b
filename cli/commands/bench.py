"""`selfplay bench`: minimax without each of its optimizations, and rollouts per move."""

from __future__ import annotations

import json
from typing import Annotated, Literal

import typer
from typer import Option

from selfplay.cli.compilation import announce_compilation
from selfplay.cli.options import BoardSize, Connect, Json, Plot, Seed
from selfplay.game.board import Board

app = typer.Typer(help="Benchmark the parts of a search on this machine.")

_REPEATS = 3

# The options of each row; the first is textbook minimax.
ABLATION = {
    "plain": "pruning=off,order=left,skip_empty=off,incremental=off",
    "pruning": "pruning=on,skip_empty=off,incremental=off",
    "empty runs skipped": "pruning=off,incremental=off",
    "both": "incremental=off",
    "both, sums kept up to date": "incremental=on",
}


@app.command()
def minimax(
    size: BoardSize = "16x16",
    connect: Connect = 4,
    depth: Annotated[int, Option(min=1, max=256, help="Search depth in plies.")] = 4,
    heuristic: Annotated[
        Literal["segments", "threats", "windows"], Option("--eval", help="Heuristic.")
    ] = "segments",
    position: Annotated[str, Option(help="Start position, such as 44352.")] = "",
    as_json: Json = False,
) -> None:
    """Minimax with and without its optimizations.

    All rows choose a move of the same value. "Runs" are the lines of cells evaluated; the time is
    the best of three.

    Example: selfplay bench minimax --board 9x7 --depth 3
    """
    from selfplay.cli.positions import parse_unfinished
    from selfplay.registry import PlayerSpec

    board = Board.parse(size, connect)
    start = parse_unfinished(position, board)
    announce_compilation(board)
    rows = []
    for name, options in ABLATION.items():
        spec = PlayerSpec.parse(f"minimax:{depth},eval={heuristic},{options}")
        player = spec.build(board)
        decisions = [player.decide(start) for _ in range(_REPEATS)]
        rows.append((name, spec, min(decisions, key=lambda decision: decision.seconds)))
    if as_json:
        for name, spec, best in rows:
            evaluations, proven = best.evaluations or (), best.proven or ()
            record = {
                "search": name,
                "player": str(spec),
                "nodes": best.nodes,
                "leaves": best.leaves,
                "runs": best.lines,
                "seconds": best.seconds,
                "move": best.move,
                "evaluation": evaluations[best.move],
                "proven": proven[best.move],
            }
            print(json.dumps(record))
        return
    from selfplay.cli.rendering import console, plain_table

    slowest = rows[0][2].seconds
    table = [
        (
            name,
            *(f"{count:,}" for count in (best.nodes, best.leaves, best.lines)),
            f"{best.seconds:.4f}",
            f"{slowest / best.seconds:,.0f}x",
        )
        for name, _, best in rows
    ]
    out = console()
    out.print(f"minimax, {board}, depth {depth}, eval={heuristic}\n")
    out.print(plain_table(("", "nodes", "leaves", "runs", "seconds", "speedup"), table))


@app.command()
def rollouts(
    seconds: Annotated[float, Option(help="Seconds per move.")] = 0.5,
    step: Annotated[int, Option(min=1, help="Step between rows of the table, in stones.")] = 4,
    positions: Annotated[int, Option(min=1, help="Positions per row of the table.")] = 5,
    size: BoardSize = "7x6",
    connect: Connect = 4,
    seed: Seed = 0,
    plot: Plot = None,
    as_json: Json = False,
) -> None:
    """Measure the rollouts per move in a fixed time, by stones on the board.

    The search is `default-0.1`, so that figures of all versions compare. Positions come from
    sensible random play. Proofs are off, so that every search uses its time; an iteration that
    reaches the end of the game inside the tree needs no rollout.

    Example: selfplay bench rollouts --seconds 0.05 --positions 1 --step 8
    """
    from selfplay.cli.plots import check_plot_file, draw_rollouts
    from selfplay.cli.progress import progress
    from selfplay.game.openings import RandomPlies
    from selfplay.registry import PlayerSpec

    board = Board.parse(size, connect)
    spec = PlayerSpec.parse(f"default-0.1:seconds={seconds},proven=off")
    check_plot_file(plot)
    announce_compilation(board)
    player = spec.build(board)
    counts = range(0, board.cells, step)
    rows: list[dict[str, float]] = []
    with progress("positions") as update:
        for stones in counts:
            openings = RandomPlies(board, stones, stones, sensible=True)
            decisions = []
            for number in range(positions):
                update(len(rows) * positions + number, len(counts) * positions)
                player.new_game(seed)
                decisions.append(player.decide(openings.opening(seed, number)))
            means = {
                name: sum(getattr(decision, name) for decision in decisions) / positions
                for name in ("rollouts", "iterations", "seconds")
            }
            rows.append({"stones": stones, **means})
    if plot is not None:
        draw_rollouts(list(counts), [row["rollouts"] for row in rows], f"{spec}, {board}", plot)
    if as_json:
        for row in rows:
            print(json.dumps(row))
        return
    from selfplay.cli.rendering import console, plain_table

    table = [
        (
            f"{row['stones']}",
            f"{row['rollouts']:,.0f}",
            f"{row['iterations']:,.0f}",
            f"{row['seconds']:.3f}",
        )
        for row in rows
    ]
    out = console()
    out.print(f"{spec}, {board}, means of {positions} positions\n")
    out.print(plain_table(("stones", "rollouts", "iterations", "seconds"), table))
