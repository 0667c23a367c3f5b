"""The life cycle of a job: what ends it decides what its command says."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass

import pytest

from selfplay.errors import InputError
from selfplay.pipeline.job import Ended, StoppedError, run_job
from selfplay.workers.executors.interface import Failed, JobError
from selfplay.workers.executors.local import LocalExecutor
from selfplay.workers.executors.stopping import Stop


@dataclass(frozen=True)
class Count:
    done: int
    failed: tuple[Failed, ...] = ()

    @property
    def is_complete(self) -> bool:
        return self.done == 3


class Shown:
    def __init__(self) -> None:
        self.counts: list[int] = []
        self.stops = 0

    def show(self, progress: Count) -> None:
        self.counts.append(progress.done)

    def stopping(self) -> None:
        self.stops += 1


def ended_after(
    act: Callable[[int], None], seconds: float | None = None
) -> tuple[Ended[Count], Shown]:
    """Run three steps, and `act` before each."""

    def steps(stop: Callable[[], bool]) -> Iterator[Count]:
        for number in range(3):
            act(number)
            if stop():
                return
            yield Count(number + 1)

    shown = Shown()
    ended = run_job(steps, Count(0), LocalExecutor(), nullcontext(shown), Stop(seconds))
    return ended, shown


def test_a_complete_job_raises_nothing() -> None:
    ended, shown = ended_after(lambda number: None)
    ended.raise_unless_complete("all")
    assert shown.counts == [1, 2, 3]


def test_an_error_before_the_first_step_is_raised() -> None:
    def fail(number: int) -> None:
        raise JobError("no memory")

    with pytest.raises(JobError, match=r"^no memory$"):
        ended_after(fail)


@pytest.mark.parametrize("kind", [JobError, InputError])
def test_an_error_later_says_what_is_done(kind: type[Exception]) -> None:
    def fail(number: int) -> None:
        if number == 2:
            raise kind("no memory")

    ended, _ = ended_after(fail)
    with pytest.raises(kind, match=r"^no memory; 2 of 3; resume$"):
        ended.raise_unless_complete(f"{ended.progress.done} of 3", "resume")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_ends_it_in_order_and_handlers_are_put_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    ended, shown = ended_after(lambda step: os.kill(os.getpid(), number) if step == 1 else None)
    assert (ended.was_interrupted, shown.counts, shown.stops) == (True, [1], 1)
    with pytest.raises(StoppedError, match=r"^stopped: 1 of 3$"):
        ended.raise_unless_complete("1 of 3")
    assert signal.getsignal(number) == before


def test_the_second_signal_ends_it_at_once() -> None:
    def twice(step: int) -> None:
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGINT)
        pytest.fail("went on")

    ended, shown = ended_after(twice)
    assert (ended.was_interrupted, shown.stops) == (True, 1)


def test_failed_items_fail_the_job_and_time_that_is_over_does_not() -> None:
    with pytest.raises(JobError, match=r"^2 of 3$"):
        Ended(Count(2, (Failed(1, "broken"),))).raise_unless_complete("2 of 3")
    ended, _ = ended_after(lambda number: None, seconds=0)
    ended.raise_unless_complete("0 of 3")
    assert ended.progress.done == 0
