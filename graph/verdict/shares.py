"""Nodes that have all of a share free together: CPUs, memory and GPUs on one node, not each on another."""

from __future__ import annotations

from dataclasses import dataclass

from dragoman.facts import Gpu, NodeGroup
from dragoman.kleene import Truth, all_of, sum_of, truth
from dragoman.shape import Gpus, Shape
from graph.verdict.demand import Demand, gpu_kind_fits

__all__ = ["FreeNodes", "fitting", "free_nodes", "free_of", "free_on_one"]


@dataclass(frozen=True, slots=True)
class FreeNodes:
    """How many nodes of a group have the share of a job free."""

    part: int
    """Surely, on nodes that are in use otherwise."""
    whole: int
    """Surely, on nodes with all their CPUs free."""
    most: int | None
    """At most, of both; None: not known."""


def _told_of_all(group: NodeGroup) -> bool:
    """Whether what is free is told of every node that is up."""
    up = group.nodes_up if group.nodes_up is not None else group.nodes
    return group.free_shares is not None and up is not None and sum(one.nodes for one in group.free_shares) >= up


def free_nodes(shape: Shape, demand: Demand, group: NodeGroup) -> FreeNodes | None:
    """Counted node by node; None where the scheduler does not tell so."""
    if group.free_shares is None:
        return None
    part = whole = most = 0
    for share in group.free_shares:
        needs = [truth(share.cpus >= demand.cpus_per_node)]
        if demand.memory_bytes_per_node is not None:
            there = share.memory_bytes
            needs.append(truth(None if there is None else there >= demand.memory_bytes_per_node))
        if shape.gpus is not None and demand.gpus_per_node:
            needs.append(_gpus(shape.gpus, demand, group, share.gpus))
        result = all_of(needs)
        all_free = group.cpus_per_node is not None and share.cpus >= group.cpus_per_node
        whole += share.nodes if result is Truth.YES and all_free else 0
        part += share.nodes if result is Truth.YES and not all_free else 0
        most += share.nodes if result is not Truth.NO else 0
    return FreeNodes(part, whole, most if _told_of_all(group) else None)


def _gpus(need: Gpus, demand: Demand, group: NodeGroup, free: tuple[int | None, ...] | None) -> Truth:
    kinds = group.gpus
    if kinds is None or free is None or len(free) != len(kinds):
        return Truth.UNKNOWN
    fits = [gpu_kind_fits(kind, need) for kind in kinds]
    sure = sum(count or 0 for count, fit in zip(free, fits, strict=True) if fit is Truth.YES)
    able = [count for count, fit in zip(free, fits, strict=True) if fit is not Truth.NO]
    if sure >= demand.gpus_per_node:
        return Truth.YES
    return truth(None if None in able or sum(count or 0 for count in able) >= demand.gpus_per_node else False)


def free_on_one(shape: Shape, demand: Demand, group: NodeGroup) -> Truth:
    """Whether one node has it all, by the most that is free of each on any node.

    What two nodes have the most of is not on one of them: at most one need may be met by some node only, and the others
    have to be met by every node.
    """
    if group.largest_free_cpus is None:
        return Truth.UNKNOWN if group.nodes_idle is None else Truth.NO
    nodes = group.nodes_up if group.nodes_up is not None else group.nodes
    met = [
        (truth(group.largest_free_cpus >= demand.cpus_per_node), nodes == 1 or _cpus_everywhere(demand, group, nodes))
    ]
    if demand.memory_bytes_per_node is not None:
        there = group.memory_free_bytes
        met.append((truth(None if there is None else there >= demand.memory_bytes_per_node), nodes == 1))
    if shape.gpus is not None:
        met.append((_gpus_everywhere(shape.gpus, demand, group, nodes), True))
    result = all_of(one for one, _ in met)
    return Truth.UNKNOWN if result is Truth.YES and sum(not everywhere for _, everywhere in met) > 1 else result


def _cpus_everywhere(demand: Demand, group: NodeGroup, nodes: int | None) -> bool:
    """So much is free over the group that no node can be without."""
    if group.cpus_free is None or group.cpus_per_node is None or nodes is None:
        return False
    return group.cpus_free >= max(nodes - 1, 0) * group.cpus_per_node + demand.cpus_per_node


def _gpus_everywhere(need: Gpus, demand: Demand, group: NodeGroup, nodes: int | None) -> Truth:
    """Free GPUs are told over the group: they are where the free CPUs are for sure only if every node has some."""
    if group.gpus is None:
        return Truth.UNKNOWN
    sure = fitting(need, group, Truth.YES)
    most, least = free_of([*sure, *fitting(need, group, Truth.UNKNOWN)]), free_of(sure)
    if most is not None and most < demand.gpus_per_node:
        return Truth.NO
    counts = [kind.count for kind in sure]
    if least is None or nodes is None or None in counts:
        return Truth.UNKNOWN
    each = sum(count or 0 for count in counts)
    return truth(True if least >= max(nodes - 1, 0) * each + demand.gpus_per_node else None)


def free_of(kinds: list[Gpu]) -> int | None:
    """Free GPUs of these kinds over a group; None where that is not told of each."""
    return sum_of(kind.free for kind in kinds)


def fitting(need: Gpus, group: NodeGroup, result: Truth) -> list[Gpu]:
    """Kinds of GPU that are, may be or are not what was asked for."""
    return [kind for kind in group.gpus or () if gpu_kind_fits(kind, need) is result]
