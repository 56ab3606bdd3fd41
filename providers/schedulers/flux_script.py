"""A job spec as a script for `flux batch` (flux-batch(1), RFC 36 submission directives).

`flux batch`, and not `flux submit`: the script then runs once, in an instance of its own that holds all nodes of the
job, where `flux run` starts tasks; `flux submit` would run the script once for each task. The job's id is the attribute
`jobid` of that instance. Slots are tasks where they are stated, else nodes.

Flux counts nodes, cores and GPUs. Memory and a node's own disk are not counted: a comment in the script says so. There
are no job arrays.
"""

from __future__ import annotations

import math
import re

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.request import Dependency
from dragoman.shape import Shape
from providers.schedulers.directives import checked
from providers.schedulers.flux_read import SHORT
from providers.schedulers.flux_values import format_duration, read_flux_id
from providers.schedulers.job_output import output_lines, scheduler_log
from providers.schedulers.job_script import job_lines
from providers.schedulers.slots import left_out, refuse

__all__ = ["ANONYMOUS", "FORBIDDEN", "SENTINEL", "render_flux_script", "shape_options"]

ANONYMOUS = "anonymous"
"""Our name for the queue of an instance that has no named ones."""
SENTINEL = re.compile(r"[^\w\n]*(?:flux|FLUX):")
_SAFE = re.compile(r"[A-Za-z0-9_./:=,@+%^-]+", re.ASCII)
_NATIVE = re.compile(r"(--[a-z][a-z0-9-]*|-[a-zA-Z])(?:(?:=|\s+)(\S.*))?", re.ASCII)
FORBIDDEN = frozenset(
    {
        "--job-name", "--output", "--error", "--input", "--cwd", "--dry-run", "--quiet", "--wrap", "--wait", "--watch",
        "--cc", "--bcc", "--help", "--list-plugins", "--add-file", "--env-file", "--log", "--log-stderr", "--progress",
        "--wait-event", "-h", "-v", "-l",
    }
)  # fmt: skip
"""Never taken from a request: they would hide the job, move its files, or not submit at all."""
_MANY = frozenset(
    {"--setopt", "--setattr", "--env", "--env-remove", "--rlimit", "--requires", "--dependency", "--flags"}
)
_JOB_ID = (
    '$(flux job id --to=dec "$(flux getattr jobid 2>/dev/null || '
    'printf \'%s\' "${FLUX_ENCLOSING_ID:-${FLUX_JOB_ID:-}}")" 2>/dev/null)'
)


def render_flux_script(spec: JobSpec) -> str:
    """The script; directives, then the lines that every job has.

    Raises:
        BadRequest: a value that cannot stand in a directive, or something that Flux has no word for.

    """
    refuse(
        spec,
        "Flux",
        {
            "array": "submit one job for each index, or let the script loop with flux submit",
            "components": "state one shape; flux run inside the job can start different programs",
            "qos": "choose a queue instead",
            "reservation": "choose the queue that the site made for it",
            "licenses": "ask the site for a queue or property that stands for them",
        },
    )
    options: list[tuple[str, str | None]] = [
        ("--job-name", f"{spec.name}.{spec.tag}"),
        ("--cwd", _path(spec.work_dir)),
        ("--output", _path(scheduler_log(spec))),
        *_job_options(spec),
        *shape_options(spec.shape),
    ]
    options += _native(spec, options)
    lines = [f"#flux: {name}" if value is None else f"#flux: {name}={_quoted(value, name)}" for name, value in options]
    body = job_lines(spec, job_id=_JOB_ID, restart="0")
    return "\n".join(["#!/bin/sh", *lines, *_not_counted(spec), *output_lines(spec), *_shielded(body)]) + "\n"


def _quoted(value: str, where: str) -> str:
    """A value as Flux's shell-like lexer reads it back."""
    checked(value, where=where)
    if not value:
        raise BadRequest("an empty value", where=where, cure="give one or leave the option out")
    if _SAFE.fullmatch(value):
        return value
    if "'" in value or "\\" in value:
        raise BadRequest(f"{value[:80]!r} holds a quote or backslash", where=where, cure="choose a value without them")
    return f"'{value}'"


def _path(path: str) -> str:
    if "{{" in path:
        raise BadRequest("Flux would fill in {{...}} in a path", where="control_dir", cure="choose another work root")
    return path


def _job_options(spec: JobSpec) -> list[tuple[str, str | None]]:
    options: list[tuple[str, str | None]] = []
    queue = spec.queue or (spec.queues[0] if spec.queues else None)
    if queue is not None and queue != ANONYMOUS:
        options.append(("--queue", queue))
    if spec.account is not None:
        options.append(("--setattr", f"system.bank={spec.account}"))  # --bank is newer
    if spec.walltime_s is not None:
        options.append(("--time-limit", format_duration(spec.walltime_s)))
    if spec.priority is not None:
        if not 1 <= spec.priority <= 31:
            raise BadRequest(f"urgency {spec.priority}", where="priority", cure="choose one from 1 to 31")
        options.append(("--urgency", str(spec.priority)))
    options.extend(("--dependency", _dependency(one)) for one in spec.dependencies)
    if spec.start_after is not None:
        # The scheme behind --begin-time, which would read a wall clock.
        options.append(("--dependency", f"begin-time:{math.ceil(spec.start_after.timestamp())}"))
    return options


def _dependency(one: Dependency) -> str:
    if one.kind == "singleton":
        cure = "name the jobs to wait for"
        raise BadRequest(
            "every job of ours has a name of its own: singleton means nothing", where="dependencies", cure=cure
        )
    if one.job_id is None or read_flux_id(one.job_id) is None:
        raise BadRequest(
            f"{one.job_id!r} is no job id of Flux", where="dependencies", cure="give the id that flux printed"
        )
    return f"{one.kind}:{one.job_id}"


def shape_options(shape: Shape) -> list[tuple[str, str | None]]:
    """Nodes, slots, cores and GPUs of each slot."""
    slots, cores, gpus = _slots(shape)
    options: list[tuple[str, str | None]] = []
    if shape.node_count is not None:
        options.append(("--nodes", str(shape.node_count)))
    if slots is not None:
        options.append(("--nslots", str(slots)))
    if cores is not None:
        options.append(("--cores-per-slot", str(cores)))
    if gpus:
        options.append(("--gpus-per-slot", str(gpus)))
    if shape.exclusive:
        if shape.node_count is None:
            raise BadRequest("whole nodes, and no nodes are stated", where="exclusive", cure="state the nodes")
        options.append(("--exclusive", None))
    if shape.constraint is not None:
        options.append(("--requires", shape.constraint))
    elif shape.gpus is not None and shape.gpus.model is not None:
        cure = "name the site's property for such nodes in constraint"
        raise BadRequest("Flux has no common word for a GPU's model", where="gpus.model", cure=cure)
    return options


def _slots(shape: Shape) -> tuple[int | None, int | None, int]:
    """Number of slots (None: whole nodes), cores and GPUs of each."""
    nodes, tasks = shape.node_count, shape.task_count
    if tasks is None:
        return _without_tasks(shape, nodes)
    tasks = max(tasks, nodes or 1)
    cores = shape.cpus_per_task
    if cores is None and (shape.cpus_per_node is not None or shape.cpus is not None):
        total = shape.cpus if shape.cpus_per_node is None else shape.cpus_per_node * (nodes or 1)
        cores = -(-(total or 1) // tasks)
    gpus = _all_gpus(shape, tasks, nodes)
    if gpus % tasks == 0:
        return tasks, cores, gpus // tasks
    groups = nodes if nodes is not None and gpus % nodes == 0 else math.gcd(tasks, gpus)
    if nodes is not None and groups % nodes:
        raise BadRequest(f"{gpus} GPUs do not divide over {nodes} nodes", where="gpus", cure="state GPUs per node")
    return groups, -(-tasks // groups) * (cores or 1), gpus // groups


def _all_gpus(shape: Shape, tasks: int, nodes: int | None) -> int:
    if shape.gpus is None:
        return 0
    if shape.gpus.per == "node" and nodes is None and tasks > 1:
        raise BadRequest(
            "GPUs per node, and no nodes are stated", where="gpus", cure="state the nodes, or GPUs per task"
        )
    return shape.gpus.count * {"job": 1, "node": nodes or 1, "task": tasks}[shape.gpus.per]


def _without_tasks(shape: Shape, nodes: int | None) -> tuple[int | None, int | None, int]:
    each = shape.cpus_per_node or shape.cpus_per_task
    if nodes is not None:
        if each is None and shape.cpus is not None:
            each = -(-shape.cpus // nodes)
        gpus = _all_gpus(shape, nodes, nodes)
        if gpus % nodes:
            raise BadRequest(f"{gpus} GPUs do not divide over {nodes} nodes", where="gpus", cure="state GPUs per node")
        return (nodes if each is not None or gpus else None), each, gpus // nodes
    if shape.gpus is not None and shape.gpus.per == "job":
        return shape.gpus.count, -(-(shape.cpus or each or 1) // shape.gpus.count), 1
    if each is None and shape.cpus is not None and shape.gpus is None:
        return shape.cpus, None, 0
    return 1, each or shape.cpus, _all_gpus(shape, 1, None)


def _native(spec: JobSpec, options: list[tuple[str, str | None]]) -> list[tuple[str, str | None]]:
    """The user's own options of flux batch; none may contradict or hide what was negotiated."""
    found: list[tuple[str, str | None]] = []
    known = dict(options)
    for line in spec.native_options:
        match = _NATIVE.fullmatch(checked(line, where="native_options").strip())
        if match is None:
            cure = "write one, such as --signal=SIGUSR1@60s"
            raise BadRequest(f"{line[:80]!r} is not one option of flux batch", where="native_options", cure=cure)
        name, value = SHORT.get(match[1], match[1]), match[2]
        if value is not None and len(value) > 1 and value[0] == value[-1] == "'":
            value = value[1:-1]
        if name in FORBIDDEN:
            raise BadRequest(f"{name} is not taken from a request", where="native_options", cure="delete it")
        if name in known and name not in _MANY:
            if known[name] == value:
                continue
            words = f"{name}={value} contradicts {name}={known[name]}"
            raise BadRequest(words, where="native_options", cure="state one of them")
        found.append((name, value))
    return found


def _not_counted(spec: JobSpec) -> list[str]:
    lines = left_out(spec)
    if spec.shape.memory is not None:
        amount = f"{spec.shape.memory.bytes} bytes per {spec.shape.memory.per}"
        lines.append(f"# dragoman: not carried over: memory ({amount}), which Flux does not count")
    if spec.shape.local_disk_bytes is not None:
        lines.append("# dragoman: not carried over: space on the nodes' own disks, which Flux does not count")
    return lines


def _shielded(lines: list[str]) -> list[str]:
    """Flux looks for directives in the whole script and refuses it where one comes late, behind any marks.

    A letter before each line of the body hides them; it is taken off when the job starts.
    """
    start, end = lines.index("dgm_body() { cat <<'DRAGOMAN_BODY'"), lines.index("DRAGOMAN_BODY")
    if not any(SENTINEL.match(line) for line in lines):
        return lines
    body = [f"b{line}" for line in lines[start + 1 : end]]
    return [*lines[:start], "dgm_body() { LC_ALL=C sed 's/^b//' <<'DRAGOMAN_BODY'", *body, *lines[end:]]
