"""Where a job's own output goes, for schedulers that would copy it at the job's end, or not at all.

The script appends to the files in the work directory itself: they can be followed while the job runs, and no copy
between hosts can lose them. What the scheduler collects (its own messages, a shell that fails to start) lies in the
attempt's folder, apart from the job's files.
"""

from __future__ import annotations

import shlex

from dragoman.job import JobSpec
from providers.schedulers.directives import checked

__all__ = ["output_lines", "scheduler_log"]


def output_lines(spec: JobSpec, *, task: str = "") -> list[str]:
    """Shell lines that send stdout and stderr to the job's files; where that fails, the scheduler's log has them.

    Args:
        spec: the job.
        task: how the shell learns the index within an array, such as `${PBS_ARRAY_INDEX:-}`.

    """
    work = checked(spec.work_dir, where="work_dir").rstrip("/")
    lines = [f"dgm_part={task}" if task else "dgm_part=", "dgm_part=${dgm_part:+.$dgm_part}"]
    for number, name, where in (("1", spec.stdout, "stdout"), ("2", spec.stderr, "stderr")):
        lines.append(f"dgm_file={shlex.quote(f'{work}/{checked(name, where=where)}')}$dgm_part")
        # In a shell of its own first: a failed redirection of a special built-in ends a POSIX shell.
        lines.append(f'if (true >>"$dgm_file") 2>/dev/null; then exec {number}>>"$dgm_file"; fi')
    return lines


def scheduler_log(spec: JobSpec) -> str:
    """Path of the file for what the scheduler itself collects."""
    return f"{checked(spec.control_dir, where='control_dir').rstrip('/')}/scheduler.log"
