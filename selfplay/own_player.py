"""Players written outside this program: loading them, what identifies them, naming their failures.

A class is named by its file, `mine.py:Mine`, or its module, `package.module:Mine`. It is called
with the board and, by keyword, the options of the player spec.
"""

from __future__ import annotations

import importlib
import math
import os
import sys
import traceback
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from hashlib import blake2b
from inspect import Parameter, signature
from operator import index
from pathlib import Path
from types import ModuleType, NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from selfplay.errors import InputError, PlayerError, did_you_mean, quoted
from selfplay.files import read_bounded
from selfplay.game.board import Board
from selfplay.game.position import Position
from selfplay.options import parse_value
from selfplay.players import HOW, Decision, Player, Searcher

_MOST_BYTES = 1 << 24
_PROGRAM = str(Path(__file__).parent)


@dataclass(frozen=True, slots=True)
class ClassOptions:
    """Options of a player that is a class: whatever its constructor takes."""

    arguments: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnOptions(ClassOptions):
    """Options of a `py` player."""

    player: str = field(default="", metadata=HOW)
    """The class: FILE.py:CLASS or MODULE:CLASS."""

    def __post_init__(self) -> None:
        place, colon, name = self.player.rpartition(":")
        is_module = all(part.isidentifier() for part in place.split("."))
        if not (colon and name.isidentifier() and (is_module or place.endswith(".py"))):
            raise InputError(
                f"a class is named as in py:mine.py:Mine or py:package.module:Mine, not "
                f"{quoted(self.player)}"
            )


def class_of(player: str) -> type:
    """The class that FILE.py:CLASS or MODULE:CLASS names. Imports it."""
    place, _, name = player.rpartition(":")
    try:
        module = (
            _module_of_file(*_read(place)) if _is_file(place) else importlib.import_module(place)
        )
    except InputError:
        raise
    except Exception as error:
        where = quoted(place, 200) if _is_file(place) else f"the module {quoted(place)}"
        raise InputError(f"{where} cannot be loaded here: {described(error)}") from error
    found = getattr(module, name, None)
    if not isinstance(found, type):
        classes = [
            key
            for key, value in vars(module).items()
            if isinstance(value, type) and value.__module__ == module.__name__
        ]
        known = did_you_mean(name, classes) if classes else "it defines none"
        raise InputError(f"{place} has no class {quoted(name)}; {known}")
    return found


def build(cls: type, board: Board, arguments: Mapping[str, str]) -> Player:
    """An instance of a class, with options converted to the types that its constructor declares."""
    own = list(signature(cls).parameters.values())[1:]
    types = get_type_hints(cls.__init__)  # type: ignore[misc]
    if not any(parameter.kind is Parameter.VAR_KEYWORD for parameter in own):
        names = [parameter.name for parameter in own]
        for name in arguments:
            if name not in names:
                known = did_you_mean(name, names) if names else "this player has none"
                raise InputError(f"there is no option {quoted(name)}; {known}")
    values = {name: _value(name, text, types.get(name)) for name, text in arguments.items()}
    player: Player = cls(board, **values)
    for method in ("new_game", "decide"):
        if not callable(getattr(player, method, None)):
            raise InputError(f"{cls.__name__} has no method {method}")
    return player


def _value(name: str, text: str, annotation: Any) -> object:
    """An option's value by its declared type; by its looks, if that is none of an option."""
    kinds = {*(get_args(annotation) or [annotation])} - {NoneType}
    if get_origin(annotation) is Literal or kinds <= {int, float, bool, str}:
        return parse_value(name, text, annotation)
    if text in ("on", "off"):
        return text == "on"
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text


def source_of(player: str) -> str:
    """What identifies a class: its name, and a digest of its file or of its package."""
    place, _, name = player.rpartition(":")
    if _is_file(place):
        path, text = _read(place)
        return f"{name}-{digest_of([(path.suffix, text)])}"
    class_of(player)
    return f"{name}-{digest_of_module(place)}"


def digest_of_module(module: str) -> str:
    """A digest of the sources of an imported module's package."""
    paths = sorted(sources_of(module), key=lambda path: path.parts[-2:])
    return digest_of((f"{path.parent.name}/{path.name}", path.read_bytes()) for path in paths)


def digest_of(files: Iterable[tuple[str, bytes]]) -> str:
    digest = blake2b(digest_size=8)
    for name, text in files:
        text = text.replace(b"\r\n", b"\n")
        digest.update(f"{name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def sources_of(module: str) -> Iterable[Path]:
    """The source files of an imported module's package, or its one module."""
    names = module.split(".")
    package = sys.modules[".".join(names[: 2 if names[0] == "selfplay" else 1])]
    if hasattr(package, "__path__"):
        return (path for folder in package.__path__ for path in Path(folder).rglob("*.py"))
    file = getattr(package, "__file__", None)
    return () if file is None else (Path(file),)


def _is_file(place: str) -> bool:
    return place.endswith(".py")


def _read(place: str) -> tuple[Path, bytes]:
    path = Path(os.path.expanduser(place)).absolute()
    try:
        return path, read_bounded(path, _MOST_BYTES)
    except OSError as error:
        raise InputError(
            f"{quoted(place, 200)} cannot be read here ({error.strerror}); every machine that "
            "works needs the file, or an installed module"
        ) from None


@lru_cache(maxsize=8)
def _module_of_file(path: Path, text: bytes) -> ModuleType:
    """Run a file as a module; what it imports may stand beside it."""
    module = ModuleType(f"selfplay_player_{blake2b(text, digest_size=8).hexdigest()}")
    module.__file__ = str(path)
    if str(path.parent) not in sys.path:
        sys.path.append(str(path.parent))  # last: it shadows nothing
    sys.modules[module.__name__] = module  # dataclasses look there
    try:
        exec(compile(text, str(path), "exec"), vars(module))
    except BaseException:
        del sys.modules[module.__name__]
        raise
    return module


def described(error: BaseException, home: Path | None = None) -> str:
    """An exception in one line, with the last line it passed in the player's own folder."""
    frames = [
        frame
        for frame in traceback.extract_tb(error.__traceback__)
        if not frame.filename.startswith(("<", _PROGRAM, importlib.__file__))
    ]
    own = [frame for frame in frames if home and Path(frame.filename).is_relative_to(home)]
    last = (own or frames)[-1:]
    where = "".join(f" ({os.path.basename(frame.filename)}:{frame.lineno})" for frame in last)
    text = " ".join(str(error).split())
    return f"{type(error).__name__}{': ' if text else ''}{text}{where}"


class GuardedPlayer:
    """A player whose failures and impossible answers are reported under its name."""

    def __init__(self, name: str, player: Player) -> None:
        self._name = name
        self._player = player
        file = getattr(sys.modules.get(type(player).__module__), "__file__", None)
        self._home = None if file is None else Path(file).parent

    def new_game(self, seed: int) -> None:
        try:
            self._player.new_game(seed)
        except Exception as error:
            raise self._failure(described(error, self._home)) from error

    def decide(self, position: Position) -> Decision:
        try:
            answer: Any = self._player.decide(position)
        except Exception as error:
            raise self._failure(described(error, self._home)) from error
        try:
            decision = answer if isinstance(answer, Decision) else Decision(move=index(answer))
            fault = _fault(decision, position)
        except (TypeError, ValueError):
            fault = f"{answer!r:.100}, neither a column nor a Decision of numbers"
        if fault:
            raise self._failure(f"it decided {fault}")
        return decision

    def _failure(self, what: str) -> PlayerError:
        return PlayerError(f"player {self._name} failed: {what}")


class GuardedSearcher(GuardedPlayer):
    """The same for a player that reports its progress."""

    def so_far(self) -> Mapping[str, int]:
        found: Mapping[str, int] = self._player.so_far()  # type: ignore[attr-defined]
        return found


def guarded(name: str, player: Player) -> Player:
    return (GuardedSearcher if isinstance(player, Searcher) else GuardedPlayer)(name, player)


def _fault(decision: Decision, position: Position) -> str | None:
    """What is impossible about a decision. Verification would find it in the rows, too late."""
    legal = position.legal_moves
    if index(decision.move) not in legal:
        return f"move {decision.move}, counted from 0, where {', '.join(map(str, legal))} are legal"
    for name, least, most in (("visits", 0, math.inf), ("value", -1, 1), ("proven", -1, 1)):
        values = getattr(decision, name)
        if values is None:
            continue
        if len(values) != position.board.columns:
            return f"{name} with {len(values)} entries: it has one for each column"
        for column, value in enumerate(values):
            is_right = not value if column not in legal and name == "visits" else value is None
            if not is_right and not (column in legal and least <= value <= most):
                return f"{name} {value} in column {column}, counted from 0"
    return None
