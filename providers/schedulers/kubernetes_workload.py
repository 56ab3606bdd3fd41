"""A cluster's nodes, what their pods have asked for, and the namespace's quota, as a `Workload`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import NamedTuple

from dragoman.facts import FreeShare, Gpu, NodeGroup, Queue
from dragoman.kleene import Truth
from providers.schedulers.free_shares import counted_shares
from providers.schedulers.kubernetes_status import Thing, listed, mapped, part, pod_needs
from providers.schedulers.kubernetes_units import read_quantity

__all__ = ["Node", "group_nodes", "largest_of", "namespace_queue", "read_nodes"]

_GPUS = {"nvidia.com/gpu": "nvidia", "amd.com/gpu": "amd", "gpu.intel.com/i915": "intel", "gpu.intel.com/xe": "intel"}
_MODELS = ("nvidia.com/gpu.product", "amd.com/gpu.product-name", "gpu.intel.com/product")
_PLAIN = ("kubernetes.io/hostname", "beta.kubernetes.io/", "node-role.kubernetes.io/")


class Node(NamedTuple):
    """One node: what it has for pods, and what they have asked for (None: they were not shown)."""

    name: str
    has: Mapping[str, Fraction]
    used: Mapping[str, Fraction] | None
    up: bool
    labels: tuple[str, ...]
    threads: int | None
    """Hardware threads of each core, by node feature discovery's label; a CPU of Kubernetes is one of them."""
    model: str | None

    def free(self, name: str) -> Fraction | None:
        """What of a resource is left."""
        if self.used is None or name not in self.has:
            return None
        return max(self.has[name] - self.used.get(name, 0), Fraction(0)) if self.up else Fraction(0)


def read_nodes(nodes: Sequence[Thing], pods: Sequence[Thing] | None) -> list[Node]:
    """Nodes with their load."""
    used: dict[str, dict[str, Fraction]] = defaultdict(lambda: defaultdict(Fraction))
    for pod in pods or ():
        name = part(pod, "spec", "nodeName")
        if name and part(pod, "status", "phase") not in ("Succeeded", "Failed"):
            for kind, amount in pod_needs(pod).items():
                used[str(name)][kind] += amount
    return [_node(node, used if pods is not None else None) for node in nodes if node.get("kind") == "Node"]


def _node(node: Thing, used: Mapping[str, Mapping[str, Fraction]] | None) -> Node:
    name = str(part(node, "metadata", "name"))
    allocatable, labels = mapped(node, "status", "allocatable"), mapped(node, "metadata", "labels")
    conditions, taints = listed(node, "status", "conditions"), listed(node, "spec", "taints")
    ready = any(one.get("type") == "Ready" and one.get("status") == "True" for one in conditions)
    barred = any(one.get("effect") in ("NoSchedule", "NoExecute") for one in taints)
    return Node(
        name=name,
        has={key: amount for key, text in allocatable.items() if (amount := read_quantity(text)) is not None},
        used=used.get(name, {}) if used is not None else None,
        up=ready and not barred and part(node, "spec", "unschedulable") is not True,
        labels=tuple(sorted(f"{key}={value}" for key, value in labels.items() if not key.startswith(_PLAIN))),
        threads=_threads(labels),
        model=next((str(labels[key]) for key in _MODELS if key in labels), None),
    )


def _threads(labels: Mapping[str, object]) -> int | None:
    """Where threads are on, their number is known for one architecture only: x86 has two a core."""
    on = str(labels.get("feature.node.kubernetes.io/cpu-hardware_multithreading", ""))
    if on == "true":
        return 2 if labels.get("kubernetes.io/arch") == "amd64" else None
    return 1 if on == "false" else None


def largest_of(nodes: Iterable[Node]) -> dict[str, Fraction]:
    """The most of each resource that one node has, in use or not."""
    largest: dict[str, Fraction] = {}
    for node in nodes:
        for key, amount in node.has.items():
            largest[key] = max(largest.get(key, Fraction(0)), amount)
    return largest


def group_nodes(nodes: Iterable[Node], queue: str) -> tuple[NodeGroup, ...]:
    """Alike nodes together."""
    alike: dict[object, list[Node]] = defaultdict(list)
    for node in nodes:
        alike[tuple(sorted(node.has.items())), node.labels].append(node)
    return tuple(_group(members, queue) for members in alike.values())


def _group(members: list[Node], queue: str) -> NodeGroup:
    first, up = members[0], [node for node in members if node.up]
    known = all(node.used is not None for node in members)
    cpus = [int(free) for node in up if (free := node.free("cpu")) is not None]
    memory = [int(free) for node in up if (free := node.free("memory")) is not None]
    kinds = [kind for kind in _GPUS if first.has.get(kind)]
    return NodeGroup(
        queues=(queue,),
        nodes=len(members),
        nodes_up=len(up),
        nodes_idle=sum(not (node.used or {}).get("cpu") for node in up) if known else None,
        cpus_per_node=(cpu := _whole(first.has.get("cpu"))),
        cores_per_node=cpu // first.threads if cpu and first.threads else None,
        threads_per_core=first.threads,
        cpus_free=sum(cpus) if known else None,
        largest_free_cpus=max(cpus, default=0) if known else None,
        memory_bytes_per_node=_whole(first.has.get("memory")),
        memory_free_bytes=max(memory, default=0) if known else None,
        free_shares=counted_shares(_share(node, kinds) for node in up) if known else None,
        local_disk_bytes=_whole(first.has.get("ephemeral-storage")),
        gpus=tuple(_gpu(kind, first, up if known else None) for kind in kinds),
        features=first.labels,
        example=first.name,
    )


def _share(node: Node, kinds: Sequence[str]) -> FreeShare:
    gpus = tuple(_whole(node.free(kind)) for kind in kinds)
    return FreeShare(cpus=_whole(node.free("cpu")) or 0, memory_bytes=_whole(node.free("memory")), gpus=gpus)


def _whole(amount: Fraction | None) -> int | None:
    return int(amount) if amount is not None and amount >= 0 else None


def _gpu(kind: str, node: Node, up: list[Node] | None) -> Gpu:
    free = sum(int(left) for one in up if (left := one.free(kind)) is not None) if up is not None else None
    return Gpu.model_validate({"model": node.model, "count": int(node.has[kind]), "free": free, "vendor": _GPUS[kind]})


def namespace_queue(name: str, nodes: Sequence[Node], quotas: Sequence[Thing] | None) -> Queue:
    """The namespace as a queue: pods of one node each, bounded by its quota."""
    hard: dict[str, Fraction] = {}
    full: list[str] = []
    for quota in quotas or ():
        limits, used = mapped(quota, "status", "hard"), mapped(quota, "status", "used")
        for key, text in limits.items():
            most, now = read_quantity(text), read_quantity(used.get(key))
            if most is not None:
                hard[key] = min(hard.get(key, most), most)
                if now is not None and now >= most:
                    full.append(key)
    up = [node for node in nodes if node.up]
    gpus = [most for key, most in hard.items() if key.partition("requests.")[2] in _GPUS]
    return Queue(
        name=name,
        usable=Truth.UNKNOWN if full else Truth.YES if up else Truth.NO,
        reason=f"the quota of {', '.join(sorted(full))} is used up" if full else "" if up else "no node takes pods",
        default=True,
        walltime_unlimited=True,
        max_nodes=1,
        max_cpus_per_job=_whole(hard.get("requests.cpu", hard.get("cpu"))),
        max_gpus_per_job=_whole(min(gpus)) if gpus else None,
        nodes_total=len(nodes),
        nodes_idle=None,
        exclusive_nodes=Truth.NO,
    )
