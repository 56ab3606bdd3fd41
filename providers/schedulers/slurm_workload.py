"""Slurm's partitions, nodes and queue depth as a `Workload` (scontrol(1), squeue(1))."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue, Workload
from dragoman.job import JobState
from dragoman.kleene import Truth
from providers.schedulers.base import one_line
from providers.schedulers.free_shares import counted_shares, nothing_free
from providers.schedulers.slurm_json import json_rows
from providers.schedulers.slurm_rows import SEPARATOR, Row
from providers.schedulers.slurm_status import row_state
from providers.schedulers.slurm_values import gres_gpus, read_duration, read_job_id, read_memory, read_tres, tres_gpus

__all__ = [
    "DEPTH_FORMAT",
    "Depth",
    "Node",
    "depth_of",
    "group_nodes",
    "one_line_records",
    "read_nodes",
    "read_queues",
    "read_workload",
]

DEPTH_FORMAT: Final = SEPARATOR.join(("%i", "%T", "%P"))
"""For `squeue -o`: the least that tells how deep each queue is."""

_NOT_UP = frozenset(
    {
        "DOWN", "DRAIN", "DRAINED", "DRAINING", "FAIL", "FAILING", "MAINT", "MAINTENANCE", "RESERVED", "NOT_RESPONDING",
        "REBOOT", "REBOOT_ISSUED", "REBOOT_REQUESTED", "UNKNOWN", "FUTURE", "INVALID", "INVALID_REG", "INVAL",
        "PERFCTRS", "NPC", "BLOCKED", "POWERING_DOWN", "ERROR",
    }
)  # fmt: skip
_PAIR = re.compile(r"(?:^|\s)([A-Za-z]\w*)=(\S*)")


def one_line_records(text: str, key: str) -> Iterator[dict[str, str]]:
    """Records of `scontrol -o show ...` that begin with `key`; the first value of a name counts.

    Free text (an operator's reason, a comment) is left out first: it may hold anything, even `State=IDLE`.
    """
    for line in text.split("\n"):
        if line.startswith(f"{key}="):
            head = re.split(r"\s(?:Reason|Comment|Extra)=", line, maxsplit=1)[0]
            record: dict[str, str] = {}
            for name, value in _PAIR.findall(head):
                record.setdefault(name, value)
            yield record


class Node(NamedTuple):
    """One node, as far as its record tells."""

    name: str
    states: frozenset[str]
    partitions: tuple[str, ...]
    cpus: int | None
    cores: int | None
    """Physical cores behind `cpus`: Slurm counts hardware threads where it is configured with them."""
    threads: int | None
    """Hardware threads of each core."""
    cpus_used: int | None
    memory: int | None
    memory_used: int | None
    disk: int | None
    gpus: tuple[tuple[str | None, int], ...] | None
    """Model and number; None: the record cannot be read."""
    gpus_used: dict[str | None, int] | None
    features: tuple[str, ...]

    @property
    def up(self) -> bool:
        """Whether jobs may start there; a node that is powered down to save energy counts, for it is woken."""
        return not (self.states & _NOT_UP)

    @property
    def idle(self) -> bool:
        """Nothing runs there, and the scheduler has not planned it for a job that waits."""
        return self.up and "IDLE" in self.states and not self.states & {"PLANNED", "COMPLETING"}

    @property
    def planned(self) -> bool:
        """Kept free for a job of higher priority: what looks free is not to be had."""
        return "PLANNED" in self.states


def read_nodes(text: str) -> list[Node]:
    """Nodes of `scontrol -o -d show nodes`."""
    return [_node(record) for record in one_line_records(text, "NodeName")]


def _node(record: dict[str, str]) -> Node:
    configured, allocated = read_tres(record.get("CfgTRES", "")), read_tres(record.get("AllocTRES", ""))
    gpus = gres_gpus(record.get("Gres", ""))
    if not gpus:  # none, or unreadable: the counted resources tell as well
        counted = tres_gpus(configured)
        gpus = counted if counted or gpus is not None else None
    used = gres_gpus(record["GresUsed"]) if "GresUsed" in record else tres_gpus(allocated)
    memory, reserved = read_memory(record.get("RealMemory", "")), read_memory(record.get("MemSpecLimit", ""))
    return Node(
        name=record["NodeName"],
        states=frozenset(re.sub(r"[*~#!%$@^-]", "", record.get("State", "UNKNOWN")).upper().split("+")),
        partitions=tuple(part for part in record.get("Partitions", "").split(",") if part),
        cpus=_number(record.get("CPUEfctv", record.get("CPUTot", ""))),
        cores=_cores(record),
        threads=_number(record.get("ThreadsPerCore", "")) or None,
        cpus_used=_number(record.get("CPUAlloc", "")),
        memory=memory - (reserved or 0) if memory is not None else None,
        memory_used=read_memory(record.get("AllocMem", "")),
        disk=read_memory(record.get("TmpDisk", "")) or None,
        gpus=tuple(sorted(gpus.items(), key=str)) if gpus is not None else None,
        gpus_used=used,
        features=tuple(part for part in record.get("ActiveFeatures", "").split(",") if part and part != "(null)"),
    )


def _cores(record: dict[str, str]) -> int | None:
    """Cores that jobs can have: sockets and cores of each, less those that are kept for the system.

    `CPUTot` counts threads unless `CPUs=` in slurm.conf is the number of cores (slurm.conf(5)); `CPUEfctv` leaves out
    what `CoreSpecCount` and `CpuSpecList` keep, counted in the same way.
    """
    counts = (_number(record.get(name, "")) for name in ("Sockets", "CoresPerSocket", "CPUTot"))
    sockets, each, total = counts
    if not sockets or not each or not total:
        return None
    left = _number(record.get("CPUEfctv", "")) or total
    return sockets * each * left // total


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else None


def group_nodes(nodes: Iterable[Node]) -> tuple[NodeGroup, ...]:
    """Alike nodes together. Nodes in no partition are left out: no job can reach them."""
    alike: dict[tuple[object, ...], list[Node]] = defaultdict(list)
    for node in nodes:
        if node.partitions:
            alike[
                node.partitions, node.cpus, node.cores, node.threads, node.memory, node.disk, node.gpus, node.features
            ].append(node)
    return tuple(_group(members) for members in alike.values())


def _group(members: list[Node]) -> NodeGroup:
    first = members[0]
    open_now = [node for node in members if node.up and not node.planned]
    cpus = [_left(node.cpus, node.cpus_used) for node in open_now]
    memory = [_left(node.memory, node.memory_used) for node in open_now]
    return NodeGroup(
        queues=first.partitions,
        nodes=len(members),
        nodes_up=sum(node.up for node in members),
        nodes_idle=sum(node.idle for node in members),
        cpus_per_node=first.cpus,
        cores_per_node=first.cores,
        threads_per_core=first.threads,
        cpus_free=sum(known) if len(known := [left for left in cpus if left is not None]) == len(cpus) else None,
        largest_free_cpus=max(known, default=0) if len(known) == len(cpus) else None,
        memory_bytes_per_node=first.memory,
        memory_free_bytes=max((left for left in memory if left is not None), default=None if memory else 0),
        free_shares=_shares(members) if len(known) == len(cpus) else None,
        local_disk_bytes=first.disk,
        gpus=None
        if first.gpus is None
        else tuple(Gpu(model=model, count=count, free=_gpus_free(open_now, model)) for model, count in first.gpus),
        features=first.features,
        example=first.name,
    )


def _left(total: int | None, used: int | None) -> int | None:
    return max(total - used, 0) if total is not None and used is not None else None


def _shares(members: list[Node]) -> tuple[FreeShare, ...]:
    """Of every node that is up; one that is kept for another job counts as full."""
    kinds = members[0].gpus
    return counted_shares(
        nothing_free(len(kinds or ()))
        if node.planned
        else FreeShare(
            cpus=_left(node.cpus, node.cpus_used) or 0,
            memory_bytes=_left(node.memory, node.memory_used),
            gpus=None if kinds is None else tuple(_gpus_free([node], model) for model, _ in kinds),
        )
        for node in members
        if node.up
    )


def _gpus_free(nodes: list[Node], model: str | None) -> int | None:
    free = 0
    for node in nodes:
        if node.gpus is None or node.gpus_used is None:
            return None
        have = dict(node.gpus)
        used = node.gpus_used.get(model, 0)
        if model is not None and model not in node.gpus_used and None in node.gpus_used:
            # Untyped use of typed GPUs: with one model it is that one's, with several nobody can tell.
            if len(have) > 1 and node.gpus_used[None]:
                return None
            used = node.gpus_used[None]
        free += max(have.get(model, 0) - used, 0)
    return free


class Depth(NamedTuple):
    """Jobs that wait and run, for each queue and in all; a job that names several queues counts in each of them."""

    pending: dict[str, int]
    running: dict[str, int]
    all_pending: int
    all_running: int


def depth_of(text: str) -> Depth | None:
    """Queue depth of `squeue -h -o DEPTH_FORMAT`, or of its JSON; None where the output cannot be read.

    A collapsed array counts with all its waiting tasks; jobs that ended and are still shown do not count.
    """
    if text.lstrip()[:1] == "{":
        rows, trouble = json_rows(text)
        if trouble:
            return None
        lines: Iterable[tuple[str, JobState, str]] = [(row.id, row_state(row), row.queue) for row in rows]
    else:
        split = [line.split(SEPARATOR) for line in text.split("\n") if line and not line.startswith("CLUSTER: ")]
        if any(len(fields) != 3 for fields in split):
            return None
        states = {word: row_state(Row("0", "0", word)) for word in {fields[1] for fields in split}}
        lines = [(fields[0], states[fields[1]], fields[2]) for fields in split]
    pending: dict[str, int] = defaultdict(int)
    running: dict[str, int] = defaultdict(int)
    total = {True: 0, False: 0}
    for shown, state, queues in lines:
        if state not in (JobState.PENDING, JobState.HELD, JobState.RUNNING):
            continue
        parsed = read_job_id(shown) if "[" in shown else None
        size = parsed.size if parsed is not None else 1
        total[state is JobState.RUNNING] += size
        for queue in queues.split(","):
            (running if state is JobState.RUNNING else pending)[queue] += size
    return Depth(dict(pending), dict(running), total[False], total[True])


def read_queues(text: str, nodes: list[Node] | None, depth: Depth | None) -> tuple[Queue, ...]:
    """Partitions of `scontrol -o show partition`, with their nodes and depth where those are known."""
    idle: dict[str, int] = defaultdict(int)
    for node in nodes or ():
        if node.idle:
            for name in node.partitions:
                idle[name] += 1
    return tuple(
        _queue(record, idle if nodes is not None else None, depth) for record in one_line_records(text, "PartitionName")
    )


def _queue(record: dict[str, str], idle: dict[str, int] | None, depth: Depth | None) -> Queue:
    name = record["PartitionName"]
    usable, reason = _usable(record)
    total = _number(record.get("TotalNodes", ""))
    limits = [limit for limit in (_number(record.get("MaxNodes", "")), total) if limit is not None]
    longest = read_duration(record.get("MaxTime", ""))
    usual = read_duration(record.get("DefaultTime", ""))
    unlimited = longest == float("inf")
    shared = record.get("OverSubscribe", record.get("Shared", ""))
    return Queue(
        name=name,
        usable=usable,
        reason=reason,
        default=record.get("Default") == "YES",
        default_walltime_s=int(usual) if usual is not None and usual != float("inf") else None,
        max_walltime_s=int(longest) if longest is not None and not unlimited else None,
        walltime_unlimited=unlimited,
        min_nodes=_number(record.get("MinNodes", "")) or None,
        max_nodes=min(limits) if limits else None,
        max_cpus_per_node=_number(record.get("MaxCPUsPerNode", "")) or None,
        max_memory_bytes_per_node=read_memory(record.get("MaxMemPerNode", "")) or None,
        jobs_pending=depth.pending.get(name, 0) if depth is not None else None,
        jobs_running=depth.running.get(name, 0) if depth is not None else None,
        nodes_total=total,
        nodes_idle=idle.get(name, 0) if idle is not None else None,
        exclusive_nodes=(Truth.YES if shared.startswith("EXCLUSIVE") else Truth.NO) if shared else Truth.UNKNOWN,
        allowed_accounts=_listed(record.get("AllowAccounts", "ALL")),
        allowed_groups=_listed(record.get("AllowGroups", "ALL")),
    )


def _usable(record: dict[str, str]) -> tuple[Truth, str]:
    state = record.get("State", "")
    if state in ("DOWN", "DRAIN", "INACTIVE"):
        return Truth.NO, f"the partition is {state}"
    if record.get("RootOnly") == "YES":
        return Truth.NO, "only root may use the partition directly"
    if state != "UP":
        return Truth.UNKNOWN, f"the partition's state is {one_line(state, limit=60) or 'not told'}"
    if record.get("ReqResv") == "YES":
        return Truth.UNKNOWN, "the partition takes jobs with a reservation only"
    return Truth.YES, ""


def _listed(text: str) -> tuple[str, ...] | None:
    return None if text in ("ALL", "(null)", "") else tuple(text.split(","))


def read_workload(texts: Sequence[str | None]) -> Workload | None:
    """All of it, of partitions, nodes, `squeue -o DEPTH_FORMAT` and configuration; None: neither partitions nor nodes.

    A text that is None was not told, and leaves its part unknown.
    """
    partitions, node_text, depth_text, config_text = texts
    config = dict(re.findall(r"^(\w+)\s*= (.*?)\s*$", config_text or "", re.MULTILINE))
    nodes = read_nodes(node_text) if node_text is not None else None
    # Where others' jobs are hidden from us, or may be, what we see is not what there is.
    whole = config_text is not None and "jobs" not in config.get("PrivateData", "")
    depth = depth_of(depth_text) if depth_text is not None and whole else None
    queues = read_queues(partitions, nodes, depth) if partitions is not None else None
    if not queues and not nodes:
        return None
    exclusive = {queue.exclusive_nodes for queue in queues or ()}
    linear = config.get("SelectType") == "select/linear"
    return Workload(
        scheduler="slurm",
        version=config.get("SLURM_VERSION"),
        cluster=config.get("ClusterName"),
        queues=queues or None,
        groups=group_nodes(nodes) if nodes else None,
        jobs_pending=depth.all_pending if depth is not None else None,
        jobs_running=depth.all_running if depth is not None else None,
        whole_nodes_only=Truth.YES if linear else exclusive.pop() if len(exclusive) == 1 else Truth.UNKNOWN,
    )
