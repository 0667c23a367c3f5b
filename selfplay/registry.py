"""The registry of players, and the parser of player specs.

random                                        a name
mcts:10000                                    a name and its main option
mcts:seconds=2,exploration=1.0,proven=off     a name and options
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields
from importlib import import_module
from importlib.metadata import entry_points
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from selfplay.errors import InputError, did_you_mean, quoted
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import CentrePlayer, HumanPlayer, Player, RandomPlayer

Ask = Callable[[Position], int]
"""Asks a human for a column, 0-based."""


@dataclass(frozen=True, slots=True)
class NoOptions:
    """For players without options."""


@dataclass(frozen=True, slots=True)
class Kind:
    """An entry of the registry."""

    example: str
    options: Callable[[], type]
    build: Callable[[Board, Any, Ask | None], Player]
    main_option: str | None = None
    """The option whose name can be omitted."""
    resolve: Callable[[Any], Any] | None = None
    """Completes the options from the files that they name, such as the fingerprint of a model."""


def _build_human(_board: Board, _options: NoOptions, ask: Ask | None) -> Player:
    if ask is None:
        raise InputError("a human can only play in `selfplay play`")
    return HumanPlayer(ask)


def _build_greedy(board: Board, _options: NoOptions, _ask: Ask | None) -> Player:
    player: Player = import_module("selfplay.minimax.player").GreedyPlayer(board)
    return player


def _search_kind(example: str, module: str, name: str, main_option: str | None = None) -> Kind:
    """A player that needs compiled code: its module is imported when it is used."""

    def options() -> type:
        kind: type = getattr(import_module(module), f"{name}Options")
        return kind

    def build(board: Board, options: object, _ask: Ask | None) -> Player:
        player: Player = getattr(import_module(module), f"{name}Player")(board, options)
        return player

    return Kind(example, options, build, main_option)


KINDS: dict[str, Kind] = {
    "human": Kind("human", lambda: NoOptions, _build_human),
    "random": Kind("random", lambda: NoOptions, lambda _board, _options, _ask: RandomPlayer()),
    "centre": Kind("centre", lambda: NoOptions, lambda _board, _options, _ask: CentrePlayer()),
    "greedy": Kind("greedy", lambda: NoOptions, _build_greedy),
    "minimax": _search_kind(
        "minimax:depth=6,eval=threats", "selfplay.minimax.player", "Minimax", "depth"
    ),
    "mcts": _search_kind("mcts:10000", "selfplay.mcts.player", "Mcts", "iterations"),
    "perfect": _search_kind("perfect", "selfplay.solver.player", "Perfect"),
}


def kind_of(name: str) -> Kind:
    """The kind of this name: built in, or from an installed package's entry point of the group
    `selfplay.players`."""
    if name not in KINDS:
        others = {entry.name: entry for entry in entry_points(group="selfplay.players")}
        if name not in others:
            known = [*KINDS, *others]
            raise InputError(f"there is no player {quoted(name)}; {did_you_mean(name, known)}")
        KINDS[name] = others[name].load()
    return KINDS[name]


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A player as named on a command line: parsed and checked, but nothing is opened or built."""

    name: str
    options: Any

    @classmethod
    def parse(cls, text: str) -> PlayerSpec:
        name, colon, rest = text.strip().partition(":")
        kind = kind_of(name)
        if colon and not rest.strip():
            raise InputError(f"player {quoted(text)}: options are missing after the colon")
        options = kind.options()
        try:
            return cls(name, options(**_parse_options(rest, options, kind.main_option)))
        except InputError as error:
            raise InputError(f"player {quoted(text)}: {error}") from None

    def build(self, board: Board, ask: Ask | None = None) -> Player:
        """Build the player; `ask` is needed for a human."""
        try:
            return kind_of(self.name).build(board, self.options, ask)
        except InputError as error:
            raise InputError(f"player {quoted(str(self))}: {error}") from None

    @property
    def is_timed(self) -> bool:
        """Whether the player has a time limit, so that games are not reproducible."""
        return getattr(self.options, "seconds", None) is not None

    def resolved(self) -> PlayerSpec:
        """The same with options completed from its files, which it opens."""
        resolve = kind_of(self.name).resolve
        if resolve is None:
            return self
        try:
            return PlayerSpec(self.name, resolve(self.options))
        except InputError as error:
            raise InputError(f"player {quoted(str(self))}: {error}") from None

    @property
    def full(self) -> str:
        """The spec with every option that decides the moves, defaults included, so that it keeps
        its meaning if a default changes."""
        return self.resolved()._text(lambda field, _: not field.metadata.get("how"))

    @property
    def complete(self) -> str:
        """The same, and options that only change how the player works, unless default."""
        return self.resolved()._text(
            lambda field, value: not field.metadata.get("how") or value != field.default
        )

    def _text(self, includes: Callable[[Field[Any], object], bool]) -> str:
        words = [
            f"{field.name}={_format(value)}"
            for field in fields(self.options)
            if (value := getattr(self.options, field.name)) is not None and includes(field, value)
        ]
        return f"{self.name}:{','.join(words)}" if words else self.name

    def __str__(self) -> str:
        """The shortest spec for this player."""
        main = kind_of(self.name).main_option
        given = [
            (field.name, getattr(self.options, field.name))
            for field in fields(self.options)
            if getattr(self.options, field.name) != _default(field)
        ]
        words = [
            _format(value) if key == main and "=" not in str(value) else f"{key}={_format(value)}"
            for key, value in sorted(given, key=lambda item: item[0] != main)
        ]
        return f"{self.name}:{','.join(words)}" if words else self.name


def _default(field: Field[Any]) -> object:
    return None if field.default is MISSING else field.default


def _format(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _parse_options(text: str, options: type, main_option: str | None) -> dict[str, Any]:
    types = get_type_hints(options)
    parsed: dict[str, Any] = {}
    for place, part in enumerate(text.split(",") if text.strip() else []):
        key, equals, value = (word.strip() for word in part.partition("="))
        if equals and place == 0 and main_option is not None and not key.isidentifier():
            equals, value = "", part.strip()  # a path or URI that contains =
            key = value
        if not equals:
            if place > 0 or main_option is None:
                raise InputError(f"{quoted(part.strip())} is not an option: write key=value")
            key, value = main_option, key
        if key not in types:
            known = did_you_mean(key, types) if types else "this player has none"
            raise InputError(f"there is no option {quoted(key)}; {known}")
        if key in parsed:
            raise InputError(f"option {key} is given twice")
        parsed[key] = _parse_value(key, value, types[key])
    return parsed


def _parse_value(key: str, text: str, annotation: Any) -> Any:
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
