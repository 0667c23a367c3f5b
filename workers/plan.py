"""The plan of a run: what is there, what is missing, and that both belong to the same spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from errno import ENOSPC
from typing import Any

from selfplay.errors import InputError
from selfplay.openings import parse_openings
from storage.card import NAME as CARD
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
            _may_write(lambda: keep_openings(self.place, self.spec))
        if not self.is_written:
            _may_write(lambda: self.description.write(self.place))
        self.place.clean("")
        self.place.clean(SHARDS)


def plan(place: Place, options: Mapping[str, Any]) -> Plan:
    """The plan for a run with these keys of a spec; what they leave open is as it was begun, or
    else by default. Nothing is written."""
    before = Description.read(place)
    begun = bool(place.files(SHARDS))
    if before is None:
        if CARD in place.files(""):
            raise InputError(f"{place} has a {CARD} that is of no run: choose a new place")
        # Shards without a run.json are gone on with if they are of this very spec.
        return _with_missing(place, Description.of_spec(Spec.of(options)), is_new=True)
    if before.spec is None:
        raise InputError(f"{place} was imported, merged or played: it cannot be generated")
    wanted = before.spec.changed(options)
    if not begun:  # nothing is there that a spec could be at odds with
        return _with_missing(place, Description.of_spec(wanted), is_new=True)
    if wanted.hash != before.identity:
        raise InputError(
            f"{place} is another run: its {'; its '.join(before.spec.differences(wanted))}"
        )
    if wanted.games < before.games:
        raise InputError(
            f"{place} is a run of {before.games:,} games, which cannot become {wanted.games:,}; "
            "leave --games out, or give more"
        )
    found = _with_missing(place, before.with_games(wanted.games), is_new=False)
    return replace(found, is_written=wanted.games == before.games)


def _with_missing(place: Place, description: Description, *, is_new: bool) -> Plan:
    dataset = Dataset(place, description)
    missing = dataset.missing()
    lacking = set(missing)
    there = [shard for shard in dataset.shards() if shard not in lacking]
    return Plan(
        place,
        description,
        tuple(missing),
        games=sum(len(description.games_of(shard)) for shard in there),
        positions=sum(dataset.footers[shard].rows for shard in there),
        is_new=is_new,
    )


def _may_write(write: Callable[[], None]) -> None:
    """The first thing that is written: if it cannot be, the place is not one for runs."""
    try:
        write()
    except OSError as error:
        if error.errno == ENOSPC:
            raise
        where = f" ({error.filename})" if error.filename else ""
        reason = f"{error.strerror or error}{where}"
        raise InputError(f"nothing can be written there: {reason}") from None
