"""The registry of players, and the parser of player specs.

random                                        a name
mcts:10000                                    a name and its main option
mcts:seconds=2,exploration=1.0,proven=off     a name and options
py:mine.py:Mine,depth=3                       a class in a file or a module, and its options
default-0.1:1000                              a preset, with options that replace its own
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, Field, dataclass, fields, replace
from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from typing import Any, get_type_hints

from selfplay.errors import InputError, did_you_mean, printable, quoted, without_keys
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.options import parse_value
from selfplay.own_player import (
    ClassOptions,
    OwnOptions,
    build,
    class_of,
    described,
    digest_of_module,
    guarded,
    source_of,
)
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
    board: Callable[[Any], Board] | None = None
    """The only board on which a player with these options plays; None if it plays on any."""


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


def _build_own(board: Board, options: OwnOptions, _ask: Ask | None) -> Player:
    return build(class_of(options.player), board, dict(options.arguments))


def _build_class(cls: type, board: Board, options: ClassOptions, _ask: Ask | None) -> Player:
    return build(cls, board, dict(options.arguments))


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
    "py": Kind("py:mine.py:Mine,depth=3", lambda: OwnOptions, _build_own, main_option="player"),
}

BUILT_IN = frozenset(KINDS)

_BEFORE_SOLVER = "proven=on,reuse=on,solver=0,transpositions=off,early_stop=off"

PRESETS = {
    "usual": f"mcts:iterations=10000,exploration=1.414,rollout=win-first,{_BEFORE_SOLVER}",
    "default-0.1": f"mcts:iterations=10000,exploration=0.5,rollout=careful,{_BEFORE_SOLVER}",
}
"""Players to measure others against: textbook Monte Carlo tree search, and the default search of
version 0.1. Every option that decides moves is written out, so that no default changes them."""

_PLUGINS: dict[str, EntryPoint] = {}
"""The players of other packages that were loaded."""


def kind_of(name: str) -> Kind:
    """The kind of this name: built in, or from an installed package's entry point of the group
    `selfplay.players`, which names a `Kind` or a class."""
    if name not in KINDS:
        others = {entry.name: entry for entry in entry_points(group="selfplay.players")}
        if name not in others:
            known = [*KINDS, *PRESETS, *others]
            raise InputError(f"there is no player {quoted(name)}; {did_you_mean(name, known)}")
        KINDS[name] = _loaded(others[name])
        if others[name].module.partition(".")[0] != "selfplay":
            _PLUGINS[name] = others[name]
    return KINDS[name]


def _loaded(entry: EntryPoint) -> Kind:
    try:
        found = entry.load()
    except Exception as error:
        raise InputError(
            f"player {entry.name} of {_distribution(entry)} cannot be loaded: {described(error)}"
        ) from error
    if isinstance(found, type):
        return Kind(entry.name, lambda: ClassOptions, partial(_build_class, found))
    if not isinstance(found, Kind):
        raise InputError(
            f"player {entry.name} of {_distribution(entry)}: {entry.value} is neither a class nor "
            "a Kind"
        )
    return found


def _distribution(entry: EntryPoint) -> str:
    return "an unknown package" if entry.dist is None else f"{entry.dist.name}-{entry.dist.version}"


def refuse_stored_code(option: str, value: object) -> None:
    """Refuse an option from a file that names code to import: only a command line may."""
    for text in value if isinstance(value, (list, tuple)) else (value,):
        if isinstance(text, str) and text.strip().partition(":")[0] == "py":
            name = shlex.quote(str(replace(PlayerSpec.parse(text), source=None)))
            raise InputError(
                f"the {option} {name} is code, which runs only if the command line names it: "
                f"add --{option} {name}"
            )


@dataclass(frozen=True, slots=True)
class PlayerSpec:
    """A player as named on a command line: parsed and checked, but nothing is opened or built."""

    name: str
    options: Any
    source: str | None = None
    """What identifies the code of a player from outside; None if unknown, or built in."""

    @classmethod
    def parse(cls, text: str) -> PlayerSpec:
        name, colon, rest = text.strip().partition(":")
        name, _, preset = PRESETS.get(name, name).partition(":")
        kind = kind_of(name)
        if colon and not rest.strip():
            raise InputError(f"player {quoted(text)}: options are missing after the colon")
        options = kind.options()
        types = get_type_hints(options)
        try:
            if _is_foreign(name):
                types["source"] = str
            given = _parse_options(rest, types, kind.main_option)
            defaults = _parse_options(preset, types, kind.main_option)
            if "seconds" in given:  # instead of iterations
                defaults.pop("iterations", None)
            given = defaults | given
            source = given.pop("source", None) if _is_foreign(name) else None
            return cls(name, options(**given), source)
        except InputError as error:
            raise InputError(f"player {quoted(text)}: {error}") from None

    def build(self, board: Board, ask: Ask | None = None) -> Player:
        """Build the player; `ask` is needed for a human."""
        self.require_board(board)
        kind = kind_of(self.name)
        if not _is_foreign(self.name):
            with self._as_culprit():
                return kind.build(board, self.options, ask)
        name = str(replace(self, source=None))
        with self._as_culprit():
            if self.source not in (None, found := self._find_source()):
                raise InputError(f"its code is {found}, not {self.source}: it has changed")
            try:
                return guarded(name, kind.build(board, self.options, ask))
            except InputError:
                raise
            except Exception as error:
                raise InputError(f"it cannot be built: {described(error)}") from error

    @property
    def board(self) -> Board | None:
        """The only board that the player plays on, from the file that it names; None: any."""
        board_of = kind_of(self.name).board
        with self._as_culprit():
            return board_of and board_of(self.options)

    def require_board(self, board: Board) -> None:
        """Refuse a player of another board."""
        own = self.board
        if own is not None and own != board:
            main = getattr(self.options, kind_of(self.name).main_option or "", None)
            name = self.name if main is None else f"{self.name}:{main}"
            plays, needs = f"plays on {own.size}, not {board.size}", f"--board {own.size}"
            if own.connect != board.connect:
                plays, needs = f"plays on {own}, not {board}", f"{needs} --connect {own.connect}"
            raise InputError(f"{printable(without_keys(name))} {plays}: it needs {needs}")

    @contextmanager
    def _as_culprit(self) -> Iterator[None]:
        """Name the player in the errors of a block."""
        try:
            yield
        except InputError as error:
            raise InputError(f"player {quoted(str(self), 100)}: {error}") from error.__cause__

    def _find_source(self) -> str | None:
        if self.name == "py":
            return source_of(self.options.player)
        if entry := _PLUGINS.get(self.name):
            return f"{_distribution(entry)}-{digest_of_module(entry.module)}"
        return None

    @property
    def is_timed(self) -> bool:
        """Whether the player has a time limit, so that games are not reproducible."""
        arguments = dict(getattr(self.options, "arguments", ()))
        return getattr(self.options, "seconds", arguments.get("seconds")) is not None

    def resolved(self) -> PlayerSpec:
        """The same with options completed from its files, which it opens."""
        resolve = kind_of(self.name).resolve
        with self._as_culprit():
            options = self.options if resolve is None else resolve(self.options)
            return PlayerSpec(self.name, options, self.source or self._find_source())

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
            for field in self._fields
            if (value := getattr(self.options, field.name)) is not None and includes(field, value)
        ]
        return self._with(words)

    def __str__(self) -> str:
        """The shortest spec for this player."""
        for preset, text in PRESETS.items():
            if text.startswith(f"{self.name}:") and PlayerSpec.parse(preset) == self:
                return preset
        main = kind_of(self.name).main_option
        given = [
            (field.name, getattr(self.options, field.name))
            for field in self._fields
            if getattr(self.options, field.name) != _default(field)
        ]
        words = [
            _format(value) if key == main and "=" not in str(value) else f"{key}={_format(value)}"
            for key, value in sorted(given, key=lambda item: item[0] != main)
        ]
        return self._with(words)

    @property
    def _fields(self) -> list[Field[Any]]:
        return [field for field in fields(self.options) if field.name != "arguments"]

    def _with(self, words: list[str]) -> str:
        """The spec with these words, the source, and the options of a class."""
        words = [*words, *([f"source={self.source}"] if self.source else ())]
        words += [f"{key}={value}" for key, value in getattr(self.options, "arguments", ())]
        return f"{self.name}:{','.join(words)}" if words else self.name


def _is_foreign(name: str) -> bool:
    """Whether the player's code is no part of this program."""
    return name == "py" or name in _PLUGINS


def _default(field: Field[Any]) -> object:
    return None if field.default is MISSING else field.default


def _format(value: object) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return repr(value).removesuffix(".0") if isinstance(value, float) else str(value)


def _parse_options(text: str, types: Mapping[str, Any], main_option: str | None) -> dict[str, Any]:
    parsed: dict[str, Any] = {}
    arguments: dict[str, str] = {}  # options that a class of its own takes
    for place, part in enumerate(text.split(",") if text.strip() else []):
        key, equals, value = (word.strip() for word in part.partition("="))
        if equals and place == 0 and main_option is not None and not key.isidentifier():
            equals, value = "", part.strip()  # a path or URI that contains =
            key = value
        if not equals:
            if place > 0 or main_option is None:
                raise InputError(f"{quoted(part.strip())} is not an option: write key=value")
            key, value = main_option, key
        if key in parsed or key in arguments:
            raise InputError(f"option {key} is given twice")
        if "arguments" in types and key not in (types.keys() - {"arguments"}):
            arguments[key] = value
            continue
        if key not in types:
            known = did_you_mean(key, types) if types else "this player has none"
            raise InputError(f"there is no option {quoted(key)}; {known}")
        parsed[key] = parse_value(key, value, types[key])
    if arguments:
        parsed["arguments"] = tuple(sorted(arguments.items()))
    return parsed
