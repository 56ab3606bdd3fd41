"""What `bjobs -json` says of jobs (bjobs(1)): all values are text, times have no year, hosts are joined by colons."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import TypeGuard

from dragoman.job import JobRef, JobState, JobStatus
from providers.schedulers.base import one_line
from providers.schedulers.combining import accounted, combined, indices
from providers.schedulers.lsf_tables import STATES, TERMINATIONS

__all__ = ["FIELDS", "Record", "array_size", "ended", "job_statuses", "read_jobs", "read_time"]

FIELDS = (
    "jobid jobindex stat queue job_name job_description submit_time start_time finish_time run_time exec_host "
    "exit_code exit_reason pend_reason max_mem"
)
"""For `bjobs -o`; all of them are there since LSF 10.1."""

Record = Mapping[str, str]

_TIME = re.compile(
    r"\s*(?:[A-Z][a-z]{2} )?([A-Z][a-z]{2})\s+(\d{1,2})\s+(\d{1,2}):(\d\d)(?::(\d\d))?(?:\s+(\d{4}))?"
    r"(?:\s+[LEX])?\s*",
    re.ASCII,
)

_TEXT = {str}
_ID = re.compile(r"\d{1,18}(?:\[\d{1,9}\])?", re.ASCII)
_CODE = re.compile(r"\d{1,4}", re.ASCII)
_SECONDS = re.compile(r"\d+")
_INDICES = re.compile(r"\[([\d,:-]+)\](?:%\d+)?$")
_MONTHS = {"JanFebMarAprMayJunJulAugSepOctNovDec"[3 * at : 3 * at + 3]: at + 1 for at in range(12)}


def read_jobs(text: str) -> tuple[list[Record], frozenset[str], str]:
    """Records, ids that are shown not to exist, and why the answer cannot be trusted as a whole."""
    at = text.find("{")  # lines about the connection may come before it
    try:
        found = json.loads(text[at:]) if at >= 0 else None
    except (ValueError, RecursionError) as error:
        return [], frozenset(), f"the answer of bjobs is cut off or no JSON ({one_line(str(error), limit=100)})"
    rows = found.get("RECORDS") if isinstance(found, dict) else None
    if not isinstance(found, dict) or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        return [], frozenset(), "the answer of bjobs has no records"
    records: list[Record] = []
    absent: set[str] = set()
    trouble = "" if str(found.get("JOBS", len(rows))) == str(len(rows)) else "records are missing"
    for row in rows:
        record = row if _plain(row) else {str(key): str(value) for key, value in row.items() if value is not None}
        if "ERROR" in record and re.search(r"is not found", record["ERROR"]):
            absent.add(record.get("JOBID", ""))
        elif "ERROR" in record or _ID.fullmatch(record.get("JOBID", "")) is None or "STAT" not in record:
            trouble = one_line(record.get("ERROR", "")) or "a record without id or state"
        else:
            records.append(record)
    return records, frozenset(absent - {""}), trouble


def _plain(row: Mapping[str, object]) -> TypeGuard[Record]:
    """Whether all values are text, as LSF writes them."""
    return set(map(type, row.values())) <= _TEXT


def read_time(text: str, now: datetime) -> datetime | None:
    """`May 28 12:45`, with seconds and year where the site shows them; without, the last such time before tomorrow."""
    return _read_time(text, now + timedelta(days=1))


@functools.lru_cache(maxsize=4096)
def _read_time(text: str, latest: datetime) -> datetime | None:
    """The last such time until `latest`; jobs of one answer share many, for they are told by the minute."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    month, day, hour, minute = _MONTHS.get(match[1], 0), int(match[2]), int(match[3]), int(match[4])
    for year in [int(match[6])] if match[6] else range(latest.year, latest.year - 9, -1):
        try:
            moment = datetime(year, month, day, hour, minute, min(int(match[5] or 0), 59), tzinfo=UTC)
        except ValueError:  # 29 February
            continue
        if match[6] or moment <= latest:
            return moment
    return None


def job_statuses(records: Sequence[Record], refs: Sequence[JobRef], now: datetime) -> dict[str, JobStatus]:
    """Status by the id as asked."""
    groups: dict[str, list[tuple[str, Record]]] = {ref.job_id: [] for ref in refs}
    for record in records:
        base, _, bracket = record["JOBID"].partition("[")
        index = bracket.rstrip("]") or record.get("JOBINDEX", "")
        if base in groups:
            groups[base].append((index, record))
        if bracket and record["JOBID"] in groups:
            groups[record["JOBID"]].append(("", record))
    latest = now + timedelta(days=1)
    return {ref.job_id: _status(ref, _of_tag(groups[ref.job_id], ref), latest) for ref in refs if groups[ref.job_id]}


def _of_tag(rows: list[tuple[str, Record]], ref: JobRef) -> list[tuple[str, Record]]:
    """Only those with the tag where some have it: ids begin anew at the number that the site has set."""
    if len(rows) == 1:
        return rows
    tag = ref.tag or ""
    mine = [row for row in rows if tag in row[1].get("JOB_NAME", "") or tag in row[1].get("JOB_DESCRIPTION", "")]
    return mine or rows


def ended(code: int | None, reason: str) -> tuple[JobState, int | None, int | None]:
    """State, exit code and signal of a job in state EXIT: LSF's own reason decides, the number is only a hint."""
    match = re.match(r"\s*(TERM_\w+)", reason)
    state = TERMINATIONS.get(match[1], JobState.FAILED) if match is not None else JobState.FAILED
    return state, code, code - 128 if code is not None and 128 < code <= 192 else None


def _one(record: Record) -> tuple[JobState, str, int | None, int | None]:
    state = STATES.get(record["STAT"], JobState.UNKNOWN)
    if state is JobState.COMPLETED:
        return state, "", 0, None
    if state is JobState.FAILED:
        code = int(record["EXIT_CODE"]) if _CODE.fullmatch(record.get("EXIT_CODE", "")) else None
        reason = one_line(record.get("EXIT_REASON", "")).strip("- ")
        state, code, signal = ended(code, reason)
        if state is JobState.FAILED and not reason:
            if not _told(record.get("START_TIME", "")) and not _told(record.get("EXEC_HOST", "")):
                if "START_TIME" not in record or "EXEC_HOST" not in record:
                    return JobState.UNKNOWN, "it ended, and whether it ever started is not told", None, None
                return JobState.NEVER_RAN, "ended without a start", code, None
            if re.match(r"0 second", record.get("RUN_TIME", "")):
                where = ", ".join(_hosts(record)) or "its host"
                reason = f"ended at once: perhaps a file system is missing on {where}"
        return state, reason, code, signal
    if state is JobState.UNKNOWN:
        return state, f"its host does not answer ({record['STAT'][:40]})", None, None
    return state, one_line(record.get("PEND_REASON", "")).strip("- "), None, None


def _told(text: str) -> bool:
    return text.strip() not in ("", "-")


def _hosts(record: Record) -> tuple[str, ...]:
    return _hosts_of(record.get("EXEC_HOST", ""))


@functools.lru_cache(maxsize=4096)
def _hosts_of(text: str) -> tuple[str, ...]:
    hosts = [one.rpartition("*")[2] for one in text.split(":")]
    return tuple(dict.fromkeys(host for host in hosts if _told(host)))


def _status(ref: JobRef, rows: list[tuple[str, Record]], latest: datetime) -> JobStatus:
    parts = {index or str(number): (record, _one(record)) for number, (index, record) in enumerate(rows)}
    state = combined(one[0] for _, one in parts.values())
    record, (_, reason, code, signal) = next(part for part in parts.values() if part[1][0] is state)
    waits = state in (JobState.PENDING, JobState.HELD)
    began = not waits and state is not JobState.NEVER_RAN
    starts = _times([one.get("START_TIME", "") for one, _ in parts.values()] if began else [], latest)
    ends = _times([one.get("FINISH_TIME", "") for one, _ in parts.values()] if state.final else [], latest)
    seconds = _SECONDS.match(record.get("RUN_TIME", ""))
    size = ref.array_size or array_size(record.get("JOB_NAME", ""))
    array = "[" not in ref.job_id and (any(index not in ("", "0") for index, _ in rows) or (size or 0) > 1)
    status = JobStatus(
        ref=ref,
        state=state,
        native_state=record["STAT"][:200],
        reason=reason,
        name=_name(record.get("JOB_NAME", "")),
        queue=record.get("QUEUE") or None,
        exit_code=code,
        signal=signal,
        submitted_at=_read_time(record.get("SUBMIT_TIME", ""), latest),
        started_at=min(starts, default=None),
        ended_at=max(ends, default=None),
        elapsed_s=float(seconds[0]) if seconds is not None and not waits else None,
        nodes=_hosts(record)
        if len(parts) == 1
        else tuple(dict.fromkeys(host for one, _ in parts.values() for host in _hosts(one))),
        max_rss_bytes=_memory(record.get("MAX_MEM", "")),
        array_tasks={index: part[0] for index, (_, part) in parts.items()} if array else {},
    )
    return accounted(status, size) if array else status


def array_size(name: str) -> int | None:
    """Of `a[1-10:2]%5`; None of `a[3]`, which is how one task is called, and of any other name."""
    match = _INDICES.search(name)
    size = sum(1 for _ in indices(match[1])) if match is not None else 0
    return size if size > 1 else None


def _name(text: str) -> str | None:
    return (_INDICES.sub("", text) if "[" in text else text) or None


def _times(texts: Sequence[str], latest: datetime) -> list[datetime]:
    return [at for text in texts if (at := _read_time(text, latest)) is not None]


@functools.lru_cache(maxsize=4096)
def _memory(text: str) -> int | None:
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGTP]?)bytes\s*", text, re.IGNORECASE)
    return round(float(match[1]) * 1024.0 ** " kmgtp".index(match[2].lower() or " ")) if match is not None else None
