"""A script for qsub, read back as a request (sge_submit(1)).

Slots are cores here: which of them are tasks of an MPI program only the program knows. `h_vmem` and consumable GPUs are
counted per slot. The name of a parallel environment is the site's own, so it is told and not carried. Directives count
in the whole file, behind commands too (sge_submit(1), "Qsub").
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dragoman.protocols import ScriptReading
from dragoman.request import ArrayRange, ArraySpec, Dependency, EnvironmentVariable
from dragoman.shape import Gpus, Memory
from providers.schedulers.directives import Directive
from providers.schedulers.script_draft import Option, ScriptDraft, read_name, read_number, take_options
from providers.schedulers.sge_tables import OPTIONS, OUR_OPTIONS
from providers.schedulers.sge_values import read_seconds, read_size
from providers.schedulers.slurm_options import split_words

__all__ = ["read_sge_script"]

_MEMORY = frozenset({"h_vmem", "h_rss", "mem_req"})
_GPU = frozenset({"gpu", "gpus", "ngpus", "num_gpus"})

Take = Callable[[ScriptDraft, Directive, Option], None]


def read_sge_script(text: str) -> ScriptReading:
    """The request that a script makes; see the module."""
    draft = ScriptDraft(text, "Grid Engine", "#$", whole_file=True, glued=True)
    shares: list[tuple[Directive, Option, float]] = []
    for directive in draft.parts.directives:
        words, wrong = split_words(directive.text)
        if wrong:
            draft.problem(directive, wrong)
            continue
        for option in take_options(words, OPTIONS, long=True):
            _take(draft, directive, option)
            shares += [(directive, option, share) for share in _shares(option)]
    for directive, option, share in shares:
        _share(draft, directive, option, share)
    at_once, array = draft.job.pop("at_once", None), draft.job.get("array")
    if isinstance(array, ArraySpec):
        draft.job["array"] = ArraySpec.model_validate({"ranges": array.ranges, "at_once": at_once})
    return draft.finish()


def _take(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    if option.problem:
        draft.problem(directive, option.problem)
    elif option.name in _TAKE:
        _TAKE[option.name](draft, directive, option)
    elif option.name in OUR_OPTIONS:
        if (option.name, option.value) not in (("-m", "n"), ("-j", "n"), ("-S", "/bin/sh")):
            draft.ours(option.written, option.name)
    elif option.name in OPTIONS:
        draft.native(option.written, option.name)
    else:
        draft.problem(directive, f"{option.name[:40]} is no option of qsub (delete it)")


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
            pass  # with the number of slots, which may stand further down
        elif name == "exclusive" and value.lower() in ("true", "1", "t", ""):
            draft.set_shape(directive, option.written, exclusive=True)
        else:
            draft.native(f"-l {part.strip()}", f"-l {name}")


def _shares(option: Option) -> list[float]:
    """`gpu=2`, `gpu=0.25`: for each slot so many GPUs."""
    if option.name != "-l":
        return []
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


def _array(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    match = re.fullmatch(r"(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?", option.value, re.ASCII)
    if match is None or int(match[1]) < 1 or int(match[2] or match[1]) < int(match[1]) or match[3] in {"0", "00"}:
        draft.problem(directive, f"-t {option.value[:40]!r} is no range of indices (write it like 1-10 or 1-20:5)")
        return
    part = ArrayRange(first=int(match[1]), last=int(match[2] or match[1]), step=int(match[3] or 1))
    draft.set(directive, option.written, array=ArraySpec(ranges=(part,)))


def _throttle(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    count = read_number(option.value)
    if count is None:
        draft.problem(directive, f"-tc {option.value[:40]!r} is no number (write a whole number from 1)")
        return
    draft.set(directive, option.written, at_once=count)


def _depends(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    names = [one.strip() for one in option.value.split(",") if one.strip()]
    if not all(re.fullmatch(r"\d{1,18}", one, re.ASCII) for one in names):
        draft.native(option.written, option.name)
        draft.note(directive, f"{option.written}: jobs named by name are kept for Grid Engine only")
        return
    draft.set(directive, option.written, dependencies=tuple(Dependency(kind="afterany", job_id=one) for one in names))


def _queues(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    names = tuple(one.strip() for one in option.value.split(",") if one.strip())
    if not names or any(read_name(one) is None or "@" in one for one in names):
        draft.native(option.written, option.name)
        return
    draft.set(directive, option.written, queue=names[0])
    draft.job["queues"] = names if len(names) > 1 else ()


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


def _rerun(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    draft.set(directive, option.written, requeue=option.value.startswith("y"))


def _project(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    draft.name(directive, option, "account")


def _reservation(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    draft.name(directive, option, "reservation")


_TAKE: dict[str, Take] = {
    "-N": ScriptDraft.job_name,
    "-l": _resources,
    "-pe": _slots,
    "-t": _array,
    "-tc": _throttle,
    "-hold_jid": _depends,
    "-q": _queues,
    "-v": _variables,
    "-r": _rerun,
    "-P": _project,
    "-ar": _reservation,
}
