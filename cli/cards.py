"""The data card of a run, with a bar while labels are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from selfplay.storage.dataset import Dataset


def has_card(dataset: Dataset) -> bool:
    """Whether there is a card that speaks of these rows."""
    from selfplay.storage.card import NAME

    try:
        return dataset.fingerprint.encode() in dataset.place.read(NAME)
    except FileNotFoundError:
        return False


def write_card(dataset: Dataset, seconds: float | None = None) -> str:
    """Write the card into the run, judging labels for so long at most; the name of the file."""
    from selfplay.cli.progress import progress
    from selfplay.storage.card import NAME, label_quality, text
    from selfplay.storage.statistics import statistics

    with progress("labels judged") as tell:
        quality = label_quality(dataset, tell, seconds)
    dataset.place.write(NAME, text(dataset, statistics(dataset), quality).encode())
    return NAME
