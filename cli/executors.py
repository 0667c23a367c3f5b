"""Who does the work of a command: this process, all cores of this machine, or a cluster."""

from __future__ import annotations

from typing import TYPE_CHECKING

from selfplay.errors import InputError

if TYPE_CHECKING:
    from selfplay.workers.executors.interface import Executor


def refuse_both(workers: int | None, address: str | None) -> None:
    """Refuse options of which one or the other can be meant."""
    if address is not None and workers == 0:
        raise InputError("--workers 0 is this process: it does not go with --address")


def executor_of(workers: int | None, address: str | None) -> Executor:
    """What `--workers` and `--address` ask for."""
    if workers == 0:
        from selfplay.workers.executors.local import LocalExecutor

        return LocalExecutor()
    from selfplay.machine import usable_cores
    from selfplay.workers.executors.ray import RayExecutor

    return RayExecutor(workers or (None if address else usable_cores()), address)
