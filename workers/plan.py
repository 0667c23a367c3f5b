"""The plan of a run: what is there, what is missing, and that both belong to the same spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from selfplay.errors import InputError
from selfplay.openings import parse_openings
from storage.dataset import SHARDS, Dataset
from storage.description import Description
from storage.openings import keep_openings
from storage.place import Place
from storage.spec import Spec
from workers.games import GameMaker


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done at a place so that all of a run is there."""

    place: Place
    description: Description
    missing: tuple[int, ...]
    games: int = 0
    """How many are there, in shards that are whole."""
    positions: int = 0
    is_new: bool = True
    is_written: bool = False
    """Whether `run.json` says all this already."""

    @property
    def spec(self) -> Spec:
        assert self.description.spec is not None
        return self.description.spec

    def begin(self) -> None:
        """Write down what the run is, and clear away what killed writers have left."""
        if self.is_new:
            # Whatever is wrong with a player shows before anything is written; and what has
            # to be compiled is, once, before many workers need it.
            GameMaker(self.spec, parse_openings(self.spec.opening, self.spec.geometry))
            keep_openings(self.place, self.spec)
        if not self.is_written:
            self.description.write(self.place)
        self.place.clean("")
        self.place.clean(SHARDS)


def plan(place: Place, options: Mapping[str, Any]) -> Plan:
    """The plan for a run with these keys of a spec; what they leave open is as it was begun, or
    else by default. Nothing is written."""
    before = Description.read(place)
    if before is None:
        spec = Spec.of(options)
        description = Description.of_spec(spec)
        if place.files(SHARDS):
            raise InputError(
                f"{place} has shards but no run.json that says what they are: choose a new place"
            )
        return Plan(place, description, tuple(range(description.shards)))
    if before.spec is None:
        raise InputError(f"{place} was imported or merged: it cannot be generated")
    wanted = before.spec.changed(options)
    if wanted.hash != before.identity:
        raise InputError(
            f"{place} is another run: its {'; its '.join(before.spec.differences(wanted))}"
        )
    if wanted.games < before.games:
        raise InputError(
            f"{place} is a run of {before.games:,} games, which cannot become {wanted.games:,}; "
            "leave --games out, or give more"
        )
    description = before.with_games(wanted.games)
    dataset = Dataset(place, description)
    missing = dataset.missing()
    there = [shard for shard in dataset.shards() if shard not in set(missing)]
    return Plan(
        place,
        description,
        tuple(missing),
        games=sum(len(description.games_of(shard)) for shard in there),
        positions=sum(dataset.footers[shard].rows for shard in there),
        is_new=False,
        is_written=wanted.games == before.games,
    )
