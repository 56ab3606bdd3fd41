"""What is free together on one node, for many nodes in few words. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from dragoman.facts import FreeShare

__all__ = ["MOST_SHARES", "counted_shares", "nothing_free"]

MOST_SHARES = 32
"""Different shares of one group; of more, those that hold the most are told."""


def nothing_free(kinds: int = 0) -> FreeShare:
    """A node that is up with nothing to be had on it.

    Args:
        kinds: of GPUs in its group.

    """
    return FreeShare(cpus=0, memory_bytes=0, gpus=(0,) * kinds)


def counted_shares(shares: Iterable[FreeShare]) -> tuple[FreeShare, ...]:
    """Equal shares counted, the larger ones first."""
    alike: Counter[FreeShare] = Counter()
    for share in shares:
        alike[share.model_copy(update={"nodes": 1})] += share.nodes
    whole = [share.model_copy(update={"nodes": count}) for share, count in sorted(alike.items(), key=_size)]
    if len(whole) <= MOST_SHARES:
        return tuple(whole)
    best: dict[object, int] = {}
    first: list[FreeShare] = []
    rest: list[FreeShare] = []
    for share in whole:  # what no other one exceeds in all, before what only has many CPUs
        memory = -1 if share.memory_bytes is None else share.memory_bytes
        exceeds = memory > best.get(share.gpus, -2)
        best[share.gpus] = max(memory, best.get(share.gpus, -2))
        (first if exceeds else rest).append(share)
    if len(first) > MOST_SHARES:
        first = [first[place * (len(first) - 1) // (MOST_SHARES - 1)] for place in range(MOST_SHARES)]
    return tuple([*first, *rest][:MOST_SHARES])


def _size(item: tuple[FreeShare, int]) -> tuple[int, int, tuple[int, ...]]:
    share = item[0]
    return -share.cpus, -(share.memory_bytes or 0), tuple(-(count or 0) for count in share.gpus or ())
