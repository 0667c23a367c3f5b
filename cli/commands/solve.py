"""`selfplay solve`: the exact scores of positions."""

from __future__ import annotations

import json
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer

from selfplay.cli.options import BoardSize, BookFile, Connect, Json, Memory, Positions
from selfplay.cli.positions import for_each_position
from selfplay.game.board import Board

if TYPE_CHECKING:
    from selfplay.game.position import Position


def solve(
    positions: Positions = None,
    seconds: Annotated[
        float | None, typer.Option("--seconds", help="Time limit per position.")
    ] = None,
    nodes: Annotated[int | None, typer.Option("--nodes", help="Node limit per position.")] = None,
    memory: Memory = 64,
    book: BookFile = None,
    board: BoardSize = "7x6",
    connect: Connect = 4,
    as_json: Json = False,
) -> None:
    """Solve positions: the exact score of every move.

    0 is a draw; a win is worth more the sooner it comes, 1 with one's very last stone; a loss as
    much less. Where a limit is reached the score is unknown, never a guess. For boards on which
    (rows + 1) x columns is at most 64.

    Example: selfplay solve 44444321122
    """
    from selfplay.cli.players import announce_compilation
    from selfplay.solver.book import Book
    from selfplay.solver.solver import Limit, Solver, best_of, complete

    geometry = Board.parse(board, connect)
    limit = Limit(nodes=nodes, seconds=seconds)
    announce_compilation(geometry)
    solver = Solver(geometry, memory=memory, book=Book.load(book) if book else "shipped")

    def act(text: str, position: Position) -> None:
        start, before = perf_counter(), solver.nodes
        solver.forget()
        scores = solver.scores(position, limit)
        best = best_of(complete(position, scores))
        record = {
            "position": text,
            "board": geometry.size,
            "connect": geometry.connect,
            "score": max(score for score in scores if score is not None) if best else None,
            "scores": scores,
            "best": best,
            "nodes": solver.nodes - before,
            "seconds": perf_counter() - start,
        }
        if as_json:
            print(json.dumps(record), flush=True)
        else:
            show(position, scores, best, solver.nodes - before, perf_counter() - start)

    raise typer.Exit(for_each_position(positions, geometry, act))


def show(
    position: Position,
    scores: tuple[int | None, ...],
    best: tuple[int, ...] | None,
    nodes: int,
    seconds: float,
) -> None:
    """The board, a score below every column, and what they mean."""
    from selfplay.cli.drawing import PLAYER_NAMES, board_text, console

    out = console()
    legal = set(position.legal_moves)
    out.print(board_text(position, last=position.moves[-1] if position.moves else None))
    words = [
        str(score) if score is not None else "?" if column in legal else "-"
        for column, score in enumerate(scores)
    ]
    out.print("\ncolumn", "".join(f"{column + 1:4}" for column in range(len(words))))
    out.print("score ", "".join(f"{word:>4}" for word in words))
    mover = PLAYER_NAMES[position.to_move]
    if best is None:
        out.print(f"\n{mover} to move; unknown within the limit")
    else:
        score = max(score for score in scores if score is not None)
        result = "wins" if score > 0 else "loses" if score < 0 else "draws"
        columns = ", ".join(str(column + 1) for column in best)
        out.print(f"\n{mover} to move {result}; best: {columns}")
    if nodes:
        out.print(f"{nodes:,} nodes in {seconds:.3f} s ({nodes / seconds:,.0f}/s)\n")
    else:
        out.print("known without a search\n")
