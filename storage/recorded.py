"""Save played games as a run: from a tournament, or from games at the board."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.storage.dataset import Dataset, write_run
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.rows import Rows

SHARD_GAMES = 1000


def require_new_location(place: Location) -> None:
    """Refuse a place that is not empty, or not writable."""
    if Manifest.read(place) is not None:
        raise InputError(f"{place} holds a run: save these games in a new place")
    if not place.is_empty:
        raise InputError(f"{place} is not empty: save these games in a new place")
    if not place.seems_writable:
        raise InputError(f"nothing can be written to {place}")


def save_games(
    games: Sequence[Rows], board: Board, place: Location, source: Mapping[str, Any]
) -> Dataset:
    """Write games, renumbered, as a run with this source."""
    require_new_location(place)
    numbered = [rows.with_game(number) for number, rows in enumerate(games)]
    digest = blake2b(digest_size=16)
    for rows in numbered:
        digest.update(f"played {rows.fingerprint()}\n".encode())
    manifest = Manifest.of_source(digest.hexdigest(), board, len(numbered), SHARD_GAMES, source)
    return write_run(place, manifest, lambda part: Rows.join(numbered[part.start : part.stop]))
