"""What qsub of PBS is told besides what it shares with Torque: arrays, times, and the shape as `select`.

A chunk of `select` is a node's share where nodes are stated (`place=scatter`), else one task (`place=free`); a request
of cores alone is job-wide (`-l ncpus=4`), which PBS places on one host and some sites spread.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.request import ArraySpec
from dragoman.shape import Shape
from providers.schedulers.base import format_clock
from providers.schedulers.option_rows import Row, named, says
from providers.schedulers.option_table import OptionTable
from providers.schedulers.pbs_rows import amount, count, log_path, qsub_table, read_array, read_walltimes, shared_rows
from providers.schedulers.pbs_values import format_size
from providers.schedulers.script_draft import ScriptDraft
from providers.schedulers.slots import licenses

__all__ = ["pbs_table", "refuse", "tasks_per_node"]


def refuse(words: str, where: str, cure: str) -> BadRequest:
    """The error for what this scheduler cannot take."""
    return BadRequest(words, where=where, cure=cure)


def _indices(array: ArraySpec) -> str:
    """`0-9`, `0-9:2`, `0-9%3`: PBS takes one range, and none of a single index but as `5-6:2`."""
    if len(array.ranges) != 1:
        raise refuse("PBS takes one range of indices", "array", "write it as one range with a step, or as several jobs")
    part = array.ranges[0]
    size = len(range(part.first, part.last + 1, part.step))
    text = f"{part.first}-{part.last}" + (f":{part.step}" if part.step > 1 else "")
    if size == 1:
        text = f"{part.first}-{part.first + 1}:2"
    elif size < 1:
        raise refuse("the range holds no index", "array", "write the smaller index first")
    return text + (f"%{array.at_once}" if array.at_once is not None else "")


def tasks_per_node(shape: Shape, nodes: int) -> int | None:
    """Tasks of each node, rounded up; None where none are stated."""
    if shape.tasks_per_node is not None:
        return shape.tasks_per_node
    return -(-shape.tasks // nodes) if shape.tasks is not None else None


def _memory_per_chunk(shape: Shape, chunks: int, tasks: int, cpus: int, gpus: int) -> str | None:
    """Memory of one chunk, from whatever it was stated per; rounded up."""
    if shape.memory is None:
        return None
    amount = shape.memory.bytes
    factor = {"node": 1, "task": tasks, "cpu": cpus, "gpu": gpus, "job": 1}[shape.memory.per]
    if factor < 1:
        raise refuse("memory per GPU, and no GPUs are asked for", "memory", "state it per node, task or cpu")
    return format_size(-(-amount // chunks) if shape.memory.per == "job" else amount * factor)


def _resources(spec: JobSpec, gpu_model: str | None) -> dict[str, str]:
    """`select` and `place`, or job-wide resources where only cores, memory and GPUs of the job are stated."""
    shapes = spec.components or (spec.shape,)
    if shapes == (Shape(),):
        return {}
    wide = _job_wide(shapes[0]) if len(shapes) == 1 else None
    if wide is not None:
        return wide
    chunks = [chunk for shape in shapes for chunk in _chunks(shape, gpu_model)]
    nodes = any(shape.node_count is not None for shape in shapes)
    sharing = ":excl" if any(shape.exclusive for shape in shapes) else ""
    return {"select": "+".join(chunks), "place": ("scatter" if nodes else "free") + sharing}


def _job_wide(shape: Shape) -> dict[str, str] | None:
    stated = {name for name, value in shape if value is not None}
    memory, gpus = shape.memory, shape.gpus
    if not stated <= {"cpus", "memory", "gpus"} or (memory is not None and memory.per != "job"):
        return None
    if gpus is not None and (gpus.per != "job" or gpus.model is not None):
        return None
    found = {"ncpus": str(shape.cpus)} if shape.cpus is not None else {}
    found |= {"ngpus": str(gpus.count)} if gpus is not None else {}
    return found | ({"mem": format_size(memory.bytes)} if memory is not None else {})


def _chunks(shape: Shape, gpu_model: str | None) -> list[str]:
    if shape.local_disk_bytes is not None:
        cure = "name the site's own resource in native_options, such as -l scratch=10gb, and leave this out"
        raise refuse("PBS has no common word for a node's own disk", "local_disk_bytes", cure)
    nodes, tasks = shape.node_count, shape.task_count
    if nodes is not None and tasks is not None and shape.tasks_per_node is None and tasks % nodes:
        more, least = tasks % nodes, tasks // nodes
        uneven = [(more, least + 1), (nodes - more, least)]
        if least == 0 or shape.gpus is not None or shape.cpus is not None:
            uneven = [(nodes, least + 1)]
        return [_chunk(shape, count, each, nodes, gpu_model) for count, each in uneven]
    if nodes is not None:
        return [_chunk(shape, nodes, tasks_per_node(shape, nodes), nodes, gpu_model)]
    groups = tasks or 1
    if shape.gpus is not None and shape.gpus.per == "job":
        groups = math.gcd(groups, shape.gpus.count)
    each = tasks // groups if tasks is not None else shape.tasks_per_node
    return [_chunk(shape, groups, each, groups, gpu_model)]


def _chunk(shape: Shape, count: int, tasks: int | None, chunks: int, gpu_model: str | None) -> str:
    """`2:ncpus=8:mpiprocs=4:ompthreads=2:ngpus=1:mem=4gb`."""
    per_node = [
        name
        for name, stated in (
            ("cpus_per_node", shape.cpus_per_node is not None),
            ("gpus", shape.gpus is not None and shape.gpus.per == "node"),
            ("memory", shape.memory is not None and shape.memory.per == "node"),
        )
        if stated
    ]
    if per_node and shape.node_count is None and chunks > 1:
        raise refuse("stated per node, and no nodes are stated", per_node[0], "state the nodes, or it per task")
    cpus = _cpus(shape, tasks, chunks)
    gpus = _gpus(shape, tasks, chunks)
    parts = [str(count)]
    parts += [f"ncpus={cpus}"] if cpus is not None else []
    parts += [f"mpiprocs={tasks}"] if tasks is not None else []
    parts += [f"ompthreads={shape.cpus_per_task}"] if shape.cpus_per_task is not None else []
    parts += [f"ngpus={gpus}"] if gpus else []
    memory = _memory_per_chunk(shape, chunks, tasks or 1, cpus or 1, gpus)
    parts += [f"mem={memory}"] if memory is not None else []
    return ":".join([*parts, *_wanted(shape, gpu_model)])


def _cpus(shape: Shape, tasks: int | None, chunks: int) -> int | None:
    if shape.cpus_per_task is not None:
        return max((tasks or 1) * shape.cpus_per_task, shape.cpus_per_node or 0)
    if shape.cpus_per_node is not None:
        return max(shape.cpus_per_node, tasks or 0)
    if shape.cpus is not None:
        return max(-(-shape.cpus // chunks), tasks or 0)
    return tasks


def _gpus(shape: Shape, tasks: int | None, chunks: int) -> int:
    if shape.gpus is None:
        return 0
    if shape.gpus.per == "job":
        if shape.gpus.count % chunks:
            words = f"{shape.gpus.count} GPUs of the job do not divide over {chunks} nodes"
            raise refuse(words, "gpus", "state GPUs per node")
        return shape.gpus.count // chunks
    return shape.gpus.count * (1 if shape.gpus.per == "node" else tasks or 1)


_WANTED = re.compile(r"[A-Za-z][\w.-]*=[\w.,@/~-]+(?::[A-Za-z][\w.-]*=[\w.,@/~-]+)*", re.ASCII)


def _wanted(shape: Shape, gpu_model: str | None) -> list[str]:
    """What a node must be: the constraint as it stands, and the GPUs' model where the site has a resource for it."""
    if shape.constraint is not None:
        if _WANTED.fullmatch(shape.constraint) is None:
            cure = "write the site's resources with values, such as system=polaris:gputype=A100"
            raise refuse(f"{shape.constraint[:80]!r} is no condition of PBS", "constraint", cure)
        return [shape.constraint]
    if shape.gpus is not None and shape.gpus.model is not None:
        if gpu_model is None:
            cure = "name it in constraint (such as gputype=A100), or set the site's gpu_model_resource"
            raise refuse("which resource of this site tells a GPU's model is not known", "gpus.model", cure)
        return [f"{gpu_model}={shape.gpus.model.replace(' ', '_')}"]
    return []


def _log(spec: JobSpec) -> str:
    """Tasks of an array would overwrite each other's file."""
    path = log_path(spec)
    return path.replace(".log", ".^array_index^.log") if spec.array is not None else path


def _project(spec: JobSpec) -> str | None:
    """The account is account string and project: sites charge by the one or the other."""
    return spec.account if spec.account is not None and not re.search(r"[/:+, ]", spec.account) else None


def _shrinks(spec: JobSpec) -> bool:
    """With a shortest useful time PBS may shrink the job to fit."""
    return None not in (spec.walltime_s, spec.walltime_min_s) and (spec.walltime_min_s or 0) < (spec.walltime_s or 0)


def _clock(seconds: int | None) -> str | None:
    return format_clock(seconds) if seconds is not None else None


def _file_systems(spec: JobSpec) -> str | None:
    """`filesystems=home:eagle` (as at ALCF); names with a slash are `storage=scratch/x+gdata/y` (as at NCI)."""
    if any("/" in name for name in spec.file_systems):
        return "storage=" + "+".join(spec.file_systems)
    return "filesystems=" + ":".join(spec.file_systems) if spec.file_systems else None


def pbs_table(gpu_model: str | None = None) -> OptionTable:
    """What the options of PBS's qsub say of a job.

    Args:
        gpu_model: the site's resource for a GPU's model, where it has one.

    """

    def resource(name: str) -> Callable[[JobSpec], str | None]:
        return lambda spec: _resources(spec, gpu_model).get(name)

    rows = (
        Row("-P", _project, named("-P", "account").take, "account"),
        Row("-J", lambda spec: _indices(spec.array) if spec.array is not None else None, says(read_array), "array"),
        Row("-l select", resource("select"), ScriptDraft.defer, "shape"),
        Row("-l place", resource("place"), ScriptDraft.defer, "shape"),
        Row("-l ncpus", resource("ncpus"), count("cpus"), "shape"),
        Row("-l mpiprocs", take=count("tasks")),
        Row("-l ngpus", resource("ngpus"), count("gpus"), "shape"),
        Row("-l mem", resource("mem"), amount("job"), "shape"),
        Row(
            "-l walltime", lambda spec: None if _shrinks(spec) else _clock(spec.walltime_s),
            read_walltimes("walltime_s"), "walltime_s",
        ),
        Row(
            "-l min_walltime", lambda spec: _clock(spec.walltime_min_s) if _shrinks(spec) else None,
            read_walltimes("walltime_min_s"), "walltime_min_s",
        ),
        Row(
            "-l max_walltime", lambda spec: _clock(spec.walltime_s) if _shrinks(spec) else None,
            read_walltimes("walltime_s"), "walltime_s",
        ),
        Row("-l", lambda spec: [f"{name}={number}" for name, number in licenses(spec)], where="licenses"),
        Row("-l", _file_systems, where="file_systems"),
    )  # fmt: skip
    return qsub_table((*shared_rows(_log, "reservation"), *rows))
