"""What this machine has to offer."""

from __future__ import annotations

import os


def usable_cores() -> int:
    """The cores this process may use, which may be fewer than there are."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
