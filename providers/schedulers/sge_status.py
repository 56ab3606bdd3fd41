"""What `qstat -r -xml` and `qstat -j` say of jobs (qstat(1))."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import tzinfo
from typing import Any, NamedTuple

from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from providers.schedulers.base import one_line
from providers.schedulers.combining import combined, indices
from providers.schedulers.sge_tables import state_of
from providers.schedulers.sge_values import read_time

__all__ = ["Row", "error_reasons", "queue_rows", "queue_statuses"]


class Row(NamedTuple):
    """One line of qstat: a job, or tasks of an array that are in the same state."""

    id: str
    state: str
    name: str = ""
    queue: str = ""
    submitted: str = ""
    started: str = ""
    tasks: str = ""
    waits_for: str = ""


_NO_XML = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


def queue_rows(out: bytes, wanted: Callable[[str, str], bool]) -> tuple[list[Row], str]:
    """Rows of qstat, XML or text, and why they cannot be trusted as a whole.

    Args:
        out: what qstat printed.
        wanted: whether a job matters, by its id and name; a queue may hold very many that do not.

    """
    text = out.decode("utf-8", "replace")
    if text.lstrip()[:1] != "<":
        rows, trouble = _text_rows(text)
        return [row for row in rows if wanted(row.id, row.name)], trouble
    if "<!DOCTYPE" in text or "<!ENTITY" in text:
        return [], "the answer is no XML of qstat"
    # Names hold whatever their owners typed, and qstat writes it as it is.
    parser: Any = ET.XMLPullParser(("end",))  # no DTD is in it
    rows = []
    nameless = 0
    root = re.search(r"<([A-Za-z_][\w.-]*)[\s>/]", re.sub(r"^\s*<\?.*?\?>", "", text[:4096], flags=re.DOTALL))
    try:
        for start in range(0, len(text), 2**16):
            parser.feed(_NO_XML.sub("", text[start : start + 2**16]))
            nameless += _drain(parser, rows, wanted)
        parser.close()
        nameless += _drain(parser, rows, wanted)
    except ET.ParseError as error:
        return rows, f"the answer of qstat is cut off or no XML ({error})"
    name = root[1] if root is not None else ""
    if name not in {"job_info", "unknown_jobs"}:
        return rows, f"the answer is no XML of qstat ({name[:40]})"
    return rows, f"{nameless} jobs in the answer of qstat have no id" if nameless else ""


def _drain(parser: Any, rows: list[Row], wanted: Callable[[str, str], bool]) -> int:  # noqa: ANN401 # see _events
    """Takes the rows that are whole, and counts those without an id: each may be of any job."""
    nameless = 0
    for element in _events(parser):
        if element.tag == "job_list":
            told = {one.tag: (one.text or "").strip() for one in element}
            name = told.get("full_job_name") or told.get("JB_name", "")
            nameless += not told.get("JB_job_number", "").isdecimal()
            if wanted(told.get("JB_job_number", ""), name):
                rows.append(_row(element, told, name))
            element.clear()
    return nameless


def _events(parser: Any) -> Iterator[ET.Element]:  # noqa: ANN401 # the parser's type cannot be written for all versions
    for _, element in parser.read_events():
        yield element


def _row(element: ET.Element, told: Mapping[str, str], name: str) -> Row:
    waits = [(one.text or "").strip() for one in element if one.tag.startswith("predecessor_jobs")]
    return Row(
        id=told.get("JB_job_number", ""),
        state=told.get("state", ""),
        name=name,
        queue=told.get("queue_name", ""),
        submitted=told.get("JB_submission_time", ""),
        started=told.get("JAT_start_time", ""),
        tasks=told.get("tasks", ""),
        waits_for=", ".join(dict.fromkeys(filter(None, waits))),
    )


_LINE = re.compile(
    r"\s*(?P<id>\d+)\s+[\d.]+\s+(?P<name>\S.*?)\s+\S+\s+(?P<state>[a-zA-Z]+)\s+(?P<day>\d\d/\d\d/\d{4})\s+"
    r"(?P<clock>\d\d:\d\d:\d\d)\s+(?:(?P<queue>\S+@\S+)\s+)?\d+(?:\s+(?P<tasks>[\d,:-]+))?\s*"
)


def _text_rows(text: str) -> tuple[list[Row], str]:
    rows: list[Row] = []
    for line in text.splitlines():
        match = _LINE.fullmatch(line)
        if match is None:
            if line.strip() and not line.startswith(("job-ID", "---")):
                return rows, f"a line of qstat cannot be read: {one_line(line, limit=100)}"
            continue
        month, day, year = match["day"].split("/")
        at = f"{year}-{month}-{day}T{match['clock']}"
        waits = "q" in match["state"]
        rows.append(
            Row(
                match["id"], match["state"], match["name"], match["queue"] or "", at if waits else "",
                "" if waits else at, match["tasks"] or "",
            )
        )  # fmt: skip
    return rows, "" if rows or text.startswith("job-ID") else "qstat printed nothing"


def error_reasons(text: str) -> dict[str, str]:
    """By job id, the `error reason` lines of `qstat -j`, or what its `scheduling info` says."""
    found: dict[str, str] = {}
    job, key = "", ""
    lines: dict[tuple[str, str], list[str]] = {}
    for line in text.splitlines():
        head, colon, rest = line.partition(":")
        if colon and line[:1].strip():
            key = re.sub(r"\s+\d+$", "", head.strip())
            job = rest.strip() if key == "job_number" else job
        else:
            rest = line
        if job and key in {"error reason", "scheduling info"} and rest.strip():
            lines.setdefault((job, key), []).append(rest.strip())
    for (job, key), told in lines.items():
        if key == "error reason" or job not in found:
            found[job] = one_line("; ".join(told))
    return found


def queue_statuses(rows: Sequence[Row], refs: Sequence[JobRef], zone: tzinfo) -> dict[str, JobStatus]:
    """Status by job id of those that the rows show."""
    groups: dict[str, list[Row]] = {ref.job_id: [] for ref in refs}
    for row in rows:
        if row.id in groups:
            groups[row.id].append(row)
    return {ref.job_id: _queued(ref, groups[ref.job_id], zone) for ref in refs if groups[ref.job_id]}


def _row_state(row: Row) -> JobState:
    state = state_of(row.state)
    # qstat writes `h` for a dependency too: that passes by itself.
    return JobState.PENDING if state is JobState.HELD and row.waits_for and "E" not in row.state else state


def _queued(ref: JobRef, rows: list[Row], zone: tzinfo) -> JobStatus:
    states = {row: _row_state(row) for row in rows}
    state = combined(states.values())
    chosen = next(row for row in rows if states[row] is state)
    waits = state in (JobState.PENDING, JobState.HELD)
    failed = "E" in chosen.state
    reason = f"waits for {chosen.waits_for}" if chosen.waits_for else ""
    if failed:
        reason = "the job is in error state: qstat -j tells why"
    elif state is JobState.HELD:
        reason = "held"
    starts = [at for row in rows if (at := read_time(row.started, zone)) is not None]
    return JobStatus(
        ref=ref,
        state=state,
        native_state=chosen.state[:200],
        reason=one_line(reason),
        reason_class=_class_of(state, chosen) if waits else None,
        name=chosen.name or None,
        queue=chosen.queue.partition("@")[0] or None,
        submitted_at=read_time(chosen.submitted, zone),
        started_at=min(starts) if starts and not waits else None,
        nodes=tuple(dict.fromkeys(host for row in rows if (host := row.queue.partition("@")[2]))),
        array_tasks={str(index): states[row] for row in rows if row.tasks for index in indices(row.tasks)},
    )


def _class_of(state: JobState, row: Row) -> ReasonClass:
    if state is JobState.HELD:
        return ReasonClass.PERSON
    return ReasonClass.WAIT if row.waits_for else ReasonClass.UNKNOWN
