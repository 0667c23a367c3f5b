"""What `run.json` says: what a run is, where it comes from, and what it was made with."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from importlib.metadata import version as version_of
from typing import Any

from selfplay.board import Board
from selfplay.errors import InputError, quoted
from selfplay.machine import usable_cores
from storage.place import Place
from storage.rows import SCHEMA_VERSION
from storage.spec import Spec

NAME = "run.json"


@dataclass(frozen=True, slots=True)
class Description:
    """A run that was generated has a spec; one that was imported, merged or played has a source."""

    identity: str
    """What all its shards carry: the hash of the spec, or of what stands for one."""
    board: Board
    games: int
    shard_games: int
    spec: Spec | None = None
    source: Mapping[str, Any] | None = None
    made_with: Mapping[str, Any] = field(default_factory=dict)
    schema_version: int = SCHEMA_VERSION

    @classmethod
    def of_spec(cls, spec: Spec) -> Description:
        return cls(
            spec.hash, spec.geometry, spec.games, spec.shard_games, spec, made_with=_made_with()
        )

    @classmethod
    def of_source(
        cls, identity: str, board: Board, games: int, shard_games: int, source: Mapping[str, Any]
    ) -> Description:
        return cls(identity, board, games, shard_games, source=dict(source), made_with=_made_with())

    @property
    def shards(self) -> int:
        """How many files the games fill."""
        return -(-self.games // self.shard_games)

    def games_of(self, shard: int) -> range:
        """The games in a file."""
        return range(shard * self.shard_games, min(self.games, (shard + 1) * self.shard_games))

    @property
    def is_repeatable(self) -> bool:
        return self.spec is None or self.spec.is_repeatable

    def with_games(self, games: int) -> Description:
        spec = None if self.spec is None else replace(self.spec, games=games)
        return replace(self, games=games, spec=spec)

    def write(self, place: Place) -> None:
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
        }
        place.write(NAME, (json.dumps(record, indent=2) + "\n").encode())

    @classmethod
    def read(cls, place: Place) -> Description | None:
        """What is described there; None if nothing is."""
        try:
            data = place.read(NAME)
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            record = json.loads(data)
            version = int(record["schema_version"])
            found = cls._of_record(record) if version <= SCHEMA_VERSION else None
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise InputError(
                f"{place}/{NAME} is damaged ({type(error).__name__}: {quoted(str(error))}); if "
                "you remove it, the same `selfplay generate` command writes it anew"
            ) from None
        if found is None:
            raise InputError(
                f"{place} was written by a later version: it has schema_version {version}, and "
                f"this one reads up to {SCHEMA_VERSION}"
            )
        if found.spec is not None and found.spec.hash != found.identity:
            raise InputError(f"{place}/{NAME} is damaged: its spec is not that of its hash")
        return found

    @classmethod
    def _of_record(cls, record: Mapping[str, Any]) -> Description:
        found = cls(
            identity=record["spec_hash"],
            board=Board.parse(record["board"], record["connect"]),
            games=int(record["games"]),
            shard_games=int(record["shard_games"]),
            spec=None if record["spec"] is None else Spec.stored(record["spec"]),
            source=record["source"],
            made_with=dict(record["made_with"]),
            schema_version=int(record["schema_version"]),
        )
        if found.games < 1 or found.shard_games < 1:
            raise ValueError("a run has games, and shards have some of them")
        spec = found.spec
        if spec and (spec.games, spec.shard_games, spec.geometry) != (
            found.games,
            found.shard_games,
            found.board,
        ):
            raise ValueError("it says one thing, and its spec another")
        return found


def _made_with() -> dict[str, Any]:
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "cores": usable_cores(),
        **{name: version_of(name) for name in ("selfplay", "numpy", "numba", "pyarrow", "ray")},
    }
