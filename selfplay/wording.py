"""Numbers and names in messages: the plural of a noun, a name shortened to a width."""

from __future__ import annotations


def counted(count: int, noun: str, plural: str = "") -> str:
    """A number with its noun: 1 shard, 2,000 shards."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def size(count: float) -> str:
    """A number of bytes: 42.3 kB, 1.2 GB."""
    for unit, least in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if count >= least:
            return f"{count / least:,.1f} {unit}"
    return f"{count:.0f} bytes"


def shortened(name: str, width: int) -> str:
    """A name that keeps its end, which tells it from others; of `a - b`, each of the two."""
    if len(name) <= width:
        return name
    parts = name.split(" - ")
    room = (width - 3 * (len(parts) - 1)) // len(parts)
    short = [p if len(p) <= room else "…" + p[max(1, len(p) - room + 1) :] for p in parts]
    return " - ".join(short)
