"""A job spec as a script for sbatch.

The job's name is `<name>.<tag>`, so that people see their own word first in squeue and the tag can be found in queue
and accounting alike; the comment is the tag too, for sites whose submit filter rewrites names. Options that nobody
asked for are not written: no `--time` without a walltime (UNLIMITED would wait behind every maintenance window).
"""

from __future__ import annotations

import math
import re

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.request import Dependency
from dragoman.shape import Shape
from providers.schedulers.base import format_clock
from providers.schedulers.directives import checked, split_words
from providers.schedulers.job_script import job_lines
from providers.schedulers.slots import array_text
from providers.schedulers.slurm_options import FORBIDDEN, quote_word, take_options
from providers.schedulers.slurm_words import SLURM_WORDS

__all__ = ["render_slurm_script", "shape_options"]

Options = dict[str, str | None]
"""Long option name to value; None for options without one."""

_NATIVE = re.compile(r"(?:hetjob (\d{1,3}) )?(-{1,2}[A-Za-z].*)", re.ASCII)


def render_slurm_script(spec: JobSpec) -> str:
    """The script, starting with `#!/bin/sh`; directives, then the lines that every job has.

    Raises:
        BadRequest: a value that cannot stand in a directive, or a native option that is not allowed.

    """
    shapes = spec.components or (spec.shape,)
    native = [_native(line, len(shapes)) for line in spec.native_options]
    lines = ["#!/bin/sh"]
    for index, shape in enumerate(shapes):
        if index:
            lines.append("#SBATCH hetjob")
        options = {**(_job_options(spec) if index == 0 else {}), **_each_component(spec), **shape_options(shape)}
        for component, name, value in native:
            if component == index:
                _add_native(options, name, value)
        lines.extend(_directive(name, value) for name, value in options.items())
    job_id = "${SLURM_ARRAY_JOB_ID:-${SLURM_JOB_ID:-}}"
    task = "${SLURM_ARRAY_TASK_ID:-}" if spec.array is not None else ""
    lines.extend(
        job_lines(
            spec,
            job_id=job_id,
            restart="${SLURM_RESTART_COUNT:-0}",
            task=task,
            submit_dir=SLURM_WORDS.variables["submit_dir"],
        )
    )
    return "\n".join(lines) + "\n"


def _directive(name: str, value: str | None) -> str:
    if value is None:
        return f"#SBATCH --{name}"
    return f"#SBATCH --{name}={quote_word(checked(value, where=name), where=name)}"


def _job_options(spec: JobSpec) -> Options:
    """Options that count for the whole job."""
    options: Options = {
        "job-name": f"{spec.name}.{spec.tag}",
        "comment": spec.tag,
        "chdir": spec.work_dir,
        "output": _output(spec, spec.stdout),
        "error": _output(spec, spec.stderr),
        "mail-type": "NONE",
    }
    if spec.requeue:
        options["requeue"] = None
        options["open-mode"] = "append"  # a second start must not wipe out what the first one wrote
    else:
        options["no-requeue"] = None
    if spec.array is not None:
        limit = f"%{spec.array.at_once}" if spec.array.at_once is not None else ""
        options["array"] = f"{array_text(spec.array)}{limit}"
    if spec.dependencies:
        options["dependency"] = ",".join(_dependency(one) for one in spec.dependencies)
    if spec.start_after is not None:
        # Seconds since the epoch (parse_time.c): a wall clock time would be read in the site's zone.
        options["begin"] = f"uts{math.ceil(spec.start_after.timestamp())}"
    if spec.licenses:
        options["licenses"] = ",".join(spec.licenses)
    return options


def _each_component(spec: JobSpec) -> Options:
    """Options that each component of a heterogeneous job has for itself."""
    options: Options = {}
    queues = spec.queues or ((spec.queue,) if spec.queue is not None else ())
    if spec.account is not None:
        options["account"] = spec.account
    if queues:
        options["partition"] = ",".join(queues)
    if spec.qos is not None:
        options["qos"] = spec.qos
    if spec.reservation is not None:
        options["reservation"] = spec.reservation
    if spec.walltime_s is not None:
        options["time"] = format_clock(spec.walltime_s, days=True)
    if spec.walltime_min_s is not None:
        options["time-min"] = format_clock(spec.walltime_min_s, days=True)
    if spec.priority is not None:
        options["priority"] = str(spec.priority)
    return options


def _output(spec: JobSpec, name: str) -> str:
    """An absolute file name; `%` is doubled, and each task of an array has its own file."""
    if "\\" in name or "\\" in spec.work_dir:
        raise BadRequest(
            "a file name with a backslash switches off Slurm's patterns", where="stdout", cure="choose another name"
        )
    path = f"{spec.work_dir.rstrip('/')}/{name}".replace("%", "%%")
    return f"{path}.%a" if spec.array is not None else path


def _dependency(dependency: Dependency) -> str:
    if dependency.kind == "singleton":
        return "singleton"
    if dependency.job_id is None or re.fullmatch(r"\d+(?:_(?:\d+|\*)|\+\d+)?", dependency.job_id, re.ASCII) is None:
        raise BadRequest(
            f"{dependency.job_id!r} is no job id of Slurm", where="dependencies", cure="give the id that sbatch printed"
        )
    return f"{dependency.kind}:{dependency.job_id}"


def shape_options(shape: Shape) -> Options:
    """A shape's options. What is counted per task or job is turned into Slurm's units, rounded up."""
    options: Options = {}
    if shape.nodes is not None or shape.nodes_max is not None:
        lowest = shape.nodes or 1
        wide = shape.nodes_max is not None and shape.nodes_max != lowest
        options["nodes"] = f"{lowest}-{shape.nodes_max}" if wide else str(lowest)
    if shape.tasks is not None:
        options["ntasks"] = str(shape.tasks)
    if shape.tasks_per_node is not None:
        options["ntasks-per-node"] = str(shape.tasks_per_node)
    if shape.cpus_per_task is not None:
        options["cpus-per-task"] = str(shape.cpus_per_task)
    options.update(_cpus(shape))
    if shape.gpus is not None:
        model = f"{shape.gpus.model.replace(' ', '_')}:" if shape.gpus.model else ""
        name = {"node": "gres", "task": "gpus-per-task", "job": "gpus"}[shape.gpus.per]
        options[name] = f"{'gpu:' if name == 'gres' else ''}{model}{shape.gpus.count}"
    options.update(_memory(shape))
    if shape.local_disk_bytes is not None:
        options["tmp"] = _mebibytes(shape.local_disk_bytes)
    if shape.exclusive:
        options["exclusive"] = None
    if shape.constraint is not None:
        options["constraint"] = shape.constraint
    return options


def _cpus(shape: Shape) -> Options:
    """Cores that are not stated per task: one task takes a node's share, unless tasks are stated.

    A node's cores that do not divide over its tasks are rounded down, and the rest is asked for with `--mincpus`:
    rounded up they may be more than a node has.
    """
    if shape.cpus_per_node is not None and (shape.tasks_per_node is not None or shape.cpus_per_task is not None):
        tasks = shape.tasks_per_node or 1
        each = shape.cpus_per_task or max(shape.cpus_per_node // tasks, 1)
        more = shape.cpus_per_node > tasks * each
        return {"cpus-per-task": str(each), **({"mincpus": str(shape.cpus_per_node)} if more else {})}
    if shape.cpus_per_task is not None or (shape.cpus_per_node is None and shape.cpus is None):
        return {}
    if shape.cpus_per_node is not None:
        if shape.tasks is not None:
            return {"mincpus": str(shape.cpus_per_node)}
        return {"ntasks-per-node": "1", "cpus-per-task": str(shape.cpus_per_node)}
    cpus = shape.cpus or 1
    if shape.task_count is not None:
        return {"cpus-per-task": str(-(-cpus // shape.task_count))}
    if shape.nodes is not None and shape.nodes_max in (None, shape.nodes):
        return {"ntasks-per-node": "1", "cpus-per-task": str(-(-cpus // shape.nodes))}
    return {"ntasks": str(cpus)}


def _memory(shape: Shape) -> Options:
    if shape.memory is None:
        return {}
    amount = shape.memory.bytes
    if shape.memory.per == "node":
        return {"mem": _mebibytes(amount)}
    if shape.memory.per == "cpu":
        return {"mem-per-cpu": _mebibytes(amount)}
    if shape.memory.per == "gpu":
        return {"mem-per-gpu": _mebibytes(amount)}
    if shape.memory.per == "task":
        derived = _cpus(shape).get("cpus-per-task")
        return {"mem-per-cpu": _mebibytes(-(-amount // (shape.cpus_per_task or int(derived or 1))))}
    nodes = shape.node_count
    if nodes is None and shape.total_cpus is not None and shape.total_cpus > 1:
        return {"mem-per-cpu": _mebibytes(-(-amount // shape.total_cpus))}
    return {"mem": _mebibytes(-(-amount // (nodes or 1)))}


def _mebibytes(amount: int) -> str:
    return f"{-(-amount // 2**20)}M"


def _native(line: str, components: int) -> tuple[int, str, str | None]:
    """A native option as component, long name and value.

    Raises:
        BadRequest: not one option, or one that would hide the job or contradict what was negotiated.

    """
    cure = "write one option of sbatch, such as --switches=1"
    match = _NATIVE.fullmatch(checked(line, where="native_options"))
    words, problem = split_words(match[2]) if match is not None else ([], "")
    options = take_options(words)
    if match is None or problem or len(options) != 1 or options[0].problem:
        raise BadRequest(f"{line[:120]!r} is not one option of sbatch", where="native_options", cure=problem or cure)
    name, value = options[0].name, options[0].value
    if name in FORBIDDEN or name == "hetjob" or re.fullmatch(r"[A-Za-z][A-Za-z0-9_-]*", name, re.ASCII) is None:
        raise BadRequest(f"--{name[:60]} is not taken from a request", where="native_options", cure="delete it")
    component = int(match[1] or 0)
    if component >= components:
        raise BadRequest(f"there is no component {component}", where="native_options", cure="they count from 0")
    return component, name, value


def _add_native(options: Options, name: str, value: str | None) -> None:
    """Add a native option; other resources join the GPUs in `--gres`.

    Raises:
        BadRequest: it contradicts what the rest of the job says.

    """
    mine = options.get(name)
    if name == "gres" and mine is not None and value is not None and not _has_gpu(value):
        options[name] = f"{mine},{value}"
    elif name in options and mine != value:
        raise BadRequest(
            f"--{name}={value} contradicts --{name}={mine}", where="native_options", cure="state one of them"
        )
    else:
        options[name] = value


def _has_gpu(gres: str) -> bool:
    return any(part.strip().removeprefix("gres:").removeprefix("gres/").startswith("gpu") for part in gres.split(","))
