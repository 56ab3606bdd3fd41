"""Cobalt (qsub of Argonne's Mira and Theta): scripts only. `-t` is in minutes, nodes are whole."""

from __future__ import annotations

import re
from typing import ClassVar

from dragoman.protocols import ScriptReading
from dragoman.request import Dependency, EnvironmentVariable
from providers.registry import register_dialect
from providers.schedulers.directives import Directive
from providers.schedulers.option_rows import Fields, Row, Unreadable, counted, named, number, says
from providers.schedulers.option_table import OptionTable
from providers.schedulers.pbs_words import APRUN
from providers.schedulers.script_draft import Option, ScriptDraft
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
        _TABLE.read(draft)
        return draft.finish()


def _mode(draft: ScriptDraft, directive: Directive, option: Option) -> None:
    if option.value != "script":  # as everywhere else
        draft.ours(option.written, option.name)


def _time(text: str) -> Fields:
    match = re.fullmatch(r"(?:(\d{1,3}):)?(\d{1,4}):(\d{1,2}):(\d{1,2})|(\d{1,6})", text, re.ASCII)
    seconds = 0
    if match is not None and match[5]:
        seconds = int(match[5]) * 60
    elif match is not None:
        days, hours, minutes, rest = (int(part or 0) for part in match.groups()[:4])
        seconds = days * 86400 + hours * 3600 + minutes * 60 + rest
    if not seconds:
        raise Unreadable(f"{text[:40]!r} is no time (write minutes, or HH:MM:SS)")
    return {"walltime_s": seconds}


def _depends(text: str) -> Fields:
    ids = text.split(":")
    if not all(re.fullmatch(r"\d{1,18}", one, re.ASCII) for one in ids):
        raise Unreadable(f"{text[:60]!r} is no list of job ids (write it like 12:13)")
    return {"dependencies": tuple(Dependency(kind="afterok", job_id=one) for one in ids)}


def _variables(text: str) -> Fields:
    pairs = [part.partition("=") for part in re.split(r":(?=[A-Za-z_]\w*=)", text)]
    if not all(re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name, re.ASCII) and equals for name, equals, _ in pairs):
        raise Unreadable(f"{text[:60]!r} names no variable (write it like A=1:B=2)")
    return {"environment": tuple(EnvironmentVariable(name=name, value=value) for name, _, value in pairs)}


_TABLE = OptionTable(
    program="Cobalt's qsub",
    counts=_OPTIONS,
    ours=_OURS,
    rows=(
        Row("--nodecount", take=says(lambda text: {"shape.nodes": number(text), "shape.exclusive": True})),
        counted("--proccount", "tasks"),
        Row("--time", take=says(_time)),
        Row("--jobname", take=ScriptDraft.job_name),
        Row("--dependencies", take=says(_depends)),
        Row("--env", take=says(_variables)),
        Row("--mode", take=_mode),
        named("--project", "account"),
        named("--queue", "queue"),
    ),
    quote=lambda value, where: value,
    aliases=_ALIASES,
    long=False,
)
