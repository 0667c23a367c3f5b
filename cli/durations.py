"""Durations as text: 1h30m to seconds, and seconds to "1 h 30 min"."""

from __future__ import annotations

import re

from selfplay.errors import InputError, quoted

_UNITS = {"d": 86400, "h": 3600, "m": 60, "s": 1}


def parse_duration(text: str) -> float:
    """Seconds from 47h, 90m, 30s, 1h30m."""
    parts = re.findall(r"([0-9]+(?:\.[0-9]+)?)([dhms])", text.strip())
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        raise InputError(f"a duration is written 47h, 90m, 30s or 1h30m, not {quoted(text)}")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def duration(seconds: float) -> str:
    """A readable duration in its two largest units."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    total = round(seconds)
    if total < 60:
        return f"{total} s"
    if total < 3600:
        return f"{total // 60} min {total % 60} s"
    if total < 86400:
        return f"{total // 3600} h {total % 3600 // 60} min"
    return f"{total // 86400:,} d {total % 86400 // 3600} h"
