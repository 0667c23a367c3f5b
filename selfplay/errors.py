"""The exception for bad input, and safe text for its messages."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from pathlib import Path

_OPTION = re.compile(r"([?&;#])([^=&?;#\s]*)=([^&\s]*)")
_KEY_NAME = re.compile(r"key|secret|token|password|credential|\bsig", re.I)


class InputError(ValueError):
    """Bad input; the message says what is wrong and what would be right."""


class PlayerError(Exception):
    """A player from outside this program failed; the message names it."""


def install(extra: str) -> str:
    """How to install an extra: of a clone, or of the package."""
    is_clone = Path(__file__).parents[1].joinpath("pyproject.toml").is_file()
    what = "-e '.[{}]' in the clone" if is_clone else "'selfplay[{}]'"
    return f"pip install {what.format(extra)}"


def quoted(text: str, most: int = 40) -> str:
    """Input quoted for a message: shortened, without credentials and control characters."""
    shown = without_keys(text)
    return repr(shown if len(shown) <= most else shown[: most - 1] + "…")


def without_keys(text: str) -> str:
    """Remove credentials from URIs: the user part, and options that contain a key. Takes linear
    time, because the text may be hostile."""
    if "://" not in text:
        return text
    parts = text.split("://")
    shown = "://".join([parts[0], *map(_without_user, parts, parts[1:])])
    return _OPTION.sub(lambda m: f"{m[1]}{m[2]}=…" if _KEY_NAME.search(m[2]) else m[0], shown)


def _without_user(before: str, rest: str) -> str:
    """Remove the user from the text after `://`. A key may contain slashes after a colon."""
    if rest.startswith("anonymous@"):
        return rest
    word = re.split(r"\s", rest, maxsplit=1)[0]
    plain = word.replace("%40", "@").replace("%3A", ":").replace("%3a", ":")
    authority = plain.partition("/")[0].partition("@")[0]
    at = plain.find("@")
    # In Azure's URIs the container comes first: container@account.
    is_name = before.endswith(("abfs", "abfss")) and ":" not in authority
    has_user = at >= 0 and not is_name and ("/" not in plain[:at] or ":" in authority)
    return f"…@{plain[at + 1 :]}{rest[len(word) :]}" if has_user else rest


def printable(text: str) -> str:
    """Escape control characters, which could steer a terminal."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or c in "\n\t" else ascii(c)[1:-1] for c in text)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The end of an error message: the closest known word, and all known words."""
    names = sorted(set(known))
    close = get_close_matches(word.lower(), names, n=1, cutoff=0.5)
    guess = f"did you mean {close[0]!r}? " if close else ""
    return f"{guess}there is: {', '.join(names)}"
