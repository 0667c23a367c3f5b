"""What a page asks with: the fields of a JSON object, checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any, NamedTuple, Self

from selfplay.errors import InputError, did_you_mean, quoted
from selfplay.options import check_types
from selfplay.web.records import Record


@dataclass(frozen=True, slots=True)
class Asked:
    """The fields of a question, with their defaults."""

    def __post_init__(self) -> None:
        check_types(self)

    @classmethod
    def of(cls, content: object) -> Self:
        """A question from JSON."""
        if not isinstance(content, dict):
            raise InputError('a question is a JSON object, such as {"moves": "44352"}')
        known = [field.name for field in fields(cls)]
        for name in content:
            if name not in known:
                raise InputError(f"a question has no {quoted(name)}; {did_you_mean(name, known)}")
        return cls(**content)


class Answer(NamedTuple):
    """What answers a question."""

    asked: type[Asked]
    opened: str
    """What it is about, of what the command line named: models or tournaments."""
    answer: Callable[[Any, Mapping[str, str]], Record]
