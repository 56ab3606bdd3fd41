"""A shape in the units of schedulers that count slots (Grid Engine, LSF), cores in a tree (OAR) or a pod (Kubernetes).

A slot is one core here. What is not stated is not invented: `nodes` stays None where the scheduler may spread slots.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import NamedTuple

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.request import ArrayRange, ArraySpec
from dragoman.shape import Shape
from providers.schedulers.directives import checked

__all__ = [
    "Slots", "array_text", "gpus_per_node", "index_lines", "left_out", "licenses", "memory_per_node", "read_indices",
    "refuse", "refuse_others", "slots_of",
]  # fmt: skip


class Slots(NamedTuple):
    """Cores of a job, and how they lie on nodes."""

    total: int
    nodes: int | None = None
    per_node: int | None = None
    """None where nodes are not stated."""


def slots_of(shape: Shape) -> Slots:
    """Slots of a shape; a range of nodes counts with its lower end."""
    nodes = shape.node_count
    if nodes is None and (shape.cpus_per_node is not None or shape.tasks_per_node is not None):
        nodes = 1
    each = shape.cpus_per_task or 1
    if shape.cpus_per_node is not None:
        per_node = shape.cpus_per_node
    elif shape.tasks_per_node is not None:
        per_node = shape.tasks_per_node * each
    else:
        total = shape.cpus or (shape.task_count or nodes or 1) * each
        return Slots(total, nodes, -(-total // nodes) if nodes is not None else None)
    return Slots(per_node * (nodes or 1), nodes, per_node)


def gpus_per_node(shape: Shape) -> int:
    """GPUs that one node has to offer; 0 where none are asked for.

    Raises:
        BadRequest: they do not divide over the nodes.

    """
    if shape.gpus is None:
        return 0
    nodes = shape.node_count or 1
    if shape.gpus.per == "node":
        return shape.gpus.count
    total = shape.gpus.count * ((shape.task_count or nodes) if shape.gpus.per == "task" else 1)
    if total % nodes:
        cure = "state GPUs per node"
        raise BadRequest(f"{total} GPUs do not divide over {nodes} nodes", where="gpus", cure=cure)
    return total // nodes


def memory_per_node(shape: Shape) -> int | None:
    """Bytes that one node has to offer; None where no memory is stated. Without nodes the job is taken as one."""
    if shape.memory is None:
        return None
    slots = slots_of(shape)
    nodes = slots.nodes or 1
    amount, per_node = shape.memory.bytes, slots.per_node or slots.total
    match shape.memory.per:
        case "node":
            return amount
        case "cpu":
            return amount * per_node
        case "gpu":
            return amount * max(gpus_per_node(shape), 1)
        case "task":
            return amount * (shape.tasks_per_node or -(-(shape.task_count or nodes) // nodes))
        case _:
            return -(-amount // nodes)


def array_text(array: ArraySpec) -> str:
    """`1-10:2,15`: the way most schedulers write indices."""
    return ",".join(
        f"{part.first}"
        + (f"-{part.last}" if part.last != part.first else "")
        + (f":{part.step}" if part.step > 1 else "")
        for part in array.ranges
    )


def read_indices(text: str, *, least: int = 0) -> tuple[ArrayRange, ...] | None:
    """Ranges of `1-10:2,15`; None where it is none, or goes below `least`."""
    found: list[ArrayRange] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?\s*", part, re.ASCII)
        if match is None or int(match[1]) < least or int(match[2] or match[1]) < int(match[1]) or match[3] == "0":
            return None
        found.append(ArrayRange(first=int(match[1]), last=int(match[2] or match[1]), step=int(match[3] or 1) or 1))
    return tuple(found)


def index_lines(array: ArraySpec, position: str) -> list[str]:
    """Shell lines that set `DRAGOMAN_TASK` to the index of an array's task, for schedulers that only count positions.

    Args:
        array: the indices.
        position: an arithmetic word that gives the place of the task, from 0.

    """
    lines, first = [f"dgm_place=$(({position}))"], 0
    for part in array.ranges:
        size = len(range(part.first, part.last + 1, part.step))
        value = f"$(({part.first} + (dgm_place - {first}) * {part.step}))"
        lines.append(f'if [ "$dgm_place" -ge {first} ]; then DRAGOMAN_TASK={value}; fi')
        first += size
    return [*lines, "export DRAGOMAN_TASK"]


def refuse(spec: JobSpec, scheduler: str, cures: Mapping[str, str]) -> None:
    """Refuse what a scheduler cannot do and whose loss would change what the job means.

    Args:
        spec: the job.
        scheduler: its name, for the message.
        cures: field of the job or of its shape (`shape.constraint`) to what the person can do instead.

    Raises:
        BadRequest: one of the fields is stated.

    """
    for field, cure in cures.items():
        value = (
            getattr(spec.shape, field.removeprefix("shape.")) if field.startswith("shape.") else getattr(spec, field)
        )
        if value:
            raise BadRequest(f"{scheduler} has no equivalent of {field.removeprefix('shape.')}", where=field, cure=cure)


_NEEDS = (
    "components", "qos", "reservation", "licenses", "file_systems", "array", "dependencies", "start_after", "priority",
    *(f"shape.{name}" for name in ("nodes", "tasks", "tasks_per_node", "cpus_per_task", "cpus_per_node", "cpus", "gpus",
                                   "memory", "local_disk_bytes", "exclusive", "constraint")),
)  # fmt: skip


def refuse_others(spec: JobSpec, scheduler: str, known: Collection[str]) -> None:
    """Refuse every need but those for which a dialect has words: so that one which it never heard of is not lost.

    Args:
        spec: the job.
        scheduler: its name, for the message.
        known: fields of the job or of its shape.

    Raises:
        BadRequest: another one is stated.

    """
    cure = f"take it out, or give an option of {scheduler} for it as a native option"
    refuse(spec, scheduler, {field: cure for field in _NEEDS if field.removeprefix("shape.") not in known})


_LICENSE = re.compile(r"([A-Za-z][\w.-]*)(?:@[\w.-]+)?(?:[:=](\d{1,9}))?", re.ASCII)


def licenses(spec: JobSpec) -> list[tuple[str, str]]:
    """`ansys:2` as the site's resource of that name, and how many.

    Raises:
        BadRequest: not written so.

    """
    found: list[tuple[str, str]] = []
    for line in spec.licenses:
        match = _LICENSE.fullmatch(checked(line, where="licenses").strip())
        if match is None:
            raise BadRequest(f"{line[:80]!r} is no licence", where="licenses", cure="write it like ansys:2")
        found.append((match[1], match[2] or "1"))
    return found


def left_out(spec: JobSpec) -> list[str]:
    """Comments for the script: wishes without which the job means the same, and that are not carried over."""
    found = []
    if spec.walltime_min_s is not None:
        found.append("a least walltime: the full walltime is asked for")
    if spec.shape.nodes_max is not None and spec.shape.nodes_max != spec.shape.nodes:
        found.append(f"up to {spec.shape.nodes_max} nodes: the least number of nodes is asked for")
    return [f"# dragoman: not carried over: {words}" for words in found]
