"""The options of `selfplay improve`: every default, help text and check is defined here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from selfplay.errors import InputError
from selfplay.game.board import Board
from selfplay.options import check_types
from selfplay.registry import PlayerSpec
from selfplay.train.config import CandidateFeatures, TrainingConfig

_COUNTED_PER_WEIGHT = 5
"""A position that games repeat more often than this is not learned better."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImproveConfig:
    """The options of all rounds. The texts beside a type are help and metavar of the command."""

    games: Annotated[int, "Games per round."] = 600
    opponent: Annotated[
        tuple[str, ...], "Opponent of the tree (repeatable); self is the tree.", "PLAYER"
    ] = ("mcts:10000", "mcts:1000", "self")
    teacher: Annotated[str, "Player whose move is stored as the label.", "PLAYER"] = (
        "perfect:scores=off"
    )
    opening: Annotated[str, "Openings, as in `generate`."] = "0-8"
    noise: Annotated[float, "Probability of a random move."] = 0.03
    extra_run: Annotated[tuple[str, ...], "Also train on this run (repeatable).", "RUN"] = ()
    features: Annotated[CandidateFeatures, "What the tree sees, as in `train`."] = "lookahead"
    min_samples_leaf: Annotated[int, "Minimum rows in a leaf."] = 10
    smoothing: Annotated[
        float, "Shrink class shares toward the parent's by this many pseudo-rows; 0: off."
    ] = 400.0
    stone_weights: Annotated[str, "24:5 gives the rounds' rows with up to 24 stones weight 5."] = (
        "24:5"
    )
    max_weight: Annotated[
        int | None, "Cap on a position's weight. [default: 5 x the largest stone weight]"
    ] = None
    evaluation_set: Annotated[
        str | None,
        "Evaluation set that counts mistakes, from `evaluation build`. [default: bundled]",
        "FILE",
    ] = None
    benchmark: Annotated[str, "Player the trees are measured against.", "PLAYER"] = "default-0.1"
    benchmark_games: Annotated[int, "Games against the benchmark."] = 100
    benchmark_opening: Annotated[str, "Openings of the games against the benchmark."] = "0-2"
    board: Annotated[str, "Board size, 4x4 to 16x16.", "COLUMNSxROWS"] = "7x6"
    connect: Annotated[int, "Stones in a row that win, 3 to 6.", "K"] = 4
    seed: Annotated[int, "Random seed."] = 0

    def __post_init__(self) -> None:
        check_types(self)
        for name in ("opponent", "extra_run"):  # a list in files
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "board", self.parsed_board.size)
        for player in (self.teacher, self.benchmark, *self.opponent):
            if player != "self":
                PlayerSpec.parse(player)
        if not self.opponent:
            raise InputError("opponent is one player or more")
        if self.games < 1:
            raise InputError(f"games is a number from 1 up, not {self.games}")
        if self.benchmark_games < 2 or self.benchmark_games % 2:
            raise InputError(
                f"benchmark_games is an even number from 2 up, not {self.benchmark_games}"
            )
        _ = self.training

    @property
    def parsed_board(self) -> Board:
        return Board.parse(self.board, self.connect)

    @property
    def weights_by_stones(self) -> tuple[tuple[int, int], ...]:
        from selfplay.train.training_set import parse_stone_weights

        return parse_stone_weights(self.stone_weights)

    @property
    def training(self) -> TrainingConfig:
        """How each round trains its tree."""
        largest = max([1, *(weight for _, weight in self.weights_by_stones)])
        return TrainingConfig(
            features=self.features,
            labels="optimal",
            # Features of moves see no sides: one of two mirror images says all.
            mirror="canonical",
            min_samples_leaf=self.min_samples_leaf,
            smoothing=self.smoothing,
            max_weight=self.max_weight or _COUNTED_PER_WEIGHT * largest,
            evaluation_set=self.evaluation_set,
            test=0.0,
        )
