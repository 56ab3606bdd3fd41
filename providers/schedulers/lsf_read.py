"""bsub's options as a table, and a script for `bsub <SCRIPT` read back as a request (bsub(1)).

Slots are read as tasks. A bare number of `-M` or `mem=` is in the unit that LSF_UNIT_FOR_LIMITS names, which only the
site knows: it is taken for MB, the default since LSF 10, and the person is told. `mem=` without `/host` or `/job` is
per slot. Directives count in the whole file: bsub's manual has one behind the commands ("job_script").
"""

from __future__ import annotations

import math
import re

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.protocols import ScriptReading
from dragoman.request import ArraySpec, Dependency
from dragoman.shape import Gpus, Memory
from providers.schedulers.directives import Directive
from providers.schedulers.job_output import scheduler_log
from providers.schedulers.lsf_tables import OPTIONS, OUR_OPTIONS
from providers.schedulers.option_rows import Fields, Row, Unreadable, named, queues, says
from providers.schedulers.option_table import OptionTable, as_written
from providers.schedulers.plain_words import plain_word
from providers.schedulers.script_draft import Option, ScriptDraft, read_number
from providers.schedulers.slots import array_text, read_indices

__all__ = ["TABLE", "read_lsf_script"]

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTPEkmgtpe]?)[bB]?", re.ASCII)
_CONDITION = re.compile(r"(done|ended|exit|started)\((\d{1,18}(?:\[\d+\])?)\)", re.ASCII)
_KINDS = {"done": "afterok", "ended": "afterany", "exit": "afternotok", "started": "after"}


def read_lsf_script(text: str) -> ScriptReading:
    """The request that a script makes; see the module."""
    draft = ScriptDraft(text, "LSF", "#BSUB", whole_file=True)
    TABLE.read(draft)
    return draft.finish()


def _size(draft: ScriptDraft, directive: Directive, option: Option, text: str) -> int | None:
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        draft.problem(directive, f"{option.name}: {text[:40]!r} is no amount of memory (write it like 4GB)")
        return None
    if not match[2]:
        draft.note(directive, f"{text} has no unit: it is taken for MB, but the site may count otherwise")
    return round(float(match[1]) * 1024.0 ** " kmgtpe".index(match[2].lower() or "m")) or None


def _limit(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    amount = _size(draft, directive, option, option.value)
    if amount is not None and "memory" not in draft.shape:
        draft.set_shape(directive, option.written, memory=Memory(bytes=amount, per="node"))


def _require(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    sections = re.findall(r"(\w+)\[((?:[^\[\]]|\[[^\]]*\])*)\]", option.value)
    if re.search(r"[+{}]|\|\||^\s*\d", option.value) or not sections:
        if not sections and re.fullmatch(r"[\w.<>=!&|() +-]+", option.value):
            draft.set_shape(directive, option.written, constraint=option.value)
        elif not sections:
            draft.problem(directive, f"-R {option.value[:60]!r} is no requirement (write it like rusage[mem=4GB])")
        else:
            draft.native(as_written(option))
        return
    for section, inner in sections:
        if section == "span":
            _span(draft, directive, option, inner)
        elif section == "rusage":
            _usage(draft, directive, option, inner)
        elif section == "select":
            draft.set_shape(directive, option.written, constraint=inner)
        else:
            draft.native(f'-R "{section}[{inner}]"')


def _span(draft: ScriptDraft, directive: Directive, option: Option, inner: str) -> None:
    name, _, text = inner.partition("=")
    count = read_number(text)
    if name == "hosts" and count == 1:
        draft.set_shape(directive, option.written, nodes=1)
    elif name == "ptile" and count is not None:
        draft.set_shape(directive, option.written, tasks_per_node=count)
    else:
        draft.native(f'-R "span[{inner}]"')


def _usage(draft: ScriptDraft, directive: Directive, option: Option, inner: str) -> None:
    rest: list[str] = []
    for part in re.split(r"[,:]", inner):
        name, _, text = part.strip().partition("=")
        text, _, per = text.partition("/")
        if name == "mem":
            amount = _size(draft, directive, option, text)
            if amount is not None:
                word = {"host": "node", "job": "job"}.get(per, "cpu")
                draft.set_shape(directive, option.written, memory=Memory.model_validate({"bytes": amount, "per": word}))
        elif name == "tmp" and not per:
            disk = _size(draft, directive, option, text)
            draft.set_shape(directive, option.written, local_disk_bytes=disk)
        elif name == "ngpus_physical" or name == "ngpus_excl_p":
            count = read_number(text)
            draft.set_shape(directive, option.written, gpus=Gpus(count=count, per="node") if count else None)
        elif part.strip():
            rest.append(part.strip())
    if rest:
        draft.native(f'-R "rusage[{":".join(rest)}]"')


def _gpus(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    fields: dict[str, object] = {"count": 1, "per": "node"}
    rest: list[str] = []
    for part in option.value.split(":"):
        name, _, text = part.strip().partition("=")
        count, _, per = text.partition("/")
        if name == "num" and read_number(count) is not None and per in ("", "host", "task"):
            fields |= {"count": int(count), "per": "task" if per == "task" else "node"}
        elif name == "gmodel" and re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9 ._-]{0,63}", text, re.ASCII):
            fields["model"] = text.lower()
        elif name == "gmem" and (amount := _size(draft, directive, option, text)) is not None:
            fields["memory_bytes"] = amount
        elif name not in ("-", "", "mode") or (name == "mode" and text != "shared"):
            rest.append(part.strip())
    draft.set_shape(directive, option.written, gpus=Gpus.model_validate(fields))
    if rest:
        draft.native(as_written(option), "-gpu")


def _slots(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    least, comma, most = option.value.partition(",")
    count = read_number(least)
    if count is None or (comma and read_number(most) is None):
        draft.problem(directive, f"-n {option.value[:40]!r} is no number of slots (write it like -n 8)")
        return
    draft.set_shape(directive, option.written, tasks=count)
    if comma:
        draft.note(directive, f"{option.written}: the least number of slots is asked for")


def _nodes(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    count = read_number(option.value)
    if count is None:
        draft.problem(directive, f"-nnodes {option.value[:40]!r} is no number (write a whole number from 1)")
        return
    draft.set_shape(directive, option.written, nodes=count, exclusive=True)
    draft.native(option.written, "-nnodes")


def _walltime(text: str) -> Fields:
    match = re.fullmatch(r"(?:(\d{1,6}):)?(\d{1,7})(?:/\S+)?", text.strip(), re.ASCII)
    minutes = int(match[1] or 0) * 60 + int(match[2]) if match is not None else 0
    if minutes < 1:
        raise Unreadable(f"{text[:40]!r} is no time (write it like 2:30, or in minutes)")
    return {"walltime_s": minutes * 60}


def _write_walltime(spec: JobSpec) -> str | None:
    if spec.walltime_s is None:
        return None
    minutes = math.ceil(spec.walltime_s / 60)
    return f"{minutes // 60}:{minutes % 60:02d}"


def _name(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    match = re.fullmatch(r"(.*?)\[([\d,:\s-]+)\](?:%(\d+))?", option.value)
    if match is None:
        if "[" in option.value:
            cure = "write it like name[1-10]%2"
            draft.problem(directive, f"-J {option.value[:60]!r} has no list of indices ({cure})")
        draft.job_name(directive, option._replace(values=(option.value.partition("[")[0],)))
        return
    if match[1]:
        draft.job_name(directive, option._replace(values=(match[1],)))
    ranges = read_indices(match[2], least=1)
    if ranges is None:
        draft.problem(directive, f"-J: [{match[2][:40]}] is no list of indices (write it like [1-10:2])")
        return
    draft.set(directive, option.written, array=ArraySpec(ranges=ranges, at_once=int(match[3] or 0) or None))


def _write_name(spec: JobSpec) -> str:
    plain = plain_word(f"{spec.name}.{spec.tag}", where="name", scheduler="LSF", bare=True)
    name = re.sub(r"[\[\]/%*]", "_", plain)
    if spec.array is None:
        return name
    if spec.array.ranges[0].first < 1:
        raise BadRequest("LSF counts the tasks of an array from 1", where="array", cure="write it like 1-100")
    return f"{name}[{array_text(spec.array)}]" + (f"%{spec.array.at_once}" if spec.array.at_once is not None else "")


def _log(spec: JobSpec) -> str:
    """LSF writes its report of the job there, and mails it where no file is named. It replaces `%J` and the like."""
    return "/dev/null" if "%" in spec.control_dir else scheduler_log(spec)


def _depends(text: str) -> Fields | None:
    parts = [part.strip() for part in text.split("&&")]
    found = [match for part in parts if (match := _CONDITION.fullmatch(part)) is not None]
    if len(found) != len(parts):
        return None
    kinds = (Dependency.model_validate({"kind": _KINDS[one[1]], "job_id": one[2]}) for one in found)
    return {"dependencies": tuple(kinds)}


def _write_depends(spec: JobSpec) -> str | None:
    words = {kind: word for word, kind in _KINDS.items()}
    for one in spec.dependencies:
        if one.kind not in words or re.fullmatch(r"\d{1,18}(?:\[\d+\])?", one.job_id or "", re.ASCII) is None:
            cure = "give the number that bsub printed" if one.kind in words else "name the jobs to wait for"
            what = f"LSF cannot wait for {one.kind} {one.job_id or ''!r}"
            raise BadRequest(what, where="dependencies", cure=cure)
    return " && ".join(f"{words[one.kind]}({one.job_id})" for one in spec.dependencies) or None


TABLE = OptionTable(
    program="bsub",
    counts=OPTIONS,
    ours=OUR_OPTIONS,
    rows=(
        Row("-J", _write_name, _name, "name"),
        Row("-Jd", lambda spec: spec.tag),
        Row("-cwd", lambda spec: spec.work_dir, where="work_dir"),
        Row("-o", _log, where="control_dir"),
        Row("-e", _log, where="control_dir"),
        Row("-r", lambda spec: "" if spec.requeue else None, says(lambda text: {"requeue": True})),
        Row("-rn", lambda spec: None if spec.requeue else "", says(lambda text: {"requeue": False})),
        named("-P", "account"),
        queues("-q", " "),
        named("-U", "reservation"),
        Row("-sp", lambda spec: str(spec.priority) if spec.priority is not None else None),
        Row("-W", _write_walltime, says(_walltime)),
        # bsub reads it by its own clock, and is run with TZ=UTC, which is kept from the job.
        Row("-b", lambda spec: spec.start_after.strftime("%Y:%m:%d:%H:%M") if spec.start_after is not None else None),
        Row("-env", lambda spec: "all,~TZ" if spec.start_after is not None else None),
        Row("-w", _write_depends, says(_depends, "the dependency is kept for LSF only"), "dependencies"),
        Row("-x", take=says(lambda text: {"shape.exclusive": True})),
        Row("-n", take=_slots),
        Row("-nnodes", take=_nodes),
        Row("-M", take=_limit),
        Row("-R", take=_require),
        Row("-gpu", take=_gpus),
    ),
    quote=lambda value, where: plain_word(value, where=where, scheduler="LSF"),
    many=frozenset({"-R"}),
    example="-app chem",
    strict=False,
)
"""What bsub's options say of a job; resources (`-n`, `-R`, `-gpu`) are written by the shape."""
