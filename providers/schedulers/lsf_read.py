"""A script for `bsub <SCRIPT`, read back as a request (bsub(1)).

Slots are read as tasks. A bare number of `-M` or `mem=` is in the unit that LSF_UNIT_FOR_LIMITS names, which only the
site knows: it is taken for MB, the default since LSF 10, and the person is told. `mem=` without `/host` or `/job` is
per slot. Directives count in the whole file: bsub's manual has one behind the commands ("job_script").
"""

from __future__ import annotations

import re
from collections.abc import Callable

from dragoman.protocols import ScriptReading
from dragoman.request import ArrayRange, ArraySpec, Dependency
from dragoman.shape import Gpus, Memory
from providers.schedulers.directives import Directive
from providers.schedulers.lsf_tables import OPTIONS, OUR_OPTIONS
from providers.schedulers.script_draft import Option, ScriptDraft, read_name, read_number, take_options
from providers.schedulers.slurm_options import split_words

__all__ = ["read_lsf_script"]

_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGTPEkmgtpe]?)[bB]?", re.ASCII)
_CONDITION = re.compile(r"(done|ended|exit|started)\((\d{1,18}(?:\[\d+\])?)\)", re.ASCII)
_KINDS = {"done": "afterok", "ended": "afterany", "exit": "afternotok", "started": "after"}

Take = Callable[[ScriptDraft, Directive, Option], None]


def read_lsf_script(text: str) -> ScriptReading:
    """The request that a script makes; see the module."""
    draft = ScriptDraft(text, "LSF", "#BSUB", whole_file=True)
    for directive in draft.parts.directives:
        words, wrong = split_words(directive.text)
        if wrong:
            draft.problem(directive, wrong)
            continue
        for option in take_options(words, OPTIONS, long=True):
            _take(draft, directive, option)
    return draft.finish()


def _take(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    if option.problem:
        draft.problem(directive, option.problem)
    elif option.name in _TAKE:
        _TAKE[option.name](draft, directive, option)
    elif option.name in OUR_OPTIONS:
        draft.ours(option.written, option.name)
    elif option.name in OPTIONS:
        draft.native(_as_written(option), option.name)
    else:
        draft.ours(option.written, option.name)
        cure = "delete it, or put a blank between an option and its value"
        draft.note(directive, f"{option.name[:40]} is no option of bsub that is known: it is passed over ({cure})")


def _as_written(option: Option) -> str:
    value = option.value
    return f'{option.name} "{value}"' if re.search(r"\s", value) else f"{option.name} {value}".strip()


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
            draft.native(_as_written(option))
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
        draft.native(_as_written(option), "-gpu")


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


def _walltime(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    match = re.fullmatch(r"(?:(\d{1,6}):)?(\d{1,7})(?:/\S+)?", option.value.strip(), re.ASCII)
    minutes = int(match[1] or 0) * 60 + int(match[2]) if match is not None else 0
    if minutes < 1:
        draft.problem(directive, f"-W {option.value[:40]!r} is no time (write it like 2:30, or in minutes)")
        return
    draft.set(directive, option.written, walltime_s=minutes * 60)


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
    ranges: list[ArrayRange] = []
    for part in match[2].split(","):
        one = re.fullmatch(r"\s*(\d{1,9})(?:-(\d{1,9})(?::(\d{1,9}))?)?\s*", part, re.ASCII)
        if one is None or int(one[2] or one[1]) < int(one[1]) or int(one[1]) < 1:
            draft.problem(directive, f"-J: [{match[2][:40]}] is no list of indices (write it like [1-10:2])")
            return
        ranges.append(ArrayRange(first=int(one[1]), last=int(one[2] or one[1]), step=max(int(one[3] or 1), 1)))
    array = ArraySpec(ranges=tuple(ranges), at_once=int(match[3]) if match[3] and int(match[3]) else None)
    draft.set(directive, option.written, array=array)


def _queues(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    names = tuple(option.value.split())
    if not names or any(read_name(name) is None for name in names):
        draft.problem(directive, f"-q {option.value[:60]!r} is no name of a queue (letters, digits and . _ - only)")
        return
    draft.set(directive, option.written, queue=names[0])
    draft.job["queues"] = names if len(names) > 1 else ()


def _depends(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    parts = [part.strip() for part in option.value.split("&&")]
    found = [match for part in parts if (match := _CONDITION.fullmatch(part)) is not None]
    if len(found) != len(parts):
        draft.native(f'-w "{option.value}"' if '"' not in option.value else option.written, "-w")
        draft.note(directive, f"the dependency {option.value[:80]!r} is kept for LSF only")
        return
    kinds = tuple(Dependency.model_validate({"kind": _KINDS[one[1]], "job_id": one[2]}) for one in found)
    draft.set(directive, option.written, dependencies=kinds)


_TAKE: dict[str, Take] = {
    "-J": _name,
    "-n": _slots,
    "-nnodes": _nodes,
    "-W": _walltime,
    "-M": _limit,
    "-R": _require,
    "-gpu": _gpus,
    "-q": _queues,
    "-w": _depends,
    "-P": lambda draft, directive, option: draft.name(directive, option, "account"),
    "-U": lambda draft, directive, option: draft.name(directive, option, "reservation"),
    "-x": lambda draft, directive, option: draft.set_shape(directive, option.written, exclusive=True),
    "-r": lambda draft, directive, option: draft.set(directive, option.written, requeue=True),
    "-rn": lambda draft, directive, option: draft.set(directive, option.written, requeue=False),
}
