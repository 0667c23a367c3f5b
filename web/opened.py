"""What the command line opens for the pages: models, runs and tournaments, each by a short name."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from selfplay.errors import InputError, quoted
from selfplay.files import open_regular, read_bounded
from selfplay.web.players import names_of, short_names

if TYPE_CHECKING:
    from selfplay.storage.location import Location

Kind = Literal["model", "run", "tournament"]

_MANIFEST = "run.json"
_MAGIC, _OF_NOW, _CHECKSUM = b"selfplay tree ", b"selfplay tree 2\n", 16
_MOST_MANIFEST, _MOST_MODEL = 1 << 20, 1 << 26
_MOST_OPENED = 200
_BUNDLED = "models/base"


@dataclass(frozen=True, slots=True)
class Opened:
    """Locations by the names that pages have for them. A tournament is a run of recorded games,
    under the same name."""

    models: Mapping[str, str] = field(default_factory=dict)
    runs: Mapping[str, str] = field(default_factory=dict)
    tournaments: Mapping[str, str] = field(default_factory=dict)


def opened(arguments: Sequence[str]) -> Opened:
    """What these paths and URIs are, from what lies there; what is none of it is refused."""
    found: dict[str, Kind] = {}
    for argument in arguments:
        if argument != _BUNDLED:  # which is there anyway
            found.update(_found_at(argument.rstrip("/") or argument))
    if len(found) > _MOST_OPENED:
        raise InputError(f"at most {_MOST_OPENED:,} runs and models can be opened at once")
    runs = short_names([place for place, kind in found.items() if kind != "model"])
    return Opened(
        names_of([place for place, kind in found.items() if kind == "model"]),
        runs,
        {name: place for name, place in runs.items() if found[place] == "tournament"},
    )


def _found_at(argument: str) -> dict[str, Kind]:
    is_remote = "://" in argument
    place = _Remote(argument) if is_remote else _Local(argument)
    kind = place.kind
    if kind is not None:
        place.check(kind)
        return {argument: kind}
    children = {child: kind for child, kind in place.children() if kind is not None}
    if not children:
        raise InputError(
            f"there is no run and no model at {quoted(argument, 200)}: name a folder with "
            f"{_MANIFEST}, a model file, or a folder of such"
        )
    return children


def _kind_of(manifest: bytes | None, start: bytes | None) -> Kind | None:
    """What has this `run.json`, or is a file that begins so."""
    if manifest is not None:
        try:
            return "tournament" if "arena" in (json.loads(manifest)["source"] or ()) else "run"
        except (ValueError, KeyError, TypeError, RecursionError):
            return "run"  # a damaged one: its page says how
    return "model" if start is not None and start.startswith(_MAGIC) else None


class _Local:
    """A path. Nothing heavy is imported as long as all is well."""

    def __init__(self, path: str) -> None:
        if "\0" in path:
            raise InputError(f"{quoted(path, 200)} is not a path")
        self._path = Path(path).expanduser()
        self._name = path

    @property
    def kind(self) -> Kind | None:
        manifest = start = None
        try:
            if self._path.is_file():
                with open_regular(self._path) as file:
                    start = file.read(len(_MAGIC))
            elif (self._path / _MANIFEST).is_file():
                manifest = read_bounded(self._path / _MANIFEST, _MOST_MANIFEST)
        except (OSError, InputError):
            return None
        return _kind_of(manifest, start)

    def check(self, kind: Kind) -> None:
        """Refuse a damaged one, in the words of those who read it."""
        if kind == "model":
            data = read_bounded(self._path, _MOST_MODEL, "model")
            digest = blake2b(data[:-_CHECKSUM], digest_size=_CHECKSUM).digest()
            if not data.startswith(_OF_NOW) or digest != data[-_CHECKSUM:]:
                _check_by_reading(self._name, kind)
            return
        try:
            json.loads((self._path / _MANIFEST).read_bytes())["spec_hash"]
        except (ValueError, KeyError, TypeError, RecursionError):
            _check_by_reading(self._name, kind)

    def children(self) -> Iterator[tuple[str, Kind | None]]:
        try:
            paths = sorted(self._path.iterdir()) if self._path.is_dir() else []
        except OSError as error:
            raise InputError(f"cannot read {quoted(self._name, 200)}: {error.strerror}") from None
        for path in paths:
            if not path.name.startswith("."):
                yield str(path), _Local(str(path)).kind


class _Remote:
    """A URI. Object stores come with pyarrow."""

    def __init__(self, uri: str) -> None:
        from selfplay.storage.location import Location

        self._uri, self._place = uri, Location(uri)

    @property
    def kind(self) -> Kind | None:
        if (manifest := _content(self._place, _MANIFEST)) is not None:
            return _kind_of(manifest, None)
        from selfplay.storage.location import Location

        try:
            folder, name = Location.of_file(self._uri)
        except InputError:
            return None
        return _kind_of(None, _content(folder, name))

    def check(self, kind: Kind) -> None:
        _check_by_reading(self._uri, kind)

    def children(self) -> Iterator[tuple[str, Kind | None]]:
        for name in sorted({*self._place.folders(), *self._place.files("")}):
            uri = self._place.below(name)
            yield uri, _Remote(uri).kind


def _content(place: Location, name: str) -> bytes | None:
    """The bytes of a small file, if it is there."""
    try:
        return place.read(name, _MOST_MODEL)
    except (InputError, OSError):
        return None


def _check_by_reading(place: str, kind: Kind) -> None:
    if kind == "model":
        from selfplay.train.model import Model

        Model.load(place)
    else:
        from selfplay.storage.location import Location
        from selfplay.storage.manifest import Manifest

        Manifest.read(Location(place))
