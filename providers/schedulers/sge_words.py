"""Grid Engine's scripts besides their needs (sge_submit(1) "ENVIRONMENTAL VARIABLES", pseudo variables of `-o`)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from providers.schedulers.plain_words import plain_word
from providers.schedulers.script_words import (
    ONE_HOST,
    Fill,
    Kept,
    ScriptWords,
    Spread,
    Writing,
    mail_letters,
    output_path,
)
from providers.schedulers.sge_tables import OPTIONS

__all__ = ["SGE_WORDS"]

_MAIL: Final = {"b": "begin", "e": "end", "a": "fail"}


def _quote(value: str) -> str:
    return plain_word(value, where="script", scheduler="Grid Engine")


def _write(kept: Kept) -> Writing:
    writing = Writing()
    writing.add("name", "-N {}", kept.name, _quote)
    program, _, rest = kept.interpreter.partition(" ")
    if program.endswith("/env") or rest.strip():
        why = "the queue's shell runs the script, whatever its first line says (write the program's own path there)"
        writing.lost["interpreter"] = why if program.endswith("/env") else f"{program} is run without {rest.strip()}"
    if program.startswith("/") and not program.endswith("/env"):
        # Without it the queue's shell runs the script, whatever its first line says.
        writing.add("interpreter", "-S {}", program, _quote)
    if kept.work_dir == ".":
        writing.options.append("-cwd")
    else:
        writing.add("work_dir", "-wd {}", kept.work_dir, _quote)
    output_path(writing, "stdout", kept.stdout, SGE_WORDS.fills, "-o {}", _quote)
    output_path(writing, "stderr", kept.stderr, SGE_WORDS.fills, "-e {}", _quote)
    if kept.joined:
        writing.options.append("-j y")
    writing.add("mail_on", "-m {}", mail_letters(kept, _MAIL, "n"))
    writing.add("mail_to", "-M {}", kept.mail_to, _quote)
    if kept.requeue is not None:
        writing.options.append(f"-r {'y' if kept.requeue else 'n'}")
    if kept.inherits:
        writing.options.append("-V")
    return writing


_ONE_HOST = re.compile(
    r"(?:\w*[._-])?(?:smp|omp|openmp|threads?|threaded|multithread|shm|shared|sharedmem|onehost)(?:[._-]\w*)?", re.I
)
"""Names that sites give to parallel environments of one host."""


def _spread(options: Sequence[str]) -> Spread | None:
    """What the parallel environment's name says."""
    found = [words.split()[1] for words in options if words.startswith("-pe ")]
    if not found:
        return None
    if _ONE_HOST.fullmatch(found[-1]) is not None:
        return ONE_HOST
    why = f"over how many nodes {found[-1]} spreads slots only the site knows (state nodes in the script)"
    return Spread(False, f"-pe {found[-1]}", why)


SGE_WORDS: Final = ScriptWords(
    title="Grid Engine",
    prefix="#$",
    family=r"(?:SGE_\w+|JOB_ID|JOB_NAME|PE_HOSTFILE|NSLOTS|NHOSTS|RESTARTED)",
    starts_in="home",
    inherits=False,
    shared_id=".",
    slots="cores",
    spread=_spread,
    local_clock=True,
    held="-h",
    start="-a %Y%m%d%H%M.%S",
    also_called=("gridengine",),
    write=_write,
    variables={
        "job_id": ("JOB_ID",), "array_id": ("JOB_ID",), "job_name": ("JOB_NAME",), "task": ("SGE_TASK_ID",),
        "task_first": ("SGE_TASK_FIRST",), "task_last": ("SGE_TASK_LAST",), "task_step": ("SGE_TASK_STEPSIZE",),
        "submit_dir": ("SGE_O_WORKDIR",), "submit_host": ("SGE_O_HOST",), "queue": ("QUEUE",),
        "restarts": ("RESTARTED",), "slots": ("NSLOTS",), "nodes": ("NHOSTS",),
    },
    also={"SGE_O_HOME": "home", "SGE_O_LOGNAME": "user"},
    commands=frozenset({"qsub", "qstat", "qdel", "qalter", "qrsh", "qlogin", "qhost", "qhold", "qrls", "qacct"}),
    own=frozenset({"-S", "-N", "-wd", "-o", "-e", "-j", "-m", "-r"}),
    options=frozenset(OPTIONS),
    reads={
        "-o": "stdout", "-e": "stderr", "-j": "joined", "-cwd": "cwd", "-wd": "work_dir", "-M": "mail_to",
        "-m": "mail_on", "-V": "inherits", "-S": "interpreter", "-pe": "quiet",
        "-h": "held", "-a": "start",
    },
    quiet=("-m n", "-j n", "-S /bin/sh"),
    fills={Fill.JOB: "$JOB_ID", Fill.ARRAY: "$JOB_ID", Fill.TASK: "$TASK_ID", Fill.NAME: "$JOB_NAME"},
    mail={"b": "begin", "e": "end", "a": "fail", "n": ""},
    whole_file=True,
    notes=(
        (r"-pe ", "the parallel environment's name is the site's own (qconf -spl lists them)"),
        (r"-l gpu=0\.", "Grid Engine counts GPUs for each slot: a part of one is taken only where the site's resource"
            " is of type DOUBLE; where it is INT and counted per job (qconf -sc: JOB), write their whole number"),
        (r"-l gpu=", "the name of the resource that counts GPUs is the site's own (qconf -sc lists them)"),
    ),
)  # fmt: skip
