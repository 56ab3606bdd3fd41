"""What `bhist -l` says of jobs that bjobs has forgotten (bhist(1)).

Its lines are broken at 80 columns in the middle of words and go on after 21 blanks: they are put together again first.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from dragoman.job import JobRef, JobState, JobStatus
from providers.schedulers.base import one_line
from providers.schedulers.combining import accounted, combined
from providers.schedulers.lsf_status import array_size, ended, read_time

__all__ = ["Past", "history_statuses", "joined", "read_history"]

_INDENT = " " * 21
_EVENT = re.compile(r"(?:[A-Z][a-z]{2}) ([A-Z][a-z]{2}\s+\d{1,2} \d\d:\d\d:\d\d(?: \d{4})?): (.*)")


class Past(NamedTuple):
    """One job, or one task of an array, with what happened to it."""

    id: str
    name: str
    facts: dict[str, str]
    events: tuple[tuple[str, str], ...]
    """Time as printed, and words."""


def joined(text: str) -> list[str]:
    """Lines as they were before they were broken."""
    lines: list[str] = []
    for line in text.splitlines():
        if line.startswith(_INDENT) and lines:
            lines[-1] += line[len(_INDENT) :]
        else:
            lines.append(line)
    return lines


def read_history(text: str) -> list[Past]:
    """Jobs of `bhist -l`, in their order."""
    found: list[Past] = []
    events: list[tuple[str, str]] = []
    for line in joined(text):
        head = re.match(r"Job <(\d+(?:\[\d+\])?)>,", line)
        if head is not None:
            facts = dict(re.findall(r"([A-Z][\w ]*?) <([^<>]*)>", line))
            events = []
            found.append(Past(head[1], facts.get("Job Name", ""), facts, ()))
        event = _EVENT.match(line)
        if event is not None and found:
            events.append((event[1], event[2]))
            found[-1] = found[-1]._replace(events=tuple(events))
    return found


def history_statuses(jobs: Sequence[Past], refs: Sequence[JobRef], now: datetime) -> dict[str, JobStatus]:
    """Status by job id of those that the history shows to have ended, or to have begun to."""
    groups: dict[str, list[Past]] = {}
    for job in jobs:
        groups.setdefault(job.id.partition("[")[0], []).append(job)
        if "[" in job.id:
            groups.setdefault(job.id, []).append(job)
    return {ref.job_id: _status(ref, groups[ref.job_id], now) for ref in refs if ref.job_id in groups}


class _Ended(NamedTuple):
    state: JobState
    word: str = ""
    reason: str = ""
    code: int | None = None
    signal: int | None = None
    start: str = ""
    end: str = ""
    hosts: tuple[str, ...] = ()


def _last(job: Past) -> _Ended:
    state, start, hosts = JobState.UNKNOWN, "", ()
    result = _Ended(state)
    for at, words in job.events:
        if re.match(r"(?:Dispatched|Starting)", words):
            named = re.search(r"(?:[Hh]ost\(s\)|to) <([^>]+)>((?:\s*<[^>]+>)*)", words)
            hosts = tuple(re.findall(r"<(?:\d+\*)?([^>]+)>", named[0])) if named is not None else hosts
            start = start or at
            result = _Ended(JobState.RUNNING, "Starting", start=start, hosts=hosts)
        elif words.startswith(("Done successfully", "Exited", "Completed <")):
            code = re.search(r"exit code (\d+)", words)
            by = re.search(r"signal (\d+)", words)
            reason = re.search(r"TERM_\w+(?:: [^;.]*)?", words)
            if words.startswith(("Done", "Completed <done>")):
                result = _Ended(JobState.COMPLETED, "Done", code=0, start=start, end=at, hosts=hosts)
                continue
            before = result if result.word == "Exited" else _Ended(JobState.FAILED)
            number = int(code[1]) if code is not None else before.code
            told = reason[0] if reason is not None else before.reason
            end, number, signal = ended(number, told)
            signal = int(by[1]) if by is not None else before.signal or signal
            result = _Ended(end, "Exited", one_line(told), number, signal, start, before.end or at, hosts)
        elif re.match(r"(?:Pending|Requeued|Job has been requeued)", words):
            result, start = _Ended(JobState.UNKNOWN, "Requeued"), ""
    return result


def _status(ref: JobRef, jobs: Sequence[Past], now: datetime) -> JobStatus:
    parts = {job.id: _last(job) for job in jobs}
    # Who is running by the history only may have left it since.
    states = {key: part.state if part.state.final else JobState.UNKNOWN for key, part in parts.items()}
    state = combined(states.values())
    key = next(key for key, one in states.items() if one is state)
    part = parts[key]
    tasks = {key.partition("[")[2].rstrip("]"): one for key, one in states.items() if "[" in key}
    array = "[" not in ref.job_id and (bool(tasks) or (ref.array_size or 0) > 1)
    status = JobStatus(
        ref=ref,
        state=state,
        native_state=part.word,
        reason=part.reason,
        exit_code=part.code,
        signal=part.signal,
        started_at=read_time(part.start, now),
        ended_at=read_time(part.end, now) if state.final else None,
        nodes=part.hosts,
        array_tasks=tasks if "[" not in ref.job_id else {},
        from_history=True,
    )
    size = ref.array_size or next((size for job in jobs if (size := array_size(job.name)) is not None), None)
    return accounted(status, size) if array else status
