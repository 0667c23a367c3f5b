"""Confidence intervals of shares."""

from __future__ import annotations

from math import sqrt


def wilson(share: float, count: int) -> tuple[float, float]:
    """The 95 % Wilson score interval of a share of `count` trials."""
    if not count:
        return 0.0, 1.0
    z = 1.959964
    middle = (share + z * z / (2 * count)) / (1 + z * z / count)
    half = z * sqrt(share * (1 - share) / count + z * z / (4 * count * count)) / (1 + z * z / count)
    return max(0.0, middle - half), min(1.0, middle + half)
