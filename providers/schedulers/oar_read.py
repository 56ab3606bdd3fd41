"""A script for `oarsub -S`, read back as a request: one option a line, its value the rest of the line, as written.

They count in the whole file: oarsub looks through all lines but the first.
"""

from __future__ import annotations

import re

from dragoman.protocols import ScriptReading
from dragoman.request import ArrayRange, ArraySpec, Dependency
from dragoman.shape import Gpus
from providers.schedulers.directives import Directive
from providers.schedulers.oar_script import SHORT
from providers.schedulers.oar_tables import OPTIONS, OUR_OPTIONS
from providers.schedulers.script_draft import Option, ScriptDraft, read_number

__all__ = ["read_oar_script"]

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
        match = _LINE.fullmatch(directive.text)
        if match is None:
            draft.problem(directive, f"{directive.text.strip()[:60]!r} is no option (options begin with a dash)")
            continue
        name = SHORT.get(match[1], match[1])
        option = Option(name, (match[2],) if match[2] else (), f"{match[1]} {match[2]}".strip())
        if name not in OPTIONS:
            draft.problem(directive, f"{match[1]} is no option of oarsub in a script (delete it)")
        elif OPTIONS[name] != bool(match[2]):
            words = "has no value (give one or delete the line)" if OPTIONS[name] else "takes no value (delete it)"
            draft.problem(directive, f"{match[1]} {words}")
        else:
            _take(draft, directive, option)
    model, gpus = draft.job.pop("gpu_model", None), draft.shape.get("gpus")
    if isinstance(gpus, Gpus) and isinstance(model, str):
        draft.shape["gpus"] = gpus.model_copy(update={"model": model})
    return draft.finish()


def _take(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    match option.name:
        case "--name":
            draft.job_name(directive, option)
        case "--resource":
            _resources(draft, directive, option)
        case "--property":
            _property(draft, directive, option)
        case "--queue":
            draft.name(directive, option, "queue")
        case "--project":
            draft.name(directive, option, "account")
        case "--anterior" if re.fullmatch(r"\d{1,18}", option.value, re.ASCII):
            one = Dependency(kind="afterany", job_id=option.value)
            draft.add(directive, option.written, "dependencies", one)
        case "--array":
            count = read_number(option.value)
            if count is None:
                draft.problem(directive, f"--array {option.value[:40]!r} is no number (write a whole number from 1)")
            else:
                draft.set(directive, option.written, array=ArraySpec(ranges=(ArrayRange(first=1, last=count),)))
        case "--type" if option.value == "idempotent":
            draft.set(directive, option.written, requeue=True)
        case name if name in OUR_OPTIONS:
            draft.ours(option.written, name)
        case "--type":
            draft.native(option.written)
        case name:
            draft.native(option.written, name)


def _resources(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    tree, comma, tail = option.value.partition(",walltime=")
    if (comma and "," in tail) or draft.shape or "+" in tree or "{" in tree:
        draft.native(option.written)
        words = "several groups or shapes of resources are kept for OAR only"
        draft.note(directive, f"{option.written[:80]}: {words}")
    elif _tree(draft, directive, option, tree):
        _spread(draft, directive, option, tree)
    if comma and "," not in tail:
        seconds = _walltime(tail)
        if not seconds:
            draft.problem(directive, f"walltime={tail[:40]} is no time (write it like walltime=2:00:00)")
        elif "walltime_s" not in draft.job:
            draft.set(directive, option.written, walltime_s=seconds)


def _walltime(text: str) -> int | None:
    """Seconds of `2:00:00`, `2:00` (hours and minutes) or `2` (hours)."""
    if re.fullmatch(r"\d{1,6}(?::\d{1,2}){0,2}", text.strip(), re.ASCII) is None:
        return None
    hours, minutes, seconds = [*(int(part) for part in text.strip().split(":")), 0, 0][:3]
    return hours * 3600 + minutes * 60 + seconds


def _tree(draft: ScriptDraft, directive: Directive, option: Option, tree: str) -> bool:
    if re.fullmatch(r"/?\w+=(?:\d+|ALL|BEST)(?:/\w+=(?:\d+|ALL|BEST))*", tree, re.ASCII):
        if re.search(r"=(?:0+(?!\d)|ALL|BEST)", tree) or not _known(tree):
            draft.native(option.written)
            draft.note(directive, f"{option.written[:80]} is kept for OAR only")
            return False
        return True
    if tree:
        draft.problem(directive, f"-l {tree[:60]!r} is no tree of resources (write it like /nodes=2/core=4)")
    return False


def _known(tree: str) -> bool:
    names = {part.partition("=")[0] for part in tree.strip("/").split("/")}
    return names <= _NODES | _GPU | _PER


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
    if len(text) > 256:
        draft.native(option.written, option.name)
        return
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
