"""A program with its arguments as lines of a POSIX shell that run exactly it, and what stands before and after it."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from dragoman.run_plan import RunPlan

__all__ = ["command_body", "plan_body"]


def command_body(command: Sequence[str]) -> str:
    """The command quoted word by word; carriage returns are written out, for line ends of scripts are mended."""
    return _body(" ".join(shlex.quote(word) for word in command))


def plan_body(plan: RunPlan) -> str:
    """The plan as shell lines: the job ends with the command's exit code, or that of the first that failed before it.

    This is what a person is shown and what the job runs.
    """
    words = [*plan.before, *(shlex.quote(word) for word in plan.command)]
    lines = [*plan.setup, *(f'{line} || exit "$?"' for line in plan.prepare)]
    lines.append(" ".join(words) + (' || exit "$?"' if plan.finish else ""))
    lines += [f'{line} || exit "$?"' for line in plan.finish[:-1]] + [*plan.finish[-1:]]
    return _body("\n".join(lines))


def _body(lines: str) -> str:
    if "\r" not in lines:
        return f"{lines}\n"
    return "cr=$(printf '\\r')\n" + lines.replace("\r", "'\"$cr\"'") + "\n"
