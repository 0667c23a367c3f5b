"""Options that mean the same in every command that has them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import fields
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer

BoardSize = Annotated[
    str, typer.Option("--board", metavar="COLUMNSxROWS", help="Board size, 4x4 to 16x16.")
]
Connect = Annotated[
    int, typer.Option("--connect", metavar="K", help="Stones in a row that win, 3 to 6.")
]
Positions = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[POSITION]...",
        help="Columns played, such as 44352. [default: the lines of stdin]",
        show_default=False,
    ),
]
Seed = Annotated[int, typer.Option("--seed", help="Random seed.")]
Memory = Annotated[
    int, typer.Option("--memory", metavar="MB", help="Size of the transposition table.")
]
BookFile = Annotated[
    Path | None,
    typer.Option(
        "--book", metavar="FILE", help="Opening book from `selfplay book build`. [default: bundled]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, one object per line.")]
Workers = Annotated[
    int | None,
    typer.Option(
        "--workers",
        min=0,
        help="Number of Ray workers; 0 runs without Ray. [default: all cores]",
    ),
]
Address = Annotated[
    str | None,
    typer.Option("--address", metavar="auto|HOST:PORT", help="Ray cluster to use."),
]


def with_options_of(config: type) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Replace a command's parameter `config` by an option for each field of this dataclass."""
    types = get_type_hints(config, include_extras=True)
    options = {
        field.name: inspect.Parameter(
            field.name,
            inspect.Parameter.KEYWORD_ONLY,
            default=field.default,
            annotation=Annotated[
                types[field.name].__origin__, typer.Option(help=types[field.name].__metadata__[0])
            ],
        )
        for field in fields(config)
    }

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def replaced(*arguments: Any, **given: Any) -> None:
            chosen = {name: given.pop(name) for name in options.keys() & given.keys()}
            command(*arguments, config=config(**chosen), **given)

        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [
            option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
            for parameter in own
            for option in (options.values() if parameter.name == "config" else (parameter,))
        ]
        replaced.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        replaced.__annotations__ = {option.name: option.annotation for option in parameters}
        return replaced

    return decorate
