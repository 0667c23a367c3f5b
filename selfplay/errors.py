"""The one exception for what people get wrong, and the help that goes with it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

_OPTION = re.compile(r"([?&;#])([^=&?;#\s]*)=([^&\s]*)")
_KEY_NAME = re.compile(r"key|secret|token|password|credential|\bsig", re.I)


class InputError(ValueError):
    """What a person asked for cannot be done; the message says why and what would be right."""


def quoted(text: str, most: int = 40) -> str:
    """What a person wrote or a file says, for a message: without keys and control characters, and
    not too long."""
    shown = without_keys(text)
    return repr(shown if len(shown) <= most else shown[: most - 1] + "…")


def without_keys(text: str) -> str:
    """A text in which no URI shows who asks: neither its user part nor an option that holds a
    key. In time proportional to the text, which may be a stranger's."""
    if "://" not in text:
        return text
    parts = text.split("://")
    shown = "://".join([parts[0], *map(_without_user, parts, parts[1:])])
    return _OPTION.sub(lambda m: f"{m[1]}{m[2]}=…" if _KEY_NAME.search(m[2]) else m[0], shown)


def _without_user(before: str, rest: str) -> str:
    """What comes behind `://`. A key may hold slashes if a colon is before it."""
    if rest.startswith("anonymous@"):
        return rest
    word = re.split(r"\s", rest, maxsplit=1)[0]
    plain = word.replace("%40", "@").replace("%3A", ":").replace("%3a", ":")
    authority = plain.partition("/")[0].partition("@")[0]
    at = plain.find("@")
    # In Azure's URIs the name of a container comes first.
    is_name = before.endswith(("abfs", "abfss")) and ":" not in authority
    has_user = at >= 0 and not is_name and ("/" not in plain[:at] or ":" in authority)
    return f"…@{plain[at + 1 :]}{rest[len(word) :]}" if has_user else rest


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
