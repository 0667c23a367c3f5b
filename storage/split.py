"""Split a run into two, a training set and a test set, that share no position.

The split is by position, not by row: all rows of a position and of its mirror image are in the same
part. The part follows from the position alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any

import numpy as np

from selfplay.arrays import Array
from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset, write_run
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.origin import origin_of
from selfplay.storage.rows import Rows

_WORD = (1 << 64) - 1


def write_split(dataset: Dataset, test: float, out: str) -> list[Dataset]:
    """Write the training set and the test set as two runs, `train` and `test`. Games keep their
    numbers."""
    games = max((footer.end_game for footer in dataset.footers.values()), default=0)
    if not games:
        raise InputError(f"{dataset.place} has no shards yet: nothing to split")

    def part(name: str, *, is_test: bool) -> Dataset:
        digest = blake2b(f"split {dataset.fingerprint} {test!r} {name}".encode(), digest_size=16)
        source: dict[str, Any] = {
            "split": {**origin_of(dataset), "test": test, "part": name},
            "teachers": dataset.manifest.teachers,
            "has_gaps": True,
        }
        if dataset.manifest.skips_replies:
            source["skips_replies"] = True
        manifest = Manifest.of_source(
            digest.hexdigest(), dataset.board, games, dataset.manifest.shard_games, source
        )

        def rows_of(games: range) -> Rows:
            shard = games.start // manifest.shard_games
            if shard not in dataset.footers:
                return no_rows
            rows = dataset.read(shard)
            return rows[in_test_set(rows, dataset.board, test) == is_test]

        return write_run(Location(Location(out).below(name)), manifest, rows_of)

    no_rows = dataset.read(dataset.shards()[0])[:0]
    return [part("train", is_test=False), part("test", is_test=True)]


@dataclass(frozen=True, slots=True)
class Part:
    """What a run is a part of."""

    fingerprint: str  # of the run that was split
    test: float
    name: str
    is_of_whole_games: bool


def part_of(manifest: Manifest) -> Part | None:
    """None if the run is no part of another."""
    match manifest.source:
        case {"split": {"fingerprint": str(run), "test": float(test), "part": str(name), **rest}}:
            source = rest.get("source")
            has_gaps = isinstance(source, dict) and bool(source.get("has_gaps"))
            return Part(run, test, name, not has_gaps)
    return None


def in_test_set(rows: Rows, board: Board, test: float) -> Array:
    """bool [row]: whether a row is in a test set with this fraction of the positions."""
    # Hashed twice: `train` holds out by the first hash, and would find its test set gone.
    first = uniform_hash(rows.canonical_keys(board))
    return uniform_hash((first * 2.0**53).astype(np.uint64)) < test


def uniform_hash(keys: Array) -> Array:
    """Pseudorandom numbers from 0 to 1, a function of the keys (SplitMix64's last step)."""
    if keys.dtype == object:
        keys = np.array([_folded(int(key)) for key in keys], np.uint64)
    z: Any = keys.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.asarray((z >> np.uint64(11)) * 2.0**-53)


def _folded(key: int) -> int:
    """A key of several machine words as one."""
    word = 0
    while key:
        word = (word * 0x2545F4914F6CDD1D + (key & _WORD)) & _WORD
        key >>= 64
    return word
