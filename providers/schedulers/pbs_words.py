"""Scripts of PBS, Torque and Moab besides their needs (qsub(1B) "ENVIRONMENT VARIABLES" of each)."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from providers.schedulers.pbs_rows import quoted
from providers.schedulers.script_words import (
    MPIEXEC,
    ONE_HOST,
    Fill,
    Kept,
    Launcher,
    ScriptWords,
    Writing,
    mail_letters,
    output_path,
)

__all__ = ["APRUN", "MOAB_WORDS", "PBS_WORDS", "TORQUE_WORDS"]

APRUN: Final = Launcher(
    words=("aprun",),
    options={"-n": "tasks", "-N": "tasks_per_node", "-d": "cpus_per_task", "-T": "unbuffered!"},
    writes={"tasks": "-n {}", "tasks_per_node": "-N {}", "cpus_per_task": "-d {}"},
)
"""aprun(1) of Cray: without a number it starts one task."""
_MAIL: Final = {"a": "fail", "b": "begin", "e": "end"}


def _quote(value: str) -> str:
    return quoted(value, "script")


def _write(kept: Kept, fills: dict[Fill, str]) -> Writing:
    writing = Writing()
    writing.add("name", "-N {}", kept.name, _quote)
    program, _, rest = kept.interpreter.partition(" ")
    if program.endswith("/env") or rest.strip():
        why = "the login shell runs the script, whatever its first line says (write the program's own path there)"
        writing.lost["interpreter"] = why if program.endswith("/env") else f"{program} is run without {rest.strip()}"
    if program.startswith("/") and not program.endswith("/env"):
        # Without it the login shell would run the script, whatever its first line says.
        writing.add("interpreter", "-S {}", program, _quote)
    output_path(writing, "stdout", kept.stdout, fills, "-o {}", _quote)
    output_path(writing, "stderr", kept.stderr, fills, "-e {}", _quote)
    if kept.joined:
        writing.options.append("-j oe" if kept.stdout is not None or kept.stderr is None else "-j eo")
    writing.add("mail_on", "-m {}", mail_letters(kept, _MAIL, "n"))
    writing.add("mail_to", "-M {}", kept.mail_to, _quote)
    if kept.requeue is not None:
        writing.options.append(f"-r {'y' if kept.requeue else 'n'}")
    if kept.inherits:
        writing.options.append("-V")
    return writing


def _write_pbs(kept: Kept) -> Writing:
    return _write(kept, {Fill.TASK: "^array_index^"})


def _write_torque(kept: Kept) -> Writing:
    writing = _write(kept, {Fill.JOB: "$PBS_JOBID", Fill.NAME: "$PBS_JOBNAME", Fill.TASK: "$PBS_ARRAYID"})
    writing.add("work_dir", "-d {}", kept.work_dir if kept.work_dir != "." else None, _quote)
    return writing


PBS_WORDS: Final = ScriptWords(
    title="PBS",
    prefix="#PBS",
    family=r"PBS_\w+|NCPUS",
    starts_in="home",
    enters=False,
    inherits=False,
    spread=lambda options: ONE_HOST,
    may_share="place=free",
    local_clock=True,
    held="-h",
    start="-a %Y%m%d%H%M.%S",
    threads=r"\bompthreads=(\d+)",
    joints=r"-l|-W|,|:",
    also_called=("openpbs", "pbspro"),
    launchers=(MPIEXEC, APRUN),
    write=_write_pbs,
    variables={
        "job_id": ("PBS_JOBID",), "job_name": ("PBS_JOBNAME",), "array_id": ("PBS_ARRAY_ID",),
        "task": ("PBS_ARRAY_INDEX",), "submit_dir": ("PBS_O_WORKDIR",), "submit_host": ("PBS_O_HOST",),
        "node_file": ("PBS_NODEFILE",), "queue": ("PBS_QUEUE",),
    },
    also={
        "PBS_ARRAYID": "task", "PBS_NUM_NODES": "nodes", "PBS_NP": "tasks", "PBS_NUM_PPN": "cpus_on_node",
        "PBS_O_HOME": "home", "PBS_O_LOGNAME": "user",
    },
    hints={"job_id": "it has the server's name behind the number (123.server)"},
    commands=frozenset({"qsub", "qstat", "qdel", "qalter", "pbsdsh", "pbsnodes", "qhold", "qrls", "aprun"}),
    own=frozenset({"-N", "-S", "-j", "-o", "-m", "-r"}),
    reads={
        "-o": "stdout", "-e": "stderr", "-j": "joined", "-M": "mail_to", "-m": "mail_on", "-V": "inherits",
        "-d": "work_dir", "-w": "work_dir", "-S": "interpreter", "-h": "held", "-a": "start",
    },
    quiet=("-m n", "place=scatter", "place=free", "place=pack"),
    fills={Fill.TASK: "^array_index^", Fill.JOB: "$PBS_JOBID", Fill.NAME: "$PBS_JOBNAME"},
    mail={"a": "fail", "b": "begin", "e": "end", "n": ""},
    related=frozenset({"torque", "moab"}),
    told_by=r"^#PBS[ \t](?:.*[ \t])?(?:-J[ \t]*\d|-[lW].*\b(?:select|place)=)",
    told_by_body=r"^[^#\n]*\bPBS_ARRAY_(?:INDEX|ID)\b",
)  # fmt: skip

_TORQUE: Final = {
    "task": ("PBS_ARRAYID",), "nodes": ("PBS_NUM_NODES",), "tasks": ("PBS_NP",), "cpus_on_node": ("PBS_NUM_PPN",),
}  # fmt: skip
_ONLY_TORQUE: Final = (
    r"^#PBS[ \t](?:.*[ \t])?(?:-t[ \t]*\d|-l(?:[ \t]*|.*[ ,])"
    r"(?:nodes=\S*:(?:gpus|mics)=|(?:naccesspolicy|procs|advres|gres|qos)=|walltime=\d+:\d+:\d+:\d))"
)
"""An array, words of a node, a clock with days (pbs_resources of Torque), and resources of the scheduler beside it."""
TORQUE_WORDS: Final = replace(
    PBS_WORDS,
    title="Torque",
    enters=True,
    slots="cores",
    conditions="PBS",  # one reader for both; each refuses what only the other knows
    threads="",
    also_called=(),
    variables={**{told: names for told, names in PBS_WORDS.variables.items() if told != "array_id"}, **_TORQUE},
    # `123[4].server` or `123-4.server`
    expressions={"array_id": "${PBS_JOBID%%[!0-9]*}"},
    also={"PBS_ARRAY_ID": "array_id", "PBS_ARRAY_INDEX": "task", "PBS_O_HOME": "home", "PBS_O_LOGNAME": "user"},
    write=_write_torque,
    fills={Fill.TASK: "$PBS_ARRAYID", Fill.JOB: "$PBS_JOBID", Fill.NAME: "$PBS_JOBNAME"},
    related=frozenset({"pbs", "moab"}),
    told_by=_ONLY_TORQUE,
    told_by_body=r"^[^#\n]*\bPBS_(?:ARRAYID|NUM_NODES|NUM_PPN|NP)\b",
)
MOAB_WORDS: Final = replace(
    TORQUE_WORDS, title="Moab", prefix="#MSUB", family=r"(?:PBS|MOAB)_\w+", related=frozenset({"pbs", "torque"}),
    spread=lambda options: None,
)  # fmt: skip
