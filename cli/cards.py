"""The data card of a run, with a bar while labels are judged."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from storage.dataset import Dataset


def write_card(dataset: Dataset) -> str:
    """Write the card into the run; the name of the file."""
    from cli.progress import progress
    from storage.card import NAME, label_quality, text
    from storage.statistics import statistics

    with progress("labels judged") as tell:
        quality = label_quality(dataset, tell)
    dataset.place.write(NAME, text(dataset, statistics(dataset), quality).encode())
    return NAME
