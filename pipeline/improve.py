"""DAgger: a tree plays, a teacher labels the positions it reaches, a new tree is trained.

Every round trains on the labels of all rounds. Each step of a round is a file in the folder, and
the next call skips the steps whose files exist:

    improve.json       the settings of all rounds
    runs/03-1          the games of round 3 against the second opponent
    models/03          the tree of round 3
    rounds.jsonl       the results, one round a line
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.game.openings import parse_openings
from selfplay.registry import PlayerSpec
from selfplay.seeding import derive
from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.storage.spec import Spec
from selfplay.train.evaluation.evaluation import examine
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.train.training_set import parse_stone_weights
from selfplay.workers.executors.interface import Failed, JobError
from selfplay.workers.generation import generate as generation
from selfplay.workers.generation.plan import plan
from selfplay.workers.tournament import tournament as tournaments
from selfplay.workers.tournament.standings import standings
from selfplay.workers.tournament.tournament import Tournament

if TYPE_CHECKING:
    from selfplay.train.config import TrainingConfig
    from selfplay.train.model import Model
    from selfplay.workers.executors.interface import Executor

SETTINGS, ROUNDS = "improve.json", "rounds.jsonl"
_MOST_BYTES = 1 << 24
_MOST_SEED = 1_000_000_000

FIRST_EXPLORER = "mcts:1000"
"""Plays the games of the first round if there is no run to train on."""

SHARD_GAMES = 10
"""A perfect teacher takes seconds a game: small shards keep all workers busy to the end."""

Tell = Callable[[str, int, int], None]
"""Receives the current step, how many of its parts are done, and how many there are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """The settings of all rounds, as `improve.json` keeps them."""

    teacher: str
    opponents: tuple[str, ...]
    """The tree plays against these; "self" is the tree."""
    games: int
    """Per round, over all opponents."""
    opening: str
    noise: float
    seed: int
    board: str
    connect: int
    base: tuple[str, ...]
    """Fingerprints of the extra runs to train on."""
    recipe: dict[str, Any]
    """The fields of the `TrainingConfig` that are not defaults."""
    stone_weights: str
    benchmark: str
    benchmark_games: int
    benchmark_opening: str

    def as_json(self) -> bytes:
        return json.dumps(asdict(self), indent=2).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Round:
    """The result of a round."""

    number: int
    games: int
    positions: int
    """In the training set: those of all rounds so far."""
    leaves: int
    mistakes: float
    """Mistake rate in the contested evaluation positions."""
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
    """A folder of rounds: its settings, its files, and the rounds it has."""

    def __init__(
        self, folder: str, settings: Settings, base: Sequence[Dataset], config: TrainingConfig
    ) -> None:
        self.place = Location(folder)
        self.settings = settings
        self.base = base
        self.config = config
        self.board = Board.parse(settings.board, settings.connect)
        self._validate()
        if not (self.place.is_empty or self._has_these_settings()):
            raise InputError(f"{self.place} is not empty: choose a new folder")

    def rounds(
        self, count: int, executor: Executor, stop: Callable[[], bool], tell: Tell
    ) -> Iterator[Progress]:
        """The progress after each round: first those in the folder, then new ones."""
        self.place.write(SETTINGS, self.settings.as_json(), self._has_these_settings)
        done = self._read_rounds()
        for number in range(count):
            if number == len(done):
                done.append(_RoundMaker(self, number, executor, stop, tell).make())
                lines = [json.dumps(asdict(made)) + "\n" for made in done]
                self.place.write(ROUNDS, "".join(lines).encode())
            yield Progress(tuple(done[: number + 1]), count)

    def model(self, number: int) -> str:
        """The path of a round's tree."""
        return Location(self.place.absolute).below(f"models/{number:02d}")

    def run(self, number: int, opponent: int) -> str:
        """The path of a round's games against one opponent."""
        return self.place.below(f"runs/{number:02d}-{opponent}")

    def opponents(self, number: int) -> range:
        """The opponents of a round. With extra runs, round 0 trains on these and plays nobody."""
        return range(0 if number == 0 and self.base else len(self.settings.opponents))

    def spec_options(self, number: int, opponent: int) -> dict[str, Any]:
        """The spec of a run of a round."""
        settings = self.settings
        name = settings.opponents[opponent]
        return {
            "games": max(1, settings.games // len(settings.opponents)),
            "teacher": settings.teacher,
            "explorer": f"tree:model={self.model(number - 1)}" if number else FIRST_EXPLORER,
            "opponent": None if name == "self" else name,
            "opening": settings.opening,
            "noise": settings.noise,
            "seed": derive(settings.seed, "round", number, opponent) % _MOST_SEED,
            "board": settings.board,
            "connect": settings.connect,
            "shard_games": SHARD_GAMES,
        }

    def tournament(self, player: str) -> Tournament:
        """Against the benchmark, from the same openings in every round."""
        settings = self.settings
        return Tournament.of(
            [player, settings.benchmark],
            self.board,
            parse_openings(settings.benchmark_opening, self.board),
            settings.benchmark_games,
            settings.seed,
        )

    def _validate(self) -> None:
        """Refuse bad settings before a folder is bound to them."""
        if "," in self.place.absolute:
            raise InputError(f"{self.place}: a comma separates the options of a player; rename it")
        if not self.place.may_be_written:
            raise InputError(f"{self.place} cannot be written to")
        evaluated = EvaluationSet.load().board
        if evaluated != self.board:
            raise InputError(f"the evaluation positions are for {evaluated}, not {self.board}")
        for dataset in self.base:
            if dataset.board != self.board:
                raise InputError(f"{dataset.place} is of {dataset.board}, not of {self.board}")
        for opponent in range(len(self.settings.opponents)):
            Spec.of(self.spec_options(0, opponent))
        self.tournament("centre" if self.settings.benchmark == "random" else "random").build()

    def _has_these_settings(self) -> bool:
        """Whether the folder was begun; one begun with other settings is refused."""
        found = self._read(SETTINGS)
        if found is None:
            return False
        for name, value in json.loads(self.settings.as_json()).items():
            if found[0].get(name) != value:
                raise InputError(
                    f"{self.place} was begun with {name} {found[0].get(name)!r}, not {value!r}"
                )
        return True

    def _read(self, name: str) -> list[dict[str, Any]] | None:
        """The JSON objects of a file, one a line; None if there is no file."""
        try:
            text = self.place.read(name, _MOST_BYTES).decode()
            records = [
                json.loads(line) for line in ([text] if name == SETTINGS else text.splitlines())
            ]
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
            sum(dataset.positions for dataset in [*every.base, *earlier, *runs]),
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
            step = f"games against {self.all.settings.opponents[opponent]}"
            self._tell(step, progress.games, progress.games_total)
            labelled = tuple(dataset.place.absolute for dataset in earlier)
            for progress in generation.generate(run, self.executor, self.stop, labelled):
                self._tell(step, progress.games, progress.games_total)
            self._raise_unless_complete(progress)
        return Dataset(run.place)

    def _train(self, datasets: list[Dataset]) -> Model:
        from selfplay.train.model import Model
        from selfplay.train.trainer import train_model

        path, base = self.all.model(self.number), self.all.base
        try:
            return Model.load(path)
        except InputError:
            pass
        weights = parse_stone_weights(self.all.settings.stone_weights)
        model, _ = train_model(
            [*base, *datasets],
            self.all.config,
            self._tell,
            weights_by_run=[*([()] * len(base)), *([weights] * len(datasets))],
        )
        model.save(path)
        if self.stop():
            raise KeyboardInterrupt
        return model

    def _evaluate(self) -> Any:
        player = PlayerSpec.parse(self._player).build(self.all.board)
        return examine(self._player, player, EvaluationSet.load()).all

    def _play_benchmark(self) -> tuple[float, float]:
        """The scores as first and as second player."""
        tournament = self.all.tournament(self._player)
        tournament.build()
        progress = tournaments.Progress(tournament.games)
        step = f"games against {self.all.settings.benchmark}"
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
