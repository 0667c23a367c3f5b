"""The one exception for what people get wrong, and the help that goes with it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """What a person asked for cannot be done; the message says why and what would be right."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error message: the nearest known word, and all there are."""
    names = sorted(known)
    close = get_close_matches(word, names, n=1, cutoff=0.5)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}there is: {', '.join(names)}"
