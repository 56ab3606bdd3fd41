"""Limits of Linux control groups: the tightest one on the way up counts, because every level is enforced.

Sources: the kernel's cgroup-v2.rst (`memory.max`, `memory.current`, `cpu.max`) and cgroup-v1/memory.rst, sched-bwc.rst.
"""

from __future__ import annotations

import math
import posixpath
import re

from dragoman.observation import Outcome
from providers.probes.base import Results
from providers.probes.storage.mounts import parse_mountinfo

__all__ = ["FILES", "cpu_files", "cpu_quota", "memory_files", "memory_left", "memory_limit"]

CGROUP, MOUNTS = "/proc/self/cgroup", "/proc/self/mountinfo"
FILES = (CGROUP, MOUNTS)
"""What has to be read before the limits' own files are known."""

_NUMBER = re.compile(r"[0-9]{1,20}")
V1_NO_LIMIT = 2**62
"""Version 1 writes the largest page-aligned number for no limit: 9223372036854771712 with 4 KiB pages."""


def _memberships(results: Results) -> dict[str, str]:
    """Our control group by controller; of version 2, by an empty name."""
    memberships: dict[str, str] = {}
    for line in (results.file(CGROUP).value or "").splitlines():
        number, controllers, path = [*line.split(":", 2), "", ""][:3]
        for name in controllers.split(",") if number != "0" else [""]:
            memberships[name] = path
    return memberships


def _folders(results: Results, controller: str) -> list[tuple[int, str]]:
    """Version and folder of our control group and of every one above it that can be seen, the lowest first."""
    memberships = _memberships(results)
    folders: list[tuple[int, str]] = []
    for mount in parse_mountinfo(results.file(MOUNTS).text):
        if mount.kind == "cgroup2" and "" in memberships:
            version, member = 2, memberships[""]
        elif mount.kind == "cgroup" and controller in mount.super_options and controller in memberships:
            version, member = 1, memberships[controller]
        else:
            continue
        inside = _inside(member, mount.root)
        while inside:
            folders.append((version, posixpath.join(mount.point, inside)))
            inside = posixpath.dirname(inside)
        folders.append((version, mount.point))
    return folders


def _inside(member: str, root: str) -> str:
    """A membership as a path below the mount; a container sees only its own part of the tree, or `/../..`."""
    if "/.." in member:
        return ""
    root = root.rstrip("/")
    if root and member != root and not member.startswith(f"{root}/"):
        return ""
    return member[len(root) :].strip("/")


_LIMIT = {1: "memory.limit_in_bytes", 2: "memory.max"}
_USED = {"memory.limit_in_bytes": "memory.usage_in_bytes", "memory.max": "memory.current"}


def memory_files(results: Results) -> tuple[str, ...]:
    """Files that hold the memory limits, and those of what is used of each; read FILES first."""
    limits = _limit_files(results)
    return (*limits, *map(_use_file, limits))


def _limit_files(results: Results) -> tuple[str, ...]:
    return tuple(posixpath.join(folder, _LIMIT[version]) for version, folder in _folders(results, "memory"))


def _use_file(limit: str) -> str:
    return posixpath.join(posixpath.dirname(limit), _USED[posixpath.basename(limit)])


def memory_limit(results: Results) -> tuple[int | None, str]:
    """The smallest limit in bytes, or None for no limit; the text is why a limit may have been missed."""
    limits, missed = _memory_limits(results)
    return min(limits.values(), default=None), missed


def memory_left(results: Results, total: int) -> tuple[int | None, str]:
    """Bytes that the groups' limits leave beside what is used of them, or None for no limit below `total`.

    The text is why that is not known.
    """
    limits, missed = _memory_limits(results)
    left: list[int] = []
    for path, limit in limits.items():
        used = results.file(_use_file(path))
        if limit >= total:
            continue
        if used.value is None or not _NUMBER.fullmatch(used.value):
            missed = missed or used.reason or f"{used.path} tells no number"
            continue
        left.append(max(0, limit - int(used.value)))
    return min(left, default=None), missed


def _memory_limits(results: Results) -> tuple[dict[str, int], str]:
    """Limits by their files, and why one may have been missed."""
    limits: dict[str, int] = {}
    missed = _unseen(results, "memory")
    for path in _limit_files(results):
        read = results.file(path)
        if read.outcome is Outcome.UNKNOWN:
            missed = read.reason
        elif read.value is not None and _NUMBER.fullmatch(read.value):
            limits |= {path: int(read.value)} if int(read.value) < V1_NO_LIMIT else {}
        elif read.value not in (None, "max", "-1"):
            missed = f"{path} tells no number"
    return limits, missed


def cpu_files(results: Results) -> tuple[str, ...]:
    """Files that hold the CPU quota; read FILES first."""
    names = {1: ("cpu.cfs_quota_us", "cpu.cfs_period_us"), 2: ("cpu.max",)}
    return tuple(
        posixpath.join(folder, name) for version, folder in _folders(results, "cpu") for name in names[version]
    )


def cpu_quota(results: Results) -> tuple[float | None, str]:
    """CPUs that the quota allows (2.5 is two and a half), or None for no quota; the text is as in `memory_limit`."""
    quotas: list[float] = []
    missed = _unseen(results, "cpu")
    for path in cpu_files(results):
        read = results.file(path)
        if read.outcome is Outcome.UNKNOWN:
            missed = read.reason
        if read.value is None:
            continue
        if path.endswith("cpu.max"):
            quota, _, period = read.value.partition(" ")
        elif path.endswith("cpu.cfs_quota_us"):
            period_file = results.file(posixpath.join(posixpath.dirname(path), "cpu.cfs_period_us"))
            quota, period = read.value, period_file.value or ""
        else:
            continue
        if _NUMBER.fullmatch(quota) and _NUMBER.fullmatch(period) and int(period) > 0:
            quotas.append(int(quota) / int(period))
        elif quota not in ("max", "-1"):
            missed = f"{path} tells no quota"
    smallest = min(quotas, default=math.inf)
    return (None if math.isinf(smallest) else smallest), missed


def _unseen(results: Results, controller: str) -> str:
    for path in FILES:
        read = results.file(path)
        if read.outcome is Outcome.UNKNOWN:
            return read.reason
    if _memberships(results).keys() & {"", controller} and not _folders(results, controller):
        return "this process is in a control group, whose files are not to be seen here"
    return ""
