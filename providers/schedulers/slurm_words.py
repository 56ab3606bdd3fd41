"""Slurm's scripts besides their needs: variables (sbatch(1) "OUTPUT ENVIRONMENT VARIABLES"), srun(1), files, mail."""

from __future__ import annotations

from typing import Final

from providers.schedulers.directives import checked
from providers.schedulers.script_words import Fill, Kept, Launcher, ScriptWords, Writing, output_path
from providers.schedulers.slurm_options import quote_word

__all__ = ["SLURM_WORDS", "SRUN"]

SRUN: Final = Launcher(
    words=("srun",),
    options={
        "-n": "tasks", "--ntasks": "tasks", "-N": "nodes", "--nodes": "nodes", "-c": "cpus_per_task",
        "--cpus-per-task": "cpus_per_task", "--ntasks-per-node": "tasks_per_node",
        "--tasks-per-node": "tasks_per_node", "--gpus-per-task": "gpus_per_task", "-l": "label!", "--label": "label!",
        "-u": "unbuffered!", "--unbuffered": "unbuffered!", "-D": "work_dir", "--chdir": "work_dir",
        "--mpi": "ignored",
    },
    writes={
        "tasks": "-n {}", "nodes": "-N {}", "cpus_per_task": "-c {}", "tasks_per_node": "--ntasks-per-node={}",
        "gpus_per_task": "--gpus-per-task={}", "label": "--label", "unbuffered": "--unbuffered",
        "work_dir": "--chdir={}",
    },
    all_tasks=True,
    cores_too=False,
)  # fmt: skip

_MAIL: Final = {"BEGIN": "begin", "END": "end", "FAIL": "fail"}


def _quote(value: str) -> str:
    return quote_word(checked(value, where="script"), where="script")


def _write(kept: Kept) -> Writing:
    writing = Writing()
    writing.add("name", "--job-name={}", kept.name, _quote)
    writing.add("work_dir", "--chdir={}", kept.work_dir if kept.work_dir != "." else None, _quote)
    output_path(writing, "stdout", kept.stdout, SLURM_WORDS.fills, "--output={}", _quote)
    stderr = kept.stderr
    if stderr is None and kept.joined is False and kept.stdout is not None:
        stderr = (Fill.NAME, ".e", Fill.JOB)
    output_path(writing, "stderr", stderr, SLURM_WORDS.fills, "--error={}", _quote)
    if kept.joined and kept.stdout is None and kept.stderr is not None:
        output_path(writing, "stderr", kept.stderr, SLURM_WORDS.fills, "--output={}", _quote)
    if kept.mail_on is not None:
        words = [word for word, ours in _MAIL.items() if ours in kept.mail_on]
        writing.options.append(f"--mail-type={','.join(words) or 'NONE'}")
    writing.add("mail_to", "--mail-user={}", kept.mail_to, _quote)
    if kept.requeue is not None:
        writing.options.append("--requeue" if kept.requeue else "--no-requeue")
    if kept.inherits is False:
        writing.options.append("--export=NONE")
    return writing


SLURM_WORDS: Final = ScriptWords(
    title="Slurm",
    prefix="#SBATCH",
    family=r"(?:SLURM|SBATCH|SLURMD)_\w+",
    joins=True,
    held="--hold",
    start="--begin=%Y-%m-%dT%H:%M:%S",
    cores_as_tasks=True,
    tops_up=r"--mincpus=",
    joints=r",|:|hetjob|packjob",
    launchers=(SRUN,),
    write=_write,
    variables={
        "job_id": ("SLURM_JOB_ID", "SLURM_JOBID"), "job_name": ("SLURM_JOB_NAME",),
        "array_id": ("SLURM_ARRAY_JOB_ID",), "task": ("SLURM_ARRAY_TASK_ID",),
        "task_count": ("SLURM_ARRAY_TASK_COUNT",), "task_first": ("SLURM_ARRAY_TASK_MIN",),
        "task_last": ("SLURM_ARRAY_TASK_MAX",), "task_step": ("SLURM_ARRAY_TASK_STEP",),
        "submit_dir": ("SLURM_SUBMIT_DIR",), "submit_host": ("SLURM_SUBMIT_HOST",),
        "node_list": ("SLURM_JOB_NODELIST", "SLURM_NODELIST"), "nodes": ("SLURM_JOB_NUM_NODES", "SLURM_NNODES"),
        "tasks": ("SLURM_NTASKS", "SLURM_NPROCS"), "tasks_per_node": ("SLURM_NTASKS_PER_NODE",),
        "cpus_per_task": ("SLURM_CPUS_PER_TASK",), "cpus_on_node": ("SLURM_CPUS_ON_NODE",),
        "gpus_on_node": ("SLURM_GPUS_ON_NODE",), "queue": ("SLURM_JOB_PARTITION",),
        "account": ("SLURM_JOB_ACCOUNT",), "rank": ("SLURM_PROCID",), "local_rank": ("SLURM_LOCALID",),
        "node_rank": ("SLURM_NODEID",), "restarts": ("SLURM_RESTART_COUNT",),
    },
    also={"SLURM_JOB_USER": "user"},
    commands=frozenset(
        {"sbatch", "salloc", "squeue", "scancel", "scontrol", "sacct", "sinfo", "sstat", "sbcast", "sattach", "srun"}
    ),
    own=frozenset(
        {"--job-name", "--comment", "--chdir", "--output", "--error", "--mail-type", "--requeue", "--no-requeue",
         "--open-mode"}
    ),
    reads={
        "--output": "stdout", "-o": "stdout", "--error": "stderr", "-e": "stderr", "--chdir": "work_dir",
        "-D": "work_dir", "--mail-type": "mail_on", "--mail-user": "mail_to", "--export": "export",
        "--hold": "held", "--begin": "start",
    },
    quiet=("--mail-type=NONE", "--mail-type NONE"),
    fills={Fill.JOB: "%j", Fill.ARRAY: "%A", Fill.TASK: "%a", Fill.NAME: "%x"},
    mail={"BEGIN": "begin", "END": "end", "FAIL": "fail", "ALL": "all", "NONE": ""},
)  # fmt: skip
