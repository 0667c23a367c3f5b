"""Signal handlers for the length of a block."""

import os
import signal

import pytest

from selfplay.signals import STOPPING, deferring, handling, interrupting


def test_handlers_are_put_back() -> None:
    before, arrived = signal.getsignal(signal.SIGUSR1), []
    with handling({signal.SIGUSR1: lambda number, _frame: arrived.append(number)}):
        os.kill(os.getpid(), signal.SIGUSR1)
    assert arrived == [signal.SIGUSR1]
    assert signal.getsignal(signal.SIGUSR1) == before


def test_a_deferred_signal_arrives_after_the_block() -> None:
    arrived, done = [], False
    with handling({signal.SIGUSR1: lambda *_: arrived.append(done)}):
        with deferring(signal.SIGUSR1):
            os.kill(os.getpid(), signal.SIGUSR1)
            done = True
        assert arrived == [True]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_deferred_signal_without_a_handler_interrupts(number: signal.Signals) -> None:
    with pytest.raises(KeyboardInterrupt), deferring(number):
        os.kill(os.getpid(), number)


def test_an_ignored_signal_stays_ignored() -> None:
    with handling({signal.SIGUSR1: signal.SIG_IGN}), deferring(signal.SIGUSR1):
        os.kill(os.getpid(), signal.SIGUSR1)


@pytest.mark.parametrize("number", STOPPING, ids=str)
def test_what_stops_a_program_can_be_treated_as_ctrl_c(number: int) -> None:
    with pytest.raises(KeyboardInterrupt), interrupting():
        signal.raise_signal(number)
