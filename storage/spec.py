"""The spec of a run: the options that decide its rows, their defaults, help texts and checks.

`Spec` is the one list of these options: commands, TOML files and `run.json` derive theirs from it.
A spec from a user is resolved, which opens the files that it names; one from a run's manifest opens
nothing until a command plays its games.

Specs with the same hash give the same rows. The number of games is not part of the hash: a longer
run begins with the rows of a shorter one.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from hashlib import blake2b
from typing import TYPE_CHECKING, Annotated, Any, Literal

from selfplay.errors import InputError, quoted
from selfplay.game.board import Board
from selfplay.options import check_names, check_types
from selfplay.registry import PlayerSpec
from selfplay.storage.limits import MOST_SHARD_BYTES, SCHEMA_VERSION, row_bytes

if TYPE_CHECKING:
    from selfplay.game.openings import Deck

Mode = Literal["games", "positions"]

MOST_GAMES = 1 << 40
MOST_SHARDS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Spec:
    """What a run contains. The texts beside a type are the help and metavar of the command."""

    games: Annotated[int, "Number of games. A larger number extends the run."] = 100
    teacher: Annotated[str, "Player whose move is stored as the label.", "PLAYER"] = "mcts:10000"
    explorer: Annotated[
        str | None, "Player that makes the moves of the games. [default: the teacher]", "PLAYER"
    ] = None
    opponent: Annotated[
        str | None, "Player against the explorer. [default: the explorer itself]", "PLAYER"
    ] = None
    opening: Annotated[str, "Openings: 0-20, sensible:0-20, all:4 or file:F."] = "0-20"
    mode: Annotated[
        Mode, "games: label every position; positions: only the one after the opening."
    ] = "games"
    noise: Annotated[float, "Probability of a random move."] = 0.0
    temperature: Annotated[
        float, "Sample moves in proportion to visits^(1/T) for --temperature-plies plies."
    ] = 0.0
    temperature_plies: Annotated[int, "Plies after the opening that use --temperature."] = 0
    seed: Annotated[int, "Random seed."] = 0
    board: Annotated[str, "Board size, 4x4 to 16x16.", "COLUMNSxROWS"] = "7x6"
    connect: Annotated[int, "Stones in a row that win, 3 to 6.", "K"] = 4
    shard_games: Annotated[int, "Games per shard.", "N"] = 100
    schema_version: int = SCHEMA_VERSION
    opening_digest: str | None = None  # a digest of the file with the openings, if any

    def __post_init__(self) -> None:
        """Check every value on its own. A spec may come from an untrusted file: nothing that it
        names is opened or enumerated."""
        check_types(self)
        board = Board.parse(self.board, self.connect)
        object.__setattr__(self, "board", board.size)
        object.__setattr__(self, "noise", float(self.noise))
        object.__setattr__(self, "temperature", float(self.temperature))
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
            raise InputError(f"a run has at most {MOST_SHARDS:,} shards: raise shard_games")
        if bool(self.temperature) != bool(self.temperature_plies):
            raise InputError("temperature and temperature_plies go together: give both or neither")
        if self.schema_version != SCHEMA_VERSION:
            raise InputError(
                f"this version writes schema_version {SCHEMA_VERSION}, not {self.schema_version}"
            )

    def resolved(self) -> Spec:
        """The same with players and openings spelled out, so that neither a changed default nor a
        changed file changes the run. Opens the files that it names."""
        teacher = _player("teacher", self.teacher)
        explorer = None if self.explorer is None else _player("explorer", self.explorer)
        if explorer is not None and explorer.full == teacher.full:
            explorer = None
        if self.temperature and (explorer or teacher).name != "mcts":
            raise InputError("temperature samples by visits: it needs an mcts explorer")
        opponent = None if self.opponent is None else _player("opponent", self.opponent)
        if opponent is not None and self.mode == "positions":
            raise InputError("an opponent needs mode=games: mode=positions plays no games")
        digest = self.opening_digest
        if digest is None:
            from selfplay.game.openings import Deck, parse_openings

            openings = parse_openings(self.opening, self.parsed_board)
            if isinstance(openings, Deck) and self.has_opening_file:
                digest = digest_of(openings)
        return replace(
            self,
            teacher=teacher.complete,
            explorer=None if explorer is None else explorer.complete,
            opponent=None if opponent is None else opponent.complete,
            opening_digest=digest,
        )

    @classmethod
    def from_options(cls, options: Mapping[str, Any]) -> Spec:
        """A resolved spec from the options of a command or a TOML file."""
        from selfplay.game.openings import parse_openings

        check_names(options, Spec, "a spec")
        spec = cls(**options).resolved()
        for player in spec.players:
            player.require_board(spec.parsed_board)
        if spec.opening_digest is None:  # refuse openings that are too many to enumerate
            parse_openings(spec.opening, spec.parsed_board).opening(spec.seed, 0)
        return spec

    def with_options(self, options: Mapping[str, Any]) -> Spec:
        """The same with other values for these options."""
        check_names(options, Spec, "a spec")
        # The original file of openings may be gone: its digest stands for it.
        digest = None if "opening" in options else self.opening_digest
        return replace(self, opening_digest=digest, **options).resolved()

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> Spec:
        """The spec in a manifest; nothing that it names is opened."""
        if "rival" in record:  # the name of `opponent` before the first release
            record = {"opponent" if name == "rival" else name: record[name] for name in record}
        spec = cls(**record)
        for player in spec.roles.values():  # parsing another's would load its package
            if player.strip().startswith("py:") and PlayerSpec.parse(player).source is None:
                raise InputError("a player's code has no digest")
        if spec.has_opening_file and spec.opening_digest is None:
            raise InputError("its opening is a file without a digest")
        return spec

    @property
    def has_opening_file(self) -> bool:
        return self.opening.strip().startswith("file:")

    @property
    def parsed_board(self) -> Board:
        return Board.parse(self.board, self.connect)

    @property
    def roles(self) -> dict[str, str]:
        """The teacher, and the explorer and opponent if given."""
        names = {name: getattr(self, name) for name in ("teacher", "explorer", "opponent")}
        return {role: name for role, name in names.items() if name is not None}

    @property
    def players(self) -> list[PlayerSpec]:
        return [PlayerSpec.parse(name) for name in self.roles.values()]

    def command_to_resume(self, run: str) -> str:
        """The command that resumes a run of this spec. It names players whose code only a command
        line may name."""
        words = ["selfplay", "generate", run]
        for role, player in zip(self.roles, self.players, strict=True):
            if player.name == "py":
                words += [f"--{role}", str(replace(player, source=None))]
        return shlex.join(words)

    @property
    def is_repeatable(self) -> bool:
        """Whether the same spec gives the same rows: false if a player has a time limit."""
        return not any(player.is_timed for player in self.players)

    @property
    def hash(self) -> str:
        """The identity of a run, whatever its number of games."""
        text = json.dumps(self.resolved()._identity(), sort_keys=True)
        return blake2b(text.encode(), digest_size=16).hexdigest()

    def _identity(self) -> dict[str, Any]:
        options = asdict(self)
        del options["games"]
        for role, name in self.roles.items():  # without options such as memory
            options[role] = PlayerSpec.parse(name).full
        if self.opponent is None:  # keep the hashes of runs older than opponents
            del options["opponent"]
        if self.opening_digest is not None:  # the path of the file does not matter
            options["opening"] = "file"
        return options

    def differences(self, other: Spec) -> list[str]:
        """The options that make these two runs different, for a message."""
        mine, others = self._identity(), other._identity()
        return [
            f"{name} is {mine.get(name)!r}, not {others.get(name)!r}"
            for name in mine | others
            if mine.get(name) != others.get(name)
        ]


def digest_of(deck: Deck) -> str:
    """A digest of a list of openings, wherever it was read from."""
    digest = blake2b(digest_size=16)
    for position in deck.positions:
        digest.update(f"{position.key()}\n".encode())
    return digest.hexdigest()


def _player(role: str, text: str) -> PlayerSpec:
    player = PlayerSpec.parse(text)
    if player.name == "human":
        raise InputError(f"a {role} plays by itself: not a human")
    return player
