"""Rounds of improvement: a tree is trained on its own games, labelled by a teacher (DAgger).

A round lets the tree of the round before play, has a teacher label what it got into, and grows a
new tree of all that was labelled so far. All that a round makes stands in files of the folder, and
what stands there is not made again:

    improve.json       what all rounds have in common
    runs/03-1          the games of round 3 against the second opponent
    models/03          the tree of round 3
    rounds.jsonl       what came of each round
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.seeding import derive
from selfplay.storage.dataset import Dataset
from selfplay.storage.location import Location
from selfplay.storage.spec import Spec
from selfplay.train.evaluation.positions import EvaluationSet
from selfplay.workers.executors.interface import JobError

if TYPE_CHECKING:
    from selfplay.train.trainer import TrainingConfig
    from selfplay.workers.executors.interface import Executor

SETTINGS, ROUNDS = "improve.json", "rounds.jsonl"
_MOST_BYTES = 1 << 24
STOPPING = "finishing what is in work; Ctrl-C once more ends at once"

Tell = Callable[[str, int, int], None]
"""Is told what is being done, how much of it is, and of how much."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What all rounds have in common."""

    teacher: str
    opponents: tuple[str, ...]
    """Against whom the tree plays; "self" is the tree."""
    games: int
    """Of a round, over all opponents."""
    opening: str
    noise: float
    seed: int
    board: str
    connect: int
    base: tuple[str, ...]
    """The fingerprints of runs that are learned from as well."""
    recipe: dict[str, Any]
    stone_weights: str
    """How often the rows of the rounds count."""
    benchmark: str
    """Against whom the trees are measured."""
    benchmark_games: int
    benchmark_opening: str

    def as_json(self) -> bytes:
        return json.dumps(asdict(self), indent=2).encode() + b"\n"


@dataclass(frozen=True, slots=True)
class Round:
    """What came of a round."""

    number: int
    games: int
    """Of this round."""
    positions: int
    """Learned from, those of all rounds so far."""
    leaves: int
    mistakes: float
    """In contested positions of the examination."""
    interval: tuple[float, float]
    as_first: float
    """The score against the benchmark."""
    as_second: float
    model: str
    """Its fingerprint."""

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Round:
        """From what a file says."""
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


@dataclass
class Improvement:
    """The rounds in a folder."""

    folder: str
    settings: Settings
    base: Sequence[Dataset]
    recipe: TrainingConfig
    executor: Executor
    stop: Callable[[], bool]
    tell: Tell
    place: Location = field(init=False)

    def __post_init__(self) -> None:
        self.place = Location(self.folder)
        self._refuse_what_cannot_be()
        if self.place.is_empty:
            return
        if not self._is_begun():
            raise InputError(f"{self.place} is not empty: choose a new folder")

    def _is_begun(self) -> bool:
        """Whether the folder has these settings; others are refused."""
        there = self._read(SETTINGS)
        if there is None:
            return False
        for name, value in json.loads(self.settings.as_json()).items():
            if there[0].get(name) != value:
                raise InputError(
                    f"{self.place} was begun with {name} {there[0].get(name)!r}, not {value!r}"
                )
        return True

    def _refuse_what_cannot_be(self) -> None:
        """Before anything is written: a folder is begun with its settings for good."""
        if "," in self.place.absolute:
            raise InputError(f"{self.place} has a comma, which has a meaning of its own in players")
        if not self.place.may_be_written:
            raise InputError(f"nothing can be written to {self.place}")
        if EvaluationSet.load().board != self._board:
            raise InputError(
                f"the examination is for {EvaluationSet.load().board}, not {self._board}"
            )
        for dataset in self.base:
            if dataset.board != self._board:
                raise InputError(f"{dataset.place} is of {dataset.board}, not of {self._board}")
        for opponent in range(len(self.settings.opponents)):
            Spec.of(self._options(0, opponent))
        self._tournament("centre" if self.settings.benchmark == "random" else "random").build()

    @property
    def _board(self) -> Board:
        return Board.parse(self.settings.board, self.settings.connect)

    def _read(self, name: str) -> list[dict[str, Any]] | None:
        """What a file of the folder says, an object a line; None if there is none."""
        try:
            text = self.place.read(name, _MOST_BYTES).decode()
            lines = [text] if name == SETTINGS else text.splitlines()
            found = [json.loads(line) for line in lines]
            if not all(isinstance(record, dict) for record in found):
                raise ValueError
            return found
        except FileNotFoundError:
            return None
        except (ValueError, RecursionError):
            raise InputError(f"{self.place}/{name} is damaged") from None

    def model(self, number: int) -> str:
        """Where the tree of a round is."""
        return Location(self.place.absolute).below(f"models/{number:02d}")

    def rounds(self, count: int) -> Iterator[Round]:
        """Those that are there, then those that are still to be made."""
        self.place.write(SETTINGS, self.settings.as_json(), self._is_begun)
        done = self._done()
        for number in range(count):
            if number == len(done):
                done.append(self._round(number))
                lines = [json.dumps(asdict(found)) for found in done]
                self.place.write(ROUNDS, ("\n".join(lines) + "\n").encode())
            yield done[number]

    def _done(self) -> list[Round]:
        try:
            return [Round.of(found) for found in self._read(ROUNDS) or ()]
        except (TypeError, ValueError):
            raise InputError(f"{self.place}/{ROUNDS} is damaged") from None

    def _round(self, number: int) -> Round:
        earlier = [
            Dataset(self._run(before, opponent))
            for before in range(number)
            for opponent in self._rivals(before)
        ]
        runs = [self._played(number, opponent, earlier) for opponent in self._rivals(number)]
        datasets = [*self.base, *earlier, *runs]
        positions = sum(dataset.positions for dataset in datasets)
        model = self._grown(number, datasets)
        exam = self._examined(number)
        first, second = self._measured(number)
        return Round(
            number,
            sum(dataset.games for dataset in runs),
            positions,
            model.tree.leaves,
            exam.mistake_rate,
            exam.interval,
            first,
            second,
            model.fingerprint,
        )

    def _rivals(self, number: int) -> range:
        """Which opponents are met in a round: in the first there is no tree to play, but base runs
        to begin with, if any."""
        return range(0 if number == 0 and self.base else len(self.settings.opponents))

    def _run(self, number: int, opponent: int) -> str:
        return self.place.below(f"runs/{number:02d}-{opponent}")

    def _options(self, number: int, opponent: int) -> dict[str, Any]:
        """The spec of a run of a round."""
        settings = self.settings
        against = settings.opponents[opponent]
        return {
            "games": max(1, settings.games // len(settings.opponents)),
            "teacher": settings.teacher,
            "explorer": f"tree:model={self.model(number - 1)}" if number else FIRST_EXPLORER,
            "opponent": None if against == "self" else against,
            "opening": settings.opening,
            "noise": settings.noise,
            "seed": derive(settings.seed, "round", number, opponent) % _MOST_SEED,
            "board": settings.board,
            "connect": settings.connect,
            "shard_games": SHARD_GAMES,
        }

    def _played(self, number: int, opponent: int, earlier: Sequence[Dataset]) -> Dataset:
        """The games of a round against one opponent."""
        from selfplay.workers.generation.generate import Progress, generate
        from selfplay.workers.generation.plan import plan

        options = self._options(number, opponent)
        against = self.settings.opponents[opponent]
        todo = plan(Location(self._run(number, opponent)), options)
        if todo.missing:
            todo.begin()
            progress = Progress.of(todo)
            what = f"round {number}: games against {against}"
            self.tell(what, progress.games, progress.games_total)
            labelled = tuple(dataset.place.absolute for dataset in earlier)
            for progress in generate(todo, self.executor, self.stop, labelled):
                self.tell(what, progress.games, progress.games_total)
            self._refuse_to_go_on_with(progress.failed, progress.is_complete)
        return Dataset(todo.place)

    def _grown(self, number: int, datasets: list[Dataset]) -> Any:
        from selfplay.train.model import Model
        from selfplay.train.trainer import train_model
        from selfplay.train.training_set import parse_emphasis

        try:
            return Model.load(self.model(number))
        except InputError:
            pass
        own = parse_emphasis(self.settings.stone_weights)
        model, _ = train_model(
            datasets,
            self.recipe,
            lambda what, *far: self.tell(f"round {number}: {what}", *far),
            weights_by_run=[*([()] * len(self.base)), *([own] * (len(datasets) - len(self.base)))],
        )
        model.save(self.model(number))
        self._refuse_to_go_on_with([], is_complete=not self.stop())
        return model

    def _examined(self, number: int) -> Any:
        from selfplay.registry import PlayerSpec
        from selfplay.train.evaluation.evaluation import examine

        name = f"tree:model={self.model(number)}"
        player = PlayerSpec.parse(name).build(self._board)
        return examine(name, player, EvaluationSet.load()).all

    def _tournament(self, player: str) -> Any:
        """Against the benchmark: the same openings in every round make rounds comparable."""
        from selfplay.game.openings import parse_openings
        from selfplay.workers.tournament.tournament import Tournament

        settings = self.settings
        return Tournament.of(
            [player, settings.benchmark],
            self._board,
            parse_openings(settings.benchmark_opening, self._board),
            settings.benchmark_games,
            settings.seed,
        )

    def _measured(self, number: int) -> tuple[float, float]:
        """The score against the benchmark, as first and as second player."""
        from selfplay.workers.tournament.standings import standings
        from selfplay.workers.tournament.tournament import Progress, play

        tournament = self._tournament(f"tree:model={self.model(number)}")
        tournament.build()
        progress = Progress(tournament.games)
        what = f"round {number}: games against {self.settings.benchmark}"
        for progress in play(tournament, self.executor, self.stop):
            self.tell(what, progress.games, progress.games_total)
        self._refuse_to_go_on_with(progress.failed, progress.is_complete)
        (pair,) = standings(tournament, progress.results).pairs
        if pair.forfeits:
            forfeits = [result.forfeit for result in progress.results if result.forfeit]
            raise JobError(f"{pair.forfeits} games were forfeited: {forfeits[0].reason}")
        return (
            pair.a_first.points / pair.a_first.games,
            pair.a_second.points / pair.a_second.games,
        )

    def _refuse_to_go_on_with(self, failed: Sequence[Any], is_complete: bool) -> None:
        if failed and not self.stop():
            raise JobError(failed[0].reason)
        if not is_complete:
            raise KeyboardInterrupt


FIRST_EXPLORER = "mcts:1000"
"""Who plays in the first round, if there is nothing to learn from."""
_MOST_SEED = 1_000_000_000
SHARD_GAMES = 10
"""Games of a perfect teacher take seconds: small shards keep all workers busy to the end."""
