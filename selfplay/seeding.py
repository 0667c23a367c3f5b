"""Reproducible random numbers: they depend on a seed only, on no library and no order."""

from __future__ import annotations

from collections.abc import MutableSequence, Sequence
from hashlib import blake2b
from operator import index
from typing import TypeVar

T = TypeVar("T")

_WORD = (1 << 64) - 1


def derive(*parts: int | str) -> int:
    """A 64-bit seed for one purpose: `derive(seed, "opening", game)`.

    Different parts give independent seeds. Integers count by value, whatever their type.
    """
    text = "".join(
        f"{len(part)}:{part}" if isinstance(part, str) else f"{index(part)};" for part in parts
    )
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")


class Stream:
    """A random number generator (SplitMix64)."""

    def __init__(self, seed: int) -> None:
        self._state = seed & _WORD

    def bits(self) -> int:
        """64 random bits."""
        self._state = (self._state + 0x9E3779B97F4A7C15) & _WORD
        z = self._state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _WORD
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _WORD
        return z ^ (z >> 31)

    def below(self, n: int) -> int:
        """A number from 0 to n - 1."""
        return (self.bits() * n) >> 64

    def uniform(self) -> float:
        """A number from 0 up to, not including, 1."""
        return (self.bits() >> 11) / (1 << 53)

    def choice(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def shuffle(self, items: MutableSequence[T]) -> None:
        for i in range(len(items) - 1, 0, -1):
            j = self.below(i + 1)
            items[i], items[j] = items[j], items[i]
