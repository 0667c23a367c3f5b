"""The engine of a run: a digest of the code that plays and labels its games.

`run.json` has that digest. Another engine may resume the run only if a sample of its games, played
again, gives the same rows.
"""

from __future__ import annotations

from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from selfplay.errors import InputError
from selfplay.own_player import sources_of
from selfplay.registry import BUILT_IN, kind_of
from selfplay.storage.dataset import Dataset
from selfplay.storage.openings import load_openings
from selfplay.storage.spec import Spec
from selfplay.workers.generation.games import GameMaker

_ROOT = Path(__file__).parents[2]
_SOURCES = (
    "*.py",
    *(f"{room}/*.py" for room in ("game", "kernels", "mcts", "minimax", "solver")),
    "storage/labelling.py",
    "storage/rows.py",
    "workers/generation/games.py",
)

MOST_GAMES_CHECKED = 20


def engine_digest(spec: Spec) -> str:
    """A digest of the source files that decide the rows of this spec. Players from outside have
    theirs in the spec."""
    names = {player.name for player in spec.players if player.source is None}
    return _digest(frozenset(names) - BUILT_IN)


@cache
def _digest(plugins: frozenset[str]) -> str:
    files = {path for pattern in _SOURCES for path in _ROOT.glob(pattern)}
    for name in plugins:
        files.update(sources_of(kind_of(name).build.__module__))
    digest = blake2b(digest_size=16)
    for path in sorted(files, key=lambda path: path.parts[-2:]):
        text = path.read_bytes().replace(b"\r\n", b"\n")
        digest.update(f"{path.parent.name}/{path.name} {len(text)}\n".encode() + text)
    return digest.hexdigest()


def refuse_another_engine(dataset: Dataset) -> None:
    """Play a sample of a run's games again, evenly over its shards; refuse if one differs."""
    spec = dataset.spec
    assert spec is not None
    maker = GameMaker(spec, load_openings(dataset.place, spec))
    shards = dataset.shards()
    chosen = np.linspace(0, len(shards) - 1, min(MOST_GAMES_CHECKED, len(shards))).astype(int)
    for number, shard in enumerate(shards[index] for index in chosen):
        games, rows = dataset.footers[shard].games, dataset.read(shard)
        game = games[number % len(games)]
        if maker.rows(game).fingerprint() != rows[rows.game == game].fingerprint():
            raise InputError(
                f"game {game:,} of {dataset.place} differs with this engine: resume it with the "
                "version that began it, or choose a new place"
            )
