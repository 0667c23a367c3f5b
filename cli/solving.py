"""Solve the chunks of a file, such as a book: show the progress, and say how to resume."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from selfplay.cli.compilation import announce_compilation
from selfplay.cli.executors import executor_of, print_failures
from selfplay.cli.job_progress import Words, bar_or_lines, outlook, workers_of
from selfplay.wording import counted

if TYPE_CHECKING:
    from selfplay.workers.solving.build import Progress, SolvingJob

    AnyProgress = Progress[Any]


def solve_chunks(
    job: SolvingJob, progress: AnyProgress, workers: int | None, address: str | None
) -> None:
    """Solve what is missing; an interrupted build is a StoppedError, a failed one a JobError."""
    from selfplay.pipeline.job import run_job
    from selfplay.workers.executors.stopping import Stop
    from selfplay.workers.solving.build import build

    if progress.is_over:
        return
    announce_compilation(job.board)
    job.compile()
    executor = executor_of(workers, address)
    ended = run_job(
        partial(build, job, progress, executor), progress, executor, bar_or_lines(WORDS), Stop()
    )
    print_failures(progress.failed, "chunk")
    ended.raise_unless_complete(
        f"{progress.positions:,} of {progress.positions_total:,} positions are solved",
        f"the same command resumes from {progress.parts.folder}" if progress.solved else "",
    )


def _counts(progress: AnyProgress) -> str:
    solved, left = len(progress.solved), progress.chunks_left
    chunks = counted(solved, "chunk")
    if left is not None:
        chunks = f"{solved:,} of {counted(solved + left, 'chunk')}"
    return ", ".join([chunks, *outlook(len(progress.failed), progress.seconds_left)])


WORDS: Words[AnyProgress] = Words(
    "chunks",
    lambda progress: (progress.positions, progress.positions_total, "positions"),
    _counts,
    lambda progress: ", ".join(workers_of(progress)),
)
