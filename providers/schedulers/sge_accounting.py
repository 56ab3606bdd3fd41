"""What `qacct -j` says of ended jobs (qacct(1), accounting(5), sge_status(5))."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import tzinfo
from typing import NamedTuple

from dragoman.job import JobRef, JobState, JobStatus
from providers.schedulers.base import one_line
from providers.schedulers.combining import accounted, combined
from providers.schedulers.sge_tables import FAILURES, RUNS_AGAIN
from providers.schedulers.sge_values import read_seconds, read_size, read_time

__all__ = ["history_statuses", "read_records"]

Record = dict[str, str]


def read_records(text: str) -> Iterator[Record]:
    """Records of `qacct -j`, one for each task and run."""
    record: Record = {}
    for line in text.splitlines():
        if line.startswith("====="):
            if record:
                yield record
            record = {}
            continue
        key, _, value = line.partition(" ")
        if re.fullmatch(r"[a-z_]+", key):
            record.setdefault(key, value.strip())
    if record:
        yield record


def history_statuses(text: str, refs: Sequence[JobRef], zone: tzinfo) -> dict[str, JobStatus]:
    """Status by job id of those that the accounting shows; the latest record of each task counts."""
    groups: dict[str, dict[str, Record]] = {ref.job_id: {} for ref in refs}
    runs: dict[tuple[str, str], int] = {}
    for record in read_records(text):
        job, task = record.get("jobnumber", ""), record.get("taskid", "undefined")
        if job in groups and "failed" in record:
            runs[job, task] = runs.get((job, task), 0) + 1
            groups[job].pop(task, None)
            groups[job][task] = record
    found: dict[str, JobStatus] = {}
    for ref in refs:
        records = groups[ref.job_id]
        if ref.tag is not None and any(ref.tag in record.get("jobname", "") for record in records.values()):
            records = {task: one for task, one in records.items() if ref.tag in one.get("jobname", "")}
        if records:
            most = max(runs[ref.job_id, task] for task in records)
            found[ref.job_id] = _ended(ref, records, zone, most - 1)
    return found


def _ended(ref: JobRef, records: dict[str, Record], zone: tzinfo, restarts: int) -> JobStatus:
    ends = {task: _end(record) for task, record in records.items()}
    state = combined(end.state for end in ends.values())
    task = next(task for task, end in ends.items() if end.state is state)
    record, end = records[task], ends[task]
    ended = [at for one in records.values() if (at := read_time(one.get("end_time", ""), zone)) is not None]
    starts = [at for one in records.values() if (at := read_time(one.get("start_time", ""), zone)) is not None]
    tasks = {name: one.state for name, one in ends.items() if name != "undefined"}
    status = JobStatus(
        ref=ref,
        state=state,
        native_state=f"failed {record['failed']}"[:200],
        reason=end.reason,
        name=record.get("jobname") or None,
        queue=record.get("qname") or None,
        exit_code=end.exit_code,
        signal=end.signal,
        submitted_at=read_time(record.get("qsub_time", ""), zone),
        started_at=min(starts, default=None),
        ended_at=max(ended, default=None) if state.final else None,
        elapsed_s=read_seconds(record.get("ru_wallclock", "")),
        nodes=tuple(dict.fromkeys(one["hostname"] for one in records.values() if one.get("hostname"))),
        restarts=restarts,
        max_rss_bytes=read_size(record.get("maxvmem", "")),
        array_tasks=tasks,
        cancelled_by=end.by,
        from_history=True,
    )
    return accounted(status, ref.array_size) if tasks or (ref.array_size or 0) > 1 else status


class _End(NamedTuple):
    state: JobState
    reason: str = ""
    exit_code: int | None = None
    signal: int | None = None
    by: str | None = None


def _end(record: Record) -> _End:
    """How one run ended. `exit_status 0` is believed only where nothing failed."""
    number_text, _, words = record["failed"].partition(":")
    status = re.match(r"\d+", record.get("exit_status", ""))
    if not number_text.strip().isdecimal() or status is None:
        return _End(JobState.UNKNOWN, one_line(record["failed"]))
    number, code = int(number_text), int(status[0])
    signal = code - 128 if 128 < code <= 192 else None
    words = one_line(words)
    if number in RUNS_AGAIN:
        return _End(JobState.UNKNOWN, words)
    state = FAILURES.get(number, JobState.UNKNOWN)
    if number == 0:
        return _End(JobState.FAILED if code else JobState.COMPLETED, "", code, signal)
    by = record.get("deleted_by", "NONE")
    if by not in ("", "NONE", "undefined"):
        return _End(JobState.CANCELLED, words, code or None, signal, one_line(by, limit=100))
    if number in (37, 100):
        state, words = _limit(record, state, words)
    return _End(state, words, code or None, signal)


def _limit(record: Record, state: JobState, words: str) -> tuple[JobState, str]:
    """Which limit ended the job: the accounting names none, but what was asked for and what was used."""
    asked = dict(re.findall(r"([\w.]+)=([^,\s]+)", record.get("category", "")))
    wall, used = read_seconds(record.get("ru_wallclock", "")), read_size(record.get("maxvmem", ""))
    limits = [seconds for name in ("h_rt", "s_rt") if (seconds := read_seconds(asked.get(name, ""))) is not None]
    if wall is not None and limits and wall >= min(limits):
        return JobState.TIMED_OUT, words
    memory = read_size(asked.get("h_vmem", ""))
    slots = int(record["slots"]) if record.get("slots", "").strip().isdecimal() else 1
    if used is not None and memory is not None and used >= memory * slots:
        return JobState.OUT_OF_MEMORY, words
    if state is JobState.TIMED_OUT:  # enforced, and neither walltime nor memory: the CPU time
        return (state if not memory else JobState.FAILED), words
    return state, f"{words} (ended by a signal: from qdel, a limit or the job itself)"
