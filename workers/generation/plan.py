"""Plan a run: compare its options with what exists, and list the missing shards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from errno import ENOSPC
from typing import Any

from selfplay.errors import InputError
from selfplay.game.openings import parse_openings
from selfplay.registry import PlayerSpec, refuse_stored_code
from selfplay.storage.card import NAME as CARD
from selfplay.storage.dataset import SHARDS, Dataset
from selfplay.storage.location import Location
from selfplay.storage.manifest import NAME, Manifest
from selfplay.storage.openings import save_openings
from selfplay.storage.spec import Spec
from selfplay.workers.executors.interface import message_of
from selfplay.workers.generation.engine import engine_digest, refuse_another_engine
from selfplay.workers.generation.games import GameMaker


@dataclass(frozen=True, slots=True)
class Plan:
    """The work that completes a run."""

    place: Location
    manifest: Manifest
    missing: tuple[int, ...]
    games: int = 0  # in complete shards
    positions: int = 0
    is_new: bool = True
    is_written: bool = False  # whether `run.json` has this manifest already
    before: Manifest | None = None  # the manifest in `run.json` when the plan was made
    restarts: bool = False  # whether the run replaces the one in `run.json`, which has no shards

    @property
    def is_complete(self) -> bool:
        wanted = self.manifest.positions
        return not self.missing and (wanted is None or self.positions >= wanted)

    @property
    def spec(self) -> Spec:
        assert self.manifest.spec is not None
        return self.manifest.spec

    def begin(self) -> None:
        """Write the manifest and the openings, and remove temporary files of killed writers."""
        if self.is_new:
            # A wrong player fails before anything is written, and kernels compile once, before
            # many workers need them.
            GameMaker(self.spec, parse_openings(self.spec.opening, self.spec.parsed_board))
            _may_write(lambda: save_openings(self.place, self.spec))
        if not self.is_written:
            _may_write(lambda: self.manifest.write(self.place, self._is_written_by_another))
        self.place.clean("")
        self.place.clean(SHARDS)

    def rows_before(self, shard: int) -> int:
        """The rows of the shards before this one."""
        footers = Dataset(self.place, self.manifest).footers
        return sum(footer.rows for number, footer in footers.items() if number < shard)

    def extended(self, games: int) -> Plan:
        """Begin the same run with more games; with still more, if another driver was faster."""
        plan = _plan(
            self.place, self.manifest.with_games(games), is_new=False, before=self.manifest
        )
        plan.begin()
        now = Manifest.read(self.place)
        if now is None or now.games <= games:
            return plan
        return _plan(self.place, self.manifest.with_games(now.games), is_new=False)

    def _is_written_by_another(self) -> bool:
        """Whether another process has written this manifest meanwhile; refuse to overwrite any
        other, or to restart a run that has shards by now."""
        now = Manifest.read(self.place)
        if self.restarts:
            if self.place.files(SHARDS) or now != self.before:
                raise InputError(_CHANGED.format(self.place))
            return False
        if now is not None and now.is_same_run(self.manifest):
            mine = self.manifest
            return now.games > mine.games or (now.games, now.positions) == (
                mine.games,
                mine.positions,
            )
        if now is not None and (self.before is None or not now.is_same_run(self.before)):
            raise InputError(_CHANGED.format(self.place))
        return False


MOST_POSITIONS = 1 << 40

_CHANGED = "{} was begun by another process meanwhile: run the command again"


def plan(
    place: Location,
    options: Mapping[str, Any],
    *,
    positions: int | None = None,
    restart: bool = False,
    check_engine: bool = False,
) -> Plan:
    """The plan for a run with these options. Options left out keep the run's value, or the default.
    Nothing is written.

    With `positions` the run ends with the first game at which it has so many. How many games that
    takes shows while it is generated: the plan begins with as many as are needed in any case.

    An existing run cannot change its spec, unless it has no shards yet and `restart` is given. With
    `check_engine`, another engine may resume it if a sample of its games gives the same rows.
    """
    if positions is not None:
        if "games" in options:
            raise InputError("a run ends by --games or by --positions: give one of them")
        if not 1 <= positions <= MOST_POSITIONS:
            raise InputError(
                f"positions is a number from 1 to {MOST_POSITIONS:,}, not {positions:,}"
            )
    before = Manifest.read(place)
    has_shards = bool(place.files(SHARDS))
    if before is None:
        if CARD in place.files("") and not has_shards:
            raise InputError(f"{place} has a {CARD} but no run.json: choose a new place")
        # Shards that have lost their run.json are kept if they have this spec.
        plan = _plan(place, _manifest(Spec.from_options(options), positions), is_new=True)
        if has_shards:
            _refuse_longer_run(plan)
            _refuse_unknown_engine(plan, check_engine=check_engine)
        return plan
    if before.spec is None:
        raise InputError(f"{place} was imported, merged or played: it cannot be generated")
    if restart:
        if has_shards:
            raise InputError(f"{place} has shards: begin another run in a new place")
        manifest = _manifest(Spec.from_options(options), positions)
        return replace(_plan(place, manifest, is_new=True, before=before), restarts=True)
    for role, player in before.spec.roles.items():
        if role not in options:
            refuse_stored_code(role, player)
    if before.spec.hash != before.identity:
        raise InputError(f"{place}/{NAME} is damaged: its spec does not match its hash")
    wanted = before.spec.with_options(options)
    way_out = "" if has_shards else "; it has no shards yet: --restart replaces it"
    _refuse_changed_players(place, before.spec, wanted, way_out)
    if wanted.hash != before.identity:
        raise InputError(
            f"{place} is another run: its {'; its '.join(before.spec.differences(wanted))}{way_out}"
        )
    if positions is None and "games" not in options:
        positions = before.positions
    if wanted.games < before.games:
        raise InputError(
            f"{place} is a run of {before.games:,} games, which cannot shrink to {wanted.games:,}: "
            "leave --games out, or give more"
        )
    manifest = replace(
        before.with_games(wanted.games), engine=engine_digest(before.spec), positions=positions
    )
    plan = _plan(place, manifest, is_new=False, before=before)
    _refuse_fewer_positions(plan)
    if not plan.is_complete and before.engine != manifest.engine:
        _refuse_unknown_engine(plan, check_engine=check_engine)
    if plan.is_complete and (wanted.games, positions) == (before.games, before.positions):
        return replace(plan, manifest=before, is_written=True)
    return replace(plan, is_written=manifest == before)


def _refuse_changed_players(place: Location, before: Spec, wanted: Spec, way_out: str) -> None:
    """Refuse a player from outside whose code is not what the run was begun with."""
    for role, text in before.roles.items():
        was, now = (PlayerSpec.parse(spec.roles.get(role, text)) for spec in (before, wanted))
        if was.source is None or replace(now, source=was.source).full != was.full:
            continue
        is_now = replace(now, source=None).resolved().source
        if is_now != was.source:
            raise InputError(
                f"the {role} {replace(was, source=None)} has changed since {place} was begun: it "
                f"was {was.source} and is {is_now}"
                + (way_out or "; restore it, or choose a new place")
            )


def _refuse_longer_run(plan: Plan) -> None:
    """Refuse shards of the same spec with more games."""
    dataset = Dataset(plan.place, plan.manifest)
    games = max((footer.end_game for footer in dataset.footers.values()), default=0)
    if games > plan.manifest.games or dataset.unexpected_files():
        raise InputError(
            f"{plan.place} has shards with more games than {plan.manifest.games:,}: raise --games "
            "to the run's number"
        )


def _refuse_unknown_engine(plan: Plan, *, check_engine: bool) -> None:
    """Refuse to mix rows of two engines in one run."""
    dataset = Dataset(plan.place, plan.manifest)
    if not dataset.footers or not plan.manifest.is_repeatable:
        return
    if not check_engine:
        raise InputError(
            f"{plan.place} was made by another or unknown version of the code that plays and "
            "labels games: resume it with that version, or give --check-engine, which plays some "
            "of its games again and resumes it if they are the same"
        )
    refuse_another_engine(dataset)


def _refuse_fewer_positions(plan: Plan) -> None:
    """Refuse a number of positions that the run has without its last game."""
    wanted, shards = plan.manifest.positions, plan.manifest.shards
    if wanted is None or plan.missing or plan.positions < wanted:
        return
    rows = Dataset(plan.place, plan.manifest).read(shards - 1)
    if plan.positions - int((rows.game == plan.manifest.games - 1).sum()) >= wanted:
        raise InputError(
            f"{plan.place} has {plan.positions:,} positions, and cannot shrink to {wanted:,}: "
            "leave --positions out, or give more"
        )


def _manifest(spec: Spec, positions: int | None = None) -> Manifest:
    manifest = replace(Manifest.of_spec(spec, engine_digest(spec)), positions=positions)
    if positions is None:
        return manifest
    return manifest.with_games(-(-positions // manifest.most_rows_of_game))


def _plan(
    place: Location, manifest: Manifest, *, is_new: bool, before: Manifest | None = None
) -> Plan:
    dataset = Dataset(place, manifest)
    complete = dataset.complete()
    return Plan(
        place,
        manifest,
        tuple(dataset.missing()),
        games=sum(len(manifest.games_of(shard)) for shard in complete),
        positions=sum(dataset.footers[shard].rows for shard in complete),
        is_new=is_new,
        before=before,
    )


def _may_write(write: Callable[[], None]) -> None:
    """Do a run's first write; an error other than a full disk means a wrong place."""
    try:
        write()
    except OSError as error:
        if error.errno == ENOSPC:
            raise
        raise InputError(f"nothing can be written there: {message_of(error)}") from None
