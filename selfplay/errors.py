"""The one exception for what people get wrong, and the help that goes with it."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class InputError(ValueError):
    """What a person asked for cannot be done; the message says why and what would be right."""


def quoted(text: str, most: int = 40) -> str:
    """What a person wrote, for an error message: without control characters, and not too long."""
    return repr(text if len(text) <= most else text[: most - 1] + "…")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error message: the nearest known word, and all there are."""
    names = sorted(known)
    close = get_close_matches(word.lower(), names, n=1, cutoff=0.5)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}there is: {', '.join(names)}"
