"""What qsub of Torque is told besides what it shares with PBS: arrays, and the shape by `nodes`, `procs` and `mem`."""

from __future__ import annotations

import re
from collections.abc import Callable

from dragoman.job import JobSpec
from dragoman.request import ArraySpec
from dragoman.shape import Shape
from providers.schedulers.option_rows import Row, clock, says
from providers.schedulers.pbs_rows import amount, count, qsub_table, read_array, shared_rows
from providers.schedulers.pbs_script import refuse, tasks_per_node
from providers.schedulers.pbs_values import format_size, read_walltime
from providers.schedulers.script_draft import ScriptDraft
from providers.schedulers.slots import licenses

__all__ = ["TORQUE_TABLE"]

_PROPERTIES = re.compile(r"[A-Za-z][\w.-]*(?::[A-Za-z][\w.-]*)*", re.ASCII)
_MOST_INDICES = 5000


def _indices(array: ArraySpec) -> str:
    """`1-3,7%2`: ranges and single indices; a step is written out."""
    parts: list[str] = []
    for part in array.ranges:
        if part.step == 1:
            parts.append(f"{part.first}-{part.last}" if part.last > part.first else str(part.first))
        else:
            parts += [str(index) for index in range(part.first, part.last + 1, part.step)]
    if len(parts) > _MOST_INDICES:
        raise refuse("too many single indices", "array", "use a step of 1")
    return ",".join(parts) + (f"%{array.at_once}" if array.at_once is not None else "")


def _resources(spec: JobSpec) -> dict[str, str]:
    """`nodes=2:ppn=8:gpus=1`, and memory of the whole job or of each process."""
    shapes = spec.components or (spec.shape,)
    if shapes == (Shape(),):
        return {}
    shape = shapes[0]
    plain = len(shapes) == 1 and shape.node_count is None and shape.gpus is None and shape.constraint is None
    if plain and shape.tasks is not None and (shape.cpus_per_task or 1) == 1:
        found = {"procs": str(shape.tasks)}
    elif plain and shape.cpus is not None and shape.tasks is None:
        found = {"procs": str(shape.cpus)}
    else:
        found = {"nodes": "+".join(part for each in shapes for part in _parts(each))}
    found |= _memory(shapes)
    return found | ({"naccesspolicy": "singlejob"} if any(each.exclusive for each in shapes) else {})


def _parts(shape: Shape) -> list[str]:
    if shape.local_disk_bytes is not None:
        raise refuse("Torque has no word for a node's own disk", "local_disk_bytes", "leave it out")
    count = shape.node_count or (shape.tasks if shape.tasks is not None and shape.gpus is None else 1) or 1
    tasks = tasks_per_node(shape, count)
    groups = [(count, tasks)]
    if shape.tasks is not None and shape.tasks % count and shape.gpus is None and shape.tasks > count:
        more, least = shape.tasks % count, shape.tasks // count
        groups = [(more, least + 1), (count - more, least)]
    return [_part(shape, number, each, count) for number, each in groups]


def _part(shape: Shape, number: int, tasks: int | None, nodes_in_all: int) -> str:
    each = shape.cpus_per_task
    if each is not None:
        ppn: int | None = (tasks or 1) * each
    elif shape.cpus_per_node is not None or shape.cpus is not None:
        ppn = shape.cpus_per_node or -(-(shape.cpus or 1) // nodes_in_all)
    else:
        ppn = tasks
    parts = [str(number), *([f"ppn={max(ppn, tasks or 0)}"] if ppn is not None else [])]
    if shape.gpus is not None:
        factor = (tasks or 1) if shape.gpus.per == "task" else 1
        count = shape.gpus.count * factor
        if shape.gpus.per == "job":
            if count % nodes_in_all:
                raise refuse(f"{count} GPUs do not divide over {nodes_in_all} nodes", "gpus", "state GPUs per node")
            count //= nodes_in_all
        parts.append(f"gpus={count}")
        if shape.gpus.model is not None and shape.constraint is None:
            cure = "name the site's property for such nodes in constraint"
            raise refuse("Torque has no common word for a GPU's model", "gpus.model", cure)
    if shape.constraint is not None:
        if _PROPERTIES.fullmatch(shape.constraint) is None:
            raise refuse(f"{shape.constraint[:80]!r} names no properties", "constraint", "write them like fast:bigmem")
        parts.append(shape.constraint)
    return ":".join(parts)


def _memory(shapes: tuple[Shape, ...]) -> dict[str, str]:
    stated = [shape for shape in shapes if shape.memory is not None]
    if not stated:
        return {}
    if len(shapes) > 1:
        raise refuse("Torque counts memory over the whole job", "components", "state it in native_options")
    shape, memory = stated[0], stated[0].memory
    assert memory is not None  # noqa: S101 - chosen for it
    if memory.per in ("task", "cpu"):
        each = shape.cpus_per_task or 1
        return {"pmem": format_size(-(-memory.bytes // each) if memory.per == "task" else memory.bytes)}
    if memory.per == "gpu":
        return {"mem": format_size(memory.bytes * max(shape.total_gpus or 1, 1))}
    return {"mem": format_size(memory.bytes * (shape.node_count or 1) if memory.per == "node" else memory.bytes)}


def _resource(name: str) -> Callable[[JobSpec], str | None]:
    return lambda spec: _resources(spec).get(name)


TORQUE_TABLE = qsub_table(
    (
        *shared_rows(),
        Row("-t", lambda spec: _indices(spec.array) if spec.array is not None else None, says(read_array), "array"),
        Row("-l nodes", _resource("nodes"), ScriptDraft.defer, "shape"),
        Row("-l procs", _resource("procs"), count("tasks"), "shape"),
        Row("-l mem", _resource("mem"), amount("job"), "shape"),
        Row("-l pmem", _resource("pmem"), amount("task"), "shape"),
        Row(
            "-l naccesspolicy", _resource("naccesspolicy"),
            says(lambda text: {"shape.exclusive": True} if text == "singlejob" else None), "shape",
        ),
        # The shortest useful time has no word here: the whole time is asked for.
        clock("-l walltime", read_walltime),
        Row("-l qos", lambda spec: spec.qos, where="qos"),
        Row("-l advres", lambda spec: spec.reservation, says(lambda text: {"reservation": text}), "reservation"),
        Row("-l gres", lambda spec: "%".join(f"{name}:{number}" for name, number in licenses(spec)) or None,
            where="licenses"),
    )
)  # fmt: skip
"""What the options of Torque's qsub say of a job."""
