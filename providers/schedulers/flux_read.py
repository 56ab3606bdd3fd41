"""A script for `flux batch`, read back as a request (flux-batch(1), RFC 36 submission directives)."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from datetime import UTC, datetime

from pydantic import ValidationError

from dragoman.protocols import ScriptReading
from dragoman.request import Dependency, EnvironmentVariable
from dragoman.shape import Gpus
from providers.schedulers.directives import Directive, clean_script
from providers.schedulers.flux_values import read_duration, read_flux_id, read_time_limit
from providers.schedulers.script_draft import Option, ScriptDraft, read_number, take_options

__all__ = ["SHORT", "read_flux_script", "split_words"]

_SENTINEL = re.compile(r"^([^\w\n]*(?:flux|FLUX):)", re.MULTILINE)
SHORT = {
    "-B": "--bank", "-q": "--queue", "-t": "--time-limit", "-o": "--setopt", "-S": "--setattr", "-n": "--nslots",
    "-c": "--cores-per-slot", "-g": "--gpus-per-slot", "-N": "--nodes", "-x": "--exclusive", "-u": "--unbuffered",
    "-l": "--label-io",
}  # fmt: skip
_ALIASES = {
    **SHORT, "--ntasks": "--nslots", "--cores-per-task": "--cores-per-slot", "--gpus-per-task": "--gpus-per-slot",
}  # fmt: skip
_TABLE = {
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
_OURS = frozenset({"--output", "--error", "--input", "--cwd", "--unbuffered", "--label-io"})
_NO_JOB = frozenset({"--dry-run", "--quiet", "--wrap", "--add-file", "--env-file"})
_MANY = frozenset({"--setopt", "--setattr", "--env", "--env-remove", "--rlimit", "--flags"})


class _Unusable(Exception):
    """What is wrong with a value, and the cure."""


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
    for directive in draft.parts.directives:
        if '"""' in directive.text or "'''" in directive.text:
            draft.problem(directive, "values over several lines are not read (write the value on one line)")
            continue
        words, wrong = split_words(directive.text)
        if wrong:
            draft.problem(directive, wrong)
            continue
        whole = {_whole(word): word for word in words}
        for option in take_options(list(map(_whole, words)), _TABLE, aliases=_ALIASES):
            first, blank, rest = option.written.partition(" ")
            # As it was written, so that it is found again in the script.
            _take(draft, option._replace(written=f"{whole.get(first, first)}{blank}{rest}"), directive)
    for late in draft.parts.ignored:
        draft.problem(late, f"{sentinel} comes after the first command: flux batch refuses the script (move it up)")
    if "nodes" in draft.shape and "tasks" not in draft.shape:
        draft.imply("exclusive", True, by="nodes")  # without slots they are whole
    return draft.finish()


def _whole(word: str) -> str:
    """The option that a shortened one stands for, as argparse has it: `--time` is `--time-limit`, `-n4` is `-n 4`."""
    short = re.fullmatch(r"(-[A-Za-z])=?(.+)", word, re.DOTALL)
    if short is not None and _TABLE.get(SHORT.get(short[1], "")) == 1:
        return f"{SHORT[short[1]]}={short[2]}"
    name, equals, value = word.partition("=")
    if not name.startswith("--") or name in _TABLE or name in _ALIASES:
        return word
    names = {_ALIASES.get(each, each) for each in (*_TABLE, *_ALIASES) if len(name) > 3 and each.startswith(name)}
    return f"{names.pop()}{equals}{value}" if len(names) == 1 else word


def _take(draft: ScriptDraft, option: Option, directive: Directive) -> None:
    if option.problem:
        draft.problem(directive, option.problem)
    elif option.name in _OURS:
        draft.ours(option.written, option.name)
    elif option.name in _NO_JOB:
        draft.ours(option.written, option.name)
        draft.note(directive, f"{option.name} has no place in a job script and is left out")
    elif option.name in _READERS:
        try:
            _READERS[option.name](draft, option, directive)
        except _Unusable as error:
            draft.problem(directive, f"{option.name}: {error}")
    elif option.name not in _TABLE:
        draft.problem(directive, f"{option.name[:60]} is no option of flux batch (delete it)")
    else:
        _keep(draft, option)


def _keep(draft: ScriptDraft, option: Option) -> None:
    value = option.value
    quoted = value if re.fullmatch(r"[\w./:=,@+%^*-]*", value) else f"'{value}'"
    written = f"{option.name}={quoted}" if option.values else option.name
    draft.native(written, f"{option.name} {value.partition('=')[0]}" if option.name in _MANY else option.name)


def _count(field: str) -> Callable[[ScriptDraft, Option, Directive], None]:
    def take(draft: ScriptDraft, option: Option, directive: Directive) -> None:
        number = read_number(option.value)
        if number is None:
            cure = (
                "flux expands no variables: write the number" if "$" in option.value else "write a whole number from 1"
            )
            raise _Unusable(f"{option.value[:60]!r} is no number ({cure})")
        draft.set_shape(directive, option.written, **{field: number})

    return take


def _gpus(per: str) -> Callable[[ScriptDraft, Option, Directive], None]:
    def take(draft: ScriptDraft, option: Option, directive: Directive) -> None:
        number = read_number(option.value, least=0)
        if number is None:
            raise _Unusable(f"{option.value[:60]!r} is no number (write a whole number)")
        gpus = Gpus(count=number, per=per) if number else None  # type: ignore[arg-type]  # one of its words
        draft.set_shape(directive, option.written, gpus=gpus)

    return take


def _time(draft: ScriptDraft, option: Option, directive: Directive) -> None:
    seconds = read_time_limit(option.value)
    if seconds is None:
        if read_duration(option.value) in (0.0, float("inf")):
            draft.note(directive, f"{option.written} is no limit: the site's default is taken")
            return
        raise _Unusable(f"{option.value[:60]!r} is no duration (write it like 90m, 1.5h or 3600s)")
    exact = read_duration(option.value, bare=60.0)
    if exact is not None and exact != seconds:
        draft.note(directive, f"{option.value} is rounded up to {seconds} s")
    if option.value.strip().isdigit():
        draft.note(directive, f"{option.value} is minutes to Flux")
    draft.set(directive, option.written, walltime_s=seconds)


def _named(field: str) -> Callable[[ScriptDraft, Option, Directive], None]:
    return lambda draft, option, directive: draft.name(directive, option, field)


def _attribute(draft: ScriptDraft, option: Option, directive: Directive) -> None:
    name, _, value = option.value.partition("=")
    if name in ("system.bank", "bank"):
        draft.name(directive, Option(option.name, (value,), option.written), "account")
    else:
        _keep(draft, option)


def _dependency(draft: ScriptDraft, option: Option, directive: Directive) -> None:
    scheme, _, value = option.value.partition(":")
    begin = re.fullmatch(r"(\d{7,11})(?:\.\d+)?", value, re.ASCII)
    if scheme == "begin-time" and begin is not None:
        draft.set(directive, option.written, start_after=datetime.fromtimestamp(int(begin[1]), UTC))
    elif scheme in ("after", "afterany", "afterok", "afternotok") and read_flux_id(value) is not None:
        one = Dependency(kind=scheme, job_id=str(read_flux_id(value)))  # type: ignore[arg-type]  # one of its words
        draft.add(directive, option.written, "dependencies", one)
    else:
        draft.native(f"{option.name}={option.value}", option.written)
        draft.note(directive, f"{option.written[:80]} is kept for Flux only")


def _environment(draft: ScriptDraft, option: Option, directive: Directive) -> None:
    name, equals, value = option.value.partition("=")
    if not equals or not re.fullmatch(r"[A-Za-z_]\w*", name, re.ASCII):
        _keep(draft, option)
        return
    try:
        variable = EnvironmentVariable(name=name, value=value)
    except ValidationError as error:
        raise _Unusable(f"{name[:60]!r} is no usable variable (shorten its value)") from error
    draft.add(directive, option.written, "environment", variable)


def _constraint(draft: ScriptDraft, option: Option, directive: Directive) -> None:
    before = draft.shape.get("constraint")
    draft.set_shape(directive, option.written, constraint=f"({before}) ({option.value})" if before else option.value)


_READERS: dict[str, Callable[[ScriptDraft, Option, Directive], None]] = {
    "--nodes": _count("nodes"),
    "--nslots": _count("tasks"),
    "--cores-per-slot": _count("cpus_per_task"),
    "--cores": _count("cpus"),
    "--tasks-per-node": _count("tasks_per_node"),
    "--gpus-per-slot": _gpus("task"),
    "--gpus-per-node": _gpus("node"),
    "--exclusive": lambda draft, option, directive: draft.set_shape(directive, option.written, exclusive=True),
    "--time-limit": _time,
    "--job-name": lambda draft, option, directive: draft.job_name(directive, option),
    "--queue": _named("queue"),
    "--bank": _named("account"),
    "--setattr": _attribute,
    "--dependency": _dependency,
    "--requires": _constraint,
    "--env": _environment,
}
