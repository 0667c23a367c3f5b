"""Options as dataclasses: each field has a type, a default and, as an annotation, its help text.

Commands, TOML files and manifests take their options from these fields, so that an option is
defined once. A field without a help text is not for users.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from selfplay.errors import InputError, did_you_mean, quoted, without_keys

_LONGEST_TEXT = 4096


@dataclass(frozen=True, slots=True)
class OptionField:
    """A field of a dataclass of options."""

    name: str
    type: Any
    default: Any
    help: str
    metavar: str | None = None


def options_of(config: type) -> list[OptionField]:
    """The options of a dataclass whose fields are `Annotated[type, help]`, or with a metavar."""
    hints = get_type_hints(config, include_extras=True)
    return [
        OptionField(field.name, hint.__origin__, field.default, *hint.__metadata__)
        for field in fields(config)
        if hasattr(hint := hints[field.name], "__metadata__")
    ]


def check_types(config: Any) -> None:
    """Refuse values of wrong types, and text that is unsafe to store or to print."""
    hints = get_type_hints(type(config))
    for field in fields(config):
        check_type(field.name, getattr(config, field.name), hints[field.name])


def check_names(names: Mapping[str, Any], config: type, what: str) -> None:
    """Refuse names that are not options."""
    known = [option.name for option in options_of(config)]
    for name in names:
        if name not in known:
            raise InputError(f"{what} has no key {quoted(str(name))}; {did_you_mean(name, known)}")


def read_options(path: Path, config: type, what: str) -> dict[str, Any]:
    """The options in a TOML file, with names and types checked."""
    try:
        options = tomllib.loads(path.read_text(encoding="utf-8"))
        check_names(options, config, what)
        types = {option.name: option.type for option in options_of(config)}
        for name, value in options.items():
            check_type(name, value, types[name])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read {what} from {quoted(str(path), 200)}: {error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return options


def check_type(name: str, value: object, annotation: Any) -> None:
    """Refuse a value of the wrong type, and text that is unsafe to store or to print."""
    if isinstance(value, (list, tuple)) and get_origin(annotation) is tuple:
        for entry in value:
            check_type(name, entry, get_args(annotation)[0])
        return
    kinds = _kinds(annotation)
    shown = quoted(str(value)) if isinstance(value, str) else quoted(str(value)).strip("'")
    if isinstance(value, str) and not (value.isprintable() and len(value) <= _LONGEST_TEXT):
        raise InputError(f"{name} has control characters, or over {_LONGEST_TEXT:,} characters")
    if isinstance(value, str) and without_keys(value) != value:
        raise InputError(f"{name} holds a key: keep credentials out of files")
    if choices := [kind for kind in kinds if isinstance(kind, str)]:
        if value not in kinds and not (value is None and NoneType in kinds):
            raise InputError(f"{name} is {' or '.join(choices)}, not {shown}")
    elif isinstance(value, bool) or not isinstance(
        value, (int, *kinds) if float in kinds else tuple(kinds)
    ):
        what = "a whole number" if int in kinds else "a number" if float in kinds else "a text"
        raise InputError(f"{name} is {what}, not {shown}")


def parse_value(key: str, text: str, annotation: Any) -> Any:
    """The value of an option from its text."""
    choices = [member for member in get_args(annotation) if member is not NoneType]
    if get_origin(annotation) is Literal:
        if text not in choices:
            raise InputError(f"{key} is one of {', '.join(choices)}, not {quoted(text)}")
        return text
    kind = choices[0] if choices else annotation
    if kind is bool:
        if text not in ("on", "off"):
            raise InputError(f"{key} is on or off, not {quoted(text)}")
        return text == "on"
    try:
        return kind(text)
    except ValueError:
        what = "a whole number" if kind is int else "a number"
        raise InputError(f"{key} is {what}, not {quoted(text)}") from None


def _kinds(annotation: Any) -> list[Any]:
    """The types that an annotation allows, or the values of a `Literal`."""
    if get_origin(annotation) is Literal:
        return list(get_args(annotation))
    return [kind for part in get_args(annotation) for kind in _kinds(part)] or [annotation]
