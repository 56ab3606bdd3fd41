"""A script for qsub (PBS or Torque), read back as a request (qsub(1B), pbs_resources(7B)).

One reader for both: PBS still takes Torque's `-l nodes=2:ppn=8`, and a script does not say which of them it is for.
What differs is told by the option: `-J` and `select` are PBS's, `-t` and `nodes` are Torque's.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

from pydantic import ValidationError

from dragoman.job import TAG_PATTERN
from dragoman.protocols import ScriptReading
from dragoman.request import ArrayRange, ArraySpec, Dependency, EnvironmentVariable
from dragoman.shape import Gpus, Memory
from providers.schedulers.directives import Directive, split_words
from providers.schedulers.pbs_script import NAME_VARIABLE, TAG_VARIABLE
from providers.schedulers.pbs_select import Chunks, Unusable, read_nodes, read_select
from providers.schedulers.pbs_values import read_job_id, read_size, read_walltime
from providers.schedulers.script_draft import ScriptDraft, read_name, read_number
from providers.schedulers.slots import read_indices

__all__ = ["read_pbs_script"]

_FLAGS = frozenset("fhIVXzn")
_VALUES = frozenset("aAcCdDeJjklLmMNoPpqrRStTuvWw")
_OURS = frozenset("oejkRmMdDwz")
"""Options whose purpose we fulfil ourselves: output files, mail, working directory."""


def read_pbs_script(text: str) -> ScriptReading:
    """The request that a script makes; see the module."""
    draft, chunks = ScriptDraft(text, "PBS", "#PBS"), Chunks()
    for directive in draft.parts.directives:
        words, wrong = split_words(directive.text, qsub=True)
        if directive.text.rstrip().endswith("\\"):
            wrong = "a backslash at the end takes the next line along (write the options on one line)"
        if wrong:
            draft.problem(directive, wrong)
            continue
        _options(draft, chunks, words, directive)
    chunks.finish(draft)
    reading = draft.finish()
    return replace(reading, interpreter=chunks.shell) if chunks.shell else reading


def _options(draft: ScriptDraft, chunks: Chunks, words: list[str], directive: Directive) -> None:
    position = 0
    while position < len(words):
        word = words[position]
        position += 1
        if not re.fullmatch(r"-[A-Za-z].*", word, re.ASCII | re.DOTALL):
            told = f"{word[:60]!r} is no option of qsub (options are one letter after one dash; quote blanks)"
            draft.problem(directive, told)
            continue
        letter, value = word[1], word[2:]
        if letter in _FLAGS:
            _flag(draft, letter, word, directive)
            continue
        if letter not in _VALUES:
            draft.problem(directive, f"-{letter} is no option of qsub (delete it)")
            position += int(position < len(words) and not words[position].startswith("-"))
            continue
        if not value:
            if position >= len(words):
                draft.problem(directive, f"-{letter} has no value (give one or delete the line)")
                continue
            value = words[position]
            position += 1
        try:
            _take(draft, chunks, letter, value, directive)
        except Unusable as error:
            draft.problem(directive, f"-{letter}: {error}")


def _flag(draft: ScriptDraft, letter: str, word: str, directive: Directive) -> None:
    if letter == "I":
        draft.problem(directive, "-I asks for a terminal (delete it: a batch job has none)")
    elif letter == "V":
        draft.ours(word, "V")
        draft.note(directive, "-V would bring the submitter's environment along: name the variables instead")
    elif letter == "n":
        draft.set_shape(directive, word, exclusive=True)
    elif letter == "h":
        draft.ours(word, "h")
        draft.note(directive, "-h would submit the job held: hold it after its submit instead")
    else:
        draft.ours(word, letter)


def _take(draft: ScriptDraft, chunks: Chunks, letter: str, value: str, directive: Directive) -> None:
    written = f"-{letter} {value}"
    if letter == "l":
        for part in _resources(value):
            _resource(draft, chunks, part, directive)
    elif letter in _OURS:
        if (letter, value) != ("m", "n"):
            draft.ours(written, letter)
    elif letter == "S":
        chunks.shell = value.partition("@")[0]
    elif letter in _READERS:
        _READERS[letter](draft, value, directive)
    else:
        draft.native(f"-{letter} {_quoted(value)}", letter)


def _quoted(value: str) -> str:
    return value if re.fullmatch(r"\S+", value) else f"'{value}'" if "'" not in value else f'"{value}"'


def _resources(text: str) -> list[str]:
    """`a=1,b=2`; a comma belongs to a value where no name follows it."""
    return [part for part in re.split(r",(?=\s*[A-Za-z][\w.-]*=)", text) if part.strip()]


def _name(draft: ScriptDraft, value: str, directive: Directive) -> None:
    if re.fullmatch(TAG_PATTERN, value):
        return
    cleaned = re.sub(r"[^A-Za-z0-9 ._+@/:\-]+", "-", value).strip("-._ ")[:128]
    if cleaned:
        draft.set(directive, f"-N {value}", name=cleaned)
    if cleaned != value:
        draft.note(directive, f"the job's name {value[:60]!r} becomes {cleaned!r}")


def _named(field: str, letter: str) -> Callable[[ScriptDraft, str, Directive], None]:
    def take(draft: ScriptDraft, value: str, directive: Directive) -> None:
        if read_name(value) is None:
            raise Unusable(f"{value[:60]!r} is not usable (letters, digits, blank and . _ + @ / : - only)")
        draft.set(directive, f"-{letter} {value}", **{field: value})

    return take


def _queue(draft: ScriptDraft, value: str, directive: Directive) -> None:
    if re.fullmatch(r"[RSM]\d+(?:\.[\w.-]+)?", value, re.ASCII):
        draft.set(directive, f"-q {value}", reservation=value)
        return
    _named("queue", "q")(draft, value, directive)


def _array(draft: ScriptDraft, value: str, directive: Directive) -> None:
    indices, percent, at_once = value.partition("%")
    found = read_indices(indices)
    if found is None:
        raise Unusable(f"{value[:60]!r} is no range of indices (write it like 0-9, 0-20:5 or 0-9%2)")
    # qsub takes a single index only as the first of a range.
    ranges = (
        part if part.first + part.step <= part.last else ArrayRange(first=part.first, last=part.first) for part in found
    )
    if percent and not at_once.isdigit():
        raise Unusable(f"{value[:60]!r} names no number after % (write it like 0-9%2)")
    spec = ArraySpec(ranges=tuple(ranges), at_once=int(at_once) or None if percent else None)
    draft.set(directive, f"-J {value}", array=spec)


def _other(draft: ScriptDraft, value: str, directive: Directive) -> None:
    """`-W depend=afterok:1:2,afterany:3`, and attributes that are kept as they are."""
    if not value.startswith("depend="):
        draft.native(f"-W {_quoted(value)}", f"W{value.partition('=')[0]}")
        return
    found: list[Dependency] = []
    for part in value.removeprefix("depend=").split(","):
        kind, _, ids = part.strip().partition(":")
        jobs = ids.split(":")
        if kind not in ("afterok", "afterany", "afternotok", "after") or any(
            read_name(one) is None or read_job_id(one) is None for one in jobs
        ):
            draft.note(directive, f"the dependency {value[:80]!r} is kept for PBS only")
            draft.native(f"-W {_quoted(value)}", "Wdepend")
            return
        found.extend(Dependency(kind=kind, job_id=one) for one in jobs)  # type: ignore[arg-type]  # one of its words
    draft.set(directive, f"-W {value}", dependencies=tuple(found))


def _rerun(draft: ScriptDraft, value: str, directive: Directive) -> None:
    if value not in ("y", "n"):
        raise Unusable(f"{value[:60]!r} is neither y nor n")
    draft.set(directive, f"-r {value}", requeue=value == "y")


def _variables(draft: ScriptDraft, value: str, directive: Directive) -> None:
    known = list(draft.job.get("environment", ()))  # type: ignore[call-overload]  # a tuple put here
    for part in re.split(r",(?=\s*[A-Za-z_]\w*(?:=|,|$))", value):
        name, equals, text = part.strip().partition("=")
        if name == NAME_VARIABLE:
            draft.set(directive, part.strip(), name=text)
        elif not equals:
            draft.note(directive, f"-v {name[:60]} takes its value from the submitter: state it (-v {name}=...)")
            draft.ours(f"-v {name}", f"v{name}")
        elif name != TAG_VARIABLE:
            try:
                known.append(EnvironmentVariable(name=name, value=text))
            except ValidationError as error:
                raise Unusable(f"{name[:60]!r} is no name of a variable (letters, digits and _)") from error
    if known:
        draft.set(directive, f"-v {value}", environment=tuple(known))


_READERS: dict[str, Callable[[ScriptDraft, str, Directive], None]] = {
    "A": _named("account", "A"), "P": _named("account", "P"), "J": _array, "N": _name, "q": _queue, "r": _rerun,
    "t": _array, "v": _variables, "W": _other,
}  # fmt: skip


def _resource(draft: ScriptDraft, chunks: Chunks, text: str, directive: Directive) -> None:
    name, equals, value = text.strip().partition("=")
    words = text.strip()
    if not equals or not value:
        raise Unusable(f"{words[:60]!r} has no value (write it like walltime=01:00:00)")
    if name in ("walltime", "max_walltime", "min_walltime"):
        seconds = read_walltime(value)
        if not seconds:
            raise Unusable(f"{value[:60]!r} is no time (write it like 02:00:00)")
        if re.fullmatch(r"\d+:\d+", value):
            draft.note(directive, f"{value} is {seconds // 60} min {seconds % 60} s (minutes and seconds)")
        draft.set(directive, words, **{"walltime_min_s" if name == "min_walltime" else "walltime_s": seconds})
    elif name == "select":
        chunks.select = (read_select(value), words, directive)
    elif name == "place":
        chunks.place = (value, words, directive)
    elif name == "nodes":
        chunks.select = (read_nodes(value), words, directive)
        chunks.torque = True
    elif name in ("ncpus", "procs", "mpiprocs"):
        draft.set_shape(directive, words, **{"cpus" if name == "ncpus" else "tasks": _count(value)})
    elif name == "ngpus":
        draft.set_shape(directive, words, gpus=Gpus(count=_count(value), per="job"))
    elif name in ("mem", "pmem"):
        amount = read_size(value)
        if not amount:
            raise Unusable(f"{value[:60]!r} is no amount of memory (write it like 64gb)")
        draft.set_shape(directive, words, memory=Memory(bytes=amount, per="job" if name == "mem" else "task"))
    elif words == "naccesspolicy=singlejob":
        draft.set_shape(directive, words, exclusive=True)
    elif name == "advres":
        draft.set(directive, words, reservation=value)
    else:
        draft.native(f"-l {_quoted(words)}", f"l{name}")


def _count(text: str) -> int:
    number = read_number(text)
    if number is None:
        raise Unusable(f"{text[:60]!r} is no number (write a whole number from 1)")
    return number
