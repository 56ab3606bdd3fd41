"""Chance that falls the same way on every Python and machine: from hashes, not from the standard library's sampling."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from typing import TypeVar

__all__ = ["Dice"]

T = TypeVar("T")


class Dice:
    """A stream of chances that follows from its words alone; `of` makes independent streams.

    Streams by name keep a drawn world stable: one more draw in one part does not change the others.
    """

    def __init__(self, *words: object) -> None:
        self._key = hashlib.sha256("\0".join(str(word) for word in words).encode()).digest()
        self._count = 0
        self._pool = b""

    def of(self, *words: object) -> Dice:
        """Another stream, that follows from this one's words and these."""
        return Dice(self._key.hex(), *words)

    def bits(self) -> int:
        """64 random bits."""
        if not self._pool:
            self._pool = hashlib.blake2b(self._count.to_bytes(8, "big"), key=self._key).digest()
            self._count += 1
        head, self._pool = self._pool[:8], self._pool[8:]
        return int.from_bytes(head, "big")

    def fraction(self) -> float:
        """From 0 up to, not including, 1."""
        return (self.bits() >> 11) / 2**53

    def chance(self, probability: float) -> bool:
        """True that often."""
        return self.fraction() < probability

    def between(self, low: float, high: float) -> float:
        """Evenly between two numbers."""
        return low + (high - low) * self.fraction()

    def whole(self, low: int, high: int) -> int:
        """A whole number from `low` to `high`, both included."""
        return low + int(self.fraction() * (high - low + 1))

    def whole_log(self, low: int, high: int) -> int:
        """A whole number between two positive ones, about as likely to be in each doubling.

        Only exact arithmetic: logarithms differ in their last digit between mathematical libraries.
        """
        bounds = [low]
        while bounds[-1] * 2 < high:
            bounds.append(bounds[-1] * 2)
        bounds.append(high)
        doublings = [(pair, pair[1] / pair[0] - 1) for pair in pairwise(bounds)]
        return self.whole(*self.weighted(doublings))

    def pick(self, options: Sequence[T]) -> T:
        """One of them."""
        return options[self.whole(0, len(options) - 1)]

    def weighted(self, options: Sequence[tuple[T, float]]) -> T:
        """One of them, as often as its weight says."""
        rest = self.fraction() * sum(weight for _, weight in options)
        for option, weight in options:
            rest -= weight
            if rest < 0:
                return option
        return options[-1][0]

    def some(self, options: Sequence[T], count: int) -> list[T]:
        """That many different ones, in the order given."""
        marks = sorted(range(len(options)), key=lambda index: (self.bits(), index))[: max(0, count)]
        return [options[index] for index in sorted(marks)]
