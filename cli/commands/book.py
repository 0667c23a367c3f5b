"""`selfplay book`: the opening book of the exact solver."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Annotated

import typer

from selfplay.cli.options import BoardSize, Connect, Json, Memory
from selfplay.errors import InputError
from selfplay.game.board import Board

app = typer.Typer(help="The opening book of the exact solver.")


@app.command("build")
def build(
    plies: Annotated[
        int,
        typer.Option("--plies", min=0, max=20, help="Maximum stones of a position in the book."),
    ],
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Where to; COLUMNSxROWS-K.npz.")
    ] = None,
    memory: Memory = 64,
    board: BoardSize = "7x6",
    connect: Connect = 4,
    as_json: Json = False,
) -> None:
    """Build an opening book: the exact score of every position with few stones.

    What is solved is kept in FILE.notes: the same command goes on after Ctrl-C or a crash. All
    cores are used. A book serves `selfplay solve --book FILE` and `perfect:book=FILE`.

    Example: selfplay book build --board 5x4 --plies 3 --out 5x4.npz
    """
    from selfplay.cli.players import announce_compilation
    from selfplay.cli.progress import progress
    from selfplay.solver.book import Book
    from selfplay.solver.book_builder import build as build_book

    geometry = Board.parse(board, connect)
    file = out or Path(f"{geometry.size}-{geometry.connect}.npz")
    notes = file.with_name(f"{file.name}.notes")
    announce_compilation(geometry)
    start = perf_counter()
    if file.exists():
        book = Book.load(file)
        if (book.board, book.plies) != (geometry, plies):
            raise InputError(
                f"{file} is the book of {book.board} with {book.plies} plies: remove it, or "
                "name another file with --out"
            )
    else:
        try:
            with progress("positions solved") as tell:
                book = build_book(geometry, plies, notes, memory=memory, progress=tell)
        except KeyboardInterrupt:
            print(f"selfplay: the same command goes on from {notes}", file=sys.stderr)
            raise
        book.save(file)
        notes.unlink()
    record = {
        "file": str(file),
        "board": geometry.size,
        "connect": connect,
        "plies": plies,
        "positions": len(book.keys),
        "bytes": file.stat().st_size,
        "seconds": perf_counter() - start,
    }
    if as_json:
        print(json.dumps(record))
    else:
        print(
            f"{file}: {len(book.keys):,} positions of {geometry} with up to {plies} stones, "
            f"{record['bytes']:,} bytes"
        )
