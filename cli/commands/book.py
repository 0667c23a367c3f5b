"""`selfplay book`: build an opening book for the exact solver."""

from __future__ import annotations

import json
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from typer import Option

from selfplay.cli.executors import check_executor_options
from selfplay.cli.options import Address, BoardSize, Connect, Json, Memory, Workers
from selfplay.cli.outputs import require_file_place
from selfplay.errors import InputError
from selfplay.game.board import Board

app = typer.Typer(help="The opening book of the exact solver.")


@app.command()
def build(
    plies: Annotated[int, Option(min=0, max=20, help="Maximum stones of a position in the book.")],
    out: Annotated[
        Path | None, Option(metavar="FILE", help="Output file. [default: COLUMNSxROWS-K.npz]")
    ] = None,
    memory: Memory = 64,
    size: BoardSize = "7x6",
    connect: Connect = 4,
    workers: Workers = None,
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Build an opening book: the exact score of every position with few stones.

    Every worker solves chunks of positions with a table of its own (--memory). Solved chunks are
    kept in FILE.parts: the same command resumes, with any number of workers, and removes them at
    the end. Ctrl-C finishes the current chunks, a second Ctrl-C stops at once. Use the book with
    `selfplay solve --book FILE` or `perfect:book=FILE`.

    Example: selfplay book build --board 5x4 --plies 3 --out 5x4.npz --workers 0
    """
    from selfplay.cli.solving import solve_chunks
    from selfplay.solver.book import Book
    from selfplay.solver.book_builder import book_of
    from selfplay.workers.book.build import BookJob, BookParts, BookProgress

    board = Board.parse(size, connect)
    check_executor_options(workers, address)
    file = out or Path(f"{board.size}-{board.connect}.npz")
    require_file_place(file)
    parts = BookParts(file, board, plies)
    start = perf_counter()
    if file.exists():
        book = Book.load(file)
        if (book.board, book.plies) != (board, plies):
            raise InputError(
                f"{file} is the book of {book.board} with {book.plies} plies: remove it, or "
                "name another file with --out"
            )
    else:
        progress = BookProgress.of(parts)
        solve_chunks(BookJob(board, memory, plies), progress, workers, address)
        book = book_of(board, plies, progress.scores)
        book.save(file)
    parts.remove()
    positions, size_in_bytes = len(book.keys), file.stat().st_size
    if as_json:
        record = {
            "file": str(file),
            "board": board.size,
            "connect": connect,
            "plies": plies,
            "positions": positions,
            "bytes": size_in_bytes,
            "seconds": perf_counter() - start,
        }
        print(json.dumps(record))
    else:
        content = f"{positions:,} positions of {board} with up to {plies} stones"
        print(f"{file}: {content}, {size_in_bytes:,} bytes")
