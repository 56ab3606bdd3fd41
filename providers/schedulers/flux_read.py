"""The options of `flux batch` as a table, and a script for it read back as a request (flux-batch(1), RFC 36)."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from pydantic import ValidationError

from dragoman.errors import BadRequest
from dragoman.job import JobSpec
from dragoman.protocols import ScriptReading
from dragoman.request import Dependency, EnvironmentVariable
from dragoman.shape import Gpus
from providers.schedulers.directives import Directive, checked, clean_script
from providers.schedulers.flux_slots import slots_of
from providers.schedulers.flux_values import format_duration, read_duration, read_flux_id, read_time_limit
from providers.schedulers.job_output import scheduler_log
from providers.schedulers.option_rows import (
    Fields,
    OwnWord,
    Row,
    Take,
    Unreadable,
    name_of,
    named,
    number,
    queues,
    says,
)
from providers.schedulers.option_table import OptionTable
from providers.schedulers.script_draft import Option, ScriptDraft, take_options

__all__ = ["ANONYMOUS", "TABLE", "read_flux_script", "split_words"]

ANONYMOUS = "anonymous"
"""Our name for the queue of an instance that has no named ones."""

_SAFE = re.compile(r"[A-Za-z0-9_./:=,@+%^*-]+", re.ASCII)
_SENTINEL = re.compile(r"^([^\w\n]*(?:flux|FLUX):)", re.MULTILINE)
_SHORT = {
    "-B": "--bank", "-q": "--queue", "-t": "--time-limit", "-o": "--setopt", "-S": "--setattr", "-n": "--nslots",
    "-c": "--cores-per-slot", "-g": "--gpus-per-slot", "-N": "--nodes", "-x": "--exclusive", "-u": "--unbuffered",
    "-l": "--label-io",
}  # fmt: skip
_ALIASES = {
    **_SHORT, "--ntasks": "--nslots", "--cores-per-task": "--cores-per-slot", "--gpus-per-task": "--gpus-per-slot",
}  # fmt: skip
_COUNTS = {
    **dict.fromkeys(
        (
            "--bank", "--queue", "--time-limit", "--urgency", "--job-name", "--setopt", "--setattr", "--add-file",
            "--dependency", "--requires", "--begin-time", "--env", "--env-remove", "--env-file", "--rlimit", "--input",
            "--output", "--error", "--cwd", "--flags", "--signal", "--conf", "--broker-opts", "--nslots",
            "--cores-per-slot", "--gpus-per-slot", "--nodes", "--cores", "--tasks-per-node", "--gpus-per-node",
            "--resources-shape", "--resources-json", "--taskmap",
        ),
        1,
    ),
    **dict.fromkeys(("--exclusive", "--unbuffered", "--label-io", "--dry-run", "--quiet", "--wrap", "--dump"), 0),
}  # fmt: skip


def split_words(text: str) -> tuple[list[str], str]:
    """The words of a directive as Flux takes them apart, and what is wrong with the line."""
    lexer = shlex.shlex(text, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    lexer.escapedquotes = "\"'"
    try:
        return list(lexer), ""
    except ValueError as error:
        return [], f"{error} (close the quote on the same line)"


def read_flux_script(text: str) -> ScriptReading:
    """The request that a script makes."""
    text = clean_script(text)
    found = _SENTINEL.search(text)
    sentinel = found[1] if found is not None else "#flux:"
    # RFC 36 asks for no blank after the colon; the shared reader does.
    text = re.sub(rf"^{re.escape(sentinel)}(?=\S)", f"{sentinel} ", text, flags=re.MULTILINE)
    draft = ScriptDraft(text, "Flux", sentinel)
    TABLE.read(draft)
    for late in draft.parts.ignored:
        draft.problem(late, f"{sentinel} comes after the first command: flux batch refuses the script (move it up)")
    draft.parts = replace(draft.parts, ignored=())
    if "nodes" in draft.shape and "tasks" not in draft.shape:
        draft.imply("exclusive", True, by="nodes")  # without slots they are whole
    return draft.finish()


def _split(text: str) -> tuple[list[Option], str]:
    if '"""' in text or "'''" in text:
        return [], "values over several lines are not read (write the value on one line)"
    words, wrong = split_words(text)
    whole = {_whole(word): word for word in words}
    found: list[Option] = []
    for option in take_options(list(map(_whole, words)), _COUNTS, aliases=_ALIASES):
        first, blank, rest = option.written.partition(" ")
        # As it was written, so that it is found again in the script.
        found.append(option._replace(written=f"{whole.get(first, first)}{blank}{rest}"))
    return found, wrong


def _whole(word: str) -> str:
    """The option that a shortened one stands for, as argparse has it: `--time` is `--time-limit`, `-n4` is `-n 4`."""
    short = re.fullmatch(r"(-[A-Za-z])=?(.+)", word, re.DOTALL)
    if short is not None and _COUNTS.get(_SHORT.get(short[1], "")) == 1:
        return f"{_SHORT[short[1]]}={short[2]}"
    name, equals, value = word.partition("=")
    if not name.startswith("--") or name in _COUNTS or name in _ALIASES:
        return word
    names = {_ALIASES.get(each, each) for each in (*_COUNTS, *_ALIASES) if len(name) > 3 and each.startswith(name)}
    return f"{names.pop()}{equals}{value}" if len(names) == 1 else word


def _quoted(value: str, where: str) -> str:
    """A value as Flux's shell-like lexer reads it back."""
    checked(value, where=where)
    if not value:
        raise BadRequest("an empty value", where=where, cure="give one or leave the option out")
    if _SAFE.fullmatch(value):
        return value
    if "'" in value or "\\" in value:
        raise BadRequest(f"{value[:80]!r} holds a quote or backslash", where=where, cure="choose a value without them")
    return f"'{value}'"


def _path(path: str) -> str:
    if "{{" in path:
        raise BadRequest("Flux would fill in {{...}} in a path", where="control_dir", cure="choose another work root")
    return path


def _queue(spec: JobSpec) -> str | None:
    queue = spec.queue or (spec.queues[0] if spec.queues else None)
    return queue if queue != ANONYMOUS else None


def _text(count: int | None) -> str | None:
    return str(count) if count else None


def _urgency(spec: JobSpec) -> str | None:
    if spec.priority is not None and not 1 <= spec.priority <= 31:
        raise BadRequest(f"urgency {spec.priority}", where="priority", cure="choose one from 1 to 31")
    return _text(spec.priority)


def _read_urgency(text: str) -> None:
    words = ("hold", "expedite", "default")
    if text not in words and not (text.isascii() and text.isdecimal() and int(text) <= 31):
        raise Unreadable(f"{text[:60]!r} is no urgency (write a number from 0 to 31)")


def _exclusive(spec: JobSpec) -> str | None:
    if spec.shape.exclusive and spec.shape.node_count is None:
        raise BadRequest("whole nodes, and no nodes are stated", where="exclusive", cure="state the nodes")
    return "" if spec.shape.exclusive else None


def _requires(spec: JobSpec) -> str | None:
    shape = spec.shape
    if shape.constraint is None and shape.gpus is not None and shape.gpus.model is not None:
        cure = "name the site's property for such nodes in constraint"
        raise BadRequest("Flux has no common word for a GPU's model", where="gpus.model", cure=cure)
    return shape.constraint


def _constraint(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    before = draft.shape.get("constraint")
    draft.set_shape(directive, option.written, constraint=f"({before}) ({option.value})" if before else option.value)


def _count(field: str) -> Take:
    return says(lambda text: {f"shape.{field}": number(text)})


def _gpus(per: str) -> Take:
    def read(text: str) -> Fields:
        count = number(text, least=0)
        return {"shape.gpus": Gpus.model_validate({"count": count, "per": per}) if count else None}

    return says(read)


def _time(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    seconds = read_time_limit(option.value)
    if seconds is None:
        if read_duration(option.value) in (0.0, float("inf")):
            draft.note(directive, f"{option.written} is no limit: the site's default is taken")
            return
        raise Unreadable(f"{option.value[:60]!r} is no duration (write it like 90m, 1.5h or 3600s)")
    exact = read_duration(option.value, bare=60.0)
    if exact is not None and exact != seconds:
        draft.note(directive, f"{option.value} is rounded up to {seconds} s")
    if option.value.strip().isdigit():
        draft.note(directive, f"{option.value} is minutes to Flux")
    draft.set(directive, option.written, walltime_s=seconds)


def _attribute(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    name, _, value = option.value.partition("=")
    if name not in ("system.bank", "bank"):
        raise OwnWord
    draft.set(directive, option.written, account=name_of(value))


def _depends(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    scheme, _, value = option.value.partition(":")
    begin = re.fullmatch(r"(\d{7,11})(?:\.\d+)?", value, re.ASCII)
    if scheme == "begin-time" and begin is not None:
        draft.set(directive, option.written, start_after=datetime.fromtimestamp(int(begin[1]), UTC))
    elif scheme == "begin-time":
        raise Unreadable(f"{value[:60]!r} is no moment (write seconds since the epoch, or --begin-time='+1h')")
    elif scheme in ("after", "afterany", "afterok", "afternotok"):
        if read_flux_id(value) is None:
            raise Unreadable(f"{value[:60]!r} is no job id (write it like {scheme}:f2JmhSNW)")
        one = Dependency.model_validate({"kind": scheme, "job_id": str(read_flux_id(value))})
        draft.add(directive, option.written, "dependencies", one)
    else:
        raise OwnWord("kept for Flux only")


def _write_depends(spec: JobSpec) -> Sequence[str]:
    for one in spec.dependencies:
        if one.kind == "singleton":
            what = "every job of ours has a name of its own: singleton means nothing"
            raise BadRequest(what, where="dependencies", cure="name the jobs to wait for")
        if one.job_id is None or read_flux_id(one.job_id) is None:
            what = f"{one.job_id!r} is no job id of Flux"
            raise BadRequest(what, where="dependencies", cure="give the id that flux printed")
    # The scheme behind --begin-time, which would read a wall clock.
    begin = [f"begin-time:{math.ceil(spec.start_after.timestamp())}"] if spec.start_after is not None else []
    return [*(f"{one.kind}:{one.job_id}" for one in spec.dependencies), *begin]


def _environment(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    name, equals, value = option.value.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        raise OwnWord
    try:
        variable = EnvironmentVariable(name=name, value=value)
    except ValidationError as error:
        raise Unreadable(f"{name[:60]!r} is no usable variable (shorten its value)") from error
    draft.add(directive, option.written, "environment", variable)


def _no_job(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    draft.ours(option.written, option.name)
    draft.note(directive, f"{option.name} has no place in a job script and is left out")


_NO_JOB = ("--dry-run", "--quiet", "--wrap", "--add-file", "--env-file")
"""They would not submit at all, or read files of where it is submitted."""

TABLE = OptionTable(
    program="flux batch",
    counts=_COUNTS,
    ours=frozenset({"--job-name", "--output", "--error", "--input", "--cwd", *_NO_JOB}),
    rows=(
        Row("--job-name", lambda spec: f"{spec.name}.{spec.tag}", ScriptDraft.job_name, "name"),
        Row("--cwd", lambda spec: _path(spec.work_dir), where="work_dir"),
        Row("--output", lambda spec: _path(scheduler_log(spec)), where="control_dir"),
        Row("--queue", _queue, queues("--queue", "").take, "queue"),
        Row("--bank", take=named("--bank", "account").take),  # newer than the attribute
        Row("--setattr", lambda spec: f"system.bank={spec.account}" if spec.account else None, _attribute, "account"),
        Row("--time-limit", lambda spec: format_duration(spec.walltime_s) if spec.walltime_s else None, _time),
        Row("--urgency", _urgency, says(_read_urgency), "priority"),
        Row("--dependency", _write_depends, _depends, "dependencies"),
        Row("--nodes", lambda spec: _text(spec.shape.node_count), _count("nodes")),
        Row("--nslots", lambda spec: _text(slots_of(spec.shape)[0]), _count("tasks")),
        Row("--cores-per-slot", lambda spec: _text(slots_of(spec.shape)[1]), _count("cpus_per_task")),
        Row("--gpus-per-slot", lambda spec: _text(slots_of(spec.shape)[2]), _gpus("task")),
        Row("--cores", take=_count("cpus")),
        Row("--tasks-per-node", take=_count("tasks_per_node")),
        Row("--gpus-per-node", take=_gpus("node")),
        Row("--exclusive", _exclusive, says(lambda text: {"shape.exclusive": True})),
        Row("--requires", _requires, _constraint, "constraint"),
        Row("--env", take=_environment),
        *(Row(option, take=_no_job) for option in _NO_JOB),
    ),
    quote=_quoted,
    aliases=_ALIASES,
    many=frozenset(
        {"--setopt", "--setattr", "--env", "--env-remove", "--rlimit", "--requires", "--dependency", "--flags"}
    ),
    example="--signal=SIGUSR1@60s",
    split=_split,
    equals=True,
)
"""What the options of flux batch say of a job."""
