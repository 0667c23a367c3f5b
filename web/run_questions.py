"""What pages ask about runs. A page names what the command line has opened, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args, get_type_hints

from selfplay.errors import InputError, quoted
from selfplay.web.asked import Asked
from selfplay.web.opened import Opened

_MOST = 1 << 53
"""What JavaScript counts up to."""


class NotOpenedError(Exception):
    """No run of this name is open."""


@dataclass(frozen=True, slots=True)
class RunQuestion(Asked):
    """A run, and what to look at in it."""

    run: str = ""
    at: int = 0
    """The game, or of positions the shard, to go on with."""
    game: int = 0
    moves: str = ""
    """A position: that of an exploration, or one that games are to have."""
    result: Literal["any", "win", "draw", "loss", "unfinished"] = "any"
    """Of the first player."""
    shortest: int = 0
    longest: int | None = None
    player: int | None = None
    mistakes: Literal["any", "proven"] = "any"

    def __post_init__(self) -> None:
        Asked.__post_init__(self)
        for name in ("at", "game", "shortest", "longest", "player"):
            value = getattr(self, name)
            if value is not None and not 0 <= value <= _MOST:
                raise InputError(f"{name} is a number from 0 to {_MOST:,}")

    @classmethod
    def of_query(cls, query: Mapping[str, str]) -> RunQuestion:
        """A question from an address."""
        types = get_type_hints(cls)
        content: dict[str, object] = {}
        for name, text in query.items():
            kind = types.get(name)
            if int not in (kind, *get_args(kind)):
                content[name] = text
            elif text:
                content[name] = _number(name, text)
        return cls.of(content)

    def place(self, opened: Opened) -> str:
        """Where the run lies."""
        try:
            return opened.runs[self.run]
        except KeyError:
            raise NotOpenedError(f"no run {quoted(self.run)} is open") from None


def _number(name: str, text: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 20):
        raise InputError(f"{name} is a number, not {quoted(text)}")
    return int(text)
