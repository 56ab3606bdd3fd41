"""LSF's scripts besides their needs (bsub(1), "Environment variables set for job execution" of Spectrum LSF 10.1)."""

from __future__ import annotations

from typing import Final

from providers.schedulers.lsf_tables import OPTIONS
from providers.schedulers.plain_words import plain_word
from providers.schedulers.script_words import MPIEXEC, Fill, Kept, Launcher, ScriptWords, Writing, output_path

__all__ = ["LSF_WORDS"]

_JSRUN: Final = Launcher(
    words=("jsrun",),
    options={"-n": "sets", "--nrs": "sets", "-a": "per_set", "-p": "tasks", "--np": "tasks"},
    writes={},
)
"""jsrun(1) counts resource sets: only where tasks are stated themselves it can be said otherwise."""


def _quote(value: str) -> str:
    return plain_word(value, where="script", scheduler="LSF")


def _write(kept: Kept) -> Writing:
    writing = Writing()
    writing.add("work_dir", "-cwd {}", kept.work_dir if kept.work_dir != "." else None, _quote)
    output_path(writing, "stdout", kept.stdout, LSF_WORDS.fills, "-o {}", _quote)
    stderr = kept.stderr
    if stderr is None and kept.joined is False and kept.stdout is not None:
        stderr = ("stderr.", Fill.JOB, "-", Fill.TASK) if kept.array else ("stderr.", Fill.JOB)
    output_path(writing, "stderr", stderr, LSF_WORDS.fills, "-e {}", _quote)
    writing.add("mail_to", "-u {}", kept.mail_to, _quote)
    if kept.mail_on is not None:
        writing.options += ["-B"] if "begin" in kept.mail_on else []
        # -Ne is for ends with an error alone, -N for all.
        writing.options += ["-N"] if "end" in kept.mail_on else ["-Ne"] if "fail" in kept.mail_on else []
    if kept.requeue is not None:
        writing.options.append("-r" if kept.requeue else "-rn")
    if kept.inherits is False:
        writing.options.append("-env none")
    return writing


LSF_WORDS: Final = ScriptWords(
    title="LSF",
    prefix="#BSUB",
    family=r"(?:LSB_\w+|LS_SUBCWD|LS_JOBPID)",
    joins=True,
    shared_id="-",
    slots="cores",
    local_clock=True,
    held="-H",
    start="-b %Y:%m:%d:%H:%M",
    launchers=(MPIEXEC, _JSRUN),
    write=_write,
    variables={
        "job_id": ("LSB_JOBID",), "job_name": ("LSB_JOBNAME",), "task": ("LSB_JOBINDEX",), "array_id": ("LSB_JOBID",),
        "task_last": ("LSB_JOBINDEX_END",), "task_step": ("LSB_JOBINDEX_STEP",), "submit_dir": ("LS_SUBCWD",),
        "submit_host": ("LSB_SUB_HOST",), "node_file": ("LSB_DJOB_HOSTFILE",), "queue": ("LSB_QUEUE",),
        "account": ("LSB_PROJECT_NAME",), "node_list": ("LSB_HOSTS", "LSB_MCPU_HOSTS"),
        "slots": ("LSB_DJOB_NUMPROC",),
    },
    commands=frozenset({"bsub", "bjobs", "bkill", "bmod", "bhosts", "blaunch", "jsrun", "bstop", "bresume", "bpost"}),
    own=frozenset({"-Jd", "-cwd", "-o", "-e", "-r", "-rn", "-env"}),
    reads={
        "-o": "stdout", "-oo": "stdout", "-e": "stderr", "-eo": "stderr", "-cwd": "work_dir", "-u": "mail_to",
        "-B": "mail_on=begin", "-N": "mail_on=all ends", "-Ne": "mail_on=fail", "-Nd": "mail_on=end",
        "-nnodes": "quiet", "-env": "export",
        "-H": "held", "-b": "start",
    },
    options=frozenset(OPTIONS),
    fills={Fill.JOB: "%J", Fill.ARRAY: "%J", Fill.TASK: "%I"},
    whole_file=True,
)  # fmt: skip
