"""The spec of a run: everything that decides what is in it, and nothing else.

A spec that a person gives is resolved: its players and openings are looked up. One that is read
from a run opens nothing until a command plays its games.

Two specs with the same hash give the same rows. The number of games is not part of the hash: a
run with more of them begins with the same rows.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any, Literal, get_args, get_type_hints

from selfplay.errors import InputError, did_you_mean, quoted, without_keys
from selfplay.game.board import Board
from selfplay.game.openings import Deck, parse_openings
from selfplay.registry import PlayerSpec
from selfplay.storage.rows import MOST_SHARD_BYTES, SCHEMA_VERSION, row_bytes

Mode = Literal["games", "positions"]

MOST_GAMES = 1 << 40
MOST_SHARDS = 10_000_000
_LONGEST_TEXT = 4096


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What a run contains."""

    games: int = 100
    """How many games; of `positions`, how many positions."""
    teacher: str = "mcts:10000"
    """Who labels the positions."""
    explorer: str | None = None
    """Who plays the games; the teacher, if not given."""
    opponent: str | None = None
    """Whom it plays against, with the sides exchanged from game to game; itself, if not given."""
    opening: str = "0-20"
    """Where games begin."""
    mode: Mode = "games"
    """Label all positions of a game from the opening on; or `positions`: the first alone."""
    noise: float = 0.0
    """The share of moves that are random."""
    temperature: float = 0.0
    """Play in proportion to visits^(1/temperature) instead of the most visited move."""
    temperature_plies: int = 0
    """For so many plies after the opening."""
    seed: int = 0
    """All randomness comes from it."""
    board: str = "7x6"
    connect: int = 4
    shard_games: int = 100
    """Games in a file."""
    schema_version: int = SCHEMA_VERSION
    opening_digest: str | None = None
    """Stands for what is in the file that openings come from."""

    def __post_init__(self) -> None:
        """Check what the fields say by themselves. Nothing that they name is opened or listed:
        a spec may come from a stranger's file."""
        hints = get_type_hints(type(self))
        for key in fields(self):
            _check_type(key.name, getattr(self, key.name), hints[key.name])
        board = Board.parse(self.board, self.connect)
        self._set("board", board.size)
        self._set("noise", float(self.noise))
        self._set("temperature", float(self.temperature))
        self._check_ranges(board)

    def resolved(self) -> Spec:
        """The same with players and openings looked up, so that what they are stays what it was
        when a default changes or a file is exchanged. Opens the files that it names."""
        teacher = _player("teacher", self.teacher)
        explorer = None if self.explorer is None else _player("explorer", self.explorer)
        if explorer is not None and explorer.full == teacher.full:
            explorer = None
        if self.temperature and (explorer or teacher).name != "mcts":
            raise InputError("temperature plays by visits, which only an mcts explorer has")
        opponent = None if self.opponent is None else _player("opponent", self.opponent)
        if opponent is not None and self.mode == "positions":
            raise InputError("a opponent plays games: it has no part in mode=positions")
        digest = self.opening_digest
        if digest is None:
            openings = parse_openings(self.opening, self.geometry)
            if isinstance(openings, Deck) and self.has_opening_file:
                digest = digest_of(openings)
        return replace(
            self,
            teacher=teacher.complete,
            explorer=None if explorer is None else explorer.complete,
            opponent=None if opponent is None else opponent.complete,
            opening_digest=digest,
        )

    def _set(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)

    def _check_ranges(self, board: Board) -> None:
        for name, least, most in (
            ("games", 1, MOST_GAMES),
            ("shard_games", 1, MOST_SHARD_BYTES // (board.cells * row_bytes(board))),
            ("noise", 0, 1),
            ("temperature", 0, 100),
            ("temperature_plies", 0, board.cells),
        ):
            value = getattr(self, name)
            if not least <= value <= most:
                wrong = quoted(str(value)).strip("'")
                raise InputError(f"{name} is a number from {least:,} to {most:,}, not {wrong}")
        if self.games > MOST_SHARDS * self.shard_games:
            raise InputError(
                f"a run has at most {MOST_SHARDS:,} shards: raise shard_games for so many games"
            )
        if self.mode not in get_args(Mode):
            raise InputError(f"mode is {' or '.join(get_args(Mode))}, not {self.mode!r}")
        if bool(self.temperature) != bool(self.temperature_plies):
            raise InputError("temperature and temperature_plies go together: give both or neither")
        if self.schema_version != SCHEMA_VERSION:
            raise InputError(
                f"this version writes schema_version {SCHEMA_VERSION}, not {self.schema_version}"
            )

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Spec:
        """A spec from names and values, as a file or a command line gives them."""
        _refuse_unknown_keys(options)
        found = cls(**options).resolved()
        if found.opening_digest is None:  # of openings that are listed, there may be too many
            parse_openings(found.opening, found.geometry).opening(found.seed, 0)
        return found

    def changed(self, options: Mapping[str, Any]) -> Spec:
        """The same but for these names and values."""
        _refuse_unknown_keys(options)
        # A file of openings need not be where it was: what was in it is known by its digest.
        digest = None if "opening" in options else self.opening_digest
        return replace(self, opening_digest=digest, **options).resolved()

    @classmethod
    def stored(cls, options: Mapping[str, Any]) -> Spec:
        """The spec that a run was begun with, as its description has it: only read."""
        if "rival" in options:  # as runs said before there was a release
            options = {"opponent" if name == "rival" else name: options[name] for name in options}
        found = cls(**options)
        if found.has_opening_file and found.opening_digest is None:
            raise InputError("its opening is a file without a digest")
        return found

    @property
    def has_opening_file(self) -> bool:
        return self.opening.strip().startswith("file:")

    @property
    def geometry(self) -> Board:
        return Board.parse(self.board, self.connect)

    @property
    def is_repeatable(self) -> bool:
        """Whether the same spec gives the same rows: not with players that go by the clock."""
        players = (self.teacher, *filter(None, (self.explorer, self.opponent)))
        return not any(PlayerSpec.parse(player).is_timed for player in players)

    @property
    def hash(self) -> str:
        """The identity of a run: of two with the same one, the longer begins with the shorter."""
        text = json.dumps(self.resolved()._identity(), sort_keys=True)
        return blake2b(text.encode(), digest_size=16).hexdigest()

    def _identity(self) -> dict[str, Any]:
        options = asdict(self)
        del options["games"]
        for role in ("teacher", "explorer", "opponent"):  # not how they work
            if options[role] is not None:
                options[role] = PlayerSpec.parse(options[role]).full
        if self.opponent is None:  # there were runs before there were opponents
            del options["opponent"]
        if self.opening_digest is not None:  # where the file was does not matter
            options["opening"] = "file"
        return options

    def differences(self, other: Spec) -> list[str]:
        """What makes this another run than that, in words."""
        mine, others = self._identity(), other._identity()
        return [
            f"{name} is {mine.get(name)!r}, not {others.get(name)!r}"
            for name in mine | others
            if mine.get(name) != others.get(name)
        ]


def _refuse_unknown_keys(options: Mapping[str, Any]) -> None:
    known = [key.name for key in fields(Spec) if key.name != "opening_digest"]
    for name in options:
        if name not in known:
            raise InputError(
                f"a spec has no key {quoted(str(name))}; {did_you_mean(str(name), known)}"
            )


def read_options(path: Path) -> dict[str, Any]:
    """The keys of a spec that a TOML file gives."""
    try:
        options = tomllib.loads(path.read_text(encoding="utf-8"))
        _refuse_unknown_keys(options)
        hints = get_type_hints(Spec)
        for name, value in options.items():
            _check_type(name, value, hints[name])
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot read a spec from {quoted(str(path), 200)}: {error}") from None
    except InputError as error:
        raise InputError(f"{path}: {error}") from None
    return options


def digest_of(deck: Deck) -> str:
    """What stands for a list of openings, wherever it was read from."""
    digest = blake2b(digest_size=16)
    for position in deck.positions:
        digest.update(f"{position.key()}\n".encode())
    return digest.hexdigest()


def _check_type(name: str, value: object, annotation: Any) -> None:
    kinds = get_args(annotation) or (annotation,)
    if name == "mode":
        kinds = (str,)
    right = isinstance(value, kinds) and not isinstance(value, bool)
    if float in kinds and isinstance(value, int) and not isinstance(value, bool):
        right = True
    if isinstance(value, str) and not (value.isprintable() and len(value) <= _LONGEST_TEXT):
        raise InputError(f"{name} has control characters, or more than {_LONGEST_TEXT:,} signs")
    if isinstance(value, str) and without_keys(value) != value:
        raise InputError(f"{name} holds a key, which does not belong into a file")
    if not right:
        what = "a whole number" if int in kinds else "a number" if float in kinds else "a text"
        shown = quoted(str(value)) if isinstance(value, str) else quoted(str(value)).strip("'")
        raise InputError(f"{name} is {what}, not {shown}")


def _player(role: str, text: str) -> PlayerSpec:
    player = PlayerSpec.parse(text)
    if player.name == "human":
        raise InputError(f"a {role} plays by itself: not a human")
    return player
