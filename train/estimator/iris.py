"""The warm-up: ID3 on Fisher's iris data, each measure cut into three bins."""

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
    """A tree, and the test accuracy of trees on random splits of the data."""

    model: ID3Classifier
    accuracy: float
    """Of the first split, on which `model` was trained."""
    accuracies: tuple[float, ...]
    """Of all splits."""

    @property
    def mean(self) -> float:
        return fmean(self.accuracies)

    @property
    def std(self) -> float:
        """The standard deviation."""
        return pstdev(self.accuracies)


def warm_up(splits: int = 100, seed: int = 0, test: float = 0.2) -> WarmUp:
    """Train and test a tree on each of several random splits."""
    if splits < 1:
        raise InputError(f"splits is a number from 1 up, not {splits}")
    table = equal_frequency(flowers(), MEASURES, 3)
    x, y = table[list(MEASURES)], table["species"]
    models, accuracies = [], []
    for number in range(splits):
        order = list(range(len(table)))
        Stream(derive(seed, "flowers", number)).shuffle(order)
        count = round(test * len(order))
        held_out, training = order[:count], order[count:]
        model = ID3Classifier(split="multiway").fit(x.iloc[training], y.iloc[training])
        models.append(model)
        accuracies.append(model.score(x.iloc[held_out], y.iloc[held_out]))
    return WarmUp(models[0], accuracies[0], tuple(accuracies))
