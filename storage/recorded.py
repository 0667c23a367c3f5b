"""A run out of games that were played for their own sake: in a tournament, at a board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import Any

import numpy as np

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset, write
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.rows import Rows

SHARD_GAMES = 1000


def refuse_if_taken(place: Location) -> None:
    """Such a run is written once, to a place where nothing is."""
    if Manifest.read(place) is not None:
        raise InputError(f"{place} holds a run: keep these games in a new place")
    if not place.is_empty:
        raise InputError(f"{place} is not empty: keep these games in a new place")
    if not place.may_be_written:
        raise InputError(f"nothing can be written to {place}")


def keep_games(
    games: Sequence[Rows], board: Board, place: Location, source: Mapping[str, Any]
) -> Dataset:
    """Write games, numbered anew, as a run that says where they come from."""
    refuse_if_taken(place)
    numbered = [
        replace(rows, game=np.full(len(rows), number, np.int64))
        for number, rows in enumerate(games)
    ]
    digest = blake2b(digest_size=16)
    for rows in numbered:
        digest.update(f"played {rows.fingerprint()}\n".encode())
    described = Manifest.of_source(digest.hexdigest(), board, len(numbered), SHARD_GAMES, source)
    described.write(place)
    for shard in range(described.shards):
        part = described.games_of(shard)
        write(place, described, shard, Rows.join(numbered[part.start : part.stop]))
    return Dataset(place)
