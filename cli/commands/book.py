"""`selfplay book`: build an opening book for the exact solver."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer
from typer import Option

from selfplay.cli.options import BoardSize, Connect, Json, Memory
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
    as_json: Json = False,
) -> None:
    """Build an opening book: the exact score of every position with few stones.

    Progress is kept in FILE.notes: the same command resumes after Ctrl-C or a crash. It uses all
    cores. Use the book with `selfplay solve --book FILE` or `perfect:book=FILE`.

    Example: selfplay book build --board 5x4 --plies 3 --out 5x4.npz
    """
    from selfplay.cli.compilation import announce_compilation
    from selfplay.cli.progress import progress
    from selfplay.solver.book import Book
    from selfplay.solver.book_builder import build as build_book

    board = Board.parse(size, connect)
    file = out or Path(f"{board.size}-{board.connect}.npz")
    notes = file.with_name(f"{file.name}.notes")
    announce_compilation(board)
    start = perf_counter()
    if file.exists():
        book = Book.load(file)
        if (book.board, book.plies) != (board, plies):
            raise InputError(
                f"{file} is the book of {book.board} with {book.plies} plies: remove it, or "
                "name another file with --out"
            )
    else:
        try:
            with progress("positions solved") as update:
                book = build_book(board, plies, notes, memory=memory, progress=update)
        except KeyboardInterrupt:
            print(f"selfplay: the same command resumes from {notes}", file=sys.stderr)
            raise
        book.save(file)
        notes.unlink()
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
