"""Rows about jobs as squeue and sacct print them, in a format of our own choosing.

The delimiter is the unit separator (octal 037): names hold `|`, commas and blanks, reasons hold commas and sentences.
The name comes last, and a row with another number of fields is not read: shifted fields would be believed.
"""

from __future__ import annotations

from typing import Final, NamedTuple

__all__ = ["SACCT_FORMAT", "SEPARATOR", "SQUEUE_FORMAT", "Row", "read_rows"]

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
    comment: str = ""
    name: str = ""
    restarts: str = ""


_FIELDS: Final = 13

SQUEUE_FORMAT: Final = SEPARATOR.join(("%i", "%A", "%T", "%P", "%V", "%S", "%e", "%M", "%N", "%r", "", "%k", "%j"))
"""For `squeue -o`, in the order of `Row`; it tells no exit code, so that field is left empty. See squeue(1)."""
SACCT_FORMAT: Final = (
    "JobID,JobIDRaw,State,Partition,Submit,Start,End,ElapsedRaw,NodeList,Reason,ExitCode,Comment,JobName"
)
"""For `sacct --format`, in the order of `Row`; see sacct(1). All fields are there since 20.11."""


def read_rows(text: str) -> tuple[list[Row], int]:
    """Rows of `squeue -h -o SQUEUE_FORMAT` or `sacct -n -P --delimiter=<037> --format=SACCT_FORMAT`.

    Rows of steps (`812.batch`) are left out. The second item counts the lines that could not be read.
    """
    rows: list[Row] = []
    bad = 0
    for line in text.split("\n"):
        fields = line.split(SEPARATOR, _FIELDS - 1)
        if len(fields) == _FIELDS and fields[0][:1].isdigit():
            if "." not in fields[0]:
                rows.append(Row(*fields))
        elif line and not line.startswith("CLUSTER: "):  # squeue -M prints a heading, whatever -h says
            bad += 1
    return rows, bad
