"""What is free now: whether a shape that fits could start at once on idle nodes, or on a part of a busy one."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.facts import Gpu, NodeGroup, Queue
from dragoman.kleene import Truth, all_of, any_of, truth
from dragoman.shape import Gpus, Shape
from graph.verdict.demand import Demand, gpu_kind_fits

__all__ = ["idle_nodes", "idle_of", "starts_now"]


def idle_nodes(groups: Sequence[NodeGroup], queue: Queue) -> int | None:
    """Idle nodes of these groups; where queue and groups contradict each other, the smaller number. None: unknown."""
    told = [group.nodes_idle for group in groups]
    known = [idle for idle in told if idle is not None]
    if len(known) < len(told) or not told:
        return 0 if queue.nodes_idle == 0 else None
    return sum(known) if queue.nodes_idle is None else min(sum(known), queue.nodes_idle)


def starts_now(
    shape: Shape, demand: Demand, groups: Sequence[NodeGroup], queue: Queue, whole_nodes: bool = False
) -> Truth:
    """Whether it can start at once on what is free.

    Args:
        shape: what is asked, of one component.
        demand: what it takes of each node.
        groups: nodes that can hold it.
        queue: that leads to them.
        whole_nodes: whether the site or queue gives out nodes only whole.

    """
    idle = [idle_of(shape, demand, group) for group in groups]
    known = sum(each for each in idle if each is not None)
    if min(known, known if queue.nodes_idle is None else queue.nodes_idle) >= demand.nodes:
        return Truth.YES
    all_known = None not in idle or (queue.nodes_idle is not None and queue.nodes_idle < demand.nodes)
    if demand.nodes > 1 or shape.exclusive or whole_nodes:
        return Truth.NO if all_known else Truth.UNKNOWN
    return any_of(_part_of_a_node(shape, demand, group, queue) for group in groups)


def idle_of(shape: Shape, demand: Demand, group: NodeGroup) -> int | None:
    """Idle nodes of a group that this job could have: what is told of free CPUs and GPUs may allow fewer."""
    if group.nodes_idle is None:
        return None
    idle = group.nodes_idle if group.nodes_up is None else min(group.nodes_idle, group.nodes_up)
    if group.largest_free_cpus is not None and group.largest_free_cpus < demand.cpus_per_node:
        return 0
    if shape.gpus is None or group.gpus is None or not demand.gpus_per_node:
        return idle
    free = _free(_fitting(shape.gpus, group, Truth.YES) or _fitting(shape.gpus, group, Truth.UNKNOWN))
    return idle if free is None else min(idle, free // demand.gpus_per_node)


def _part_of_a_node(shape: Shape, demand: Demand, group: NodeGroup, queue: Queue) -> Truth:
    if group.largest_free_cpus is None:
        return Truth.UNKNOWN if group.nodes_idle is None else Truth.NO
    parts = [truth(group.largest_free_cpus >= demand.cpus_per_node)]
    if queue.nodes_idle == 0 and group.nodes_idle:
        parts.append(Truth.UNKNOWN)  # its largest free share is of a node that the queue does not call idle
    if demand.memory_bytes_per_node is not None:
        there = group.memory_free_bytes
        parts.append(truth(None if there is None else there >= demand.memory_bytes_per_node))
    if shape.gpus is not None:
        parts.append(_gpus_on_one_node(shape.gpus, demand, group))
    return all_of(parts)


def _gpus_on_one_node(need: Gpus, demand: Demand, group: NodeGroup) -> Truth:
    """Free GPUs are told over the group: they are where the free CPUs are for sure only if every node has some."""
    if group.gpus is None:
        return Truth.UNKNOWN
    sure = _fitting(need, group, Truth.YES)
    most, least = _free([*sure, *_fitting(need, group, Truth.UNKNOWN)]), _free(sure)
    if most is not None and most < demand.gpus_per_node:
        return Truth.NO
    nodes = group.nodes_up if group.nodes_up is not None else group.nodes
    counts = [kind.count for kind in sure]
    if least is None or nodes is None or None in counts:
        return Truth.UNKNOWN
    each = sum(count or 0 for count in counts)
    return truth(True if least >= max(nodes - 1, 0) * each + demand.gpus_per_node else None)


def _free(kinds: Sequence[Gpu]) -> int | None:
    """Free GPUs of these kinds over a group; None where that is not told of each."""
    known = [kind.free for kind in kinds if kind.free is not None]
    return sum(known) if len(known) == len(kinds) else None


def _fitting(need: Gpus, group: NodeGroup, result: Truth) -> list[Gpu]:
    return [kind for kind in group.gpus or () if gpu_kind_fits(kind, need) is result]
