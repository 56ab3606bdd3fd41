"""OAR's nodes and depth as a `Workload` (oarnodes(1), oarstat(1)). A resource is one core."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from dragoman.facts import Gpu, NodeGroup

__all__ = ["Node", "depth_of", "group_nodes", "read_nodes"]

_MODELS = ("gpu_model", "gpumodel")


class Node(NamedTuple):
    """One host: its cores, and which are free."""

    name: str
    cores: int
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
    return Node(
        name=name,
        cores=len(resources),
        free=len(idle),
        up=bool(alive),
        gpus=len(gpus),
        gpus_free=len(gpus - busy),
        model=model if model not in ("N/A", "none") else None,
        memory=int(str(memory)) * 2**20 if str(memory).isascii() and str(memory).isdecimal() else None,
    )


def group_nodes(nodes: Iterable[Node]) -> tuple[NodeGroup, ...]:
    """Alike nodes together."""
    alike: dict[tuple[object, ...], list[Node]] = defaultdict(list)
    for node in nodes:
        alike[node.cores, node.gpus, node.model, node.memory].append(node)
    return tuple(_group(members) for members in alike.values())


def _group(members: list[Node]) -> NodeGroup:
    first = members[0]
    up = [node for node in members if node.up]
    gpus = Gpu(model=first.model, count=first.gpus, free=sum(node.gpus_free for node in up))
    return NodeGroup(
        nodes=len(members),
        nodes_up=len(up),
        nodes_idle=sum(node.free == node.cores for node in up),
        cpus_per_node=first.cores,
        cpus_free=sum(node.free for node in up),
        largest_free_cpus=max((node.free for node in up), default=0),
        memory_bytes_per_node=first.memory,
        gpus=(gpus,) if first.gpus else (),
        example=first.name,
    )


def depth_of(jobs: Mapping[str, Mapping[str, object]]) -> tuple[int, int]:
    """Jobs that wait and run."""
    states = [str(job.get("state")) for job in jobs.values()]
    waiting = {"Waiting", "Hold", "toLaunch", "toAckReservation"}
    return sum(one in waiting for one in states), sum(one in {"Running", "Launching"} for one in states)
