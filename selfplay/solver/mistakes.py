"""Mistakes and contested positions, counted by phase of the game: the one table of phases."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from selfplay.confidence import wilson

PHASES = {"up to 15 stones": range(16), "16-25": range(16, 26), "26 and more": range(26, 257)}
"""By stones on the board. Learned weights (`train/weights/`) have phases of their own."""
RESULT_NAMES = {1: "win", 0: "draw", -1: "loss"}
"""Game values as words."""


def phase_of(stones: int) -> str:
    """The phase of a position with this number of stones."""
    return next(phase for phase, plies in PHASES.items() if stones in plies)


@dataclass(slots=True)
class MistakeCount:
    """The moves of a player, or the labels of a run, against perfect play."""

    positions: int = 0
    optimal: int = 0
    contested: int = 0
    mistakes: int = 0
    """In contested positions: elsewhere none can be made."""

    @property
    def optimal_share(self) -> float:
        return self.optimal / self.positions if self.positions else 0.0

    @property
    def mistake_rate(self) -> float:
        """The share of mistakes in contested positions."""
        return self.mistakes / self.contested if self.contested else 0.0

    @property
    def interval(self) -> tuple[float, float]:
        """The confidence interval of the mistake rate."""
        return wilson(self.mistake_rate, self.contested)

    @property
    def optimal_interval(self) -> tuple[float, float]:
        return wilson(self.optimal_share, self.positions)

    def as_record(self) -> dict[str, Any]:
        """For `--json`: a share of no positions is null."""
        has_rate, has_share = self.contested > 0, self.positions > 0
        return {
            "positions": self.positions,
            "contested": self.contested,
            "mistakes": self.mistakes,
            "mistake_rate": self.mistake_rate if has_rate else None,
            "interval": self.interval if has_rate else None,
            "optimal_share": self.optimal_share if has_share else None,
            "optimal_interval": self.optimal_interval if has_share else None,
        }


@dataclass(slots=True, kw_only=True)
class MistakesByPhase:
    """The counts over all positions, and in each phase."""

    all: MistakeCount = field(default_factory=MistakeCount)
    by_phase: dict[str, MistakeCount] = field(
        default_factory=lambda: {phase: MistakeCount() for phase in PHASES}
    )

    def add(self, stones: int, values: Collection[int], value: int) -> None:
        """Count a move of this value, made with this number of stones on the board; the legal moves
        have these values."""
        best = max(values)
        for count in (self.all, self.by_phase[phase_of(stones)]):
            count.positions += 1
            count.optimal += value == best
            count.contested += min(values) < best
            count.mistakes += value < best

    def rows(self) -> dict[str, MistakeCount]:
        """The rows of a table: all positions, then each phase."""
        return {"all": self.all, **self.by_phase}

    def as_record(self) -> dict[str, Any]:
        """For `--json`."""
        by_phase = {phase: count.as_record() for phase, count in self.by_phase.items()}
        return {**self.all.as_record(), "by_phase": by_phase}
