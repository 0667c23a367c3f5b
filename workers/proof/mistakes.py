"""The mistakes of a walk as a run: its positions, with the value of every column."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from selfplay.game.position import Position
from selfplay.players import Decision
from selfplay.storage.dataset import Dataset, write_run
from selfplay.storage.labelling import rows_of_game
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.rows import Rows
from selfplay.workers.proof.files import levels_of
from selfplay.workers.proof.judging import NO_VALUE
from selfplay.workers.proof.positions import stones_of
from selfplay.workers.proof.walk import Proof

_SHARD_GAMES = 1000
LABELS = "perfect:scores=off"
"""The player whose values these are."""


def save_mistakes(proof: Proof, walk: Path, run: str) -> Dataset | None:
    """Write the mistakes of all finished levels, by stones and key, or add those of new levels;
    None if there are none."""
    rows = _rows(proof, walk)
    place = Location(run)
    if not len(rows):
        return None
    before = Manifest.read(place)
    if before is not None and before.identity == proof.digest and before.games >= len(rows):
        return Dataset(place)
    source = {"teachers": [LABELS], "mistakes of": proof.record["player"], "has_gaps": True}
    manifest = Manifest.of_source(proof.digest, proof.board, len(rows), _SHARD_GAMES, source)
    return write_run(place, manifest, lambda games: rows[games.start : games.stop])


def _rows(proof: Proof, walk: Path) -> Rows:
    """A game of one position for every mistake."""
    board = proof.board
    made = [rows_of_game(0, board, [], [], finished=False)]
    for level in levels_of(walk):
        mistakes = level.mistakes()
        stones = zip(*stones_of(board, mistakes["key"]), strict=True)
        for (own, mask), image, values in zip(
            stones, mistakes["image"].tolist(), mistakes["values"].tolist(), strict=True
        ):
            position = Position(board, int(own), int(mask), None)
            if image:
                position, values = position.mirror(), values[::-1]
            made.append(rows_of_game(0, board, [position], [_label(values)], finished=False))
    rows = Rows.join(made)
    rows.game[:] = np.arange(len(rows))
    return rows


def _label(values: list[int]) -> Decision:
    """The value of every column; the move is one of the best, near the middle."""
    middle = (len(values) - 1) / 2
    move = max(range(len(values)), key=lambda k: (values[k], -abs(k - middle)))
    proven = tuple(None if value == NO_VALUE else value for value in values)
    value = tuple(None if known is None else float(known) for known in proven)
    return Decision(move=move, proven=proven, value=value)
