"""Rows about jobs as squeue and sacct print them, in a format of our own choosing.

The delimiter is the unit separator (octal 037): names hold `|`, commas and blanks, reasons hold commas and sentences.
The name comes last, and a row with another number of fields is not read: shifted fields would be believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from providers.schedulers.slurm_values import read_memory, read_tres

__all__ = ["SACCT_FORMAT", "SEPARATOR", "SQUEUE_FORMAT", "USAGE_FORMAT", "Row", "RowReader"]

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
_LINE = re.compile(r"[^\n]+")

SQUEUE_FORMAT: Final = SEPARATOR.join(("%i", "%A", "%T", "%P", "%V", "%S", "%e", "%M", "%N", "%r", "", "%k", "%j"))
"""For `squeue -o`, in the order of `Row`; it tells no exit code, so that field is left empty. See squeue(1)."""
SACCT_FORMAT: Final = (
    "JobID,JobIDRaw,State,Partition,Submit,Start,End,ElapsedRaw,NodeList,Reason,ExitCode,Comment,JobName"
)
"""For `sacct --format`, in the order of `Row`; see sacct(1). All fields are there since 20.11."""
USAGE_FORMAT: Final = SACCT_FORMAT.replace(",JobName", ",AllocTRES,MaxRSS,JobName")
"""The same with the memory that a job was given, and what its steps used: asked without `-X`, for rows of steps."""


class RowReader:
    """Rows of `squeue -h -o SQUEUE_FORMAT` or `sacct -n -P --delimiter=<037> --format=SACCT_FORMAT`, one at a time.

    A queue may hold 100,000 jobs of which few are ours, so no list of them is made. Rows of steps (`812.batch`) are
    left out, but for what they used.

    Args:
        text: the output.
        usage: it is in `USAGE_FORMAT`.

    """

    def __init__(self, text: str, *, usage: bool = False) -> None:
        self._text = text
        self._usage = usage
        self.read = 0
        """Rows so far."""
        self.bad = 0
        """Lines so far that could not be read."""
        self.max_rss: dict[str, int] = {}
        """Most bytes that one task of a job's steps held, by the job's id and by its raw id."""
        self.memory: dict[str, int] = {}
        """Bytes that a job was given in all, by the same ids."""

    def __iter__(self) -> Iterator[Row]:
        count = _FIELDS + 2 * self._usage
        for match in _LINE.finditer(self._text):
            line = match[0]
            fields = line.split(SEPARATOR, count - 1)
            if len(fields) == count and fields[0][:1].isdigit():
                self.read += 1
                if self._usage:
                    self._note(fields, given=fields.pop(-3), rss=fields.pop(-2))
                if "." not in fields[0]:
                    yield Row(*fields)
            elif not line.startswith("CLUSTER: "):  # squeue -M prints a heading, whatever -h says
                self.bad += 1

    def _note(self, fields: list[str], *, given: str, rss: str) -> None:
        """What the job was given also stands in the rows of its steps, and there it never lags behind."""
        jobs = {fields[0].partition(".")[0], fields[1].partition(".")[0]}
        for kept, size in ((self.memory, _bytes(read_tres(given).get("mem", ""))), (self.max_rss, _bytes(rss))):
            if size:
                kept.update((job, max(size, kept.get(job, 0))) for job in jobs)


def _bytes(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() else read_memory(text)
