"""Tables of benchmark results: as text for people, as plain data for programs."""

from __future__ import annotations

import os
import platform
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from typing import Any


@dataclass(frozen=True, slots=True)
class Row:
    name: str
    rate: float
    ratio: float


@dataclass(frozen=True, slots=True)
class Table:
    """Rates, and their ratios to one of them."""

    title: str
    unit: str
    base: str
    rows: tuple[Row, ...]
    note: str = ""

    @classmethod
    def of_rates(
        cls, title: str, unit: str, found: Mapping[str, float], base: str, note: str = ""
    ) -> Table:
        rows = tuple(Row(name, rate, rate / found[base]) for name, rate in found.items())
        return cls(title, unit, base, rows, note)

    def text(self) -> str:
        width = max(len(row.name) for row in self.rows)
        lines = [f"{self.title}", f"  {'':{width}}  {self.unit:>14}  ratio"]
        lines += [f"  {r.name:{width}}  {r.rate:14,.0f}  {r.ratio:5.2f}" for r in self.rows]
        return "\n".join([*lines, *([f"  {self.note}"] if self.note else [])])


def machine() -> dict[str, Any]:
    """What was measured on: absolute rates mean nothing without it, ratios little."""
    return {
        "date": datetime.now(UTC).date().isoformat(),
        "processor": _processor(),
        "cores": len(os.sched_getaffinity(0)),
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
