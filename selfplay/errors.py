"""The one exception for what people get wrong, and the help that goes with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

# The user part of a URI, where keys stand; a key may hold slashes.
_USER_INFO = re.compile(r"(?<=://)(?:[^/\s@]*?(?::|%3A)\S*?(?:@|%40)|[^/\s@]*?(?:@|%40))", re.I)
# An option of one that holds a key.
_KEY_OPTION = re.compile(
    r"([?&;#][^=&\s]*?(?:key|secret|token|password|credential|\bsig)[^=&\s]*=)[^&\s]+", re.I
)


class InputError(ValueError):
    """What a person asked for cannot be done; the message says why and what would be right."""


def quoted(text: str, most: int = 40) -> str:
    """What a person wrote or a file says, for a message: without keys and control characters, and
    not too long."""
    shown = without_keys(text)
    return repr(shown if len(shown) <= most else shown[: most - 1] + "…")


def without_keys(text: str) -> str:
    """A text in which no URI shows who asks."""
    if "://anonymous@" in text:  # which is nobody
        return "://anonymous@".join(map(without_keys, text.split("://anonymous@")))
    return _KEY_OPTION.sub(r"\1…", _USER_INFO.sub("…@", text))


def printable(text: str) -> str:
    """A text that cannot steer a terminal: control characters are spelled out."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error message: the nearest known word, and all there are."""
    names = sorted(known)
    close = get_close_matches(word.lower(), names, n=1, cutoff=0.5)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}there is: {', '.join(names)}"
