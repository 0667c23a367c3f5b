"""Training options: every choice, default and bound is defined here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from selfplay.checks import check_choice
from selfplay.errors import InputError

Target = Literal["move", "candidate"]
Labels = Literal["teacher", "optimal"]
Features = Literal["cells", "static", "lookahead"]
CandidateFeatures = Literal["lookahead", "static"]
Perspective = Literal["mover", "absolute"]
Mirror = Literal["augment", "canonical", "off"]
Criterion = Literal["entropy", "gain_ratio", "gini"]
Split = Literal["multiway", "equals", "threshold"]
Thresholds = Literal["all", "quartiles"]
Duplicates = Literal["merge", "keep"]
TestSplit = Literal["position", "row"]

FEATURES: dict[Target, tuple[Features, ...]] = {
    "candidate": ("lookahead", "static"),
    "move": ("static", "cells"),
}
"""The feature sets of each target, the default first."""
MAX_SMOOTHING = 1e6
_LEAST = {"max_depth": 0, "max_leaves": 1, "min_samples_leaf": 1, "min_samples_split": 2}


def check_growth(options: Any) -> None:
    """Refuse bad values of the options that a `TrainingConfig` and an `ID3Classifier` share."""
    for name, choices in (("criterion", Criterion), ("split", Split), ("thresholds", Thresholds)):
        check_choice(name, getattr(options, name), get_args(choices))
    for name, least in _LEAST.items():
        value = getattr(options, name, None)
        if value is not None and not (hasattr(value, "__index__") and value >= least):
            raise InputError(f"{name} is a whole number from {least} up, not {value!r}")
    if not options.min_gain >= 0:
        raise InputError(f"min_gain is a number from 0 up, not {options.min_gain!r}")
    if options.prune is not None and not 0 < options.prune < 1:
        raise InputError(f"prune is a share between 0 and 1, not {options.prune!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingConfig:
    """How to train a model. The text beside each type is the help that the command shows."""

    target: Annotated[
        Target, "One row per legal move (candidate: is it right?) or per position (move)."
    ] = "candidate"
    labels: Annotated[
        Labels, "Correct moves: the teacher's, or every optimal one (needs exact values)."
    ] = "teacher"
    features: Annotated[
        Features | None,
        "What the tree sees. [default: lookahead for target candidate, static for move]",
    ] = None
    perspective: Annotated[
        Perspective, "Stones by side to move (mover) or by player (absolute)."
    ] = "mover"
    mirror: Annotated[
        Mirror, "Mirror images: augment adds them, canonical merges them, or off."
    ] = "augment"
    criterion: Annotated[Criterion, "Split criterion."] = "entropy"
    split: Annotated[Split, "threshold (<=), equals (=) or multiway: a branch per value."] = (
        "threshold"
    )
    thresholds: Annotated[
        Thresholds, "Thresholds to try: all, or quartiles for features with over ten values."
    ] = "all"
    max_depth: Annotated[int | None, "Maximum depth of the tree."] = None
    min_samples_leaf: Annotated[int, "Minimum rows in a leaf."] = 20
    smoothing: Annotated[
        float, "Shrink class shares toward the parent's by this many pseudo-rows; 0: off."
    ] = 400.0
    min_gain: Annotated[float, "Minimum information gain of a split, in bits."] = 0.0
    max_leaves: Annotated[int | None, "Maximum number of leaves."] = None
    prune: Annotated[float | None, "Share of the rows held out for reduced-error pruning."] = None
    duplicates: Annotated[
        Duplicates, "Repeated positions: merge them into one weighted row, or keep."
    ] = "merge"
    max_weight: Annotated[int | None, "Cap on a position's weight when games repeat it."] = None
    test: Annotated[float, "Share of positions in the test set; 0: train on all."] = 0.2
    test_split: Annotated[
        TestSplit, "Split the test set by position, or by row (leaks repeated positions)."
    ] = "position"

    evaluation_set: Annotated[
        str | None, "Leave out the positions of this evaluation set, as of the bundled one.", "FILE"
    ] = None

    def __post_init__(self) -> None:
        check_choice("target", self.target, get_args(Target))
        if self.features is None:
            object.__setattr__(self, "features", FEATURES[self.target][0])
        for name, choices in (
            ("features", Features),
            ("perspective", Perspective),
            ("labels", Labels),
            ("mirror", Mirror),
            ("duplicates", Duplicates),
            ("test_split", TestSplit),
        ):
            check_choice(name, getattr(self, name), get_args(choices))
        check_growth(self)
        if self.features not in FEATURES[self.target]:
            raise InputError(
                f"target={self.target} takes features={' or '.join(FEATURES[self.target])}, "
                f"not {self.features}"
            )
        if self.thresholds != "all" and self.split != "threshold":
            raise InputError("thresholds=quartiles are for split=threshold")
        if self.labels == "optimal" and self.target != "candidate":
            raise InputError("labels=optimal are for target=candidate: several moves may be right")
        if self.max_weight is not None:
            if self.max_weight < 1:
                raise InputError(f"max_weight is a number from 1 up, not {self.max_weight}")
            if (self.duplicates, self.labels) != ("merge", "optimal"):
                raise InputError("max_weight is for duplicates=merge and labels=optimal")
        if not 0 <= self.test < 1:
            raise InputError(f"test is a share from 0 up, below 1, not {self.test:g}")
        if not 0 <= self.smoothing <= MAX_SMOOTHING:
            raise InputError(
                f"smoothing is a number from 0 to {MAX_SMOOTHING:,.0f}, not {self.smoothing:g}"
            )
