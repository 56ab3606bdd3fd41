"""What PBS and Torque share of qsub's options (qsub(1B)): how a directive is taken apart, and what its values say.

Each resource of `-l` and each attribute of `-W` is an option here (`-l walltime`), so that each has a row of its own.

The job's name is the tag alone, so that one `qselect -N` settles a doubtful submit, whatever else is in the queue. The
tag is a variable of the job as well (`-v`), which the script unsets before anything else, so that a job submitted from
within this one with `qsub -V` does not look like it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Final

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.job import TAG_PATTERN, JobSpec
from dragoman.request import ArrayRange, ArraySpec, Dependency, EnvironmentVariable
from dragoman.shape import Gpus, Memory
from providers.schedulers.directives import Directive, checked, split_words
from providers.schedulers.job_output import scheduler_log
from providers.schedulers.option_rows import Fields, Row, Take, Unreadable, name_of, named, number, says
from providers.schedulers.option_table import OptionTable
from providers.schedulers.pbs_values import read_job_id, read_size, read_walltime
from providers.schedulers.script_draft import Option, ScriptDraft, read_name, read_number, take_options
from providers.schedulers.slots import read_indices

__all__ = [
    "NAME_VARIABLE", "TAG_VARIABLE", "amount", "count", "log_path", "qsub_table", "quoted", "read_array",
    "read_walltimes", "shared_rows",
]  # fmt: skip

TAG_VARIABLE = "DRAGOMAN_ATTEMPT"
NAME_VARIABLE = "DRAGOMAN_NAME"
_SAFE = re.compile(r"[\w.,:;=+@/%\[\]^~<>!?*()#$&|-]+", re.ASCII)
_COUNTS: Final = {f"-{letter}": 0 for letter in "fhIVXzn"} | {
    f"-{letter}": 1 for letter in "aAcCdDeJjklLmMNoPpqrRStTuvWw"
}
_OURS: Final = frozenset(f"-{letter}" for letter in "oejkRmMdDwzfXhV")
"""Options whose purpose we fulfil ourselves: output files, mail, working directory."""
_NEVER: Final = frozenset({
    *(f"-{letter}" for letter in "NSCIvJtuGi"), "-W block", "-W interactive", "-W sandbox", "-W depend",
})  # fmt: skip
"""Further ones that would hide the job, wait for a terminal, or bring the submitter's environment in."""


def quoted(value: str, where: str) -> str:
    """A value as qsub takes it from a directive: as it stands, or in the kind of quotes that it does not hold."""
    checked(value, where=where)
    if not value:
        raise BadRequest("an empty value", where=where, cure="give one or leave the option out")
    if _SAFE.fullmatch(value) and not value.startswith("#"):
        return value
    for quote in "\"'":
        if quote not in value and "\\" not in value:
            return f"{quote}{value}{quote}"
    what = f"{value[:80]!r} holds both kinds of quotes or a backslash"
    raise BadRequest(what, where=where, cure="choose a value without them")


def _split(text: str) -> tuple[list[Option], str]:
    words, wrong = split_words(text, qsub=True)
    if text.rstrip().endswith("\\"):
        wrong = "a backslash at the end takes the next line along (write the options on one line)"
    return take_options(words, _COUNTS), wrong


# What values say


def _take_name(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    if not re.fullmatch(TAG_PATTERN, option.value):
        draft.job_name(directive, option)


def _take_variables(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    known = list(draft.job.get("environment", ()))  # type: ignore[call-overload]  # a tuple put here
    for part in re.split(r",(?=\s*[A-Za-z_]\w*(?:=|,|$))", option.value):
        name, equals, text = part.strip().partition("=")
        if name == NAME_VARIABLE:
            draft.set(directive, part.strip(), name=text)
        elif not equals:
            draft.note(directive, f"-v {name[:60]} takes its value from the submitter: state it (-v {name}=...)")
            draft.ours(f"-v {name}", f"-v {name}")
        elif name != TAG_VARIABLE:
            try:
                known.append(EnvironmentVariable(name=name, value=text))
            except ValidationError as error:
                raise Unreadable(f"{name[:60]!r} is no name of a variable (letters, digits and _)") from error
    if known:
        draft.set(directive, option.written, environment=tuple(known))


def _queue(text: str) -> Fields:
    if re.fullmatch(r"[RSM]\d+(?:\.[\w.-]+)?", text, re.ASCII):
        return {"reservation": text}
    return {"queue": name_of(text)}


def read_array(text: str) -> Fields:
    """`0-9:2%3`, and Torque's `1-3,7%2`."""
    indices, percent, at_once = text.partition("%")
    found = read_indices(indices)
    if found is None:
        raise Unreadable(f"{text[:60]!r} is no range of indices (write it like 0-9, 0-20:5 or 0-9%2)")
    # qsub takes a single index only as the first of a range.
    ranges = (
        part if part.first + part.step <= part.last else ArrayRange(first=part.first, last=part.first) for part in found
    )
    if percent and read_number(at_once, least=0) is None:
        raise Unreadable(f"{text[:60]!r} names no number after % (write it like 0-9%2)")
    return {"array": ArraySpec(ranges=tuple(ranges), at_once=int(at_once) or None if percent else None)}


def _rerun(text: str) -> Fields:
    if text not in ("y", "n"):
        raise Unreadable(f"{text[:60]!r} is neither y nor n (write y or n)")
    return {"requeue": text == "y"}


_OTHER_KINDS: Final = frozenset({
    "before", "beforeok", "beforenotok", "beforeany", "on", "runone", "synccount", "syncwith", "afterstartarray",
    "afterokarray", "afternotokarray", "afteranyarray", "beforestartarray", "beforeokarray", "beforenotokarray",
    "beforeanyarray",
})  # fmt: skip
"""Dependencies of PBS and Torque that no word of ours says."""


def _depends(text: str) -> Fields | None:
    found: list[Dependency] = []
    for part in text.split(","):
        kind, _, ids = part.strip().partition(":")
        jobs = ids.split(":")
        if kind in _OTHER_KINDS:
            return None
        if kind not in ("afterok", "afterany", "afternotok", "after"):
            raise Unreadable(f"{part.strip()[:60]!r} is no dependency (write it like afterok:1234)")
        wrong = next((one for one in jobs if read_name(one) is None or read_job_id(one) is None), None)
        if wrong is not None:
            raise Unreadable(f"{wrong[:60]!r} is no job id (write it like {kind}:1234)")
        found.extend(Dependency.model_validate({"kind": kind, "job_id": one}) for one in jobs)
    return {"dependencies": tuple(found)}


def read_walltimes(field: str) -> Take:
    """A time as a field of the job."""

    def take(draft: ScriptDraft, directive: Directive, option: Option) -> None:
        seconds = read_walltime(option.value)
        if not seconds:
            raise Unreadable(f"{option.value[:60]!r} is no time (write it like 02:00:00)")
        if re.fullmatch(r"\d+:\d+", option.value):
            draft.note(directive, f"{option.value} is {seconds // 60} min {seconds % 60} s (minutes and seconds)")
        draft.set(directive, option.written, **{field: seconds})

    return take


def count(field: str) -> Take:
    """A number as a field of the shape; GPUs are the whole job's."""

    def read(text: str) -> Fields:
        found = number(text)
        return {f"shape.{field}": Gpus(count=found, per="job") if field == "gpus" else found}

    return says(read)


def amount(per: str) -> Take:
    """An amount of memory."""

    def read(text: str) -> Fields:
        size = read_size(text)
        if not size:
            raise Unreadable(f"{text[:60]!r} is no amount of memory (write it like 64gb)")
        return {"shape.memory": Memory.model_validate({"bytes": size, "per": per})}

    return says(read)


def _terminal(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    draft.problem(directive, "-I asks for a terminal (delete it: a batch job has none)")


def _told(words: str) -> Take:
    def take(draft: ScriptDraft, directive: Directive, option: Option) -> None:
        draft.ours(option.written, option.name)
        draft.note(directive, words)

    return take


# What a job says


def _write_variables(spec: JobSpec) -> str:
    if any(character in spec.name for character in ",'\"\\"):
        cure = "use letters, digits and blanks"
        raise BadRequest(f"{spec.name[:60]!r} cannot be the name", where="name", cure=cure)
    return f"{TAG_VARIABLE}={spec.tag},{NAME_VARIABLE}={spec.name}"


def _write_depends(spec: JobSpec) -> str | None:
    parts: dict[str, list[str]] = {}
    for one in spec.dependencies:
        if one.kind == "singleton":
            raise BadRequest("PBS has no singleton", where="dependencies", cure="name the jobs to wait for")
        if one.job_id is None or read_job_id(one.job_id) is None:
            cure = "give the id that qsub printed"
            raise BadRequest(f"{one.job_id!r} is no job id", where="dependencies", cure=cure)
        parts.setdefault(one.kind, []).append(one.job_id)
    return ",".join(f"{kind}:{':'.join(ids)}" for kind, ids in parts.items()) or None


def _write_start(spec: JobSpec) -> str | None:
    """`CCYYMMDDhhmm.SS` in UTC, rounded up: the submit command runs with TZ=UTC where a start is stated."""
    if spec.start_after is None:
        return None
    return datetime.fromtimestamp(math.ceil(spec.start_after.timestamp()), UTC).strftime("%Y%m%d%H%M.%S")


def _read_start(text: str) -> None:
    if re.fullmatch(r"(?:(?:\d\d)?\d\d)?(?:\d\d){2,4}(?:\.\d\d)?", text, re.ASCII) is None:
        raise Unreadable(f"{text[:60]!r} is no moment (write it like 202612311800)")


def _read_priority(text: str) -> None:
    if re.fullmatch(r"[+-]?\d{1,4}", text, re.ASCII) is None or not -1024 <= int(text) <= 1023:
        raise Unreadable(f"{text[:60]!r} is no priority (write a whole number from -1024 to 1023)")


def _write_priority(spec: JobSpec) -> str | None:
    if spec.priority is not None and not -1024 <= spec.priority <= 1023:
        raise BadRequest(f"priority {spec.priority}", where="priority", cure="choose one from -1024 to 1023")
    return str(spec.priority) if spec.priority is not None else None


def log_path(spec: JobSpec) -> str:
    """The file for what the scheduler itself collects; a path would end a host's name or hold marks of qsub's."""
    return "/dev/null" if set(spec.control_dir) & set(":$^") else scheduler_log(spec)


def shared_rows(log: Callable[[JobSpec], str] = log_path, queue: str = "queue") -> tuple[Row, ...]:
    """The rows of both.

    Args:
        log: path of the file for what the scheduler itself collects.
        queue: the job's field that is a queue too, and goes before it.

    """

    def write_queue(spec: JobSpec) -> str | None:
        told: str | None = getattr(spec, queue)
        return told or spec.queue or (spec.queues[0] if spec.queues else None)

    return (
        Row("-N", lambda spec: spec.tag, _take_name),
        Row("-v", _write_variables, _take_variables, "name"),
        Row("-S", lambda spec: "/bin/sh", ScriptDraft.defer),  # else the user's login shell would run the script
        Row("-j", lambda spec: "oe"),
        Row("-o", log, where="control_dir"),
        Row("-m", lambda spec: "n"),
        Row("-r", lambda spec: "y" if spec.requeue else "n", says(_rerun)),
        Row("-q", write_queue, says(_queue), queue),
        Row("-W depend", _write_depends, says(_depends, "kept for PBS only"), "dependencies"),
        Row("-a", _write_start, says(_read_start), "start_after"),
        Row("-p", _write_priority, says(_read_priority), "priority"),
        named("-A", "account"),
        Row("-I", take=_terminal),
        Row("-V", take=_told("-V would bring the submitter's environment along: name the variables instead")),
        Row("-h", take=_told("-h would submit the job held: hold it after its submit instead")),
        Row("-n", take=says(lambda text: {"shape.exclusive": True})),
    )


def qsub_table(rows: tuple[Row, ...]) -> OptionTable:
    """A table of qsub's options."""
    return OptionTable(
        program="qsub",
        counts=_COUNTS,
        ours=_OURS,
        never=_NEVER,
        rows=rows,
        quote=quoted,
        quiet=frozenset({"-m n"}),
        example="-l scratch=10gb",
        split=_split,
        lists=frozenset({"-l", "-W"}),
    )
