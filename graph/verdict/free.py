"""What is free now: whether a shape that fits could start at once on idle nodes, or on a part of a busy one."""

from __future__ import annotations

from collections.abc import Sequence

from dragoman.facts import NodeGroup, Queue
from dragoman.kleene import Truth, any_of
from dragoman.shape import Shape
from graph.verdict.demand import Demand
from graph.verdict.shares import fitting, free_nodes, free_of, free_on_one

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
    if shape.exclusive or whole_nodes:
        return Truth.NO if all_known else Truth.UNKNOWN
    by_node = _by_node(shape, demand, groups, queue)
    if by_node is not None:
        return by_node
    if demand.nodes > 1:
        return Truth.NO if all_known else Truth.UNKNOWN
    return any_of(_part_of_a_node(shape, demand, group, queue) for group in groups)


def _by_node(shape: Shape, demand: Demand, groups: Sequence[NodeGroup], queue: Queue) -> Truth | None:
    """By what is told free node by node; None where that is told of no group, or settles nothing about the others."""
    told = [free_nodes(shape, demand, group) for group in groups]
    counted = [each for each in told if each is not None]
    if not counted:
        return None
    part, whole = sum(each.part for each in counted), sum(each.whole for each in counted)
    left = whole if queue.nodes_idle is None else min(whole, queue.nodes_idle)
    if part + left >= demand.nodes:
        return Truth.YES
    if len(counted) < len(told):
        return None
    most = [each.most for each in counted]
    if None in most or sum(each or 0 for each in most) >= demand.nodes:
        return Truth.UNKNOWN
    return Truth.NO


def idle_of(shape: Shape, demand: Demand, group: NodeGroup) -> int | None:
    """Idle nodes of a group that this job could have: what is told of free CPUs, memory and GPUs may allow fewer."""
    if group.nodes_idle is None:
        return None
    idle = group.nodes_idle if group.nodes_up is None else min(group.nodes_idle, group.nodes_up)
    if group.largest_free_cpus is not None and group.largest_free_cpus < demand.cpus_per_node:
        return 0
    by_node = free_nodes(shape, demand, group)
    if by_node is not None and by_node.most is not None:
        idle = min(idle, by_node.most)
    if shape.gpus is None or group.gpus is None or not demand.gpus_per_node:
        return idle
    free = free_of(fitting(shape.gpus, group, Truth.YES) or fitting(shape.gpus, group, Truth.UNKNOWN))
    return idle if free is None else min(idle, free // demand.gpus_per_node)


def _part_of_a_node(shape: Shape, demand: Demand, group: NodeGroup, queue: Queue) -> Truth:
    by_node = free_nodes(shape, demand, group)
    if by_node is not None:
        return Truth.NO if by_node.most == 0 else Truth.UNKNOWN  # what is sure was looked at before
    result = free_on_one(shape, demand, group)
    if queue.nodes_idle == 0 and group.nodes_idle and result is Truth.YES:
        return Truth.UNKNOWN  # its largest free share is of a node that the queue does not call idle
    return result
