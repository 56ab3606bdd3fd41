"""Grid Engine's hosts, queues and depth as a `Workload` (qhost(1), queue_conf(5))."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue
from dragoman.kleene import Truth
from providers.schedulers.cores import cores_behind
from providers.schedulers.free_shares import counted_shares
from providers.schedulers.sge_values import read_seconds, read_size

__all__ = ["Host", "depth_of", "group_hosts", "read_hosts", "read_queues"]

_CLOSED = frozenset("uEdDsSCcoaA")
"""States of a queue at a host in which no job starts there (qstat(1)): unreachable, error, disabled, suspended, ..."""
_GPU = re.compile(r"n?gpus?|num_gpus", re.IGNORECASE)


class _Place(NamedTuple):
    queue: str
    slots: int
    used: int
    open: bool


class Host(NamedTuple):
    """One execution host."""

    name: str
    places: tuple[_Place, ...]
    cores: int | None
    threads: int | None
    """Hardware threads of the whole host."""
    memory: int | None
    memory_left: int | None
    """Of the consumable `h_vmem`, where the site counts it."""
    gpus_left: int | None

    @property
    def slots(self) -> int:
        """The most slots that one job can have here."""
        return max((place.slots for place in self.places), default=0)

    @property
    def up(self) -> bool:
        """Whether a job may start in one of its queues."""
        return any(place.open for place in self.places)

    @property
    def used(self) -> int:
        """Slots in use, over all queues."""
        return sum(place.used for place in self.places)

    @property
    def free(self) -> int:
        """The most free slots in one open queue."""
        return max((max(place.slots - place.used, 0) for place in self.places if place.open), default=0)


def read_hosts(text: str) -> list[Host] | None:
    """Hosts of `qhost -q -F -xml`; None where it cannot be read."""
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return None
    try:
        root = ET.fromstring("".join(one for one in text if one in "\n\t" or ord(one) >= 32))  # noqa: S314 # no DTD
    except ET.ParseError:
        return None
    if root.tag != "qhost":
        return None
    return [_host(element) for element in root.iter("host") if element.get("name") != "global"]


def _host(element: ET.Element) -> Host:
    facts = {one.get("name"): (one.text or "").strip() for one in element.iter("hostvalue")}
    left = {
        one.get("name", ""): (one.text or "").strip()
        for one in element.iter("resourcevalue")
        if one.get("dominance", "")[1:2] == "c"
    }
    gpus = [float(value) for name, value in left.items() if _GPU.fullmatch(name) and re.fullmatch(r"[\d.]+", value)]
    return Host(
        name=element.get("name", ""),
        places=tuple(_place(queue) for queue in element.iter("queue")),
        cores=_count(facts.get("m_core", "")),
        threads=_count(facts.get("m_thread", "")),
        memory=read_size(facts.get("mem_total", "")),
        memory_left=read_size(left["h_vmem"]) if "h_vmem" in left else None,
        gpus_left=int(gpus[0]) if gpus else None,
    )


def _count(text: str) -> int | None:
    return (int(text) or None) if text.isascii() and text.isdecimal() else None


def _place(element: ET.Element) -> _Place:
    facts = {one.get("name"): (one.text or "").strip() for one in element.iter("queuevalue")}
    slots, used = (int(text) if (text := facts.get(key, "")).isdecimal() else 0 for key in ("slots", "slots_used"))
    state = facts.get("state_string", "")
    batch = "B" in facts.get("qtype_string", "B") or "P" in facts.get("qtype_string", "")
    return _Place(element.get("name", ""), slots, used, batch and not set(state) & _CLOSED)


def group_hosts(hosts: Iterable[Host]) -> tuple[NodeGroup, ...]:
    """Alike hosts together; those in no queue are left out."""
    alike: dict[tuple[object, ...], list[Host]] = defaultdict(list)
    for host in hosts:
        if host.places:
            queues = tuple(place.queue for place in host.places)
            alike[queues, host.slots, host.cores, host.threads, host.memory, host.gpus_left is None].append(host)
    return tuple(_group(members) for members in alike.values())


def _group(members: list[Host]) -> NodeGroup:
    first = members[0]
    up = [host for host in members if host.up]
    gpus = [host.gpus_left for host in up if host.gpus_left is not None]
    left = [host.memory_left for host in up if host.memory_left is not None]
    return NodeGroup(
        queues=tuple(place.queue for place in first.places),
        nodes=len(members),
        nodes_up=len(up),
        nodes_idle=sum(host.used == 0 for host in up),
        cpus_per_node=first.slots,
        cores_per_node=cores_behind(first.slots, first.cores, first.threads),
        threads_per_core=first.threads // first.cores if first.cores and first.threads else None,
        cpus_free=sum(host.free for host in up),
        largest_free_cpus=max((host.free for host in up), default=0),
        memory_bytes_per_node=first.memory,
        memory_free_bytes=max(left, default=None),
        free_shares=counted_shares(
            FreeShare(cpus=host.free, memory_bytes=host.memory_left, gpus=(host.gpus_left,) if gpus else None)
            for host in up
        ),
        gpus=(Gpu(free=sum(gpus)),) if gpus else None,
        example=first.name,
    )


def read_queues(text: str, hosts: Sequence[Host] | None) -> tuple[Queue, ...] | None:
    """Queues of `qconf -sq '*'`, with their hosts where those are known; None where there is none in the text."""
    # A long value goes on in the next line, after a backslash.
    records = re.split(r"^(?=qname\s)", re.sub(r"\\\n\s*", "", text), flags=re.MULTILINE)
    queues = [dict(re.findall(r"^(\w+)\s+(.*?)\s*$", record, re.MULTILINE)) for record in records if "qname" in record]
    return tuple(_queue(record, hosts) for record in queues if record.get("qname")) or None


def _queue(record: dict[str, str], hosts: Sequence[Host] | None) -> Queue:
    name = record["qname"]
    places = [place for host in hosts or () for place in host.places if place.queue == name]
    limit = record.get("h_rt", "").partition(",")[0]
    usable, reason = Truth.UNKNOWN, "its hosts are not known"
    if hosts is not None:
        usable = Truth.YES if any(place.open for place in places) else Truth.NO
        reason = "" if usable is Truth.YES else "no host of the queue takes jobs now"
    if usable is Truth.YES and record.get("user_lists", "NONE") != "NONE":
        usable, reason = Truth.UNKNOWN, f"only for the user lists {record['user_lists'][:200]}"
    seconds = read_seconds(limit)
    return Queue(
        name=name,
        usable=usable,
        reason=reason,
        max_walltime_s=int(seconds) if seconds is not None else None,
        walltime_unlimited=limit == "INFINITY",
        max_memory_bytes_per_node=None,
        nodes_total=len(places) if hosts is not None else None,
        nodes_idle=sum(
            any(place.queue == name and place.open for place in host.places) and host.used == 0 for host in hosts
        )
        if hosts is not None
        else None,
        exclusive_nodes=Truth.NO,
        allowed_accounts=tuple(record["projects"].split()) if record.get("projects", "NONE") != "NONE" else None,
    )


def depth_of(text: str) -> tuple[int, int] | None:
    """Jobs that wait and run by `qstat -u '*' -s pr`, an array's lines each as one; None where it cannot be read."""
    pending = running = 0
    for line in text.splitlines():
        words = line.split()
        if not words or line.startswith(("job-ID", "---")):
            continue
        if not words[0].isdecimal() or len(words) < 7:
            return None
        state = next((word for word in words[4:] if re.fullmatch(r"[a-zA-Z]{1,6}", word)), "")
        pending += "q" in state
        running += "q" not in state
    return pending, running
