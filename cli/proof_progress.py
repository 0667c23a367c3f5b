"""The progress of a proof: a line of a table, or JSON, for every level that is finished."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from selfplay.cli.job_progress import Bar, LogLines, Words, bar_or_lines, outlook, workers_of

if TYPE_CHECKING:
    from selfplay.pipeline.job import Display
    from selfplay.workers.proof.walk import Walk

_COLUMNS = {
    "stones": "stones",
    "positions": "positions",
    "wins": "wins at once",
    "keeps": "keeps",
    "draws": "ends in a draw",
    "lost": "lost anyway",
    "to_draw": "to a draw",
    "to_loss": "to a loss",
}


@contextmanager
def levels_and_bar(*, as_json: bool) -> Iterator[Display[Walk]]:
    """Levels on stdout as they are finished, and the parts of the one in progress on stderr."""
    with bar_or_lines(WORDS) as shown:
        assert isinstance(shown, LogLines)
        yield _Levels(shown, as_json=as_json)


class _Levels:
    def __init__(self, parts: LogLines[Walk], *, as_json: bool) -> None:
        self._parts = parts
        self._as_json = as_json
        self._printed = 0

    def show(self, walk: Walk) -> None:
        self._parts.show(walk)
        for level in walk.levels[self._printed :]:
            if self._as_json:
                self._print(json.dumps({"event": "level", **level}))
            else:
                if not self._printed:
                    self._print(_line([*_COLUMNS.values(), "positions/s"]))
                speed = level["positions"] / max(level["seconds"]["all"], 1e-6)
                numbers = [f"{level[name]:,}" for name in _COLUMNS]
                self._print(_line([*numbers, f"{speed:,.0f}"]))
            self._printed += 1

    def _print(self, text: str) -> None:
        if isinstance(self._parts, Bar) and sys.stdout.isatty():
            self._parts.print(text)  # above the bar
        else:
            print(text, flush=True)

    def stopping(self) -> None:
        self._parts.stopping()


def _line(cells: list[str]) -> str:
    titles = [*_COLUMNS.values(), "positions/s"]
    widths = [max(len(title), 11 * (k == 1)) for k, title in enumerate(titles)]
    return "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True))


def _counts(walk: Any) -> str:
    return ", ".join(
        [f"{walk.positions:,} positions", *outlook(len(walk.failed), walk.seconds_left)]
    )


def _speed(walk: Any) -> str:
    speed = walk.positions_per_second
    per_worker = [f"{speed:,.0f} positions/s per worker"] if speed else []
    return ", ".join([*workers_of(walk), *per_worker])


WORDS: Words[Any] = Words(
    "parts",
    lambda walk: (walk.parts_there, walk.parts, f"parts with {walk.stones} stones"),
    _counts,
    _speed,
)
