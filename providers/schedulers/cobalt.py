"""Cobalt (qsub of Argonne's Mira and Theta): scripts only. `-t` is in minutes, nodes are whole."""

from __future__ import annotations

import re
from typing import ClassVar

from dragoman.protocols import ScriptReading
from dragoman.request import Dependency, EnvironmentVariable
from providers.registry import register_dialect
from providers.schedulers.directives import Directive, split_words
from providers.schedulers.pbs_words import APRUN
from providers.schedulers.script_draft import Option, ScriptDraft, read_number, take_options
from providers.schedulers.script_words import Fill, ScriptWords
from providers.schedulers.scripts_only import ScriptsOnly

__all__ = ["CobaltDialect"]

_ALIASES = {
    "-n": "--nodecount", "-t": "--time", "-A": "--project", "-q": "--queue", "-o": "--output", "-e": "--error",
    "-O": "--outputprefix", "-i": "--inputfile", "-M": "--notify", "-h": "--held", "-I": "--interactive",
    "-u": "--umask", "-v": "--verbose", "-d": "--debug", "-k": "--kernel", "-p": "--proccount",
}  # fmt: skip
_OPTIONS = {
    **dict.fromkeys(
        ("--nodecount", "--time", "--project", "--queue", "--output", "--error", "--outputprefix", "--inputfile",
         "--notify", "--umask", "--kernel", "--proccount", "--mode", "--attrs", "--dependencies", "--env", "--cwd",
         "--jobname", "--geometry", "--ion_kernel", "--ion_kerneloptions", "--run_users", "--debuglog", "--user_list"),
        1,
    ),
    **dict.fromkeys(("--held", "--interactive", "--verbose", "--debug", "--run_project", "--disable_preboot"), 0),
}  # fmt: skip
_OURS = frozenset(
    {
        "--output", "--error", "--outputprefix", "--inputfile", "--notify", "--umask", "--cwd", "--debuglog", "--mode",
        "--verbose", "--debug", "--interactive",
    }
)  # fmt: skip


@register_dialect("cobalt")
class CobaltDialect(ScriptsOnly):
    """Cobalt's dialect: reads scripts."""

    name = "cobalt"
    script_words: ClassVar[ScriptWords | None] = ScriptWords(
        title="Cobalt",
        prefix="#COBALT",
        family=r"COBALT_\w+",
        launchers=(APRUN,),
        variables={
            "job_id": ("COBALT_JOBID",), "nodes": ("COBALT_JOBSIZE",), "node_file": ("COBALT_NODEFILE",),
            "node_list": ("COBALT_PARTNAME",),
        },
        commands=frozenset({"qsub", "qstat", "qdel", "qalter", "aprun", "runjob"}),
        reads={"--output": "stdout", "-o": "stdout", "--error": "stderr", "-e": "stderr", "--cwd": "work_dir",
               "--notify": "mail_to", "-M": "mail_to"},
        quiet=("--mode script", "--mode=script"),
        fills={Fill.JOB: "$jobid"},
    )  # fmt: skip
    """Read only: no script is written for Cobalt."""

    def read_script(self, text: str) -> ScriptReading:
        """The request that a script makes."""
        draft = ScriptDraft(text, "Cobalt", "#COBALT")
        for directive in draft.parts.directives:
            words, wrong = split_words(directive.text)
            if wrong:
                draft.problem(directive, wrong)
                continue
            for option in take_options(words, _OPTIONS, aliases=_ALIASES):
                _take(draft, directive, option)
        return draft.finish()


def _take(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    if option.problem:
        draft.problem(directive, option.problem)
        return
    match option.name:
        case "--nodecount" | "--proccount":
            count = read_number(option.value)
            if count is None:
                draft.problem(directive, f"{option.name} {option.value[:40]!r} is no number (write a whole number)")
            elif option.name == "--nodecount":
                draft.set_shape(directive, option.written, nodes=count, exclusive=True)
            else:
                draft.set_shape(directive, option.written, tasks=count)
        case "--time":
            _time(draft, directive, option)
        case "--project":
            draft.name(directive, option, "account")
        case "--queue":
            draft.name(directive, option, "queue")
        case "--jobname":
            draft.job_name(directive, option)
        case "--dependencies":
            _depends(draft, directive, option)
        case "--env":
            _variables(draft, directive, option)
        case "--mode" if option.value == "script":
            pass  # as everywhere else
        case name if name in _OURS:
            draft.ours(option.written, name)
        case name if name in _OPTIONS:
            draft.native(option.written, name)
        case _:
            draft.problem(directive, f"{option.written[:40]} is no option of Cobalt's qsub (delete it)")


def _time(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    match = re.fullmatch(r"(?:(\d{1,3}):)?(\d{1,4}):(\d{1,2}):(\d{1,2})|(\d{1,6})", option.value, re.ASCII)
    seconds = 0
    if match is not None and match[5]:
        seconds = int(match[5]) * 60
    elif match is not None:
        days, hours, minutes, rest = (int(part or 0) for part in match.groups()[:4])
        seconds = days * 86400 + hours * 3600 + minutes * 60 + rest
    if not seconds:
        draft.problem(directive, f"-t {option.value[:40]!r} is no time (write minutes, or HH:MM:SS)")
    else:
        draft.set(directive, option.written, walltime_s=seconds)


def _depends(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    ids = option.value.split(":")
    if not all(re.fullmatch(r"\d{1,18}", one, re.ASCII) for one in ids):
        draft.problem(directive, f"--dependencies {option.value[:60]!r} is no list of job ids (write it like 12:13)")
        return
    draft.set(directive, option.written, dependencies=tuple(Dependency(kind="afterok", job_id=one) for one in ids))


def _variables(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    pairs = [part.partition("=") for part in re.split(r":(?=[A-Za-z_]\w*=)", option.value)]
    if not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII) and equals for name, equals, _ in pairs):
        draft.problem(directive, f"--env {option.value[:60]!r} names no variable (write it like A=1:B=2)")
        return
    draft.set(
        directive,
        option.written,
        environment=tuple(EnvironmentVariable(name=name, value=value) for name, _, value in pairs),
    )
