"""qsub's options as a table, and a script for qsub read back as a request (sge_submit(1)).

Slots are cores here: which of them are tasks of an MPI program only the program knows. `h_vmem` and consumable GPUs are
counted per slot. The name of a parallel environment is the site's own, so it is told and not carried. Directives count
in the whole file, behind commands too (sge_submit(1), "Qsub").
"""

from __future__ import annotations

import re

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.protocols import ScriptReading
from dragoman.request import ArraySpec, Dependency, EnvironmentVariable
from dragoman.shape import Gpus, Memory
from providers.schedulers.directives import Directive, checked
from providers.schedulers.option_rows import Fields, Row, Unreadable, named, number, queues, says
from providers.schedulers.option_table import OptionTable
from providers.schedulers.plain_words import plain_word
from providers.schedulers.script_draft import Option, ScriptDraft
from providers.schedulers.sge_tables import OPTIONS, OUR_OPTIONS
from providers.schedulers.sge_values import read_seconds, read_size
from providers.schedulers.slots import array_text, read_indices

__all__ = ["TABLE", "read_sge_script"]

_MEMORY = frozenset({"h_vmem", "h_rss", "mem_req"})
_GPU = frozenset({"gpu", "gpus", "ngpus", "num_gpus"})


def read_sge_script(text: str) -> ScriptReading:
    """The request that a script makes; see the module."""
    draft = ScriptDraft(text, "Grid Engine", "#$", whole_file=True, glued=True)
    shares: list[tuple[Directive, Option]] = []
    draft.job["shares"] = shares
    TABLE.read(draft)
    del draft.job["shares"]
    for directive, option in shares:
        for share in _shares(option):
            _share(draft, directive, option, share)
    at_once, array = draft.job.pop("at_once", None), draft.job.get("array")
    if isinstance(array, ArraySpec):
        draft.job["array"] = ArraySpec.model_validate({"ranges": array.ranges, "at_once": at_once})
    return draft.finish()


def _resources(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    for part in option.value.split(","):
        name, _, value = part.strip().partition("=")
        if not name:
            draft.problem(directive, f"-l {option.value[:60]!r} has an empty part (delete the comma)")
        elif name == "h_rt":
            _walltime(draft, directive, option, value)
        elif name in _MEMORY:
            amount = read_size(value)
            if not amount:
                cure = "write it like h_vmem=4G"
                draft.problem(directive, f"-l {name}={value[:40]} is no amount of memory ({cure})")
                continue
            draft.set_shape(directive, option.written, memory=Memory(bytes=amount, per="cpu"))
            if name != "h_vmem":
                draft.note(directive, f"{name} is read as memory per slot")
        elif name in _GPU and _shares(option):
            # With the number of slots, which may stand further down.
            shares = draft.job["shares"]
            assert isinstance(shares, list)  # noqa: S101  # put there by the reader
            shares.append((directive, option))
        elif name == "exclusive" and value.lower() in ("true", "1", "t", ""):
            draft.set_shape(directive, option.written, exclusive=True)
        else:
            draft.native(f"-l {part.strip()}", f"-l {name}")


def _shares(option: Option) -> list[float]:
    """`gpu=2`, `gpu=0.25`: for each slot so many GPUs."""
    parts = [part.strip().partition("=") for part in option.value.split(",")]
    return [
        float(value or 1)
        for name, equals, value in parts
        if name in _GPU and (not equals or re.fullmatch(r"[1-9]\d{0,5}|0?\.\d{1,9}", value, re.ASCII))
    ]


def _share(draft: ScriptDraft, directive: Directive, option: Option, share: float) -> None:
    slots = draft.shape.get("cpus", 1)
    count = round(share * slots) if isinstance(slots, int) else 0
    if count < 1 or abs(count - share * float(str(slots))) > 0.01:
        words = f"{share:g} GPUs on each of {slots} slots are no whole GPUs (ask for slots to match)"
        draft.problem(directive, f"{option.written}: {words}")
        return
    draft.set_shape(directive, option.written, gpus=Gpus(count=count, per="job"))
    if share >= 1 and slots != 1:
        draft.note(directive, f"{option.written}: on each of {slots} slots, {count} GPUs in all, as consumables count")


def _walltime(draft: ScriptDraft, directive: Directive, option: Option, value: str) -> None:
    seconds = read_seconds(value)
    if seconds is None and re.fullmatch(r"\d*:\d*:\d*", value, re.ASCII):  # qsub takes parts left out for 0
        hours, minutes, rest = (int(part or 0) for part in value.split(":"))
        seconds = hours * 3600 + minutes * 60 + rest
    if value.upper() == "INFINITY":
        draft.note(directive, "h_rt=INFINITY is no limit: the site's default is taken")
    elif not seconds:
        draft.problem(directive, f"-l h_rt={value[:40]} is no time (write it like h_rt=02:00:00 or seconds)")
    else:
        draft.set(directive, option.written, walltime_s=int(seconds))


def _slots(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    match = re.match(r"\d+", option.values[1])
    least = int(match[0]) if match else 1
    if least < 1 or re.fullmatch(r"[\d,-]+", option.values[1], re.ASCII) is None:
        draft.problem(directive, f"-pe: {option.values[1][:40]!r} is no number of slots (write it like -pe smp 8)")
        return
    draft.set_shape(directive, option.written, cpus=least)
    draft.ours(option.written, "-pe")
    if option.values[1] != str(least):
        draft.note(directive, f"{option.written}: the least number of slots is asked for")


def _variables(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    found, rest = [], []
    for part in re.split(r",(?=\s*[A-Za-z_])", option.value):
        name, equals, value = part.strip().partition("=")
        if equals and re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII):
            found.append(EnvironmentVariable(name=name, value=value))
        else:
            rest.append(part.strip())
    if found:
        draft.set(directive, option.written, environment=tuple(found))
    if rest:
        draft.native(f"-v {','.join(rest)}", "-v")


def _write_name(spec: JobSpec) -> str:
    name = re.sub(r"[^A-Za-z0-9._+-]", "_", checked(spec.name, where="name"))
    return f"{'' if name[:1].isalpha() else 'j'}{name}.{spec.tag}"


def _path(spec: JobSpec, name: str) -> str:
    path = f"{spec.work_dir.rstrip('/')}/{checked(name, where='stdout')}"
    if "$" in path:
        raise BadRequest("a dollar sign in a file name is replaced by Grid Engine", where="stdout", cure="rename it")
    # A colon would end a host's name; in front of the path it says that there is none.
    path = f":{path}" if ":" in path else path
    return f"{path}.$TASK_ID" if spec.array is not None else path


def _indices(text: str) -> Fields:
    ranges = read_indices(text, least=1)
    if ranges is None or len(ranges) > 1:
        raise Unreadable(f"{text[:40]!r} is no range of indices (write it like 1-10 or 1-20:5)")
    return {"array": ArraySpec(ranges=ranges)}


def _write_indices(spec: JobSpec) -> str | None:
    if spec.array is None:
        return None
    if len(spec.array.ranges) != 1 or spec.array.ranges[0].first < 1:
        raise BadRequest("Grid Engine takes one range of indices, from 1", where="array", cure="write it like 1-100:2")
    return array_text(spec.array)


def _throttle(text: str) -> Fields:
    return {"at_once": number(text)}


def _write_throttle(spec: JobSpec) -> str | None:
    return str(spec.array.at_once) if spec.array is not None and spec.array.at_once is not None else None


def _depends(text: str) -> Fields | None:
    names = [one.strip() for one in text.split(",") if one.strip()]
    if not all(re.fullmatch(r"\d{1,18}", one, re.ASCII) for one in names):
        return None
    return {"dependencies": tuple(Dependency(kind="afterany", job_id=one) for one in names)}


def _write_depends(spec: JobSpec) -> str | None:
    for one in spec.dependencies:
        if one.kind != "afterany":
            cure = "use afterany, and test in the script what the other job left"
            what = f"Grid Engine waits for a job's end, however it ends: it has no {one.kind}"
            raise BadRequest(what, where="dependencies", cure=cure)
        if one.job_id is None or re.fullmatch(r"\d{1,18}", one.job_id, re.ASCII) is None:
            what = f"{one.job_id!r} is no job id of Grid Engine"
            raise BadRequest(what, where="dependencies", cure="give qsub's number")
    return ",".join(one.job_id or "" for one in spec.dependencies) or None


TABLE = OptionTable(
    program="qsub",
    counts=OPTIONS,
    ours=OUR_OPTIONS,
    rows=(
        Row("-S", lambda spec: "/bin/sh"),
        Row("-N", _write_name, ScriptDraft.job_name, "name"),
        Row("-wd", lambda spec: spec.work_dir, where="work_dir"),
        Row("-o", lambda spec: _path(spec, spec.stdout), where="stdout"),
        Row("-e", lambda spec: _path(spec, spec.stderr), where="stderr"),
        Row("-j", lambda spec: "n"),
        Row("-m", lambda spec: "n"),
        Row("-r", lambda spec: "y" if spec.requeue else "n", says(lambda text: {"requeue": text.startswith("y")})),
        named("-P", "account"),
        queues("-q", ",", others="@*"),
        named("-ar", "reservation"),
        Row("-p", lambda spec: str(spec.priority) if spec.priority is not None else None),
        # Read by qsub, which is run with TZ=UTC.
        Row("-a", lambda spec: spec.start_after.strftime("%Y%m%d%H%M.%S") if spec.start_after is not None else None),
        Row("-hold_jid", _write_depends, says(_depends, "jobs named by name are kept for Grid Engine only")),
        Row("-t", _write_indices, says(_indices)),
        Row("-tc", _write_throttle, says(_throttle)),
        Row("-l", take=_resources),
        Row("-pe", take=_slots),
        Row("-v", take=_variables),
    ),
    quote=lambda value, where: plain_word(value, where=where, scheduler="Grid Engine"),
    many=frozenset({"-l"}),
    quiet=frozenset({"-m n", "-j n", "-S /bin/sh"}),
    example="-l a=b",
)
"""What qsub's options say of a job; resources (`-l`, `-pe`) are written by the shape."""
