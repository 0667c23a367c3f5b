"""`selfplay book`: build an opening book for the exact solver."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from selfplay.cli.executors import check_executor_options, executor_of, print_failures
from selfplay.cli.job_progress import Words, bar_or_lines, outlook, workers_of
from selfplay.cli.options import Address, BoardSize, Connect, Json, Memory, Workers
from selfplay.cli.outputs import require_file_place
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.wording import counted

if TYPE_CHECKING:
    from selfplay.solver.book import Book
    from selfplay.workers.book.build import Progress
    from selfplay.workers.book.parts import Parts

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
    from selfplay.solver.book import Book
    from selfplay.workers.book.parts import Parts

    board = Board.parse(size, connect)
    check_executor_options(workers, address)
    file = out or Path(f"{board.size}-{board.connect}.npz")
    require_file_place(file)
    parts = Parts(file.with_name(f"{file.name}.parts"), board, plies)
    start = perf_counter()
    if file.exists():
        book = Book.load(file)
        if (book.board, book.plies) != (board, plies):
            raise InputError(
                f"{file} is the book of {book.board} with {book.plies} plies: remove it, or "
                "name another file with --out"
            )
    else:
        book = _build(parts, memory, workers, address)
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


def _build(parts: Parts, memory: int, workers: int | None, address: str | None) -> Book:
    from selfplay.cli.compilation import announce_compilation
    from selfplay.pipeline.job import run_job
    from selfplay.solver.book_builder import book_of
    from selfplay.workers.book.build import BookJob, Progress, build
    from selfplay.workers.executors.stopping import Stop

    progress = Progress.of(parts)
    if not progress.is_complete:
        announce_compilation(parts.board)
        job = BookJob(parts.board, parts.plies, memory)
        job.solver()  # refuses wrong options, and compiles once, before many workers need it
        executor = executor_of(workers, address)
        ended = run_job(
            partial(build, job, progress, executor), progress, executor, bar_or_lines(WORDS), Stop()
        )
        print_failures(progress.failed, "chunk")
        ended.raise_unless_complete(
            f"{progress.positions:,} of {parts.positions:,} positions are solved",
            f"the same command resumes from {parts.folder}" if progress.solved else "",
        )
    return book_of(parts.board, parts.plies, progress.scores)


def _counts(progress: Progress) -> str:
    chunks = f"{len(progress.solved):,} of {counted(progress.parts.chunks, 'chunk')}"
    return ", ".join([chunks, *outlook(len(progress.failed), progress.seconds_left)])


WORDS: Words[Progress] = Words(
    "chunks",
    lambda progress: (progress.positions, progress.parts.positions, "positions"),
    _counts,
    lambda progress: ", ".join(workers_of(progress)),
)
