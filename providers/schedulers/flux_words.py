"""Flux's scripts besides their needs: flux-environment(7), flux-run(1), flux-batch(1) "OUTPUT"."""

from __future__ import annotations

import re
from typing import Final

from dragoman.errors import BadRequest
from providers.schedulers.directives import checked
from providers.schedulers.script_words import MPIEXEC, Fill, Kept, Launcher, ScriptWords, Writing, output_path

__all__ = ["FLUX_WORDS"]

_RUN: Final = Launcher(
    words=("flux", "run"),
    options={
        "-n": "tasks", "--ntasks": "tasks", "-N": "nodes", "--nodes": "nodes", "-c": "cpus_per_task",
        "--cores-per-task": "cpus_per_task", "-g": "gpus_per_task", "--gpus-per-task": "gpus_per_task",
        "--tasks-per-node": "tasks_per_node", "-l": "label!", "--label-io": "label!", "-u": "unbuffered!",
        "--unbuffered": "unbuffered!", "--cwd": "work_dir",
    },
    writes={
        "tasks": "-n{}", "nodes": "-N{}", "cpus_per_task": "-c{}", "gpus_per_task": "-g{}",
        "tasks_per_node": "--tasks-per-node={}", "label": "--label-io", "unbuffered": "--unbuffered",
        "work_dir": "--cwd={}",
    },
    alone=True,
)  # fmt: skip
"""Without a number it starts one task."""


def _quote(value: str) -> str:
    checked(value, where="script")
    if re.fullmatch(r"[A-Za-z0-9_./:=,@+%^{}-]+", value, re.ASCII):
        return value
    if not value or "'" in value or "\\" in value:
        raise BadRequest(f"{value[:80]!r} cannot stand in a directive", where="script", cure="rename it")
    return f"'{value}'"


def _write(kept: Kept) -> Writing:
    writing = Writing()
    writing.add("name", "--job-name={}", kept.name, _quote)
    writing.add("work_dir", "--cwd={}", kept.work_dir if kept.work_dir != "." else None, _quote)
    output_path(writing, "stdout", kept.stdout, FLUX_WORDS.fills, "--output={}", _quote)
    stderr = kept.stderr
    if stderr is None and kept.joined is False and kept.stdout is not None:
        stderr = ("stderr-", Fill.JOB, ".err")
    output_path(writing, "stderr", stderr, FLUX_WORDS.fills, "--error={}", _quote)
    never = "Flux sends no mail (look with flux jobs, or put a mail command at the script's end)"
    writing.lose(never, mail_to=kept.mail_to, mail_on=kept.mail_on)
    writing.lose("Flux runs no job again by itself (submit it again)", requeue=kept.requeue)
    if kept.inherits is False:
        writing.options.append("--env=-*")
    return writing


FLUX_WORDS: Final = ScriptWords(
    title="Flux",
    prefix="#flux:",
    family=r"FLUX_\w+",
    joins=True,
    slots="shares",
    launchers=(_RUN, MPIEXEC),
    write=_write,
    variables={},
    also={
        "FLUX_JOB_ID": "job_id", "FLUX_JOB_SIZE": "tasks", "FLUX_JOB_NNODES": "nodes", "FLUX_TASK_RANK": "rank",
        "FLUX_TASK_LOCAL_ID": "local_rank", "FLUX_JOB_CC": "task",
    },
    # In the script itself, which is no task of a job, Flux sets none of these.
    expressions={"job_id": "$(flux getattr jobid)", "submit_dir": "$PWD"},
    commands=frozenset({"flux"}),
    own=frozenset({"--job-name", "--cwd", "--output", "--error"}),
    reads={"--output": "stdout", "--error": "stderr", "--cwd": "work_dir"},
    fills={Fill.JOB: "{{id}}", Fill.NAME: "{{name}}"},
    marks=r"[^\w\n]*(?:flux|FLUX):",
    whole_file=True,
)  # fmt: skip
