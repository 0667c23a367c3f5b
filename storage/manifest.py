"""Read and write `run.json`, a run's manifest: its identity, spec or source, and versions."""

from __future__ import annotations

import json
import platform
import re
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version as version_of
from typing import Any

from selfplay.errors import InputError, quoted, without_keys
from selfplay.game.board import Board
from selfplay.machine import usable_cores
from selfplay.storage.limits import SCHEMA_VERSION
from selfplay.storage.location import Location
from selfplay.storage.spec import MOST_GAMES, MOST_SHARDS, Spec

NAME = "run.json"
_MOST_BYTES = 1 << 20
_DIGEST = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """A generated run has a spec; one that was imported, merged or played has a source."""

    identity: str  # in the footer of every shard: the hash of the spec, or of the source
    board: Board
    games: int
    shard_games: int
    spec: Spec | None = None
    source: Mapping[str, Any] | None = None
    made_with: Mapping[str, Any] = field(default_factory=dict)
    engine: str | None = None  # a digest of the code that generates the rows
    is_repeatable: bool = True
    """Whether the same spec gives the same rows: false if a player has a time limit."""
    positions: int | None = None
    """The run ends with the game that reaches this number; until then `games` grows."""
    schema_version: int = SCHEMA_VERSION

    @classmethod
    def of_spec(cls, spec: Spec, engine: str | None = None) -> Manifest:
        spec = spec.resolved()
        return cls(
            spec.hash,
            spec.parsed_board,
            spec.games,
            spec.shard_games,
            spec,
            made_with=_made_with(),
            engine=engine,
            is_repeatable=spec.is_repeatable,
        )

    @classmethod
    def of_source(
        cls, identity: str, board: Board, games: int, shard_games: int, source: Mapping[str, Any]
    ) -> Manifest:
        return cls(identity, board, games, shard_games, source=dict(source), made_with=_made_with())

    @property
    def shards(self) -> int:
        """The number of shards."""
        return -(-self.games // self.shard_games)

    def games_of(self, shard: int) -> range:
        """The games in a shard."""
        return range(shard * self.shard_games, min(self.games, (shard + 1) * self.shard_games))

    @property
    def most_rows_of_game(self) -> int:
        """The most rows that a game can have."""
        if self.spec is not None and self.spec.mode == "positions":
            return 1
        return -(-self.board.cells // 2) if self.skips_replies else self.board.cells

    @property
    def teachers(self) -> list[str]:
        """The players that labelled the rows, as far as they are known."""
        if self.spec is not None:
            return [self.spec.teacher]
        names = (self.source or {}).get("teachers")
        return list(map(str, names)) if isinstance(names, list) else []

    @property
    def skips_replies(self) -> bool:
        """Whether games have no rows for the moves of an opponent."""
        if self.spec is not None:
            return self.spec.opponent is not None and self.spec.mode == "games"
        return bool((self.source or {}).get("skips_replies"))

    @property
    def has_gaps(self) -> bool:
        """Whether positions are missing anywhere in a game, as in the parts of a split."""
        return bool((self.source or {}).get("has_gaps"))

    def is_same_run(self, other: Manifest) -> bool:
        """Whether both have the same rows, up to the number of games."""
        return self.identity == other.identity and self.engine == other.engine

    def with_games(self, games: int) -> Manifest:
        spec = None if self.spec is None else replace(self.spec, games=games)
        return replace(self, games=games, spec=spec)

    def write(self, place: Location, unless: Callable[[], bool] = lambda: False) -> None:
        record = {
            "schema_version": self.schema_version,
            "spec_hash": self.identity,
            "board": self.board.size,
            "connect": self.board.connect,
            "games": self.games,
            "shard_games": self.shard_games,
            "repeatable": self.is_repeatable,
            "spec": None if self.spec is None else asdict(self.spec),
            "source": self.source,
            "made_with": self.made_with,
            "engine": self.engine,
        }
        if self.positions is not None:
            record["positions"] = self.positions
        place.write(NAME, (json.dumps(record, indent=2) + "\n").encode(), unless)

    def begin(self, place: Location) -> None:
        """Write it, unless the place holds another run."""

        def refuse_another_run() -> bool:
            now = Manifest.read(place)
            if now is not None and now.identity != self.identity:
                raise InputError(f"{place} holds another run: choose a new place")
            return False

        self.write(place, refuse_another_run)

    @classmethod
    def read(cls, place: Location) -> Manifest | None:
        """The manifest of a run; None without one. No file that it names is opened."""
        try:
            data = place.read(NAME, _MOST_BYTES)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            record = json.loads(data)
            version = int(record["schema_version"])
            manifest = cls._from_record(record) if version <= SCHEMA_VERSION else None
        except (ValueError, KeyError, TypeError, OverflowError, RecursionError) as error:
            raise InputError(
                f"{place}/{NAME} is damaged ({type(error).__name__}: {quoted(str(error), 100)}); "
                "remove it, and the same `selfplay generate` command writes it again"
            ) from None
        if manifest is None:
            raise InputError(
                f"{place} was written by a later version: it has schema_version {version}, but "
                f"this version reads up to {SCHEMA_VERSION}"
            )
        return manifest

    @classmethod
    def _from_record(cls, record: Mapping[str, Any]) -> Manifest:
        manifest = cls(
            identity=_digest_in(record["spec_hash"]),
            board=Board.parse(record["board"], record["connect"]),
            games=int(record["games"]),
            shard_games=int(record["shard_games"]),
            spec=None if record["spec"] is None else Spec.from_record(record["spec"]),
            source=None if record["source"] is None else _object_in(record["source"]),
            made_with=_object_in(record["made_with"]),
            engine=None if record.get("engine") is None else _digest_in(record["engine"]),
            is_repeatable=bool(record["repeatable"]),
            positions=None if record.get("positions") is None else int(record["positions"]),
            schema_version=int(record["schema_version"]),
        )
        sizes = manifest.games, manifest.shard_games, manifest.board
        if not 1 <= manifest.games <= MOST_GAMES or manifest.shard_games < 1:
            raise ValueError("a run and its shards have at least one game")
        if manifest.shards > MOST_SHARDS:
            raise ValueError(f"a run has at most {MOST_SHARDS:,} shards")
        spec = manifest.spec
        if spec and (spec.games, spec.shard_games, spec.parsed_board) != sizes:
            raise ValueError("it contradicts its spec")
        return manifest


def _digest_in(text: object) -> str:
    if not (isinstance(text, str) and _DIGEST.fullmatch(text)):
        raise ValueError("a digest has 32 digits")
    return text


def _object_in(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError("an object is missing")
    text = json.dumps(value, ensure_ascii=False)
    if without_keys(text) != text:
        raise ValueError("it holds a key: keep credentials out of files")
    return value


def _made_with() -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": usable_cores(),
        **{name: version_of(name) for name in ("selfplay", "numpy", "numba", "pyarrow", "ray")},
    }
