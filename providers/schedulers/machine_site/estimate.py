"""When a job would start, from the walltimes of those before it: a bound, because most jobs end earlier."""

from __future__ import annotations

from .advance import Outlook, need
from .job import Job


def estimate(job: Job, outlook: Outlook, waiting: list[Job], now: float) -> float | None:
    """Seconds until the start at the latest; 0 where it could start now, None where a job before it has no walltime.

    Plays the queue forward: in order, each job starts when there is room, and runs for its whole walltime.
    """
    room = dict(outlook.free)
    if not outlook.limits["memory"]:
        room["memory"] = 2**62
    ends = [
        (max(now, one.started + one.walltime) if one.walltime else None, need(one, outlook.limits))
        for one in outlook.running
    ]
    clock = now
    for one in [*waiting, job]:
        asked = need(one, outlook.limits)
        while any(asked[name] > room[name] for name in asked):
            known = [item for item in ends if item[0] is not None]
            if not known:
                return None
            first = min(known, key=lambda item: item[0] or 0.0)
            ends.remove(first)
            clock = max(clock, first[0] or clock)
            for name, count in first[1].items():
                room[name] += count
        for name, count in asked.items():
            room[name] -= count
        ends.append((clock + one.walltime if one.walltime else None, asked))
    return max(0.0, clock - now)
