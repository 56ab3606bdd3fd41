"""LSF's queues, hosts and GPUs as a `Workload` (bqueues(1), bhosts(1), lshosts(1), bmgroup(1))."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, NamedTuple, TypedDict

from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue
from dragoman.kleene import Truth
from providers.schedulers.cores import cores_behind
from providers.schedulers.free_shares import counted_shares

__all__ = ["CORES_FORMAT", "Host", "group_hosts", "read_groups", "read_hosts", "read_queues"]

_UP = frozenset({"ok", "closed_Full", "closed_Busy", "closed_Excl", "closed_Wind", "closed_cu_Excl"})
"""States of a host that pass by themselves."""


CORES_FORMAT: Final = "HOST_NAME nprocs ncores nthreads"
"""For `lshosts -o`: processors, cores of each processor, threads of each core."""


class _Cores(TypedDict):
    cores: int | None
    threads: int | None


class Host(NamedTuple):
    """One host: job slots, memory, GPUs."""

    name: str
    state: str
    slots: int | None
    cores: int | None
    threads: int | None
    """Hardware threads of each core."""
    used: int
    memory: int | None
    gpus: tuple[tuple[str, int], ...] | None
    """Model to number; None: not told."""
    gpus_free: int

    @property
    def free(self) -> int | None:
        """Slots that a job could have now."""
        if self.slots is None:
            return None
        return max(self.slots - self.used, 0) if self.state == "ok" else 0


def _table(text: str) -> list[dict[str, str]]:
    """Rows of a table whose last column may hold blanks."""
    lines = [line for line in text.splitlines() if line.strip()]
    start = next((index for index, line in enumerate(lines) if line.startswith(("HOST_NAME", "GROUP_NAME"))), None)
    if start is None:
        return []
    names = lines[start].split()
    return [dict(zip(names, line.split(None, len(names) - 1), strict=False)) for line in lines[start + 1 :]]


def read_hosts(bhosts: str, lshosts: str | None, gpus: str | None, cores: str | None = None) -> list[Host]:
    """Hosts of `bhosts -w`, with memory of `lshosts -w`, GPUs of `bhosts -gpu -w` and cores where those were told.

    `cores` is `lshosts -o CORES_FORMAT`: a slot may be a processor, a core or a thread (EGO_DEFINE_NCPUS in lsf.conf),
    so they are told apart by what the hardware has.
    """
    hardware = {row["HOST_NAME"]: row for row in _table(cores or "")}
    memory = {row["HOST_NAME"]: _size(row.get("maxmem", "")) for row in _table(lshosts or "")}
    models: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    free: dict[str, int] = defaultdict(int)
    host = ""
    for row in _table(gpus or ""):
        host = row["HOST_NAME"]
        models[host][row.get("MODEL", "")] += 1
        free[host] += row.get("NJOBS") == "0"
    return [
        Host(
            name=row["HOST_NAME"],
            state=row.get("STATUS", ""),
            slots=_number(row.get("MAX", "")),
            **_cores(_number(row.get("MAX", "")), hardware.get(row["HOST_NAME"], {})),
            used=_number(row.get("NJOBS", "")) or 0,
            memory=memory.get(row["HOST_NAME"]),
            gpus=tuple(sorted(models[row["HOST_NAME"]].items())) if gpus is not None else None,
            gpus_free=free[row["HOST_NAME"]],
        )
        for row in _table(bhosts)
    ]


def _cores(slots: int | None, row: Mapping[str, str]) -> _Cores:
    """Cores behind the slots: processors times the cores of each."""
    processors, each, threads = (_number(row.get(name, "")) for name in ("nprocs", "ncores", "nthreads"))
    cores = processors * each if processors and each else None
    return {"cores": cores_behind(slots, cores, cores * (threads or 1) if cores else None), "threads": threads or None}


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdecimal() else None


def _size(text: str) -> int | None:
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMGT]?)", text, re.ASCII)
    return round(float(match[1]) * 1024.0 ** " KMGT".index(match[2] or "M")) if match is not None else None


def read_groups(text: str) -> dict[str, tuple[str, ...]]:
    """Members of each host group, by `bmgroup -w`."""
    return {row["GROUP_NAME"]: tuple(row.get("HOSTS", "").split()) for row in _table(text)}


def read_queues(
    text: str, hosts: Sequence[Host] | None, groups: Mapping[str, tuple[str, ...]]
) -> tuple[tuple[Queue, ...], dict[str, frozenset[str] | None]]:
    """Queues of `bqueues -l`, and the hosts of each (None: its hosts are not known)."""
    queues: list[Queue] = []
    places: dict[str, frozenset[str] | None] = {}
    for part in re.split(r"^(?=QUEUE:)", text, flags=re.MULTILINE):
        match = re.match(r"QUEUE:\s*(\S+)", part)
        if match is not None:
            places[match[1]] = _hosts(part, hosts, groups)
            queues.append(_queue(match[1], part, hosts, places[match[1]]))
    return tuple(queues), places


def _hosts(part: str, hosts: Sequence[Host] | None, groups: Mapping[str, tuple[str, ...]]) -> frozenset[str] | None:
    match = re.search(r"^HOSTS:\s*(.*)$", part, re.MULTILINE)
    if match is None or hosts is None:
        return None
    known = {host.name for host in hosts}
    found: set[str] = set()
    left = [re.sub(r"\+\d*$|/$|!$", "", word) for word in match[1].split()]
    seen: set[str] = set()
    while left:
        word = left.pop()
        if word in known:
            found.add(word)
        elif word == "all":
            found |= known
        elif word in groups and word not in seen:
            seen.add(word)
            left += [re.sub(r"/$", "", name) for name in groups[word]]
        elif word not in seen:
            return None
    return frozenset(found)


def _queue(name: str, part: str, hosts: Sequence[Host] | None, mine: frozenset[str] | None) -> Queue:
    table = re.search(r"^\s*PRIO\s+(.*)\n\s*(\S.*)$", part, re.MULTILINE)
    row = dict(zip(["PRIO", *table[1].split()], table[2].split(), strict=False)) if table is not None else {}
    state = row.get("STATUS", "")
    usable, reason = Truth.UNKNOWN, f"the queue is {state or 'in no state that was told'}"
    if state.startswith("Open:") and mine is not None:
        usable, reason = (Truth.YES, "") if state == "Open:Active" else (Truth.NO, reason)
    elif state.startswith("Closed:"):
        usable = Truth.NO
    elif state.startswith("Open:"):
        reason = "the queue's hosts are not known"
    users = re.search(r"^USERS:\s*(.*?)\s*$", part, re.MULTILINE)
    if usable is Truth.YES and users is not None and users[1] not in ("all", "all users"):
        usable, reason = Truth.UNKNOWN, f"only for {users[1][:200]}"
    limits = {
        kind: _minutes(section[1])
        for kind in ("DEFAULT", "MAXIMUM")
        if (section := re.search(rf"^{kind} LIMITS:((?:\n.*\S.*)*)", part, re.MULTILINE)) is not None
    }
    own = [host for host in hosts or () if mine is not None and host.name in mine]
    return Queue(
        name=name,
        usable=usable,
        reason=reason,
        default="This is the default queue" in part,
        default_walltime_s=limits.get("DEFAULT"),
        max_walltime_s=limits.get("MAXIMUM"),
        walltime_unlimited="MAXIMUM" not in limits or limits["MAXIMUM"] is None,
        jobs_pending=_number(row.get("PJOBS", "")),
        nodes_total=len(own) if mine is not None else None,
        nodes_idle=sum(host.state == "ok" and host.used == 0 for host in own) if mine is not None else None,
        exclusive_nodes=Truth.UNKNOWN,
    )


def _minutes(text: str) -> int | None:
    match = re.search(r"RUNLIMIT[^\n]*\n\s*(\d+(?:\.\d+)?) min", text)
    return round(float(match[1]) * 60) if match is not None else None


def group_hosts(hosts: Iterable[Host], places: Mapping[str, frozenset[str] | None]) -> tuple[NodeGroup, ...]:
    """Alike hosts together. A queue whose hosts are not known is not said to lead anywhere."""
    alike: dict[tuple[tuple[str, ...], object], list[Host]] = defaultdict(list)
    for host in hosts:
        queues = tuple(name for name, own in places.items() if own is not None and host.name in own)
        alike[queues, (host.slots, host.cores, host.threads, host.memory, host.gpus)].append(host)
    found: list[NodeGroup] = []
    for (queues, _), members in alike.items():
        first, up = members[0], [host for host in members if host.state in _UP]
        free = [host.free for host in up if host.free is not None]
        kinds = first.gpus
        found.append(
            NodeGroup(
                queues=queues,
                nodes=len(members),
                nodes_up=len(up),
                nodes_idle=sum(host.state == "ok" and host.used == 0 for host in up),
                cpus_per_node=first.slots,
                cores_per_node=first.cores,
                threads_per_core=first.threads,
                cpus_free=sum(free) if len(free) == len(up) else None,
                largest_free_cpus=max(free, default=0) if len(free) == len(up) else None,
                memory_bytes_per_node=first.memory,
                free_shares=counted_shares(_share(host) for host in up) if len(free) == len(up) else None,
                gpus=None if kinds is None else tuple(_gpus(kinds, up, model, count) for model, count in kinds),
                example=first.name,
            )
        )
    return tuple(found)


def _share(host: Host) -> FreeShare:
    """Memory that jobs were given is not told by host: an unused one has all of its."""
    kinds = host.gpus
    return FreeShare(
        cpus=host.free or 0,
        memory_bytes=host.memory if host.used == 0 and host.state == "ok" else None,
        gpus=None if kinds is None else (host.gpus_free,) if len(kinds) == 1 else (None,) * len(kinds),
    )


def _gpus(kinds: tuple[tuple[str, int], ...], up: list[Host], model: str, count: int) -> Gpu:
    """With several models on one host nobody tells which are free."""
    return Gpu(model=model or None, count=count, free=sum(host.gpus_free for host in up) if len(kinds) == 1 else None)
