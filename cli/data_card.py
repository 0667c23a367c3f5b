"""Write the data card of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfplay.storage.dataset import Dataset


def has_card(dataset: Dataset) -> bool:
    """Whether the run has a card that describes its present rows."""
    from selfplay.storage.card import NAME

    try:
        return dataset.fingerprint.encode() in dataset.place.read(NAME)
    except FileNotFoundError:
        return False


def write_card(dataset: Dataset) -> str:
    """Write the card, with the label quality if it was measured; returns its file name."""
    from selfplay.storage.card import NAME, render_card
    from selfplay.storage.label_quality import LabelQuality
    from selfplay.storage.statistics import statistics

    card = render_card(dataset, statistics(dataset), LabelQuality.finished(dataset))
    dataset.place.write(NAME, card.encode())
    return NAME
