"""A job's needs as directives of another scheduler, and what of them it cannot say.

The dialect itself writes the directives. What it refuses is taken out and told; what it passes over is found by taking
each field out in turn: where that changes no directive, the directives do not say it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.protocols import Dialect
from dragoman.request import JobRequest
from dragoman.shape import Shape
from providers.schedulers.script_words import ScriptWords

__all__ = ["NO_NAME", "TAG", "Needs", "spec_of", "write_needs"]

TAG = "dgm-translation0-t"
_CONTROL = "/dragoman-translation"
NO_NAME = "dragoman-no-name"
_LEFT_OUT = "# dragoman: not carried over: "
_JOB = (
    "walltime_s", "walltime_min_s", "account", "queue", "queues", "qos", "reservation", "licenses", "array",
    "dependencies", "start_after",
)  # fmt: skip


@dataclass(slots=True)
class Needs:
    """Directives, without their prefix, and fields that they do not say, with why."""

    spec: JobSpec
    options: list[str] = field(default_factory=list)
    header: list[str] = field(default_factory=list)
    """The lines as the dialect writes them."""
    lost: dict[str, str] = field(default_factory=dict)
    """Field as in a request (`shapes.0.gpus`) to why, with the cure."""
    natives: dict[str, str] = field(default_factory=dict)
    """Own options of the source that are refused, with why."""


def spec_of(request: JobRequest, *, natives: bool) -> JobSpec:
    """The job of a request, with our marks where the script says nothing."""
    fields = {name: getattr(request, name) for name in _JOB}
    images = [need.image for need in request.containers if need.image]
    return JobSpec(
        tag=TAG, name=request.name or ("job" if request.array else NO_NAME), shape=request.shape,
        components=request.components, work_dir=f"{_CONTROL}/work", control_dir=_CONTROL, body="true\n",
        requeue=bool(request.requeue),
        image=images[0] if images else None, native_options=request.native_options if natives else (),
        **fields,
    )  # fmt: skip


def write_needs(
    request: JobRequest, dialect: Dialect, words: ScriptWords, source: ScriptWords, *, natives: bool
) -> Needs:
    """What the target's directives say of a request.

    Args:
        request: what the source says.
        dialect: the target.
        words: the target's.
        source: whose request it is: job ids are its own, and so are words for what a node must be.
        natives: the source's own options are the target's too.

    Raises:
        BadRequest: a refusal that names nothing that could be left out.

    """
    needs = Needs(spec_of(request, natives=False))
    _foreign(needs, words, source)
    kept: list[str] = []
    for line in request.native_options if natives else ():
        spec = needs.spec.model_copy(update={"native_options": (*kept, line)})
        try:
            dialect.render(spec)
        except BadRequest as error:
            if error.where == "native_options":
                needs.natives[line] = str(error)
                continue
        kept.append(line)
    needs.spec = needs.spec.model_copy(update={"native_options": tuple(kept)})
    needs.header = header = _rendered(needs, dialect, words)
    _passed_over(needs, dialect, words, header)
    for line in header:
        if line.startswith(_LEFT_OUT):
            _left_out(needs, line.removeprefix(_LEFT_OUT))
    needs.options = [_bare(line, words) for line in header if _counts(line, words)]
    return needs


def _foreign(needs: Needs, words: ScriptWords, source: ScriptWords) -> None:
    """Take out what means nothing, or something else, to another scheduler."""
    named = [one for one in needs.spec.dependencies if one.job_id is not None]
    if named:
        ids = ", ".join(one.job_id or "" for one in named[:10])
        cure = f"give the number that {words.title} prints for that job"
        needs.lost["dependencies"] = (
            f"{source.title}'s job {ids} is unknown to {words.title}, or another job there ({cure})"
        )
        left = tuple(one for one in needs.spec.dependencies if one.job_id is None)
        needs.spec = needs.spec.model_copy(update={"dependencies": left})
    shapes = needs.spec.components or (needs.spec.shape,)
    conditions = dict.fromkeys(shape.constraint for shape in shapes if shape.constraint is not None)
    if conditions and source.conditions_in != words.conditions_in:
        _, needs.spec = _without(needs.spec, "shape.constraint")
        if not all(_is_model(shape) for shape in shapes if shape.constraint is not None):
            needs.lost["shapes.0.constraint"] = (
                f"what a node must be is said in words of {source.title}'s site ({'; '.join(conditions)[:200]}), which"
                f" mean nothing to {words.title} (look for the site's own word)"
            )


def _is_model(shape: Shape) -> bool:
    """Whether the condition only says again which GPUs are wanted (`gputype=A100`)."""
    model = shape.gpus.model if shape.gpus is not None else None
    values = [part.partition("=")[2].strip(" '\"").lower() for part in (shape.constraint or "").split(":")]
    return model is not None and all(value == model for value in values)


def _rendered(needs: Needs, dialect: Dialect, words: ScriptWords) -> list[str]:
    for _ in range(40):
        try:
            return _header(dialect.render(needs.spec), words)
        except BadRequest as error:
            path, spec = _without(needs.spec, error.where)
            if spec == needs.spec:
                path, spec = _culprit(needs.spec, dialect, error)
            needs.spec = spec
            needs.lost[path] = f"{error.what} ({error.cure})" if error.cure else error.what
    raise BadRequest("the needs cannot be written", where="script", cure="hand them in as a form")


def _culprit(spec: JobSpec, dialect: Dialect, error: BadRequest) -> tuple[str, JobSpec]:
    """The field without which that error is gone, where the error names none."""
    for path in (*_JOB, "image", "name", *(f"shape.{name}" for name in _SHAPE)):
        found, less = _without(spec, path)
        if less == spec:
            continue
        try:
            dialect.render(less)
        except BadRequest as other:
            if str(other) == str(error):
                continue
        return found, less
    raise error


def _header(script: str, words: ScriptWords) -> list[str]:
    lines: list[str] = []
    for line in script.split("\n")[1:]:
        if not line.startswith((words.prefix, _LEFT_OUT)):
            break
        lines.append(line.replace(f".{TAG}", ""))
    return lines


def _counts(line: str, words: ScriptWords) -> bool:
    """Whether a line is of the job rather than of an attempt of ours."""
    if not line.startswith(words.prefix) or TAG in line or _CONTROL in line or NO_NAME in line:
        return False
    match = re.match(r"\s*(--?[A-Za-z][\w-]*|\+?[A-Za-z]\w*(?=\s*=))", line[len(words.prefix) :])
    return match is None or match[1] not in words.own


def _bare(line: str, words: ScriptWords) -> str:
    return line[len(words.prefix) :].strip()


def _without(spec: JobSpec, where: str) -> tuple[str, JobSpec]:
    """The job without a field that was refused, and the field's place in a request."""
    parts = where.removeprefix("shape.").removeprefix("shapes.0.").split(".")
    name = parts[0]
    if name in Shape.model_fields:
        shape = _less(spec.shape, ".".join(parts))
        components = tuple(_less(one, ".".join(parts)) for one in spec.components)
        return f"shapes.0.{'.'.join(parts)}", spec.model_copy(update={"shape": shape, "components": components})
    if name == "name":
        return name, spec.model_copy(update={"name": NO_NAME})
    if name in JobSpec.model_fields:
        default = JobSpec.model_fields[name].get_default()
        update: dict[str, Any] = {name: default}
        if name == "queue":
            update["queues"] = ()
        return name, spec.model_copy(update=update)
    return where, spec


def _less(shape: Shape, path: str) -> Shape:
    name, _, inner = path.partition(".")
    value = getattr(shape, name)
    if inner and value is not None and inner in type(value).model_fields:
        return shape.model_copy(update={name: value.model_copy(update={inner: None})})
    update: dict[str, None] = {name: None}
    if name == "nodes":
        update["nodes_max"] = None
    return shape.model_copy(update=update)


_REDUNDANT = ("node_count", "task_count", "total_cpus", "total_gpus")
_COUNTS = frozenset({"nodes", "tasks", "tasks_per_node", "cpus_per_task", "cpus_per_node", "cpus"})
_SHAPE = (
    "nodes", "nodes_max", "tasks", "tasks_per_node", "cpus_per_task", "cpus_per_node", "cpus", "gpus", "gpus.model",
    "gpus.memory_bytes", "memory", "local_disk_bytes", "exclusive", "constraint",
)  # fmt: skip


def _passed_over(needs: Needs, dialect: Dialect, words: ScriptWords, header: list[str]) -> None:
    for name in (*_JOB, "image"):
        value = getattr(needs.spec, name)
        if value and value != JobSpec.model_fields[name].get_default():
            # Of several queues the first may be said and the others not.
            update = (
                {"queues": (), "queue": None} if name == "queue" else {name: JobSpec.model_fields[name].get_default()}
            )
            less = needs.spec.model_copy(update=update)
            if _same(less, dialect, words, header):
                needs.lost.setdefault(name, _ONE_QUEUE if name == "queues" and needs.spec.queue else "")
    if needs.spec.components:
        return
    for path in _SHAPE:
        shape = needs.spec.shape
        outer, _, inner = path.partition(".")
        held = getattr(shape, outer)
        if held is None or (inner and getattr(held, inner) is None) or f"shapes.0.{path}" in needs.lost:
            continue
        less_shape = (
            _less(shape, path) if path != "nodes" else shape.model_copy(update={"nodes": None, "nodes_max": None})
        )
        implied = path in _COUNTS and _implied(shape, less_shape)
        if not implied and _same(needs.spec.model_copy(update={"shape": less_shape}), dialect, words, header):
            needs.lost.setdefault(f"shapes.0.{path}", "")


def _implied(shape: Shape, less: Shape) -> bool:
    """Whether the rest says it too, or it is the number that is meant where nothing is said."""
    same = all(getattr(shape, name) == getattr(less, name) for name in _REDUNDANT)
    return (same and shape.total_cpus is not None) or _one(shape, less)


def _one(shape: Shape, less: Shape) -> bool:
    changed = [value for name, value in shape if value != getattr(less, name)]
    return all(value == 1 for value in changed)


def _same(spec: JobSpec, dialect: Dialect, words: ScriptWords, header: list[str]) -> bool:
    try:
        return _header(dialect.render(spec), words) == header
    except BadRequest:
        return False


_ONE_QUEUE = "one queue can be named, and the first is written (choose another where that one is not there)"
_COMMENTS: Mapping[str, str] = {
    "a least walltime": "walltime_min_s", "up to ": "shapes.0.nodes_max", "memory": "shapes.0.memory",
    "space on the nodes": "shapes.0.local_disk_bytes", "further queues": "queues",
}  # fmt: skip


def _left_out(needs: Needs, told: str) -> None:
    path = next((path for begin, path in _COMMENTS.items() if told.startswith(begin)), told)
    needs.lost[path] = told
