"""Write the data card of a run, with a progress bar while labels are checked."""

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


def write_card(dataset: Dataset, seconds: float | None = None) -> str:
    """Write the card, checking labels for at most `seconds`; returns its file name."""
    from selfplay.cli.progress import progress
    from selfplay.storage.card import NAME, render_card
    from selfplay.storage.label_quality import label_quality
    from selfplay.storage.statistics import statistics

    with progress("labels checked") as update:
        quality = label_quality(dataset, update, seconds)
    dataset.place.write(NAME, render_card(dataset, statistics(dataset), quality).encode())
    return NAME
