"""`selfplay evaluation`: build an evaluation set for any board."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Option

from selfplay.cli.executors import check_executor_options
from selfplay.cli.options import Address, BoardSize, Connect, Json, Memory, Seed, Workers
from selfplay.cli.outputs import require_file_place
from selfplay.errors import InputError, quoted
from selfplay.game.board import Board

if TYPE_CHECKING:
    from selfplay.train.evaluation.positions import EvaluationSet
    from selfplay.workers.evaluation_set.build import SetParts, SetProgress

app = typer.Typer(help="The positions of `selfplay evaluate`.")

MOST_POSITIONS = 100_000


@app.command()
def build(
    out: Annotated[Path, Option(metavar="FILE", help="Output file, such as 8x7.npz.")],
    positions: Annotated[
        int, Option(min=1, max=MOST_POSITIONS, help="Number of contested positions.")
    ] = 2000,
    plies: Annotated[
        str | None,
        Option(
            metavar="LEAST-MOST",
            help="Stones of a position. [default: 8-30 on 7x6, 22-40 on 8x7]",
        ),
    ] = None,
    seed: Seed = 0,
    memory: Memory = 64,
    size: BoardSize = "7x6",
    connect: Connect = 4,
    workers: Workers = None,
    address: Address = None,
    as_json: Json = False,
) -> None:
    """Build an evaluation set: contested positions with the exact score of every move.

    The positions are distinct up to mirror images. A fifth each of those tried comes from random
    moves, sensible play, a weak search against itself and against greedy, and play that overlooks
    the other side's next moves as people do. Half of them, chosen by a hash, are the final half.

    The fewer stones, the longer a position takes to solve: choose --plies for large boards.
    Solved chunks are kept in FILE.parts: the same command resumes, with any number of workers, and
    removes them at the end. Use the set with `selfplay evaluate PLAYER --set FILE`.

    Example: selfplay evaluation build --board 5x4 --positions 50 --out 5x4.npz --workers 0
    """
    from selfplay.train.evaluation.positions import EvaluationSet
    from selfplay.workers.evaluation_set.build import SetParts, recipe
    from selfplay.workers.evaluation_set.candidates import Candidates

    board = Board.parse(size, connect)
    if not board.fits_word:
        raise InputError(
            f"evaluation sets need boards that fit 64 bits, (rows + 1) x columns: {size} does not"
        )
    check_executor_options(workers, address)
    require_file_place(out)
    candidates = Candidates(board, _plies_of(plies, board), seed)
    parts = SetParts(out, candidates)
    start = perf_counter()
    if out.exists():
        found = EvaluationSet.load(out)
        wanted = (board, recipe(candidates), positions)
        if (found.board, found.recipe, len(found)) != wanted:
            raise InputError(f"{out} is another evaluation set: remove it, or name another file")
    else:
        found = _build(parts, positions, memory, workers, address)
        found.save(out)
    parts.remove()
    assert found.sources is not None
    sources = Counter(found.sources.tolist())
    halves = {"development": len(found.development), "final": len(found.final)}
    if as_json:
        record = {
            "file": str(out),
            "board": board.size,
            "connect": connect,
            "recipe": found.recipe,
            "positions": len(found),
            **halves,
            "sources": sources,
            "bytes": out.stat().st_size,
            "seconds": perf_counter() - start,
        }
        print(json.dumps(record))
    else:
        print(f"{out}: {len(found):,} contested positions of {board}, {found.recipe}")
        for counts in (sources, halves):
            print(", ".join(f"{count:,} {name}" for name, count in counts.items()))


def _plies_of(text: str | None, board: Board) -> range:
    if text is None:
        least = max(min(8, board.cells // 2), board.cells - 34)
        return range(least, board.cells * 5 // 7 + 1)
    match = re.fullmatch(r"([0-9]{1,3})(?:-([0-9]{1,3}))?", text.strip())
    if match is None:
        raise InputError(f"plies are written 8-30 or 12, not {quoted(text)}")
    return range(int(match[1]), int(match[2] or match[1]) + 1)


def _build(
    parts: SetParts, positions: int, memory: int, workers: int | None, address: str | None
) -> EvaluationSet:
    from selfplay.cli.solving import solve_chunks
    from selfplay.train.evaluation.positions import EvaluationSet
    from selfplay.workers.evaluation_set.build import SetJob, SetProgress, recipe
    from selfplay.workers.evaluation_set.candidates import SOURCES

    candidates = parts.candidates
    progress = SetProgress.wanting(parts, positions)
    job = SetJob(parts.board, memory, candidates.plies, candidates.seed)
    solve_chunks(job, progress, workers, address)
    if progress.is_exhausted:
        _refuse_exhausted(progress)
    return EvaluationSet.of_solved(
        parts.board,
        [(own, mask) for own, mask, *_ in progress.rows],
        [scores for _, _, _, *scores in progress.rows],
        [SOURCES[source] for _, _, source, *_ in progress.rows],
        recipe(candidates),
    )


def _refuse_exhausted(progress: SetProgress) -> None:
    plies = progress.parts.candidates.plies
    where = f"of {progress.parts.board} with {plies.start}-{plies.stop - 1} stones"
    if not progress.found:
        progress.parts.remove()
        raise InputError(f"no contested position {where} was found: choose other --plies")
    raise InputError(
        f"only {len(progress.found):,} contested positions {where} were found: take "
        f"--positions {len(progress.found)}, or other --plies"
    )
