"""oarsub's options as a table, and a script for `oarsub -S` read back as a request (oarsub(1)).

A directive is one option, its value the rest of the line, as written. Directives count in the whole file: oarsub looks
through all lines but the first. Resources are a tree: hosts, then GPUs or cores on each.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.protocols import ScriptReading
from dragoman.request import ArrayRange, ArraySpec, Dependency
from dragoman.shape import Gpus
from providers.schedulers.base import format_clock
from providers.schedulers.directives import Directive, checked
from providers.schedulers.job_output import scheduler_log
from providers.schedulers.oar_tables import ALIASES, OPTIONS, OUR_OPTIONS
from providers.schedulers.option_rows import Fields, OwnWord, Row, Unreadable, named, number, queues, says
from providers.schedulers.option_table import OptionTable
from providers.schedulers.script_draft import Option, ScriptDraft
from providers.schedulers.slots import gpus_per_node, slots_of

__all__ = ["oar_table", "read_oar_script"]

_LINE = re.compile(r"\s*(--[a-z][a-z0-9-]*|-[A-Za-z])(?:\s*=\s*|\s+|(?<=-[A-Za-z])(?=\S))?(.*?)\s*", re.ASCII)
_NODES = frozenset({"nodes", "host", "network_address"})
_GPU = frozenset({"gpu", "gpudevice", "gpu_device"})
_PER = frozenset({"core", "cpu", "thread", "cpuset", "socket"})


def read_oar_script(text: str) -> ScriptReading:
    """The request that a script makes; see the module."""
    draft = ScriptDraft(text, "OAR", "#OAR", whole_file=True)
    for directive in draft.parts.directives:
        if directive.line == 1:
            draft.note(directive, "oarsub of OAR 2 passes over the first line (put #!/bin/bash before it)")
    oar_table().read(draft)
    model, gpus = draft.job.pop("gpu_model", None), draft.shape.get("gpus")
    if isinstance(gpus, Gpus) and isinstance(model, str):
        draft.shape["gpus"] = gpus.model_copy(update={"model": model})
    return draft.finish()


def _split(text: str) -> tuple[list[Option], str]:
    match = _LINE.fullmatch(text)
    if not text.strip():
        return [], ""
    if match is None:
        return [], f"{text.strip()[:60]!r} is no option (options begin with a dash)"
    name, value, wrong = ALIASES.get(match[1], match[1]), match[2], ""
    if name in OPTIONS and bool(OPTIONS[name]) != bool(value):
        words = "has no value (give one or delete the line)" if OPTIONS[name] else "takes no value (delete it)"
        wrong = f"{match[1]} {words}"
    return [Option(name, (value,) if value else (), f"{match[1]} {value}".strip(), wrong)], ""


def _value(value: str, where: str) -> str:
    """A value as it stands; oarexec puts names and paths between double quotes into a shell line of its own."""
    checked(value, where=where)
    marks = {"constraint": "", "native_options": ""}.get(where, "\"'`$\\")
    if not value.strip() or value.startswith("-") or set(value) & set(marks):
        cure = "choose one without quotes, dollar signs, backslashes and a leading dash"
        raise BadRequest(f"{value[:60]!r} cannot be given to oarsub", where=where, cure=cure)
    return value


def _path(path: str, where: str) -> str:
    if "%" in path:
        raise BadRequest(f"{path[:80]!r}: OAR fills in marks that begin with %", where=where, cure="rename it")
    return path


def _write_name(spec: JobSpec) -> str:
    name = spec.name.replace("%", "_")
    return f"{name[: 99 - len(spec.tag)]}.{spec.tag}"


def _log(spec: JobSpec) -> str:
    """What OAR itself collects; the script sends its output to the job's files."""
    return _path(scheduler_log(spec), "control_dir")


def _resources(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    if "-l" in draft.deferred:
        raise OwnWord("OAR chooses one of several -l: the first is read whole, and this one is kept for OAR only")
    draft.deferred["-l"] = directive, option
    tree, comma, tail = f",{option.value}".partition(",walltime=")
    tree = tree[1:]
    if comma and "," not in tail:
        seconds = _walltime(tail)
        if not seconds:
            draft.problem(directive, f"walltime={tail[:40]} is no time (write it like walltime=2:00:00)")
        elif "walltime_s" not in draft.job:
            draft.set(directive, option.written, walltime_s=seconds)
    if (comma and "," in tail) or draft.shape or "+" in tree or "{" in tree:
        raise OwnWord("several groups or shapes of resources are kept for OAR only")
    if not re.fullmatch(r"/?\w+=(?:\d+|ALL|BEST)(?:/\w+=(?:\d+|ALL|BEST))*", tree, re.ASCII):
        if tree:
            raise Unreadable(f"{tree[:60]!r} is no tree of resources (write it like /nodes=2/core=4)")
        return
    names = {part.partition("=")[0] for part in tree.strip("/").split("/")}
    if wrong := re.search(r"=(0+|\d{10,})(?!\d)", tree):
        raise Unreadable(f"{wrong[1][:20]} in {tree[:60]!r} is no number of them (write a whole number from 1)")
    if re.search(r"=(?:ALL|BEST)", tree) or not names <= _NODES | _GPU | _PER:
        raise OwnWord("kept for OAR only")
    _spread(draft, directive, option, tree)


def _write_resources(spec: JobSpec) -> str:
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


def _walltime(text: str) -> int | None:
    """Seconds of `2:00:00`, `2:00` (hours and minutes) or `2` (hours)."""
    if re.fullmatch(r"\d{1,6}(?::\d{1,2}){0,2}", text.strip(), re.ASCII) is None:
        return None
    hours, minutes, seconds = [*(int(part) for part in text.strip().split(":")), 0, 0][:3]
    return hours * 3600 + minutes * 60 + seconds


def _spread(draft: ScriptDraft, directive: Directive, option: Option, tree: str) -> None:
    nodes: int | None = None
    gpus: int | None = None
    cores: int | None = None
    under = 1
    for part in tree.strip("/").split("/"):
        name, _, text = part.partition("=")
        count = int(text)
        if name in _NODES:
            nodes = count
            continue
        under *= count
        if name in _GPU:
            gpus = under
        else:
            cores = under
    if nodes is not None:
        draft.set_shape(directive, option.written, nodes=nodes)
        if gpus is None and cores is None:
            draft.set_shape(directive, option.written, exclusive=True)
    if gpus is not None:
        per = "node" if nodes is not None else "job"
        draft.set_shape(directive, option.written, gpus=Gpus.model_validate({"count": gpus, "per": per}))
    if cores is not None:
        draft.set_shape(directive, option.written, **{"cpus_per_node" if nodes is not None else "cpus": cores})


def _property(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    text = option.value
    if len(text) > 2 and text[0] == text[-1] == '"':
        text = text[1:-1]
    if len(re.findall(r"'", text)) % 2 or len(re.findall('"', text)) % 2:
        raise Unreadable(f"{text[:60]!r} has a quote that is not closed (close it on the same line)")
    if len(text) > 256:
        raise OwnWord
    ours = re.search(r"(?:^| AND )\(?LOWER\(\w+\) LIKE '%([a-z0-9 ._-]{1,64})%'\)?$", text)
    theirs = re.fullmatch(r"\s*gpu_?model\s*=\s*'([A-Za-z0-9][A-Za-z0-9 ._-]{0,63})'\s*", text)
    if ours is not None:
        draft.job["gpu_model"] = ours[1]
        text = text[: ours.start()]
        text = text[1:-1] if ours[0].startswith(" AND (") else text
    elif theirs is not None:
        draft.job["gpu_model"] = theirs[1].lower()
    if text:
        draft.set_shape(directive, option.written, constraint=text)


def _properties(spec: JobSpec, gpu_model: str) -> str | None:
    shape = spec.shape
    parts = [shape.constraint] if shape.constraint is not None else []
    model = shape.gpus.model if shape.gpus is not None else None
    if model is not None and not any(re.search(r"gpu_?model", part) for part in parts):
        if re.fullmatch(r"[a-z0-9 ._-]+", model.lower(), re.ASCII) is None or not re.fullmatch(r"\w+", gpu_model):
            raise BadRequest(f"{model!r} is no model of GPU", where="gpus.model", cure="write it like a100")
        parts.append(f"LOWER({gpu_model}) LIKE '%{model.lower()}%'")
    return " AND ".join(f"({part})" if len(parts) > 1 else part for part in parts) or None


def _depends(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    if re.fullmatch(r"\d{1,18}", option.value, re.ASCII) is None:
        raise Unreadable(f"{option.value[:60]!r} is no job id (give oarsub's number)")
    draft.add(directive, option.written, "dependencies", Dependency(kind="afterany", job_id=option.value))


def _write_depends(spec: JobSpec) -> Sequence[str]:
    for one in spec.dependencies:
        if one.kind != "afterany" or one.job_id is None or re.fullmatch(r"\d{1,18}", one.job_id, re.ASCII) is None:
            cure = "use afterany with oarsub's number, and test in the script what the other job left"
            raise BadRequest(f"OAR waits for a job's end only: it has no {one.kind}", where="dependencies", cure=cure)
    return [one.job_id or "" for one in spec.dependencies]


def _array(text: str) -> Fields:
    return {"array": ArraySpec(ranges=(ArrayRange(first=1, last=number(text)),))}


def _write_array(spec: JobSpec) -> str | None:
    if spec.array is not None and spec.array.at_once is not None:
        cure = "leave out how many may run at once, or ask for fewer tasks"
        raise BadRequest("OAR cannot bound how many tasks of an array run at once", where="array", cure=cure)
    return str(spec.array.size) if spec.array is not None else None


def oar_table(gpu_model: str = "gpu_model") -> OptionTable:
    """What oarsub's options say of a job.

    Args:
        gpu_model: the site's property that holds a GPU's model.

    """
    return OptionTable(
        program="oarsub",
        counts=OPTIONS,
        ours=OUR_OPTIONS,
        rows=(
            Row("-n", _write_name, ScriptDraft.job_name, "name"),
            Row("-d", lambda spec: _path(spec.work_dir, "work_dir"), where="work_dir"),
            Row("-O", _log, where="control_dir"),
            Row("-E", _log, where="control_dir"),
            Row("-l", _write_resources, _resources, "shape"),
            Row("-p", lambda spec: _properties(spec, gpu_model), _property, "constraint"),
            queues("-q", ""),
            named("--project", "account"),
            Row(
                "-t", lambda spec: "idempotent" if spec.requeue else None,
                says(lambda text: {"requeue": True} if text == "idempotent" else None),
            ),
            Row("-a", _write_depends, _depends, "dependencies"),
            Row("--array", _write_array, says(_array), "array"),
        ),
        quote=_value,
        many=frozenset({"-l", "-t", "-a"}),
        example="-t besteffort",
        split=_split,
    )  # fmt: skip
