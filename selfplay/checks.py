"""Checks of option values: each refuses a wrong one with a message that says what is right."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import isfinite

from selfplay.errors import InputError

_MAX_MEMORY = 64_000


def check_range(name: str, value: float | None, least: float, most: float | None = None) -> None:
    """None stands for an option that is not given."""
    if value is not None and not (least <= value and (most is None or value <= most)):
        end = "up" if most is None else f"to {most}"
        raise InputError(f"{name} is a number from {least} {end}, not {value}")


def check_seconds(seconds: float | None) -> None:
    if seconds is not None and not (isfinite(seconds) and seconds > 0):
        raise InputError(f"seconds is a time above 0, not {seconds:g}")


def check_choice(name: str, value: str, choices: Sequence[str]) -> None:
    if value not in choices:
        raise InputError(f"{name} is one of {', '.join(choices)}, not {value!r}")


def check_memory(memory: int) -> None:
    if not 1 <= memory <= _MAX_MEMORY:
        raise InputError(f"memory is a number of MB from 1 to {_MAX_MEMORY}, not {memory}")


@contextmanager
def allocating(memory: int) -> Iterator[None]:
    """Report a lack of memory as bad input."""
    try:
        yield
    except MemoryError:
        raise InputError(f"this machine does not have the memory: lower memory={memory}") from None
