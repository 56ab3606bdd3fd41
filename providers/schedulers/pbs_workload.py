"""Queues and nodes of PBS and Torque as a `Workload` (`qstat -Q -f`, `pbsnodes -a -v`, `qstat -B -f`)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue
from dragoman.kleene import Truth
from providers.schedulers.base import one_line
from providers.schedulers.cores import cores_behind
from providers.schedulers.free_shares import counted_shares
from providers.schedulers.pbs_records import Record
from providers.schedulers.pbs_values import read_number, read_size, read_walltime

__all__ = ["group_nodes", "read_queues"]

_OPEN = frozenset({"free", "job-busy", "job-sharing", "job-exclusive", "busy", "sleep", "resv", "running"})
"""States of a node that takes or will take jobs; any other word (down, offline, resv-exclusive) closes it."""
_MODELS = ("gpu_model", "gputype", "gpu_type", "gpumodel", "gpu_name", "accelerator_model", "model")
"""Names that sites give the resource that tells a node's GPU model; PBS has none of its own."""
_COUNTS = frozenset({"ncpus", "mem", "vmem", "ngpus", "mpiprocs", "ompthreads", "nodect", "nodes", "walltime", "pmem"})
_OWN = frozenset({"arch", "host", "vnode", "hpmem", "hbmem", "naccelerators", "accelerator_memory", "nmics", "vntype"})


class _Node(NamedTuple):
    name: str
    up: bool
    idle: bool
    cpus: int | None
    cores: int | None
    """Torque's count of cores, where its moms tell; PBS has none (`pcpus` are the system's CPUs, threads or not)."""
    threads: int | None
    cpus_used: int | None
    memory: int | None
    memory_used: int
    gpus: int | None
    gpus_used: int
    model: str | None
    features: tuple[str, ...]
    queues: tuple[str, ...]


def group_nodes(nodes: Sequence[Record], queues: Sequence[Record]) -> tuple[NodeGroup, ...]:
    """Alike nodes together, each with the queues that lead to it; a record with an error is no node."""
    alike: dict[tuple[object, ...], list[_Node]] = defaultdict(list)
    dedicated = {record.values["queue"] for record in nodes if record.values.get("queue")}
    for record in nodes:
        if "state" in record.values:
            node = _node(record, queues, dedicated)
            alike[
                node.queues, node.cpus, node.cores, node.threads, node.memory, node.gpus, node.model, node.features
            ].append(node)
    return tuple(_group(members) for members in alike.values())


def _node(record: Record, queues: Sequence[Record], dedicated: set[str]) -> _Node:
    values = record.values
    states = {state.strip().split("<")[0] for state in values["state"].lower().split(",")}
    has = {name.partition(".")[2]: value for name, value in values.items() if name.startswith("resources_available.")}
    used = {name.partition(".")[2]: value for name, value in values.items() if name.startswith("resources_assigned.")}
    status = {name: value for name, _, value in (part.partition("=") for part in values.get("status", "").split(","))}
    jobs = values.get("jobs", "").strip()
    cpus = read_number(has.get("ncpus") or values.get("np"))
    cores, threads = read_number(values.get("total_cores")), read_number(values.get("total_threads"))
    gpus = read_number(has.get("ngpus") or values.get("gpus")) if "ngpus" in has or "gpus" in values else 0
    torque_used = sum(_cores(part) for part in re.split(r",\s*(?=[\d-]+/|[\d,-]+/)", jobs)) if "np" in values else None
    memory = read_size(has.get("mem", "") or status.get("physmem", ""))
    taken = "job-exclusive" in states  # as a whole, whatever its job uses of it
    return _Node(
        name=record.name,
        up=bool(states) and states <= _OPEN,
        idle=states <= {"free", "sleep"} and not jobs and not (read_number(used.get("ncpus")) or 0),
        cpus=cpus,
        cores=cores_behind(cpus, cores, threads),
        threads=threads // cores if cores and threads else None,
        cpus_used=cpus if taken else torque_used if "np" in values else read_number(used.get("ncpus", "0")),
        memory=memory,
        memory_used=(memory or 0) if taken else read_size(used.get("mem", "")) or 0,
        gpus=gpus,
        gpus_used=(gpus or 0) if taken else read_number(used.get("ngpus")) or _busy_gpus(values.get("gpu_status", "")),
        model=next((has[name] for name in _MODELS if name in has), None) if gpus else None,
        features=_features(has, values.get("properties", "")),
        queues=_leading_here(values.get("queue"), has, queues, dedicated),
    )


def _cores(text: str) -> int:
    """Cores of `0-3,7/123.server` or `0/123.server` (Torque)."""
    total = 0
    for item in text.partition("/")[0].split(",") if "/" in text else ():
        low, dash, high = item.strip().partition("-")
        total += int(high) - int(low) + 1 if dash and low.isdigit() and high.isdigit() else int(low.isdigit())
    return total


def _busy_gpus(text: str) -> int:
    return len(re.findall(r"gpu_state=(?:Exclusive|Shared|Unavailable)", text))


def _features(has: Mapping[str, str], properties: str) -> tuple[str, ...]:
    named = (f"{name}={value}" for name, value in sorted(has.items()) if name not in _COUNTS | _OWN)
    plain = (word.strip() for word in properties.split(",") if word.strip())
    return tuple(one_line(word, limit=120) for word in (*named, *plain))


def _leading_here(
    queue: str | None, has: Mapping[str, str], queues: Sequence[Record], dedicated: set[str]
) -> tuple[str, ...]:
    """Queues whose jobs can come to a node: its own, or those whose default chunk it can hold. Empty: every queue."""
    execution = [record for record in queues if not _routes(record)]
    if queue:
        names = [queue]
    else:
        names = [
            record.name for record in execution if record.name not in dedicated and _chunk_fits(record.values, has)
        ]
    if not execution or {record.name for record in execution} == set(names):
        return ()
    routing = [record.name for record in queues if set(_routes(record)) & set(names)]
    return (*names, *routing) or ("-",)  # no queue leads there


def _chunk_fits(values: Mapping[str, str], has: Mapping[str, str]) -> bool:
    for name, value in values.items():
        resource = name.removeprefix("default_chunk.")
        if (
            resource != name
            and resource not in _COUNTS
            and value not in (part.strip() for part in has.get(resource, "").split(","))
        ):
            return False
    return True


def _routes(record: Record) -> tuple[str, ...]:
    if not record.values.get("queue_type", "").lower().startswith("r"):
        return ()
    return tuple(part.partition("@")[0].strip() for part in record.values.get("route_destinations", "").split(","))


def _group(members: list[_Node]) -> NodeGroup:
    first = members[0]
    usable = [node for node in members if node.up]
    cpus = [_left(node.cpus, node.cpus_used) for node in usable if None not in (node.cpus, node.cpus_used)]
    known = len(cpus) == len(usable)
    memory = [max(node.memory - node.memory_used, 0) for node in usable if node.memory is not None]
    free = sum(max((node.gpus or 0) - node.gpus_used, 0) for node in usable)
    gpus = (Gpu(model=first.model, count=first.gpus, free=free),) if first.gpus else ()
    return NodeGroup(
        queues=first.queues,
        nodes=len(members),
        nodes_up=len(usable),
        nodes_idle=sum(node.up and node.idle for node in members),
        cpus_per_node=first.cpus,
        cores_per_node=first.cores,
        threads_per_core=first.threads,
        cpus_free=sum(cpus) if known else None,
        largest_free_cpus=max(cpus, default=0) if known else None,
        memory_bytes_per_node=first.memory,
        memory_free_bytes=max(memory, default=None if usable else 0),
        free_shares=counted_shares(_share(node) for node in usable) if known else None,
        gpus=gpus if first.gpus is not None else None,
        features=first.features,
        example=first.name,
    )


def _share(node: _Node) -> FreeShare:
    left = max((node.gpus or 0) - node.gpus_used, 0)
    return FreeShare(
        cpus=_left(node.cpus, node.cpus_used),
        memory_bytes=None if node.memory is None else max(node.memory - node.memory_used, 0),
        gpus=None if node.gpus is None else (left,) if node.gpus else (),
    )


def _left(total: int | None, used: int | None) -> int:
    return max((total or 0) - (used or 0), 0)


def read_queues(queues: Sequence[Record], server: Mapping[str, str] | None) -> tuple[Queue, ...]:
    """Queues with their limits.

    Args:
        queues: records of `qstat -Q -f`.
        server: the server's own record, whose limits count for every queue; None: not told.

    """
    found = {record.name: _queue(record, server or {}) for record in queues if "queue_type" in record.values}
    return tuple(_with_destinations(queue, found) if queue.routes_to else queue for queue in found.values())


def _with_destinations(queue: Queue, found: Mapping[str, Queue]) -> Queue:
    """A routing queue takes what one of its destinations takes."""
    behind = [found[name] for name in queue.routes_to if name in found]
    if len(behind) < len(queue.routes_to) or queue.max_walltime_s is not None:
        return queue
    limits = [each.max_walltime_s for each in behind if each.max_walltime_s is not None]
    unlimited = any(each.walltime_unlimited for each in behind)
    known = not unlimited and len(limits) == len(behind)
    return queue.model_copy(
        update={"walltime_unlimited": unlimited, "max_walltime_s": max(limits, default=None) if known else None}
    )


def _queue(record: Record, server: Mapping[str, str]) -> Queue:
    values = {**{name: value for name, value in server.items() if name.startswith("resources_")}, **record.values}
    usable, reason = _usable(values)
    counts = dict(re.findall(r"(\w+):(\d+)", values.get("state_count", "")))
    waiting = [counts.get(name) for name in ("Transit", "Queued", "Held", "Waiting")]
    longest = read_walltime(values.get("resources_max.walltime", ""))
    usual = read_walltime(values.get("resources_default.walltime", ""))
    groups = values.get("acl_groups") if values.get("acl_group_enable") == "True" else None
    return Queue(
        name=record.name,
        usable=usable,
        reason=reason,
        default=record.name == server.get("default_queue"),
        default_walltime_s=usual,
        max_walltime_s=longest,
        walltime_unlimited="resources_max.walltime" not in values and not _routes(record),
        min_nodes=read_number(values.get("resources_min.nodect")) or None,
        max_nodes=read_number(values.get("resources_max.nodect")),
        max_cpus_per_job=read_number(values.get("resources_max.ncpus")),
        max_gpus_per_job=read_number(values.get("resources_max.ngpus")),
        jobs_pending=sum(int(count) for count in waiting if count) if counts else None,
        jobs_running=int(counts["Running"]) + int(counts.get("Begun", 0)) if "Running" in counts else None,
        allowed_groups=tuple(part.strip() for part in groups.split(",")) if groups else None,
        routes_to=_routes(record),
    )


def _usable(values: Mapping[str, str]) -> tuple[Truth, str]:
    if values.get("enabled") == "False":
        return Truth.NO, "the queue takes no jobs (enabled = False)"
    if values.get("started") == "False":
        return Truth.NO, "the queue starts no jobs (started = False)"
    if values.get("from_route_only") == "True":
        return Truth.NO, "the queue takes jobs from its routing queue only"
    if values.get("acl_user_enable") == "True":
        return Truth.UNKNOWN, f"only some users: {one_line(values.get('acl_users', ''), limit=200)}"
    if "enabled" in values and "started" in values:
        return Truth.YES, ""
    return Truth.UNKNOWN, "whether the queue is enabled and started is not told"
