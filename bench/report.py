"""Tables of benchmark results: as text for people, as plain data for programs."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any

from selfplay.machine import usable_cores


@dataclass(frozen=True, slots=True)
class Table:
    """What was compared, and its numbers."""

    title: str
    header: tuple[str, ...]
    """What the numbers are; the names before them have no title."""
    rows: tuple[tuple[str, tuple[float, ...]], ...]
    note: str = ""

    @classmethod
    def of_rates(
        cls, title: str, unit: str, found: Mapping[str, float], base: str, note: str = ""
    ) -> Table:
        """Rates, and their ratios to one of them."""
        rows = tuple((name, (rate, rate / found[base])) for name, rate in found.items())
        return cls(title, (unit, "ratio"), rows, note)

    def text(self) -> str:
        width = max(len(name) for name, _ in self.rows)
        lines = [self.title, f"  {'':{width}}" + "".join(f"{h:>16}" for h in self.header)]
        for name, numbers in self.rows:
            lines.append(f"  {name:{width}}" + "".join(f"{_number(n):>16}" for n in numbers))
        return "\n".join([*lines, *([f"  {self.note}"] if self.note else [])])


def _number(number: float) -> str:
    whole = number >= 1000 or float(number).is_integer()
    return f"{number:,.0f}" if whole else f"{number:.2f}"


def machine() -> dict[str, Any]:
    """What was measured on: absolute rates mean nothing without it, ratios little."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "cores": usable_cores(),
        "python": platform.python_version(),
        "versions": {name: version(name) for name in ("selfplay", "numba", "numpy")},
    }


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            names = [line.split(":", 1)[1].strip() for line in lines if "model name" in line]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def as_json(tables: list[Table]) -> dict[str, Any]:
    return {"machine": machine(), "tables": [asdict(table) for table in tables]}
