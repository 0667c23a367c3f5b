"""The warm-up: ID3 on Fisher's irises, in three parts for each of four measures."""

from __future__ import annotations

from dataclasses import dataclass
from importlib.resources import files
from statistics import fmean, pstdev

import pandas as pd

from selfplay.errors import InputError
from selfplay.seeding import Stream, derive
from selfplay.train.estimator.classifier import ID3Classifier
from selfplay.train.estimator.encoding import equal_frequency

MEASURES = ("sepal length", "sepal width", "petal length", "petal width")


def flowers() -> pd.DataFrame:
    """Fisher's 150 flowers."""
    with (files(__package__) / "data" / "iris.csv").open(encoding="utf-8") as file:
        return pd.read_csv(file)


@dataclass(frozen=True, slots=True)
class WarmUp:
    """A tree, and how well such trees do on flowers that they have not seen."""

    model: ID3Classifier
    accuracy: float
    """Of this tree."""
    accuracies: tuple[float, ...]
    """Of all."""

    @property
    def mean(self) -> float:
        return fmean(self.accuracies)

    @property
    def spread(self) -> float:
        """The standard deviation."""
        return pstdev(self.accuracies)


def warm_up(splits: int = 100, seed: int = 0, test: float = 0.2) -> WarmUp:
    """Grow a tree on each of several parts of the flowers, and ask it for the rest."""
    if splits < 1:
        raise InputError(f"splits is a number from 1 up, not {splits}")
    table = equal_frequency(flowers(), MEASURES, 3)
    questions, answers = table[list(MEASURES)], table["species"]
    models, accuracies = [], []
    for number in range(splits):
        order = list(range(len(table)))
        Stream(derive(seed, "flowers", number)).shuffle(order)
        unseen, seen = order[: round(test * len(order))], order[round(test * len(order)) :]
        model = ID3Classifier().fit(questions.iloc[seen], answers.iloc[seen])
        models.append(model)
        accuracies.append(model.score(questions.iloc[unseen], answers.iloc[unseen]))
    return WarmUp(models[0], accuracies[0], tuple(accuracies))
