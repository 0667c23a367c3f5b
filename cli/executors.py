"""The executor that a command's options ask for, and the items it failed to do."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from selfplay.errors import InputError

if TYPE_CHECKING:
    from selfplay.workers.executors.interface import Executor, Failed

STOPPING = "finishing the {} in progress; Ctrl-C again stops at once"
"""Printed at the first Ctrl-C."""


def check_executor_options(workers: int | None, address: str | None) -> None:
    """Refuse options that contradict each other."""
    if address is not None and workers == 0:
        raise InputError("--workers 0 runs in this process: it does not go with --address")


def executor_of(workers: int | None, address: str | None) -> Executor:
    """The executor for `--workers` and `--address`."""
    if workers == 0:
        from selfplay.workers.executors.local import LocalExecutor

        return LocalExecutor()
    from selfplay.machine import usable_cores
    from selfplay.workers.executors.ray import RayExecutor

    return RayExecutor(workers or (None if address else usable_cores()), address)


def print_failures(failed: Iterable[Failed], item: str) -> None:
    """Print why items failed, with their tracebacks under `--debug`."""
    for failure in failed:
        print(f"{item} {failure.item}: {failure.reason}", file=sys.stderr)
        if failure.traceback and "--debug" in sys.argv[1:2]:
            print(failure.traceback, file=sys.stderr)
