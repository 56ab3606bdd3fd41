"""A job spec as directives for qsub: what PBS and Torque have in common, and PBS's `select`.

The job's name is the tag alone, so that one `qselect -N` settles a doubtful submit, whatever else is in the queue. The
tag is a variable of the job as well (`-v`), which the script unsets before anything else, so that a job submitted from
within this one with `qsub -V` does not look like it.

A chunk of `select` is a node's share where nodes are stated (`place=scatter`), else one task (`place=free`); a request
of cores alone is job-wide (`-l ncpus=4`), which PBS places on one host and some sites spread.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.request import ArraySpec, Dependency
from dragoman.shape import Shape
from providers.schedulers.base import format_clock
from providers.schedulers.directives import checked
from providers.schedulers.pbs_values import format_size, read_job_id

__all__ = [
    "NAME_VARIABLE", "TAG_VARIABLE", "array_range", "depend", "directive", "file_systems", "native_options",
    "quoted", "refuse", "resources", "select", "start_clock", "tasks_per_node", "walltime",
]  # fmt: skip

TAG_VARIABLE = "DRAGOMAN_ATTEMPT"
NAME_VARIABLE = "DRAGOMAN_NAME"
_SAFE = re.compile(r"[\w.,:;=+@/%\[\]^~<>!?*()#$&|-]+", re.ASCII)
_OPTION = re.compile(r"-([A-Za-z])(?:\s*(\S.*))?", re.ASCII)
_FORBIDDEN = frozenset("NoejkSCIXzhfvVmMJtdDwuGi")
"""Options that would hide the job, move its files, wait for a terminal, or bring the submitter's environment in."""
_RESOURCE = re.compile(r"[A-Za-z][\w.-]*=.*", re.ASCII)


def refuse(words: str, where: str, cure: str) -> BadRequest:
    """The error for what this scheduler cannot take."""
    return BadRequest(words, where=where, cure=cure)


def quoted(value: str, *, where: str) -> str:
    """A value as qsub takes it from a directive: as it stands, or in the kind of quotes that it does not hold."""
    checked(value, where=where)
    if not value:
        raise refuse("an empty value", where, "give one or leave the option out")
    if _SAFE.fullmatch(value) and not value.startswith("#"):
        return value
    for quote in "\"'":
        if quote not in value and "\\" not in value:
            return f"{quote}{value}{quote}"
    raise refuse(f"{value[:80]!r} holds both kinds of quotes or a backslash", where, "choose a value without them")


def directive(option: str, value: str | None = None, *, where: str = "") -> str:
    """One line."""
    return f"#PBS -{option}" if value is None else f"#PBS -{option} {quoted(value, where=where or option)}"


def resources(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """A line for each resource of the whole job."""
    return [directive("l", f"{name}={value}", where=name) for name, value in pairs]


def depend(dependencies: Sequence[Dependency], scheduler: str) -> list[str]:
    """`-W depend=...`."""
    if not dependencies:
        return []
    parts: dict[str, list[str]] = {}
    for one in dependencies:
        if one.kind == "singleton":
            raise refuse(f"{scheduler} has no singleton", "dependencies", "name the jobs to wait for")
        if one.job_id is None or read_job_id(one.job_id) is None:
            raise refuse(f"{one.job_id!r} is no job id", "dependencies", "give the id that qsub printed")
        parts.setdefault(one.kind, []).append(one.job_id)
    return [directive("W", "depend=" + ",".join(f"{kind}:{':'.join(ids)}" for kind, ids in parts.items()))]


def start_clock(at: datetime) -> str:
    """`CCYYMMDDhhmm.SS` in UTC, rounded up to a whole second."""
    return datetime.fromtimestamp(math.ceil(at.timestamp()), UTC).strftime("%Y%m%d%H%M.%S")


def array_range(array: ArraySpec) -> str:
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


def native_options(spec: JobSpec, rendered: Sequence[str]) -> list[str]:
    """The user's own options of qsub, each a line; none may contradict or hide what was negotiated."""
    lines: list[str] = []
    for line in spec.native_options:
        match = _OPTION.fullmatch(checked(line, where="native_options").strip())
        if match is None:
            raise refuse(f"{line[:80]!r} is no option of qsub", "native_options", "write one, such as -l scratch=10gb")
        letter, value = match[1], match[2]
        if letter in _FORBIDDEN or (letter == "W" and re.match(r"(?:block|interactive|sandbox|depend)\b", value or "")):
            raise refuse(f"-{letter} is not taken from a request", "native_options", "delete it")
        if letter == "l" and (value is None or _RESOURCE.fullmatch(value) is None):
            raise refuse(f"{line[:80]!r} names no resource", "native_options", "write -l name=value")
        unquoted = value[1:-1] if value and len(value) > 1 and value[0] == value[-1] and value[0] in "\"'" else value
        text = directive(letter, unquoted, where="native_options")
        if text in rendered:
            continue
        prefix = f"#PBS -l {unquoted.partition('=')[0]}=" if letter == "l" and unquoted else f"#PBS -{letter} "
        if letter != "W" and any(one.startswith(prefix) for one in rendered):
            raise refuse(f"{line[:80]!r} contradicts {prefix[5:]}...", "native_options", "state one of them")
        lines.append(text)
    return lines


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


def select(shapes: Sequence[Shape], *, gpu_model: str | None) -> list[str]:
    """`-l select=... -l place=...`, or job-wide resources where only cores, memory and GPUs of the job are stated.

    Args:
        shapes: one, or the components of a job that needs several kinds of node at once.
        gpu_model: the site's resource for a GPU's model, where it has one.

    """
    if len(shapes) == 1 and shapes[0] == Shape():
        return []
    wide = _job_wide(shapes[0]) if len(shapes) == 1 else None
    if wide is not None:
        return resources(wide)
    chunks = [chunk for shape in shapes for chunk in _chunks(shape, gpu_model)]
    nodes = any(shape.node_count is not None for shape in shapes)
    sharing = ":excl" if any(shape.exclusive for shape in shapes) else ""
    place = ("scatter" if nodes else "free") + sharing
    return resources([("select", "+".join(chunks)), ("place", place)])


def _job_wide(shape: Shape) -> list[tuple[str, str]] | None:
    stated = {name for name, value in shape if value is not None}
    memory, gpus = shape.memory, shape.gpus
    if not stated <= {"cpus", "memory", "gpus"} or (memory is not None and memory.per != "job"):
        return None
    if gpus is not None and (gpus.per != "job" or gpus.model is not None):
        return None
    pairs = [("ncpus", str(shape.cpus))] if shape.cpus is not None else []
    pairs += [("ngpus", str(gpus.count))] if gpus is not None else []
    return pairs + ([("mem", format_size(memory.bytes))] if memory is not None else [])


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


def walltime(spec: JobSpec) -> list[tuple[str, str]]:
    """The time limit; with a shortest useful time PBS may shrink the job to fit (`min_walltime`)."""
    if spec.walltime_s is None:
        return []
    if spec.walltime_min_s is not None and spec.walltime_min_s < spec.walltime_s:
        return [("min_walltime", format_clock(spec.walltime_min_s)), ("max_walltime", format_clock(spec.walltime_s))]
    return [("walltime", format_clock(spec.walltime_s))]


def file_systems(spec: JobSpec) -> list[tuple[str, str]]:
    """`filesystems=home:eagle` (as at ALCF); names with a slash are `storage=scratch/x+gdata/y` (as at NCI)."""
    if not spec.file_systems:
        return []
    if any("/" in name for name in spec.file_systems):
        return [("storage", "+".join(spec.file_systems))]
    return [("filesystems", ":".join(spec.file_systems))]
