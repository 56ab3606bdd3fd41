"""Physical cores behind the CPUs or slots that a scheduler gives out, by what it tells of a host's hardware."""

from __future__ import annotations

__all__ = ["cores_behind"]


def cores_behind(cpus: int | None, cores: int | None, threads: int | None) -> int | None:
    """Cores that `cpus` are on; None: not told.

    Args:
        cpus: CPUs or slots of one host, as they are given out.
        cores: all cores of the host.
        threads: all its hardware threads.

    Slots beyond the hardware's threads are an administrator's own number: what one of them is, nobody tells.
    """
    if not cpus or not cores or cpus > max(threads or cores, cores):
        return None
    return min(cpus, cores)
