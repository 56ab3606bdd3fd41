"""Rows about jobs as squeue and sacct print them, in a format of our own choosing.

The delimiter is the unit separator (octal 037): names hold `|`, commas and blanks, reasons hold commas and sentences.
The name comes last, and a row with another number of fields is not read: shifted fields would be believed.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["SACCT_FORMAT", "SEPARATOR", "SQUEUE_FORMAT", "Row", "sacct_rows", "squeue_rows"]

SEPARATOR: Final = "\x1f"


class Row(NamedTuple):
    """One row, all fields as printed; empty where the command does not tell."""

    id: str
    """`812`, `13_7`, `13_[4-7%2]`, `52+0`."""
    raw: str
    """The id of this very task or component."""
    state: str
    queue: str = ""
    submitted: str = ""
    started: str = ""
    ended: str = ""
    elapsed: str = ""
    nodes: str = ""
    reason: str = ""
    exit: str = ""
    restarts: str = ""
    comment: str = ""
    name: str = ""


SQUEUE_FORMAT: Final = SEPARATOR.join(("%i", "%A", "%T", "%P", "%V", "%S", "%e", "%M", "%N", "%r", "%k", "%j"))
"""For `squeue -o`; see squeue(1)."""
SACCT_FORMAT: Final = (
    "JobID,JobIDRaw,State,Partition,Submit,Start,End,ElapsedRaw,NodeList,Reason,ExitCode,Comment,JobName"
)
"""For `sacct --format`; see sacct(1). All fields are there since 20.11."""


def squeue_rows(text: str) -> tuple[list[Row], int]:
    """Rows of `squeue -h -o SQUEUE_FORMAT`, and how many lines could not be read."""
    rows: list[Row] = []
    bad = 0
    for line in text.split("\n"):
        if not line or line.startswith("CLUSTER: "):  # with -M there is a heading, whatever -h says
            continue
        fields = line.split(SEPARATOR, 11)
        if len(fields) == 12 and fields[0][:1].isdigit():
            i, raw, state, queue, submitted, started, ended, elapsed, nodes, reason, comment, name = fields
            rows.append(
                Row(i, raw, state, queue, submitted, started, ended, elapsed, nodes, reason, "", "", comment, name)
            )
        else:
            bad += 1
    return rows, bad


def sacct_rows(text: str) -> tuple[list[Row], int]:
    """Rows of `sacct -n -P --delimiter=<037> --format=SACCT_FORMAT`, and how many lines could not be read.

    Rows of steps (`812.batch`) are left out.
    """
    rows: list[Row] = []
    bad = 0
    for line in text.split("\n"):
        if not line:
            continue
        fields = line.split(SEPARATOR, 12)
        if len(fields) == 13 and fields[0][:1].isdigit():
            if "." in fields[0]:
                continue
            i, raw, state, queue, submitted, started, ended, elapsed, nodes, reason, code, comment, name = fields
            rows.append(
                Row(i, raw, state, queue, submitted, started, ended, elapsed, nodes, reason, code, "", comment, name)
            )
        else:
            bad += 1
    return rows, bad
