"""The plan of a run: what is there, what is missing, and that both belong to the same spec."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from errno import ENOSPC
from typing import Any

from selfplay.errors import InputError
from selfplay.game.openings import parse_openings
from selfplay.storage.card import NAME as CARD
from selfplay.storage.dataset import SHARDS, Dataset
from selfplay.storage.location import Location
from selfplay.storage.manifest import NAME, Manifest
from selfplay.storage.openings import keep_openings
from selfplay.storage.spec import Spec
from selfplay.workers.generation.engine import engine_digest, refuse_another_engine
from selfplay.workers.generation.games import GameMaker


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done at a place so that all of a run is there."""

    place: Location
    description: Manifest
    missing: tuple[int, ...]
    games: int = 0
    """How many are there, in shards that are whole."""
    positions: int = 0
    is_new: bool = True
    is_written: bool = False
    """Whether `run.json` says all this already."""
    before: Manifest | None = None
    """What it said when the plan was made."""
    restarts: bool = False
    """Whether the run is begun anew, over what `run.json` says."""

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
            _may_write(lambda: self.description.write(self.place, self._is_written_by_another))
        self.place.clean("")
        self.place.clean(SHARDS)

    def _is_written_by_another(self) -> bool:
        """Whether `run.json` says all this by now. What it says otherwise is not written over, nor
        is a run begun anew that has shards by now."""
        now = Manifest.read(self.place)
        if self.restarts:
            if self.place.files(SHARDS) or now != self.before:
                raise InputError(_CHANGED.format(self.place))
            return False
        if now is not None and now.is_of(self.description):
            return now.games >= self.description.games
        if now is not None and (self.before is None or not now.is_of(self.before)):
            raise InputError(_CHANGED.format(self.place))
        return False


_CHANGED = "{} was begun by somebody else meanwhile: give the command again"


def plan(
    place: Location,
    options: Mapping[str, Any],
    *,
    restart: bool = False,
    check_engine: bool = False,
) -> Plan:
    """The plan for a run with these keys of a spec; what they leave open is as it was begun, or
    else by default. Nothing is written.

    A run that was begun binds whoever comes later, unless it has no shard yet and is begun anew by
    `restart`. With `check_engine` another engine may go on with it if games that are there come
    out the same.
    """
    before = Manifest.read(place)
    has_shards = bool(place.files(SHARDS))
    if before is None:
        if CARD in place.files("") and not has_shards:
            raise InputError(f"{place} has a {CARD} that is of no run: choose a new place")
        # Shards without a run.json are gone on with if they are of this very spec.
        found = _with_missing(place, _described(Spec.of(options)), is_new=True)
        if has_shards:
            _refuse_longer_run(found)
            _refuse_unknown_engine(found, check_engine=check_engine)
        return found
    if before.spec is None:
        raise InputError(f"{place} was imported, merged or played: it cannot be generated")
    if restart:
        if has_shards:
            raise InputError(f"{place} has shards: begin another run in a new place")
        found = _with_missing(place, _described(Spec.of(options)), is_new=True, before=before)
        return replace(found, restarts=True)
    if before.spec.hash != before.identity:
        raise InputError(f"{place}/{NAME} is damaged: its spec is not that of its hash")
    wanted = before.spec.changed(options)
    if wanted.hash != before.identity:
        way_out = "" if has_shards else "; it has no shard yet: --restart begins it anew"
        raise InputError(
            f"{place} is another run: its {'; its '.join(before.spec.differences(wanted))}{way_out}"
        )
    if wanted.games < before.games:
        raise InputError(
            f"{place} is a run of {before.games:,} games, which cannot become {wanted.games:,}; "
            "leave --games out, or give more"
        )
    described = replace(before.with_games(wanted.games), engine=engine_digest(before.spec))
    found = _with_missing(place, described, is_new=False, before=before)
    if found.missing and before.engine != described.engine:
        _refuse_unknown_engine(found, check_engine=check_engine)
    if not found.missing and wanted.games == before.games:
        return replace(found, description=before, is_written=True)
    return replace(found, is_written=described == before)


def _refuse_longer_run(found: Plan) -> None:
    """Shards may be of the very spec, and of more games."""
    dataset = Dataset(found.place, found.description)
    games = max((footer.end_game for footer in dataset.footers.values()), default=0)
    if games > found.description.games or dataset.strays():
        raise InputError(
            f"{found.place} has shards with more games than {found.description.games:,}: give "
            "--games as it was"
        )


def _refuse_unknown_engine(found: Plan, *, check_engine: bool) -> None:
    """Rows of two engines in one run are those of neither."""
    dataset = Dataset(found.place, found.description)
    if not dataset.footers or not found.description.is_repeatable:
        return
    if not check_engine:
        raise InputError(
            f"{found.place} was made by another version of the code that plays and labels games, "
            "or by one that nobody knows: go on with that one, or give --check-engine, which makes "
            "some of its games again and goes on if they are the same"
        )
    refuse_another_engine(dataset)


def _described(spec: Spec) -> Manifest:
    return Manifest.of_spec(spec, engine_digest(spec))


def _with_missing(
    place: Location, description: Manifest, *, is_new: bool, before: Manifest | None = None
) -> Plan:
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
        before=before,
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
