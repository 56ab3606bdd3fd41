"""Yes, no and unknown, with Kleene's strong three-valued logic."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Truth(StrEnum):
    """One of three answers. There is no truth value of it: `bool()` is refused, so unknown cannot pass for no."""

    YES = "yes"
    NO = "no"
    UNKNOWN = "unknown"

    def __bool__(self) -> bool:
        raise TypeError("a Truth is yes, no or unknown: compare it with `is`")

    def __invert__(self) -> Truth:
        return _NOT[self]

    def __and__(self, other: Truth) -> Truth:
        return all_of((self, other))

    def __or__(self, other: Truth) -> Truth:
        return any_of((self, other))


_NOT = {Truth.YES: Truth.NO, Truth.NO: Truth.YES, Truth.UNKNOWN: Truth.UNKNOWN}


def truth(value: bool | None) -> Truth:
    """Truth of an optional boolean; None is unknown."""
    if value is None:
        return Truth.UNKNOWN
    return Truth.YES if value else Truth.NO


def all_of(values: Iterable[Truth]) -> Truth:
    """No if one is no, else unknown if one is unknown, else yes (also for none at all)."""
    result = Truth.YES
    for value in values:
        if value is Truth.NO:
            return Truth.NO
        if value is Truth.UNKNOWN:
            result = Truth.UNKNOWN
    return result


def any_of(values: Iterable[Truth]) -> Truth:
    """Yes if one is yes, else unknown if one is unknown, else no (also for none at all)."""
    result = Truth.NO
    for value in values:
        if value is Truth.YES:
            return Truth.YES
        if value is Truth.UNKNOWN:
            result = Truth.UNKNOWN
    return result


def sum_of(amounts: Iterable[int | None]) -> int | None:
    """Their sum; unknown (None) if one is unknown, 0 for none at all."""
    total = 0
    for amount in amounts:
        if amount is None:
            return None
        total += amount
    return total
