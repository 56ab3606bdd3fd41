"""What a shape asks of each node when it is laid on nodes of one kind."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from dragoman.facts import Gpu, NodeGroup
from dragoman.kleene import Truth, all_of, sum_of, truth
from dragoman.shape import Gpus, Shape
from dragoman.units import format_bytes
from graph.verdict.gpu_models import LEAST_OF_STATED, model_fits

__all__ = [
    "Demand",
    "Part",
    "demand_on",
    "gpu_kind_fits",
    "gpus_per_node",
    "node_can_hold",
    "node_parts",
    "sharing_cores",
]


@dataclass(frozen=True, slots=True)
class Demand:
    """Whole-number needs of a job laid on one kind of node."""

    nodes: int
    cpus_per_node: int
    gpus_per_node: int
    memory_bytes_per_node: int | None
    total_cpus: int
    total_gpus: int
    cpus_for_one: Fraction = Fraction(1)
    """CPUs of the scheduler for each CPU as the request counts them: 2 where it gives out two threads for a core."""
    cores_for_one: Fraction = Fraction(1)
    """Physical cores for each CPU as the request counts them."""

    @property
    def total_cores(self) -> int:
        """Physical cores of the whole job, as far as the scheduler tells of them."""
        return ceil(self.total_cpus * self.cores_for_one)


def _tasks_that_fit(shape: Shape, group: NodeGroup) -> int | None:
    """Most tasks on one node by cores, GPUs and memory; None where nothing is known."""
    limits: list[int] = []
    cpus = shape.cpus_per_task or 1
    if group.cpus_per_node:
        limits.append(group.cpus_per_node // cpus)
    if shape.gpus is not None and shape.gpus.per == "task":
        there = gpus_per_node(group, shape.gpus)
        if there is not None:
            limits.append(there // shape.gpus.count)
    if shape.memory is not None and group.memory_bytes_per_node:
        each = {"task": shape.memory.bytes, "cpu": shape.memory.bytes * cpus}.get(shape.memory.per)
        if each:
            limits.append(group.memory_bytes_per_node // each)
    if shape.tasks_per_node:
        limits.append(shape.tasks_per_node)
    return max(1, min(limits)) if limits else None


def sharing_cores(shape: Shape, group: NodeGroup) -> Shape:
    """The shape on a time-shared host: tasks that state no cores of their own share those that are there."""
    tasks, there = shape.task_count, group.cpus_per_node
    stated = shape.cpus_per_task or shape.cpus or shape.cpus_per_node
    if stated or tasks is None or there is None or tasks <= there or (shape.node_count or 1) > 1:
        return shape
    return shape.model_copy(update={"cpus": there})


def demand_on(shape: Shape, group: NodeGroup, cpus_for_one: Fraction = Fraction(1)) -> Demand:
    """The fewest nodes of this kind that the shape can be laid on, and what each must give.

    `group` counts its CPUs as the shape does; `cpus_for_one` says what one of them is to the scheduler.
    """
    if shape.cpus is not None and shape.task_count is not None and shape.cpus_per_task is None:
        tasks = min(shape.task_count, shape.cpus)
        shape = shape.model_copy(update={"tasks": tasks, "tasks_per_node": None})
    tasks = shape.task_count or shape.nodes or 1
    cpus_per_task = shape.cpus_per_task or 1
    nodes = shape.node_count
    if nodes is None:
        nodes = ceil(tasks / (_tasks_that_fit(shape, group) or tasks))
        if shape.cpus and group.cpus_per_node:
            nodes = max(nodes, ceil(shape.cpus / group.cpus_per_node))
        there = gpus_per_node(group, shape.gpus) if shape.gpus else None
        if shape.gpus is not None and shape.gpus.per == "job" and there:
            nodes = max(nodes, ceil(shape.gpus.count / there))
        if shape.memory is not None and shape.memory.per == "job" and group.memory_bytes_per_node:
            nodes = max(nodes, ceil(shape.memory.bytes / group.memory_bytes_per_node))
    tasks_per_node = shape.tasks_per_node or ceil(tasks / nodes)
    cpus = max(tasks_per_node * cpus_per_task, shape.cpus_per_node or 0, ceil((shape.cpus or 0) / nodes))
    if shape.exclusive and group.cpus_per_node:
        cpus = max(cpus, group.cpus_per_node)
    gpus = 0
    if shape.gpus is not None:
        count = shape.gpus.count
        gpus = {"node": count, "task": count * tasks_per_node, "job": ceil(count / nodes)}[shape.gpus.per]
    return Demand(
        nodes=nodes,
        cpus_per_node=cpus,
        gpus_per_node=gpus,
        memory_bytes_per_node=shape.memory_bytes_per_node(nodes, cpus, gpus),
        total_cpus=cpus * nodes if shape.exclusive else max(shape.cpus or 0, tasks * cpus_per_task),
        total_gpus=shape.gpus.count if shape.gpus is not None and shape.gpus.per == "job" else gpus * nodes,
        cpus_for_one=cpus_for_one,
        cores_for_one=Fraction(1, group.cpus_per_core),
    )


def gpu_kind_fits(kind: Gpu, need: Gpus) -> Truth:
    """Whether GPUs of this kind are what was asked for (count aside)."""
    parts: list[Truth] = []
    if need.model is not None:
        told = kind.model
        parts.append(Truth.UNKNOWN if told is None else model_fits(need.model, told, kind.memory_bytes))
    if need.memory_bytes is not None:
        enough = None if kind.memory_bytes is None else kind.memory_bytes >= need.memory_bytes * LEAST_OF_STATED
        parts.append(truth(enough))
    if need.vendor is not None:
        parts.append(truth(None if kind.vendor is None else kind.vendor == need.vendor))
    return all_of(parts)


def gpus_per_node(group: NodeGroup, need: Gpus | None = None) -> int | None:
    """GPUs of a node that are or may be what is needed, all where nothing is; None: not known."""
    if group.gpus is None:
        return None
    return sum_of(kind.count for kind in group.gpus if need is None or gpu_kind_fits(kind, need) is not Truth.NO)


@dataclass(frozen=True, slots=True)
class Part:
    """One thing that a node must have: whether it does, what is there in words, and the most that it could give."""

    result: Truth
    words: str
    field: str = ""
    """Of the shape; empty where no amount would help."""
    asked: str = ""
    offered: str = ""
    """The most of it that would fit."""


def node_parts(shape: Shape, demand: Demand, group: NodeGroup) -> list[Part]:
    """What one empty node of this kind must have for its share."""
    cpus = group.cpus_per_node
    what = "hardware threads" if group.cpus_per_core > 1 else "cores"
    more = f" ({threads} hardware threads)" if (threads := _threads_beside(group)) else ""
    parts = [
        Part(
            truth(None if cpus is None else cpus >= demand.cpus_per_node),
            f"{cpus} {what} a node{more}, asked {demand.cpus_per_node}",
            "tasks_per_node" if shape.tasks_per_node else "cpus_per_task" if shape.cpus_per_task else "cpus",
            str(demand.cpus_per_node),
            f"{cpus} {what} a node",
        )
    ]
    if demand.memory_bytes_per_node is not None:
        there, asked = group.memory_bytes_per_node, format_bytes(demand.memory_bytes_per_node)
        parts.append(
            Part(
                truth(None if there is None else there >= demand.memory_bytes_per_node),
                f"{format_bytes(there)} a node, asked {asked}",
                "memory",
                asked,
                f"{format_bytes(there)} a node",
            )
        )
    if shape.gpus is not None:
        parts.append(_gpus_hold(shape.gpus, demand, group))
    if shape.local_disk_bytes is not None:
        disk, asked = group.local_disk_bytes, format_bytes(shape.local_disk_bytes)
        parts.append(
            Part(
                truth(None if disk is None else disk >= shape.local_disk_bytes),
                f"{format_bytes(disk)} local disk, asked {asked}",
                "local_disk_bytes",
                asked,
                f"{format_bytes(disk)} local disk",
            )
        )
    return parts


def _threads_beside(group: NodeGroup) -> int | None:
    """Hardware threads of a node whose cores are counted, where there are more of them."""
    cores, each = group.cpus_per_node, group.threads_per_core
    return cores * each if cores and each and each > 1 and cores == group.cores_per_node else None


def node_can_hold(shape: Shape, demand: Demand, group: NodeGroup) -> tuple[Truth, str]:
    """Whether one empty node of this kind can hold its share, and why not."""
    parts = node_parts(shape, demand, group)
    result = all_of(part.result for part in parts)
    return result, "; ".join(part.words for part in parts if part.result is result) if result is not Truth.YES else ""


def _gpus_hold(need: Gpus, demand: Demand, group: NodeGroup) -> Part:
    memory = f" of {format_bytes(need.memory_bytes)}" if need.memory_bytes else ""
    name = f"{need.model or need.vendor or ''} GPUs{memory}".strip()
    if group.gpus is None:
        return Part(Truth.UNKNOWN, "GPUs of the nodes are not known")
    candidates = [(kind, gpu_kind_fits(kind, need)) for kind in group.gpus]
    sure = [kind for kind, fits in candidates if fits is Truth.YES]
    maybe = [kind for kind, fits in candidates if fits is not Truth.NO]
    if sure and sum(kind.count or 0 for kind in sure) >= demand.gpus_per_node:
        return Part(Truth.YES, "")
    if maybe and (
        any(kind.count is None for kind in maybe) or sum(kind.count or 0 for kind in maybe) >= demand.gpus_per_node
    ):
        return Part(Truth.UNKNOWN, f"cannot tell whether its GPUs are {name}")
    there = ", ".join(_gpu_words(kind, memory=bool(memory)) for kind in group.gpus) or "no GPUs"
    words = f"{there} a node, asked {demand.gpus_per_node} {name}"
    most = sum(kind.count or 0 for kind in sure)
    field = "gpus" if most else ""
    return Part(Truth.NO, words, field, f"{demand.gpus_per_node} {name}", f"{most} {name} a node")


def _gpu_words(kind: Gpu, *, memory: bool) -> str:
    size = f" of {format_bytes(kind.memory_bytes)}" if memory else ""
    return f"{kind.count} {kind.model or 'GPUs'}{size}"
