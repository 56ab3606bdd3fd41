"""Stretches of a text, found by a place in them without going through all of them."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import accumulate

__all__ = ["Stretches"]


class Stretches:
    """Stretches from a start up to an end, in any order; they may lie in each other.

    Args:
        found: start and end of each.

    """

    def __init__(self, found: Iterable[tuple[int, int]]) -> None:
        numbered = sorted((start, end, number) for number, (start, end) in enumerate(found))
        self._starts = [start for start, _, _ in numbered]
        self._ends = [end for _, end, _ in numbered]
        self._numbers = [number for _, _, number in numbered]
        self._furthest = list(accumulate(self._ends, max))
        """The last end up to each: no stretch before it holds a place behind that."""

    def __contains__(self, at: int) -> bool:
        """Whether a place lies in one of them."""
        last = bisect_right(self._starts, at) - 1
        return last >= 0 and self._furthest[last] > at

    def holding(self, at: int) -> Iterator[int]:
        """The numbers, in the order given, of those that hold a place; the innermost first."""
        last = bisect_right(self._starts, at) - 1
        while last >= 0 and self._furthest[last] > at:
            if self._ends[last] > at:
                yield self._numbers[last]
            last -= 1
