"""Runs made for tests: small, quick, and of every kind of label."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from selfplay.game.match import match
from selfplay.game.openings import parse_openings
from selfplay.registry import PlayerSpec
from selfplay.storage.dataset import Dataset, write_shard
from selfplay.storage.labelling import rows_of_game
from selfplay.storage.location import Location
from selfplay.storage.manifest import Manifest
from selfplay.storage.rows import Rows
from selfplay.storage.spec import Spec
from selfplay.workers.generation.engine import engine_digest

SPEC = Spec(games=20, shard_games=5, teacher="mcts:200", opening="4-20", seed=3).resolved()


@cache
def rows_of(spec: Spec, game: int) -> Rows:
    player = PlayerSpec.parse(spec.teacher).build(spec.parsed_board)
    start = parse_openings(spec.opening, spec.parsed_board).opening(spec.seed, game)
    record = match(player, player, start, game)
    return rows_of_game(
        game,
        spec.parsed_board,
        record.positions,
        record.decisions,
        [decision.move for decision in record.decisions],
        record.winner,
        finished=True,
    )


def games_of(spec: Spec, shard: int) -> range:
    return Manifest.of_spec(spec).games_of(shard)


def shard_of(spec: Spec, shard: int) -> Rows:
    return Rows.join([rows_of(spec, game) for game in games_of(spec, shard)])


def make_run(where: Path | str, spec: Spec = SPEC, shards: range | None = None) -> Dataset:
    place = Location(str(where))
    description = Manifest.of_spec(spec, engine_digest(spec))
    description.write(place)
    for shard in range(description.shards) if shards is None else shards:
        write_shard(place, description, shard, shard_of(spec, shard))
    return Dataset(place)
