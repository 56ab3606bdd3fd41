"""Torque, versions 2.5 to 6.1, with Maui or Moab beside it.

There is no history that a user can ask: a job that has ended is shown for a while (`keep_completed`, state C), then its
own exit record has to do. `qstat -x` is XML here and is not used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar, Self

from dragoman.job import JobSpec, JobState
from dragoman.request import ArraySpec
from dragoman.shape import Shape
from dragoman.site import Site
from providers.registry import register_dialect
from providers.schedulers.pbs_family import PbsFamily
from providers.schedulers.pbs_script import directive, refuse, resources, tasks_per_node, walltime
from providers.schedulers.pbs_tables import TORQUE_EXITS, TORQUE_STATES
from providers.schedulers.pbs_values import format_size
from providers.schedulers.pbs_words import TORQUE_WORDS
from providers.schedulers.script_words import ScriptWords
from providers.schedulers.slots import licenses

__all__ = ["TorqueDialect"]

_PROPERTIES = re.compile(r"[A-Za-z][\w.-]*(?::[A-Za-z][\w.-]*)*", re.ASCII)
_MOST_INDICES = 5000


@register_dialect("torque")
class TorqueDialect(PbsFamily):
    """The dialect of Torque."""

    name = "torque"
    script_words: ClassVar[ScriptWords | None] = TORQUE_WORDS
    states: ClassVar[Mapping[str, JobState]] = TORQUE_STATES
    exits: ClassVar[Mapping[int, tuple[str, JobState]]] = TORQUE_EXITS
    accepted: ClassVar[re.Pattern[str]] = re.compile(
        # A server may be told to leave its name out (display_job_server_suffix).
        r"^\s*(?P<id>\d{1,12}(?:\[\])?(?:\.[A-Za-z0-9][\w.-]{0,254})?)\.?\s*$",
        re.ASCII,
    )
    task_variable: ClassVar[str] = "PBS_ARRAYID"
    native_words: ClassVar[frozenset[str]] = frozenset({"qos"})

    @classmethod
    def for_site(cls, site: Site) -> Self:
        """With the user that the site's file names."""
        return cls(user=site.transport.user)

    def request_lines(self, spec: JobSpec) -> list[str]:
        """Resources by `nodes`, `procs` and `mem`."""
        if spec.file_systems:
            raise refuse("Torque has no declaration of file systems", "file_systems", "delete it")
        pairs = nodes(spec.components or (spec.shape,))
        # The shortest useful time has no word here: the whole time is asked for.
        pairs += walltime(spec.model_copy(update={"walltime_min_s": None}))
        pairs += [("qos", spec.qos)] if spec.qos is not None else []
        pairs += [("advres", spec.reservation)] if spec.reservation is not None else []
        counted = "%".join(f"{name}:{count}" for name, count in licenses(spec))
        pairs += [("gres", counted)] if counted else []
        lines = [directive("A", spec.account, where="account")] if spec.account is not None else []
        lines += [directive("t", _indices(spec.array))] if spec.array is not None else []
        return [*lines, *resources(pairs)]


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


def nodes(shapes: tuple[Shape, ...]) -> list[tuple[str, str]]:
    """`nodes=2:ppn=8:gpus=1`, and memory of the whole job or of each process."""
    if len(shapes) == 1 and shapes[0] == Shape():
        return []
    pairs: list[tuple[str, str]] = []
    plain = len(shapes) == 1 and shapes[0].node_count is None and shapes[0].gpus is None
    shape = shapes[0]
    if plain and shape.tasks is not None and (shape.cpus_per_task or 1) == 1 and shape.constraint is None:
        pairs.append(("procs", str(shape.tasks)))
    elif plain and shape.cpus is not None and shape.constraint is None and shape.tasks is None:
        pairs.append(("procs", str(shape.cpus)))
    else:
        pairs.append(("nodes", "+".join(part for each in shapes for part in _parts(each))))
    pairs += _memory(shapes)
    return pairs + ([("naccesspolicy", "singlejob")] if any(each.exclusive for each in shapes) else [])


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


def _memory(shapes: tuple[Shape, ...]) -> list[tuple[str, str]]:
    stated = [shape for shape in shapes if shape.memory is not None]
    if not stated:
        return []
    if len(shapes) > 1:
        raise refuse("Torque counts memory over the whole job", "components", "state it in native_options")
    shape, memory = stated[0], stated[0].memory
    assert memory is not None  # noqa: S101 - chosen for it
    if memory.per in ("task", "cpu"):
        each = shape.cpus_per_task or 1
        return [("pmem", format_size(-(-memory.bytes // each) if memory.per == "task" else memory.bytes))]
    if memory.per == "gpu":
        return [("mem", format_size(memory.bytes * max(shape.total_gpus or 1, 1)))]
    return [("mem", format_size(memory.bytes * (shape.node_count or 1) if memory.per == "node" else memory.bytes))]
