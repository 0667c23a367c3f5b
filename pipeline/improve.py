"""DAgger: a tree plays, a teacher labels the positions it reaches, a new tree is trained.

Every round trains on the labels of all rounds. Each step of a round is a file in the folder, and
the next call skips the steps whose files exist:

    improve.json       the settings of all rounds, and how many rounds were asked for last
    runs/03-1          the games of round 3 against the second opponent
    models/03          the tree of round 3
    rounds.jsonl       the results, one round a line
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfplay.errors import InputError
from selfplay.game.openings import parse_openings
from selfplay.options import check_names
from selfplay.pipeline.config import ImproveConfig
from selfplay.registry import PlayerSpec, refuse_stored_code
from selfplay.seeding import derive
from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.storage.spec import Spec
from selfplay.train.evaluation.evaluation import evaluate
from selfplay.train.evaluation.positions import EvaluationSet, how_to_build
from selfplay.train.training_set import refuse_repeated
from selfplay.workers.executors.interface import Failed, JobError
from selfplay.workers.generation import generate as generation
from selfplay.workers.generation.plan import plan
from selfplay.workers.tournament import tournament as tournaments
from selfplay.workers.tournament.standings import standings
from selfplay.workers.tournament.tournament import Tournament

if TYPE_CHECKING:
    from selfplay.train.model import Model
    from selfplay.workers.executors.interface import Executor

SETTINGS, ROUNDS = "improve.json", "rounds.jsonl"
_MOST_BYTES = 1 << 24
_MOST_SEED = 1_000_000_000

DEFAULT_ROUNDS = 5

FIRST_EXPLORER = "mcts:1000"
"""Plays the games of the first round if there is no run to train on."""

SHARD_GAMES = 10
"""A perfect teacher takes seconds a game: small shards keep all workers busy to the end."""

Tell = Callable[[str, int, int], None]
"""Receives the current step, how many of its parts are done, and how many there are."""


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a round."""

    number: int
    games: int
    positions: int
    """In the training set: those of all rounds so far."""
    leaves: int
    mistakes: float
    """Mistake rate in the contested positions of the development half."""
    interval: tuple[float, float]
    as_first: float
    """Score against the benchmark."""
    as_second: float
    model: str
    """Fingerprint."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Round:
        """From a line of `rounds.jsonl`; ValueError or TypeError if it is damaged."""
        found = cls(**record)
        low, high = found.interval
        counts = found.number, found.games, found.positions, found.leaves
        shares = low, high, found.mistakes, found.as_first, found.as_second
        if not (
            all(type(count) is int for count in counts)
            and all(type(share) in (int, float) and 0 <= share <= 1 for share in shares)
            and isinstance(found.model, str)
        ):
            raise ValueError
        return found


@dataclass(frozen=True, slots=True)
class Progress:
    """The rounds that are complete."""

    rounds: tuple[Round, ...]
    total: int
    failed: tuple[Failed, ...] = ()

    @property
    def is_complete(self) -> bool:
        return len(self.rounds) == self.total


class Improvement:
    """A folder of rounds: its options, its files, and the rounds it has."""

    def __init__(self, folder: str, given: Mapping[str, Any], rounds: int | None = None) -> None:
        """Begin a folder with these options of an `ImproveConfig`, or resume it: an option left
        out keeps the folder's value, another value is refused. The rounds may change."""
        self.place = Location(folder)
        begun = self._read_settings()
        if begun is None and not self.place.is_empty:
            raise InputError(f"{self.place} is not empty: choose a new folder")
        for name, value in ({} if begun is None else begun["options"]).items():
            if name not in given:
                refuse_stored_code(name, value)
        self.config = ImproveConfig(**({} if begun is None else begun["options"]) | dict(given))
        self.extra_runs = [Dataset(run) for run in self.config.extra_run]
        self.board = self.config.parsed_board
        kept = DEFAULT_ROUNDS if begun is None else begun.get("rounds", DEFAULT_ROUNDS)
        self.total = rounds or max(kept, self.complete_rounds)
        """The number of rounds, those that are complete among them."""
        if begun is None:
            self._validate()
        self._is_begun()

    @property
    def _settings(self) -> dict[str, Any]:
        fingerprints = [dataset.fingerprint for dataset in self.extra_runs]
        return {
            "options": asdict(self.config),
            "extra_run_fingerprints": fingerprints,
            # A bundled set may be another in the next version.
            "evaluation_set_fingerprint": self.config.evaluation_set
            and self.evaluation_set.fingerprint,
            "rounds": self.total,
        }

    def rounds(
        self, executor: Executor, stop: Callable[[], bool], tell: Tell
    ) -> Iterator[Progress]:
        """The progress after each round: first those in the folder, then new ones."""
        text = json.dumps(self._settings, indent=2) + "\n"
        self.place.write(SETTINGS, text.encode(), lambda: self._is_begun(self.total))
        done = self._read_rounds()
        for number in range(self.total):
            if number == len(done):
                done.append(_RoundMaker(self, number, executor, stop, tell).make())
                lines = [json.dumps(asdict(made)) + "\n" for made in done]
                self.place.write(ROUNDS, "".join(lines).encode())
            yield Progress(tuple(done[: number + 1]), self.total)

    @cached_property
    def evaluation_set(self) -> EvaluationSet:
        """The development half of the evaluation set."""
        file = self.config.evaluation_set
        instead = how_to_build(self.board, "--evaluation-set")
        found = EvaluationSet.for_board(self.board, None if file is None else Path(file), instead)
        return found.development

    @property
    def complete_rounds(self) -> int:
        return len(self._read_rounds())

    def model(self, number: int) -> str:
        """The path of a round's tree."""
        return Location(self.place.absolute).below(f"models/{number:02d}")

    def run(self, number: int, opponent: int) -> str:
        """The path of a round's games against one opponent."""
        return self.place.below(f"runs/{number:02d}-{opponent}")

    def opponents(self, number: int) -> range:
        """The opponents of a round. With extra runs, round 0 trains on these and plays nobody."""
        return range(0 if number == 0 and self.extra_runs else len(self.config.opponent))

    def spec_options(self, number: int, opponent: int) -> dict[str, Any]:
        """The spec of a run of a round."""
        config = self.config
        name = config.opponent[opponent]
        return {
            "games": max(1, config.games // len(config.opponent)),
            "teacher": config.teacher,
            "explorer": f"tree:model={self.model(number - 1)}" if number else FIRST_EXPLORER,
            "opponent": None if name == "self" else name,
            "opening": config.opening,
            "noise": config.noise,
            "seed": derive(config.seed, "round", number, opponent) % _MOST_SEED,
            "board": config.board,
            "connect": config.connect,
            "shard_games": SHARD_GAMES,
        }

    def tournament(self, player: str) -> Tournament:
        """Against the benchmark, from the same openings in every round."""
        config = self.config
        return Tournament.of(
            [player, config.benchmark],
            self.board,
            parse_openings(config.benchmark_opening, self.board),
            config.benchmark_games,
            config.seed,
        )

    def _validate(self) -> None:
        """Refuse bad options before a folder is bound to them."""
        if "," in self.place.absolute:
            raise InputError(f"{self.place}: a comma separates the options of a player; rename it")
        if not self.place.seems_writable:
            raise InputError(f"{self.place} cannot be written to")
        _ = self.evaluation_set
        refuse_repeated(self.extra_runs)
        for dataset in self.extra_runs:
            if dataset.board != self.board:
                raise InputError(f"{dataset.place} is of {dataset.board}, not of {self.board}")
        for opponent in range(len(self.config.opponent)):
            Spec.from_options(self.spec_options(0, opponent))
        self.tournament("centre" if self.config.benchmark == "random" else "random").build()

    def _is_begun(self, rounds: int | None = None) -> bool:
        """Whether the folder was begun, and keeps this number of rounds, if given; one begun with
        other options or runs is refused."""
        begun = self._read_settings()
        if begun is None:
            return False
        wanted = json.loads(json.dumps(self._settings))
        for name, value in wanted["options"].items():
            if begun["options"].get(name) != value:
                was = begun["options"].get(name)
                raise InputError(f"{self.place} was begun with {name} {was!r}, not {value!r}")
        if begun["extra_run_fingerprints"] != wanted["extra_run_fingerprints"]:
            raise InputError(f"{self.place}: an extra run is not what it was when it was begun")
        if begun.get("evaluation_set_fingerprint") != wanted["evaluation_set_fingerprint"]:
            raise InputError(f"{self.place}: the evaluation set is not what it was when it began")
        return rounds in (None, begun.get("rounds"))

    def _read_settings(self) -> dict[str, Any] | None:
        found = self._read(SETTINGS)
        if found is None:
            return None
        try:
            check_names(found[0]["options"], ImproveConfig, f"{self.place}/{SETTINGS}")
            _ = found[0]["extra_run_fingerprints"]
            if not (type(rounds := found[0].get("rounds", 1)) is int and rounds > 0):
                raise TypeError
            return found[0]
        except (KeyError, TypeError):
            raise InputError(f"{self.place}/{SETTINGS} is damaged") from None

    def _read(self, name: str) -> list[dict[str, Any]] | None:
        """The JSON objects of a file, one a line; None if there is no file."""
        try:
            text = self.place.read(name, _MOST_BYTES).decode()
            lines = [text] if name == SETTINGS else text.splitlines()
            records = [json.loads(line) for line in lines]
            if not all(isinstance(record, dict) for record in records):
                raise ValueError
            return records
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError):
            raise InputError(f"{self.place}/{name} is damaged") from None

    def _read_rounds(self) -> list[Round]:
        try:
            return [Round.of(record) for record in self._read(ROUNDS) or ()]
        except (TypeError, ValueError):
            raise InputError(f"{self.place}/{ROUNDS} is damaged") from None


@dataclass(frozen=True, slots=True)
class _RoundMaker:
    """Makes one round, step by step; a step whose file exists is skipped."""

    all: Improvement
    number: int
    executor: Executor
    stop: Callable[[], bool]
    tell: Tell

    def make(self) -> Round:
        every = self.all
        earlier = [
            Dataset(every.run(number, opponent))
            for number in range(self.number)
            for opponent in every.opponents(number)
        ]
        runs = [self._generate(opponent, earlier) for opponent in every.opponents(self.number)]
        model = self._train([*earlier, *runs])
        result = self._evaluate()
        first, second = self._play_benchmark()
        return Round(
            self.number,
            sum(dataset.games for dataset in runs),
            sum(dataset.positions for dataset in [*every.extra_runs, *earlier, *runs]),
            model.tree.leaves,
            result.mistake_rate,
            result.interval,
            first,
            second,
            model.fingerprint,
        )

    @property
    def _player(self) -> str:
        return f"tree:model={self.all.model(self.number)}"

    def _tell(self, step: str, done: int, total: int) -> None:
        self.tell(f"round {self.number}: {step}", done, total)

    def _generate(self, opponent: int, earlier: Sequence[Dataset]) -> Dataset:
        run = plan(
            Location(self.all.run(self.number, opponent)),
            self.all.spec_options(self.number, opponent),
        )
        if run.missing:
            run.begin()
            progress = generation.Progress.of(run)
            step = f"games against {self.all.config.opponent[opponent]}"
            self._tell(step, progress.games, progress.games_total)
            labelled = tuple(dataset.place.absolute for dataset in earlier)
            for progress in generation.generate(run, self.executor, self.stop, labelled):
                self._tell(step, progress.games, progress.games_total)
            self._raise_unless_complete(progress)
        return Dataset(run.place)

    def _train(self, datasets: list[Dataset]) -> Model:
        from selfplay.train.model import Model
        from selfplay.train.trainer import train_model

        path, extra = self.all.model(self.number), self.all.extra_runs
        try:
            return Model.load(path)
        except InputError:
            pass
        weights = self.all.config.weights_by_stones
        model, _ = train_model(
            [*extra, *datasets],
            self.all.config.training,
            self._tell,
            weights_by_run=[*([()] * len(extra)), *([weights] * len(datasets))],
        )
        model.save(path)
        if self.stop():
            raise KeyboardInterrupt
        return model

    def _evaluate(self) -> Any:
        player = PlayerSpec.parse(self._player).build(self.all.board)
        return evaluate(self._player, player, self.all.evaluation_set).all

    def _play_benchmark(self) -> tuple[float, float]:
        """The scores as first and as second player."""
        tournament = self.all.tournament(self._player)
        tournament.build()
        progress = tournaments.Progress(tournament.games)
        step = f"games against {self.all.config.benchmark}"
        for progress in tournaments.play(tournament, self.executor, self.stop):
            self._tell(step, progress.games, progress.games_total)
        self._raise_unless_complete(progress)
        (pair,) = standings(tournament, progress.results).pairs
        if pair.forfeits:
            forfeits = [result.forfeit for result in progress.results if result.forfeit]
            raise JobError(f"{pair.forfeits} games were forfeited: {forfeits[0].reason}")
        first, second = pair.a_first, pair.a_second
        return first.points / first.games, second.points / second.games

    def _raise_unless_complete(self, progress: generation.Progress | tournaments.Progress) -> None:
        if progress.failed and not self.stop():
            raise JobError(progress.failed[0].reason)
        if not progress.is_complete:
            raise KeyboardInterrupt
