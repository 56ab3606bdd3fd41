"""A job spec for oarsub (oarsub(1)): one list of options, written into the script and given on the command line.

oarsub runs a command, and reads directives only of a script that is executable by its path. So the command is `/bin/sh
SCRIPT`, its options stand on the command line, and the same options stand in the script for people to read. Resources
are a tree: hosts, then GPUs or cores on each. The job's name is `<name>.<tag>`, at most 100 characters.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from providers.schedulers.base import format_clock
from providers.schedulers.directives import checked
from providers.schedulers.job_output import output_lines, scheduler_log
from providers.schedulers.job_script import job_lines
from providers.schedulers.oar_tables import OPTIONS, OUR_OPTIONS
from providers.schedulers.oar_words import OAR_WORDS
from providers.schedulers.slots import gpus_per_node, index_lines, left_out, refuse, slots_of

__all__ = ["SHORT", "oar_options", "render_oar_script"]

SHORT: Mapping[str, str] = {
    "-l": "--resource", "-q": "--queue", "-p": "--property", "-t": "--type", "-d": "--directory", "-n": "--name",
    "-a": "--anterior", "-O": "--stdout", "-E": "--stderr", "-k": "--use-job-key", "-i": "--import-job-key-from-file",
    "-e": "--export-job-key-to-file", "-s": "--stagein", "-r": "--reservation",
}  # fmt: skip

_REFUSED: Mapping[str, str] = {
    "components": "ask for one shape, or give -l as a native option",
    "qos": "take it out, or give -t as a native option",
    "reservation": "give -t inner=<job id> as a native option",
    "licenses": "give -l /license=1 as a native option, where the site counts them",
    "file_systems": "take it out",
    "priority": "take it out",
    "start_after": "give -r 'YYYY-MM-DD HH:MM:SS' as a native option: OAR then keeps that time free or refuses",
    "shape.memory": "OAR gives a host's memory with its cores: give the site's property as the constraint",
    "shape.local_disk_bytes": "give the site's property as the constraint",
}


def render_oar_script(spec: JobSpec, gpu_model: str) -> str:
    """The script, starting with `#!/bin/sh`; the options as directives, then the lines that every job has.

    Raises:
        BadRequest: a value that cannot stand in an option, or a need that OAR has no word for.

    """
    lines = ["#!/bin/sh", *[f"#OAR {name} {value}".rstrip() for name, value in oar_options(spec, gpu_model)]]
    lines += left_out(spec)
    if len(spec.queues) > 1:
        lines.append("# dragoman: not carried over: further queues: OAR takes one")
    task = ""
    if spec.array is not None:
        lines += index_lines(spec.array, "${OAR_ARRAY_INDEX:-1} - 1")
        task = "$DRAGOMAN_TASK"
    lines += output_lines(spec, task=task)
    job_id = "${OAR_ARRAY_ID:-${OAR_JOB_ID:-}}" if spec.array is not None else "${OAR_JOB_ID:-}"
    return (
        "\n".join(
            [
                *lines,
                *job_lines(spec, job_id=job_id, restart="0", task=task, submit_dir=OAR_WORDS.variables["submit_dir"]),
            ]
        )
        + "\n"
    )


def oar_options(spec: JobSpec, gpu_model: str) -> list[tuple[str, str]]:
    """Options of oarsub as name and value.

    Args:
        spec: the job.
        gpu_model: the site's property that holds a GPU's model.

    Raises:
        BadRequest: see `render_oar_script`.

    """
    refuse(spec, "OAR", _REFUSED)
    native = [_native(line) for line in spec.native_options]
    options = [("-n", _name(spec)), ("-d", _path(spec.work_dir, "work_dir"))]
    # What OAR itself collects; the script sends its output to the job's files.
    options += [(name, _path(scheduler_log(spec), "control_dir")) for name in ("-O", "-E")]
    if all(name != "-l" for name, _ in native):
        options.append(("-l", _resources(spec)))
    properties = _properties(spec, gpu_model)
    if properties:
        options.append(("-p", properties))
    queue = spec.queue or (spec.queues[0] if spec.queues else None)
    if queue is not None:
        options.append(("-q", _bare(queue, "queue")))
    if spec.account is not None:
        options.append(("--project", _bare(spec.account, "account")))
    if spec.requeue:
        options.append(("-t", "idempotent"))
    for one in spec.dependencies:
        if one.kind != "afterany" or one.job_id is None or re.fullmatch(r"\d{1,18}", one.job_id, re.ASCII) is None:
            cure = "use afterany with oarsub's number, and test in the script what the other job left"
            raise BadRequest(f"OAR waits for a job's end only: it has no {one.kind}", where="dependencies", cure=cure)
        options.append(("-a", one.job_id))
    if spec.array is not None:
        if spec.array.at_once is not None:
            cure = "leave out how many may run at once, or ask for fewer tasks"
            raise BadRequest("OAR cannot bound how many tasks of an array run at once", where="array", cure=cure)
        options.append(("--array", str(spec.array.size)))
    return [*options, *native]


def _bare(value: str, where: str) -> str:
    value = checked(value, where=where)
    # oarexec puts names between double quotes into a shell line of its own.
    if value.startswith("-") or not value.strip() or re.search(r"[\"'`$\\]", value):
        cure = "choose one without quotes, dollar signs and a leading dash"
        raise BadRequest(f"{value[:60]!r} cannot be given to oarsub", where=where, cure=cure)
    return value


def _name(spec: JobSpec) -> str:
    name = _bare(spec.name, "name").replace("%", "_")
    return f"{name[: 99 - len(spec.tag)]}.{spec.tag}"


def _path(path: str, where: str) -> str:
    path = checked(path, where=where)
    # oarexec puts the paths between double quotes into a shell line of its own.
    if re.search(r"[\"'`$\\%]", path):
        raise BadRequest(f"{path[:80]!r} holds a character that OAR does not keep", where=where, cure="rename it")
    return path


def _resources(spec: JobSpec) -> str:
    shape, slots = spec.shape, slots_of(spec.shape)
    gpus = gpus_per_node(shape)
    counted = (shape.cpus, shape.cpus_per_node, shape.cpus_per_task, shape.tasks, shape.tasks_per_node)
    stated = any(count is not None for count in counted)  # a host without them is a whole host
    cores = slots.per_node or slots.total
    tree: list[str] = []
    if slots.nodes is not None or gpus or shape.exclusive:
        tree.append(f"nodes={slots.nodes or 1}")
    if gpus and not shape.exclusive:
        tree.append(f"gpu={gpus}")
        if stated:
            tree.append(f"core={-(-cores // gpus)}")
    elif not shape.exclusive and (stated or not tree):
        tree.append(f"core={cores}")
    limit = f",walltime={format_clock(spec.walltime_s)}" if spec.walltime_s is not None else ""
    return f"/{'/'.join(tree)}{limit}"


def _properties(spec: JobSpec, gpu_model: str) -> str:
    shape = spec.shape
    parts = [checked(shape.constraint, where="constraint")] if shape.constraint is not None else []
    model = shape.gpus.model if shape.gpus is not None else None
    if model is not None and not any(re.search(r"gpu_?model", part) for part in parts):
        if re.fullmatch(r"[a-z0-9 ._-]+", model.lower(), re.ASCII) is None or not re.fullmatch(r"\w+", gpu_model):
            raise BadRequest(f"{model!r} is no model of GPU", where="gpus.model", cure="write it like a100")
        parts.append(f"LOWER({gpu_model}) LIKE '%{model.lower()}%'")
    return " AND ".join(f"({part})" if len(parts) > 1 else part for part in parts)


def _native(line: str) -> tuple[str, str]:
    """A native option as name and value.

    Raises:
        BadRequest: not one option, or one that would hide the job or move its files.

    """
    match = re.fullmatch(r"(--?[a-z][a-z-]*)(?:[ =](.*))?", checked(line, where="native_options"), re.ASCII)
    long = SHORT.get(match[1], match[1]) if match is not None else ""
    if match is None or long not in OPTIONS or OPTIONS[long] != bool((match[2] or "").strip()):
        raise BadRequest(
            f"{line[:120]!r} is not one option of oarsub", where="native_options", cure="write -t besteffort"
        )
    if long in OUR_OPTIONS | {"--array"}:
        raise BadRequest(f"{match[1]} is not taken from a request", where="native_options", cure="delete it")
    value = (match[2] or "").strip()
    if value.startswith("-"):
        raise BadRequest(f"{value[:60]!r} would be taken for an option", where="native_options", cure="choose another")
    return match[1], value
