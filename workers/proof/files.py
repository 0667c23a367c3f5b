"""The files of a walk: a folder per level, with parts of positions that are next to each other.

    proof.json              what is proven
    level-06/
        parts.npy           the lowest key of each part but the first
        part-00003.npz      rows, mistakes, processor seconds; every few keys of the next level
        next-00003.npy      where the player is asked after these moves and all replies, by key
        level.json          the level in numbers, once all parts are there

A part is there when its `.npz` is. The parts of a level follow from those of the level before: the
same walk has the same parts, whoever makes them.
"""

from __future__ import annotations

import json
import shutil
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from selfplay.arrays import Array, UInt64Array
from selfplay.errors import InputError
from selfplay.files import read_bounded, remove_abandoned, write_whole
from selfplay.workers.proof.judging import MISTAKES, Judged
from selfplay.workers.proof.positions import ASKED, unique

_MOST_BYTES = 1 << 30
_SAMPLED = 64
"""One key in 64 of the next level is kept, to decide where its parts begin."""
_WAYS = ((10, 64), (14, 1 << 11), (256, 1 << 16))
"""The most stones of a level, and how many positions a part has there before duplicates are
removed: minutes of work at most."""


@dataclass(frozen=True, slots=True)
class Level:
    """The folder of a level, which has a number of stones."""

    walk: Path
    stones: int

    @property
    def folder(self) -> Path:
        return self.walk / (f"level-{self.stones:02d}" if self.stones >= 0 else "start")

    @property
    def before(self) -> Level:
        return Level(self.walk, self.stones - 2)

    def begin(self) -> UInt64Array | None:
        """Decide the parts, from all those of the level before: the lowest key of each but the
        first; None if there are no positions."""
        path = self.folder / "parts.npy"
        if path.exists():
            remove_abandoned(self.folder)
            starts: UInt64Array = np.load(path)
            return starts
        samples, total = [], 0
        for part in self.before.parts():
            with self.before.open(part) as made:
                samples.append(made["sample"])
                total += int(made["following"])
        if not total:
            return None
        ways = next(ways for stones, ways in _WAYS if self.stones <= stones)
        starts = _quantiles(np.sort(np.concatenate(samples)), -(-total // ways))
        self.folder.mkdir(parents=True, exist_ok=True)
        _save(path, starts)
        return starts

    def parts(self) -> list[int]:
        """The parts that are there."""
        return sorted(int(path.stem[5:]) for path in self.folder.glob("part-*.npz"))

    def open(self, part: int) -> Any:
        path = self.folder / f"part-{part:05d}.npz"
        try:
            return np.load(BytesIO(read_bounded(path, _MOST_BYTES, "part")), allow_pickle=False)
        except (ValueError, EOFError, OSError) as error:
            raise InputError(f"{path} cannot be read: {error}; remove {self.folder}") from None

    def asked(self, starts: UInt64Array, part: int) -> Array:
        """The positions of a part, from all parts of the level before."""
        found = [np.empty(0, ASKED)]
        for number in self.before.parts():
            following = np.load(self.before._following(number), mmap_mode="r")
            low, high = (
                bisect_left(following, int(key), key=lambda row: int(row["key"]))
                for key in _range_of(starts, part)
            )
            found.append(np.array(following[low:high]))
        return unique(np.concatenate(found))

    def write(self, part: int, following: Array, **content: Any) -> None:
        """Write a part, and where the player is asked after it."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _save(self._following(part), following)
        data = BytesIO()
        sample = following["key"][_SAMPLED // 2 :: _SAMPLED]
        np.savez(data, following=len(following), sample=sample, **content)
        write_whole(self.folder / f"part-{part:05d}.npz", data.getvalue())

    def finish(self) -> dict[str, Any]:
        """The level in numbers, once all parts are there; what only made it is removed."""
        if (found := self.numbers) is not None:
            return found
        counts = np.zeros(len(Judged), np.int64)
        digest, positions, seconds, following = blake2b(digest_size=16), 0, np.zeros(3), 0
        for part in self.parts():
            with self.open(part) as made:
                rows = made["rows"]
                seconds += made["seconds"]
                following += int(made["following"])
            digest.update(rows.tobytes())
            positions += len(rows)
            counts += np.bincount(_counted(rows), minlength=len(Judged))
        found = {
            "stones": self.stones,
            "positions": positions,
            **{judged.name.lower(): int(counts[judged]) for judged in list(Judged)[:-1]},
            "hash": digest.hexdigest(),
            "goes_on": following > 0,
            "seconds": dict(zip(("player", "solver", "all"), seconds.tolist(), strict=True)),
        }
        write_whole(self.folder / "level.json", json.dumps(found).encode())
        for path in self.before.folder.glob("next-*.npy"):
            path.unlink()
        return found

    @property
    def numbers(self) -> dict[str, Any] | None:
        """What `finish` found; None before."""
        path = self.folder / "level.json"
        if not path.exists():
            return None
        found: dict[str, Any] = json.loads(read_bounded(path, 1 << 16))
        return found

    def mistakes(self) -> Array:
        """All mistakes, in the order of their keys."""
        found = []
        for part in self.parts():
            with self.open(part) as made:
                found.append(made["mistakes"])
        return np.concatenate(found)

    def find(self, key: int) -> Array | None:
        """The row of a position; None if it is not there."""
        starts = np.load(self.folder / "parts.npy")
        part = int(np.searchsorted(starts, np.uint64(key), side="right"))
        rows = _rows(self, part)
        at = int(np.searchsorted(rows["key"], np.uint64(key)))
        row: Array | None = rows[at] if at < len(rows) and rows["key"][at] == key else None
        return row

    def _following(self, part: int) -> Path:
        return self.folder / f"next-{part:05d}.npy"


@lru_cache(maxsize=64)
def _rows(level: Level, part: int) -> Array:
    with level.open(part) as made:
        rows: Array = made["rows"]
    return rows


def _counted(rows: Array) -> Array:
    """What the moves do: a move in both images counts once."""
    first, second = rows["judged"][:, 0], rows["judged"][:, 1]
    is_other = (rows["moves"][:, 0] != rows["moves"][:, 1]) & (second != Judged.NOT_ASKED)
    return np.concatenate((first[first != Judged.NOT_ASKED], second[is_other]))


def _range_of(starts: UInt64Array, part: int) -> tuple[int, int]:
    """The keys of a part: from, and up to."""
    bounds = [0, *starts.tolist(), 1 << 64]
    return bounds[part], bounds[part + 1]


def _quantiles(samples: UInt64Array, parts: int) -> UInt64Array:
    at = np.arange(1, parts) * len(samples) // parts
    return np.unique(samples[at]) if len(samples) else samples


def _save(path: Path, array: Array) -> None:
    data = BytesIO()
    np.save(data, array)
    write_whole(path, data.getvalue())


def claim(walk: Path, proof: dict[str, Any]) -> None:
    """Take a folder for the walk of this proof; one of another proof is refused."""
    path, text = walk / "proof.json", json.dumps(proof, indent=2) + "\n"
    if path.exists():
        if read_bounded(path, 1 << 16).decode() != text:
            raise InputError(f"{walk.parent} is of another proof: name another folder with --out")
        return
    if walk.exists() and any(walk.iterdir()):
        raise InputError(f"{walk} is not empty: name another folder with --out")
    walk.mkdir(parents=True, exist_ok=True)
    write_whole(path, text.encode())


def remove(walk: Path) -> None:
    shutil.rmtree(walk)


def levels_of(walk: Path) -> Iterator[Level]:
    """The levels that are finished, in order."""
    for folder in sorted(walk.glob("level-*")):
        level = Level(walk, int(folder.name[6:]))
        if level.numbers is not None:
            yield level


def mistakes_in(numbers: dict[str, Any]) -> int:
    return sum(int(numbers[judged.name.lower()]) for judged in MISTAKES)
