"""`selfplay solve`: the exact scores of positions."""

from __future__ import annotations

import json
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from selfplay.cli.options import BoardSize, BookFile, Connect, Json, Memory, Positions
from selfplay.cli.positions import for_each_position
from selfplay.game.board import Board

if TYPE_CHECKING:
    from selfplay.game.position import Position


def solve(
    positions: Positions = None,
    seconds: Annotated[float | None, Option(help="Time limit per position.")] = None,
    nodes: Annotated[int | None, Option(help="Node limit per position.")] = None,
    memory: Memory = 64,
    book: BookFile = None,
    size: BoardSize = "7x6",
    connect: Connect = 4,
    as_json: Json = False,
) -> None:
    """Solve positions: the exact score of every move.

    0 is a draw. A win scores 1 with the last stone and more if sooner; a loss is negative. A score
    not found within --seconds or --nodes is unknown. Boards need (rows + 1) x columns <= 64.

    Example: selfplay solve 44444321122
    """
    from selfplay.cli.compilation import announce_compilation
    from selfplay.solver.book import Book
    from selfplay.solver.solver import Limit, Solver
    from selfplay.web.records import solution_record

    board = Board.parse(size, connect)
    limit = Limit(nodes=nodes, seconds=seconds)
    announce_compilation(board)
    solver = Solver(board, memory=memory, book=Book.load(book) if book else "shipped")

    def act(text: str, position: Position) -> None:
        start, before = perf_counter(), solver.nodes
        solver.forget()
        scores = solver.scores(position, limit)
        searched, taken = solver.nodes - before, perf_counter() - start
        record = solution_record(text, position, scores, searched, taken)
        if as_json:
            print(json.dumps(record), flush=True)
        else:
            show(position, scores, record["score"], record["best"])
            speed = f"{searched:,} nodes in {taken:.3f} s ({searched / taken:,.0f}/s)"
            print(speed if searched else "no search needed", end="\n\n")

    raise typer.Exit(for_each_position(positions, board, act))


def show(
    position: Position,
    scores: tuple[int | None, ...],
    score: int | None,
    best: tuple[int, ...] | None,
) -> None:
    """Print the board, a score below every column, and the result."""
    from selfplay.cli.rendering import PLAYER_NAMES, board_text, console

    out, legal = console(), position.legal_moves
    texts = [
        str(value) if value is not None else "?" if column in legal else "-"
        for column, value in enumerate(scores)
    ]
    out.print(board_text(position))
    out.print("\ncolumn", "".join(f"{column:4}" for column in range(1, len(texts) + 1)))
    out.print("score ", "".join(f"{text:>4}" for text in texts))
    mover = PLAYER_NAMES[position.to_move]
    if score is None or best is None:
        out.print(f"\n{mover} to move; unknown within the limit")
    else:
        result = "wins" if score > 0 else "loses" if score < 0 else "draws"
        columns = ", ".join(str(column + 1) for column in best)
        out.print(f"\n{mover} to move {result}; best: {columns}")
