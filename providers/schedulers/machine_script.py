"""Scripts of the scheduler `machine`: a job spec as `#DRAGOMAN` lines, and such lines as a request."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Literal, cast

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.protocols import ScriptReading
from dragoman.request import Dependency, JobRequest, Source
from dragoman.shape import Gpus, Memory, Shape
from providers.schedulers.directives import Directive, checked, find_source, split_script
from providers.schedulers.machine_site.directives import AFTER, PREFIX, encode, read_option

__all__ = ["directive_lines", "needs", "read_machine_script"]

NOT_CARRIED = ("tag", "work_dir", "control_dir", "output", "error")
"""Belong to one attempt, not to the request."""


def needs(spec: JobSpec) -> list[str]:
    """What a job asks of the host, as options.

    Raises:
        BadRequest: this scheduler cannot give it.

    """
    _refuse(spec)
    shape = spec.shape
    if (shape.node_count or 1) > 1:
        raise BadRequest(f"one host cannot give {shape.node_count} nodes", where="shape.nodes", cure="ask for one node")
    cpus, gpus = shape.total_cpus or 1, shape.total_gpus or 0
    options = [f"--cpus={cpus}"]
    if shape.task_count is not None:
        options.append(f"--tasks={shape.task_count}")
    if shape.exclusive:
        options.append("--exclusive")
    memory = shape.memory_bytes_per_node(1, cpus, gpus)
    if memory is not None:
        if memory < 1:
            raise BadRequest("memory for each GPU, and no GPUs", where="shape.memory", cure="state it for the job")
        options.append(f"--memory={memory}")
    if gpus:
        options.append(f"--gpus={gpus}")
    if spec.walltime_s is not None:
        options.append(f"--walltime={spec.walltime_s}")
    return options


def directive_lines(spec: JobSpec) -> list[str]:
    """The directives of a job's script.

    Raises:
        BadRequest: this scheduler cannot give what is asked, or a value cannot stand in a script.

    """
    options = [*needs(spec), *_text("tag", spec.tag), *_text("name", spec.name)]
    options += _text("work-dir", spec.work_dir) + _text("control-dir", spec.control_dir)
    options += _text("output", spec.stdout) + _text("error", spec.stderr)
    options += [f"--after={dependency.kind}:{dependency.job_id}" for dependency in spec.dependencies]
    if spec.start_after is not None:
        options.append(f"--begin={max(0, math.ceil(spec.start_after.timestamp()))}")
    options += [word for line in spec.native_options for word in checked(line, where="native_options").split()]
    read: dict[str, Any] = {}
    for option in options:
        try:
            read_option(option, read)
        except ValueError as error:
            raise BadRequest(f"{option[:200]}: {error}", where="native_options", cure="mend or remove it") from error
    return [f"{PREFIX} {option}" for option in options]


def _text(name: str, value: str) -> list[str]:
    where = name.replace("-", "_")
    try:
        return [f"--{name}={encode(checked(value, where=where))}"]
    except UnicodeEncodeError as error:
        raise BadRequest("is no valid text", where=where, cure="use names in UTF-8") from error


def _refuse(spec: JobSpec) -> None:
    for field, what in (
        ("array", "machine runs no arrays"),
        ("components", "machine runs no heterogeneous jobs"),
        ("reservation", "machine has no reservations"),
        ("licenses", "machine counts no licenses"),
        ("image", "machine starts no containers by itself"),
    ):
        if getattr(spec, field):
            raise BadRequest(what, where=field, cure="leave it out, or choose another site")
    if spec.shape.constraint is not None:
        raise BadRequest("machine knows no node features", where="shape.constraint", cure="leave it out")
    for number, dependency in enumerate(spec.dependencies):
        where = f"dependencies.{number}"
        if dependency.kind not in AFTER:
            raise BadRequest(f"machine does not know {dependency.kind}", where=where, cure=f"use {', '.join(AFTER)}")
        job_id = dependency.job_id or ""
        if not (job_id.isascii() and job_id.isdigit()):
            raise BadRequest(f"{job_id!r} is no job of this queue", where=where, cure="name a job by its number")


def read_machine_script(text: str) -> ScriptReading:
    """A script's `#DRAGOMAN` lines as a request; what is wrong with a line is a problem with its number."""
    parts = split_script(text, PREFIX)
    found: dict[str, Any] = {}
    sources: list[Source] = []
    problems: list[str] = []
    not_carried: list[str] = []
    for directive in parts.directives:
        for word in directive.text.split():
            field = word.partition("=")[0].removeprefix("--").replace("-", "_")
            try:
                read_option(word, found)
            except ValueError as error:
                problems.append(f"line {directive.line}: {word[:200]}: {error}")
                continue
            if field in NOT_CARRIED:
                not_carried.append(word)
            else:
                sources.append(_source(field, word, directive))
    problems += [f"line {one.line}: stands after the first command and is not read" for one in parts.ignored]
    problems += [
        f"line {one.line}: {one.text[:200]}: was perhaps meant as a directive" for one in _meant(parts.lookalikes)
    ]
    try:
        request = _request(found, parts.body, sources)
    except ValueError as error:
        raise BadRequest(f"the directives cannot be used: {error}", where="script", cure="mend them") from error
    return ScriptReading(
        request=request,
        body=parts.body,
        interpreter=parts.interpreter,
        problems=tuple(problems),
        not_carried=tuple(not_carried),
    )


def _meant(lookalikes: Sequence[Directive]) -> list[Directive]:
    """Comments with an option in them: others only tell our name."""
    return [one for one in lookalikes if "--" in one.text]


_FIELDS = {
    "cpus": "shapes.0.cpus", "tasks": "shapes.0.tasks", "memory": "shapes.0.memory", "gpus": "shapes.0.gpus",
    "exclusive": "shapes.0.exclusive", "walltime": "walltime_s", "name": "name", "begin": "start_after",
    "after": "dependencies",
}  # fmt: skip


def _source(field: str, word: str, directive: Directive) -> Source:
    return find_source(_FIELDS[field], word, directive)


def _request(found: dict[str, Any], body: str, sources: Sequence[Source]) -> JobRequest:
    cpus, tasks = found.get("cpus"), found.get("tasks")
    each = cpus // tasks if cpus and tasks and cpus % tasks == 0 else None
    shape = Shape(
        tasks=tasks,
        cpus_per_task=each,
        cpus=cpus if each is None else None,
        memory=Memory(bytes=found["memory"], per="job") if "memory" in found else None,
        gpus=Gpus(count=found["gpus"], per="job") if found.get("gpus") else None,
        exclusive=found.get("exclusive"),
    )
    after = tuple(
        Dependency(kind=cast(Literal["afterok", "afterany", "afternotok", "after"], kind), job_id=job_id)
        for kind, job_id in found.get("after", ())
    )
    return JobRequest(
        name=found.get("name"),
        script=body or None,
        shapes=(shape,) if shape != Shape() else (),
        walltime_s=found.get("walltime"),
        dependencies=after,
        start_after=datetime.fromtimestamp(found["begin"], UTC) if "begin" in found else None,
        sources=tuple(sources),
    )
