"""How many jobs run and wait at a moving simulated site, so that all its numbers are of one moment.

Jobs run exactly where nodes are in use: none where all are idle, at least one where one is not, and as many more or
fewer than written as nodes in use are. Queues whose nodes are shared stand and fall together; what they tell adds up to
what the site tells, where it does as written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dragoman.facts import NodeGroup, Queue, Workload

__all__ = ["Depth", "depth", "nodes_used", "shares", "together"]


@dataclass(frozen=True, slots=True)
class Depth:
    """Jobs of the site and of each queue, in the queues' order. None: not told."""

    running: int | None
    pending: int | None
    queues_running: tuple[int | None, ...]
    queues_pending: tuple[int | None, ...]


def nodes_used(group: NodeGroup) -> int | None:
    """Nodes that are up and not idle."""
    up = group.nodes_up if group.nodes_up is not None else group.nodes
    return None if up is None or group.nodes_idle is None else max(0, up - group.nodes_idle)


def shares(total: int, parts: Sequence[int]) -> list[int]:
    """A total in whole shares like those of `parts`, which are not all 0: the largest remainders are rounded up."""
    whole = sum(parts)
    found = [total * part // whole for part in parts]
    order = sorted(range(len(parts)), key=lambda place: (-(total * parts[place] % whole), place))
    for place in order[: total - sum(found)]:
        found[place] += 1
    return found


def depth(before: Workload, after: Sequence[NodeGroup] | None, wander: Callable[[int, str], int]) -> Depth:
    """The jobs at a moment.

    Args:
        before: as written.
        after: the groups of nodes at the moment, in their order.
        wander: how many wait where so many do as written; the word tells whose number it is.

    """
    queues = before.queues or ()
    old, new = before.groups or (), after if after is not None else before.groups or ()
    running = [queue.jobs_running for queue in queues]
    total = before.jobs_running
    for places, groups in together(queues, old):
        known = [place for place in places if running[place] is not None]
        moved = _moved(sum(running[place] or 0 for place in known), [old[n] for n in groups], [new[n] for n in groups])
        for place, count in _split(moved, [running[place] or 0 for place in known], known):
            running[place] = count
    whole = _adds_up(total, [queue.jobs_running for queue in queues])
    if total is not None:
        total = sum(each or 0 for each in running) if whole else _moved(total, old, new)
    waiting = before.jobs_pending
    pending = [queue.jobs_pending for queue in queues]
    if waiting is None:
        waits = [
            None if each is None else wander(each, queue.name) for each, queue in zip(pending, queues, strict=True)
        ]
    else:
        now = wander(waiting, "")
        if _adds_up(waiting, pending):
            told = list(range(len(pending)))
            waits = [count for _, count in sorted(_split(now, [each or 0 for each in pending], told))]
        else:  # a job may wait in several queues, or in one that tells nothing
            waits = [None if each is None else each * now // waiting if waiting else each for each in pending]
        waiting = now
    return Depth(total, waiting, tuple(running), tuple(waits))


def _adds_up(total: int | None, parts: Sequence[int | None]) -> bool:
    known = [each for each in parts if each is not None]
    return total is not None and bool(parts) and len(known) == len(parts) and sum(known) == total


def _split(total: int, parts: Sequence[int], places: Sequence[int]) -> list[tuple[int, int]]:
    """Shares of a total by place; where nothing is written to go by, all of it in the first."""
    if not places:
        return []
    written = list(parts) if any(parts) else [1, *([0] * (len(places) - 1))]
    return list(zip(places, shares(total, written), strict=True))


def _moved(written: int, before: Sequence[NodeGroup], after: Sequence[NodeGroup]) -> int:
    """As many jobs as fit the nodes that are in use now; as written where that is not told."""
    then = [nodes_used(each) for each in before]
    now = [nodes_used(each) for each in after]
    if not then or None in then or None in now:
        return written
    used, was = sum(each or 0 for each in now), sum(each or 0 for each in then)
    if not used:
        return 0
    return max(1, round(written * used / was)) if written and was else used


def together(queues: Sequence[Queue], groups: Sequence[NodeGroup]) -> list[tuple[list[int], list[int]]]:
    """Queues and groups of nodes by place, those together that nodes connect."""
    found: list[tuple[set[int], set[int]]] = []
    for number, group in enumerate(groups):
        mine = {place for place, queue in enumerate(queues) if not group.queues or queue.name in group.queues}
        joined = (mine, {number})
        apart = []
        for other in found:
            if other[0] & joined[0]:
                joined = (joined[0] | other[0], joined[1] | other[1])
            else:
                apart.append(other)
        found = [*apart, joined]
    return [(sorted(places), sorted(numbers)) for places, numbers in found]
