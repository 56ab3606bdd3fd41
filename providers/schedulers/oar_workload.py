"""OAR's nodes and depth as a `Workload` (oarnodes(1), oarstat(1)).

A resource is the smallest thing that is given out: a core, or a hardware thread where the site has those as resources
of their own, several with the same `core`.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dragoman.facts import FreeShare, Gpu, NodeGroup
from providers.schedulers.free_shares import counted_shares

__all__ = ["Node", "depth_of", "group_nodes", "read_nodes"]

_MODELS = ("gpu_model", "gpumodel")


class Node(NamedTuple):
    """One host: its resources, and which are free."""

    name: str
    cpus: int
    cores: int | None
    threads: int | None
    """Hardware threads of each core."""
    free: int
    up: bool
    gpus: int
    gpus_free: int
    model: str | None
    memory: int | None


def read_nodes(text: str) -> list[Node] | None:
    """Nodes of `oarnodes -J`; None where it cannot be read."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        return None
    hosts: dict[str, list[Mapping[str, object]]] = defaultdict(list)
    for resource in found.values():
        if resource.get("type", "default") == "default" and resource.get("network_address"):
            hosts[str(resource["network_address"])].append(resource)
    return [_node(name, resources) for name, resources in sorted(hosts.items())]


def _node(name: str, resources: list[Mapping[str, object]]) -> Node:
    alive = [one for one in resources if one.get("state") == "Alive" and one.get("drain", "NO") != "YES"]
    idle = [one for one in alive if not one.get("jobs")]
    gpus = {str(one.get("gpu")) for one in resources} - {"0", "None", ""}
    busy = {str(one.get("gpu")) for one in resources if one not in idle}
    model = next((str(one[key]) for one in resources for key in _MODELS if one.get(key)), None)
    memory = resources[0].get("memnode")
    cores, threads = _cores(resources)
    return Node(
        name=name,
        cpus=len(resources),
        cores=cores,
        threads=threads,
        free=len(idle),
        up=bool(alive),
        gpus=len(gpus),
        gpus_free=len(gpus - busy),
        model=model if model not in ("N/A", "none") else None,
        memory=int(str(memory)) * 2**20 if str(memory).isascii() and str(memory).isdecimal() else None,
    )


def _cores(resources: list[Mapping[str, object]]) -> tuple[int | None, int | None]:
    """Cores, and hardware threads of each; resources of one core are believed where they differ by their thread."""
    cores = len({str(one["core"]) for one in resources if one.get("core")})
    threads = len({str(one["thread"]) for one in resources if one.get("thread")})
    if cores and threads == len(resources):
        return cores, threads // cores
    counts = [str(resources[0].get(name, "")) for name in ("thread_count", "core_count")]
    told = all(count.isascii() and count.isdecimal() and int(count) for count in counts)
    return cores if cores == len(resources) else None, (int(counts[0]) // int(counts[1]) or None) if told else None


def group_nodes(nodes: Iterable[Node]) -> tuple[NodeGroup, ...]:
    """Alike nodes together."""
    alike: dict[tuple[object, ...], list[Node]] = defaultdict(list)
    for node in nodes:
        alike[node.cpus, node.cores, node.threads, node.gpus, node.model, node.memory].append(node)
    return tuple(_group(members) for members in alike.values())


def _group(members: list[Node]) -> NodeGroup:
    first = members[0]
    up = [node for node in members if node.up]
    gpus = Gpu(model=first.model, count=first.gpus, free=sum(node.gpus_free for node in up))
    return NodeGroup(
        nodes=len(members),
        nodes_up=len(up),
        nodes_idle=sum(node.free == node.cpus for node in up),
        cpus_per_node=first.cpus,
        cores_per_node=first.cores,
        threads_per_core=first.threads,
        cpus_free=sum(node.free for node in up),
        largest_free_cpus=max((node.free for node in up), default=0),
        memory_bytes_per_node=first.memory,
        free_shares=counted_shares(
            # Memory is given out with a node's resources: the whole of it with all of them.
            FreeShare(
                cpus=node.free,
                memory_bytes=node.memory if node.free == node.cpus else None,
                gpus=(node.gpus_free,) if first.gpus else (),
            )
            for node in up
        ),
        gpus=(gpus,) if first.gpus else (),
        example=first.name,
    )


def depth_of(jobs: Mapping[str, Mapping[str, object]]) -> tuple[int, int]:
    """Jobs that wait and run."""
    states = [str(job.get("state")) for job in jobs.values()]
    waiting = {"Waiting", "Hold", "toLaunch", "toAckReservation"}
    return sum(one in waiting for one in states), sum(one in {"Running", "Launching"} for one in states)
