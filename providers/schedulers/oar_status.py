"""What `oarstat -f -J` says of jobs, queued or ended (oarstat(1)): an object keyed by the job's id."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Final

from dragoman.job import JobRef, JobState, JobStatus
from providers.schedulers.base import one_line
from providers.schedulers.combining import accounted, combined
from providers.schedulers.oar_tables import ENDS, HOLD_EVENTS, STATES

__all__ = ["Record", "job_statuses", "read_jobs"]

Record = Mapping[str, object]

_WAITING: Final = (JobState.PENDING, JobState.HELD)


def read_jobs(text: str) -> tuple[dict[str, Record], str]:
    """Jobs by id, and why they cannot be trusted as a whole.

    The oldest job is asked for beside all others, so nothing printed at all is no answer: oarstat also prints nothing,
    and ends well, where its question to the database failed.
    """
    if not text.strip():
        return {}, "oarstat printed nothing, not even the oldest job"
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        return {}, f"the answer of oarstat is cut off or no JSON ({one_line(str(error), limit=100)})"
    if not isinstance(found, dict) or not all(isinstance(one, dict) and "state" in one for one in found.values()):
        return {}, "the answer of oarstat is not of jobs keyed by their id"
    return found, "" if found else "oarstat shows no job, not even the oldest"


def _whole(value: object) -> int | None:
    """A whole number, which oarstat writes as one, or as text; None for anything else."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,18}", value, re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) and abs(value) < 10**18 else None


def _moment(value: object) -> datetime | None:
    seconds = _whole(value)
    return datetime.fromtimestamp(seconds, UTC) if seconds is not None and 0 < seconds < 10**11 else None


def _events(record: Record) -> list[tuple[str, str]]:
    events = record.get("events")
    return [
        (str(one.get("type", "")), str(one.get("description", "")))
        for one in (events if isinstance(events, list) else [])
        if isinstance(one, dict)
    ]


def _state(record: Record) -> tuple[JobState, str, int | None, int | None]:
    """State, reason, exit code and signal of one job."""
    word = str(record.get("state", ""))
    state = STATES.get(word, JobState.UNKNOWN)
    message = one_line(str(record.get("message") or ""))
    events = _events(record)
    if state is JobState.HELD:
        asked = re.search(r"(?:^|\s)--hold(?:\s|;|$)", str(record.get("initial_request") or ""))
        if asked is None and not any(kind in HOLD_EVENTS for kind, _ in events):
            return JobState.PENDING, "in Hold, and nobody asked for that: every new job is, for an instant", None, None
        return state, message or "held", None, None
    if state not in (JobState.COMPLETED, JobState.FAILED):
        return state, message if state in _WAITING else "", None, None
    # A raw wait status: 768 is exit code 3.
    raw = _whole(record.get("exit_code"))
    code = (raw >> 8) & 0xFF if raw is not None and raw >= 0 else None
    signal = (raw & 0x7F) or None if raw is not None and raw >= 0 else None
    if state is JobState.COMPLETED:
        if code is None:
            return JobState.UNKNOWN, "Terminated without an exit code", None, None
        if code or signal:
            return JobState.FAILED, "", code if not signal else code or None, signal
        return state, "", 0, None
    for kind, end in ENDS.items():
        said = next((words for found, words in events if found == kind), None)
        if said is not None:
            return end, one_line(f"{kind}: {said}"), code or None, signal
    return state, one_line("; ".join(words for _, words in events)) or message, code or None, signal


def job_statuses(jobs: Mapping[str, Record], refs: Sequence[JobRef]) -> dict[str, JobStatus]:
    """Status by the id as asked: of a job, or of a whole array by its array's id."""
    arrays: dict[str, list[Record]] = {}
    for job_id, record in jobs.items():
        array = _whole(record.get("array_id"))
        arrays.setdefault(str(array) if array is not None else job_id, []).append(record)
    found: dict[str, JobStatus] = {}
    for ref in refs:
        records = arrays.get(ref.job_id) or ([jobs[ref.job_id]] if ref.job_id in jobs else [])
        if ref.tag is not None and any(ref.tag in str(one.get("name")) for one in records):
            records = [one for one in records if ref.tag in str(one.get("name"))]
        if records:
            found[ref.job_id] = _status(ref, records)
    return found


def _status(ref: JobRef, records: list[Record]) -> JobStatus:
    parts = [(record, _state(record)) for record in records]
    state = combined(part[0] for _, part in parts)
    record, (_, reason, code, signal) = next(one for one in parts if one[1][0] is state)
    waits = state in _WAITING
    starts = [at for one in records if (at := _moment(one.get("startTime"))) is not None]
    ends = [at for one in records if (at := _moment(one.get("stopTime"))) is not None]
    begun = bool(starts) and not waits and state is not JobState.NEVER_RAN
    hosts: list[str] = []
    for one in records:
        addresses = one.get("assigned_network_address")
        hosts += [str(address) for address in addresses] if isinstance(addresses, list) else []
    who = re.search(r"User (\S+) requested to frag", reason)
    array = len(parts) > 1 or (ref.array_size or 0) > 1
    status = JobStatus(
        ref=ref,
        state=state,
        native_state=str(record.get("state", ""))[:200],
        reason=reason,
        name=str(record["name"]) if record.get("name") else None,
        queue=str(record["queue"]) if record.get("queue") else None,
        exit_code=code,
        signal=signal,
        submitted_at=_moment(record.get("submissionTime")),
        started_at=min(starts) if begun else None,
        ended_at=max(ends, default=None) if state.final else None,
        expected_start=_moment(record.get("scheduledStart")) if waits else None,
        elapsed_s=(max(ends) - min(starts)).total_seconds()
        if begun and state.final and ends and max(ends) >= min(starts)
        else None,
        nodes=tuple(dict.fromkeys(hosts)) if begun else (),
        array_tasks={str(_whole(one.get("array_index"))): part[0] for one, part in parts} if array else {},
        cancelled_by=who[1] if who is not None and state is JobState.CANCELLED else None,
        from_history=state.final,
    )
    # Without a number: the database keeps all tasks of an array, and a job that is none looks like the first of one.
    return accounted(status, ref.array_size) if (ref.array_size or 0) > 1 else status
