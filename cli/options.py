"""Options and arguments that several commands share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from typer import Argument, Option

from selfplay.options import OptionField, options_of

Run = Annotated[str, Argument(metavar="RUN", help="Folder or URI: s3://…, gs://… or file://…")]

Positions = Annotated[
    list[str] | None,
    Argument(
        metavar="POSITION",
        help="Columns played, such as 44352. [default: the lines of stdin]",
        show_default=False,
    ),
]
BoardSize = Annotated[
    str, Option("--board", metavar="COLUMNSxROWS", help="Board size, 4x4 to 16x16.")
]
Connect = Annotated[int, Option(metavar="K", help="Stones in a row that win, 3 to 6.")]
Seed = Annotated[int, Option(help="Random seed.")]
Memory = Annotated[int, Option(metavar="MB", help="Size of the transposition table.")]
BookFile = Annotated[
    Path | None,
    Option(metavar="FILE", help="Opening book from `selfplay book build`. [default: bundled]"),
]
Json = Annotated[bool, Option("--json", help="Print JSON, one object per line.")]
Plot = Annotated[
    str | None, Option(metavar="FILE", help="Plot to a .svg, .png or .pdf file, or its URI.")
]
Workers = Annotated[
    int | None,
    Option(min=0, help="Number of Ray workers; 0 runs without Ray. [default: all cores]"),
]
Address = Annotated[str | None, Option(metavar="auto|HOST:PORT", help="Ray cluster to use.")]


def takes_options_of(config: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command an option for each one of this dataclass, in place of its parameter
    `given`, which receives the values that a user gave."""
    declared = [
        inspect.Parameter(
            option.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=None,
            annotation=Annotated[
                _repeatable(option.type) | None,
                Option(help=_with_default(option), metavar=option.metavar),
            ],
        )
        for option in options_of(config)
    ]
    names = [parameter.name for parameter in declared]

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def replaced(*arguments: Any, **values: Any) -> None:
            given = {name: values.pop(name) for name in names if values.get(name) is not None}
            others = {name: value for name, value in values.items() if name not in names}
            command(*arguments, given=given, **others)

        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [
            option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in own
            for option in (declared if parameter.name == "given" else (parameter,))
        ]
        replaced.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        replaced.__annotations__ = {option.name: option.annotation for option in parameters}
        return replaced

    return decorate


def _repeatable(annotation: Any) -> Any:
    return list[get_args(annotation)[0]] if get_origin(annotation) is tuple else annotation  # type: ignore[misc]


def _with_default(option: OptionField) -> str:
    if option.default in (None, ()) or "[default:" in option.help:
        return option.help
    default = ", ".join(option.default) if isinstance(option.default, tuple) else option.default
    return f"{option.help} [default: {default}]"
