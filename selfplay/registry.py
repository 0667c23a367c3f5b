"""Players by name: the one parser of player specs, and the players that exist.

random                                        a name
mcts:10000                                    a name and its main option
mcts:seconds=2,exploration=1.0,proven=off     a name and options
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, dataclass, fields
from importlib import import_module
from importlib.metadata import entry_points
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from selfplay.errors import InputError, did_you_mean, quoted
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.players import CentrePlayer, HumanPlayer, Player, RandomPlayer

Ask = Callable[[Position], int]


@dataclass(frozen=True, slots=True)
class NoOptions:
    """The options of players that have none."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One entry in the list of players."""

    example: str
    options: Callable[[], type]
    build: Callable[[Board, Any, Ask | None], Player]
    main_option: str | None = None
    """The option whose name may be left out."""
    resolve: Callable[[Any], Any] | None = None
    """Finds out what options alone do not say, such as which tree is in a file: opens it."""


def _build_random(_board: Board, _options: Any, _ask: Ask | None) -> Player:
    return RandomPlayer()


def _build_centre(_board: Board, _options: Any, _ask: Ask | None) -> Player:
    return CentrePlayer()


def _build_human(_board: Board, _options: Any, ask: Ask | None) -> Player:
    if ask is None:
        raise InputError("a human needs somebody to ask: use one in `selfplay play`")
    return HumanPlayer(ask)


def _build_greedy(board: Board, _options: Any, _ask: Ask | None) -> Player:
    player: Player = import_module("selfplay.minimax.player").GreedyPlayer(board)
    return player


def _build_minimax(board: Board, options: Any, _ask: Ask | None) -> Player:
    player: Player = import_module("selfplay.minimax.player").MinimaxPlayer(board, options)
    return player


def _build_mcts(board: Board, options: Any, _ask: Ask | None) -> Player:
    player: Player = import_module("selfplay.mcts.player").MctsPlayer(board, options)
    return player


def _build_perfect(board: Board, options: Any, _ask: Ask | None) -> Player:
    player: Player = import_module("selfplay.solver.player").PerfectPlayer(board, options)
    return player


# Modules that need compiled code are imported when a player of that kind is asked for.
KINDS: dict[str, Kind] = {
    "human": Kind("human", lambda: NoOptions, _build_human),
    "random": Kind("random", lambda: NoOptions, _build_random),
    "centre": Kind("centre", lambda: NoOptions, _build_centre),
    "greedy": Kind("greedy", lambda: NoOptions, _build_greedy),
    "minimax": Kind(
        "minimax:depth=6,eval=threats",
        lambda: import_module("selfplay.minimax.player").MinimaxOptions,
        _build_minimax,
        main_option="depth",
    ),
    "mcts": Kind(
        "mcts:10000",
        lambda: import_module("selfplay.mcts.player").MctsOptions,
        _build_mcts,
        main_option="iterations",
    ),
    "perfect": Kind(
        "perfect",
        lambda: import_module("selfplay.solver.player").PerfectOptions,
        _build_perfect,
    ),
}


def kind_of(name: str) -> Kind:
    """The kind of this name: one of these, or one that an installed package brings along, as an
    entry point of the group `selfplay.players`."""
    if name not in KINDS:
        others = {entry.name: entry for entry in entry_points(group="selfplay.players")}
        if name not in others:
            known = [*KINDS, *others]
            raise InputError(f"there is no player {quoted(name)}; {did_you_mean(name, known)}")
        KINDS[name] = others[name].load()
    return KINDS[name]


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A player as named on a command line, checked but not yet built: nothing is opened."""

    name: str
    options: Any

    @classmethod
    def parse(cls, text: str) -> PlayerSpec:
        name, colon, rest = text.strip().partition(":")
        kind = kind_of(name)
        if colon and not rest.strip():
            raise InputError(f"player {quoted(text)}: nothing stands behind the colon")
        options = kind.options()
        try:
            return cls(name, options(**_parse_options(rest, options, kind.main_option)))
        except InputError as error:
            raise InputError(f"player {quoted(text)}: {error}") from None

    def build(self, board: Board, ask: Ask | None = None) -> Player:
        """The player itself. `ask` is how a human is asked for a column, 0-based."""
        try:
            return kind_of(self.name).build(board, self.options, ask)
        except InputError as error:
            raise InputError(f"player {quoted(str(self))}: {error}") from None

    @property
    def is_timed(self) -> bool:
        """Whether the player thinks by the clock, so that no game need repeat itself."""
        return getattr(self.options, "seconds", None) is not None

    def resolved(self) -> PlayerSpec:
        """The same with all that its files say about who it is."""
        resolve = kind_of(self.name).resolve
        if resolve is None:
            return self
        try:
            return PlayerSpec(self.name, resolve(self.options))
        except InputError as error:
            raise InputError(f"player {quoted(str(self))}: {error}") from None

    @property
    def full(self) -> str:
        """The spec that says all that decides what the player does, defaults included: what it
        means stays the same if a default changes."""
        return self.resolved()._with(lambda field, _: not field.metadata.get("how"))

    @property
    def complete(self) -> str:
        """The same, and how the player is to work where that is not as usual."""
        return self.resolved()._with(
            lambda field, value: not field.metadata.get("how") or value != field.default
        )

    def _with(self, is_told: Callable[[Any, Any], bool]) -> str:
        words = [
            f"{field.name}={_format(value)}"
            for field in fields(self.options)
            if (value := getattr(self.options, field.name)) is not None and is_told(field, value)
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


def _default(field: Any) -> Any:
    return None if field.default is MISSING else field.default


def _format(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _parse_options(text: str, options: type, main_option: str | None) -> dict[str, Any]:
    types = get_type_hints(options)
    parsed: dict[str, Any] = {}
    for place, part in enumerate(text.split(",") if text.strip() else []):
        key, equals, value = (word.strip() for word in part.partition("="))
        if equals and place == 0 and main_option is not None and not key.isidentifier():
            equals, value = "", part.strip()  # a path or a URI with such a sign in it
            key = value
        if not equals:
            if place > 0 or main_option is None:
                raise InputError(
                    f"{quoted(part.strip())} is not an option: options are written key=value"
                )
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
