"""Which workload managers a host has: by what their commands say of themselves, never by a command's name alone.

`qsub` and `qstat` are PBS's, Torque's, Grid Engine's, Cobalt's and wrappers' of Slurm; `bsub` may be a wrapper too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from dragoman.command import Command, Completed

__all__ = ["MANAGERS", "identify_commands", "managers_found", "questions_of"]

_SIGNS: Final[tuple[tuple[str, tuple[str, ...], str], ...]] = (
    ("slurm", ("sinfo", "--version"), r"^slurm(?:-wlm)? \d"),
    ("pbs", ("qstat", "--version"), r"^\s*pbs_version\s*="),
    ("torque", ("qstat", "--version"), r"^\s*[Vv]ersion:\s*\d+(?:\.\d+)+\s*$"),
    ("cobalt", ("qstat", "--version"), r"\bcobalt\b"),
    ("sge", ("qconf", "-help"), r"^(?:SGE|GE|UGE|AGE|OGS/GE|SoGE|Univa Grid Engine|Altair Grid Engine)\b"),
    ("flux", ("flux", "version"), r"^commands:\s*\S+|^libflux-core:"),
    ("lsf", ("bsub", "-V"), r"\bLSF\b"),
    ("oar", ("oarstat", "--version"), r"\bOAR version\s*:?\s*\d"),
    ("htcondor", ("condor_version",), r"\$CondorVersion:"),
)
"""Manager, question, and the words that only it answers."""

MANAGERS: Final = tuple(sorted(name for name, _, _ in _SIGNS))
"""Those that can be told apart."""


def questions_of(manager: str | None = None) -> tuple[tuple[str, ...], ...]:
    """What is asked to find a manager; None: to find any."""
    return tuple(dict.fromkeys(argv for name, argv, _ in _SIGNS if manager in (None, name)))


def identify_commands() -> list[Command]:
    """One question for each command."""
    return [Command(argv=argv, timeout_s=20) for argv in questions_of()]


def managers_found(done: Sequence[Completed | Exception]) -> tuple[str, ...]:
    """Names of the dialects whose manager answered, sorted; an answer in other words is no sign of any.

    Args:
        done: answers in the order of `identify_commands`; a command that is missing is an exception.

    """
    told = {
        command.argv: f"{answer.out}\n{answer.err}"
        for command, answer in zip(identify_commands(), done, strict=False)
        if isinstance(answer, Completed) and answer.rc not in (126, 127)
    }
    return tuple(
        sorted(
            name
            for name, argv, words in _SIGNS
            if re.search(words, told.get(argv, ""), re.MULTILINE | re.IGNORECASE if name == "cobalt" else re.MULTILINE)
        )
    )
