"""What PBS's and Torque's records say of the jobs that were asked for: ends, holds, arrays, routed jobs."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from providers.schedulers.base import Rules, one_line
from providers.schedulers.combining import accounted
from providers.schedulers.pbs_records import Record
from providers.schedulers.pbs_values import JobId, hosts_of, read_job_id, read_moment, read_size, read_walltime

__all__ = ["ATTRIBUTES", "Words", "job_statuses", "tag_of"]

_ORDER = (
    JobState.RUNNING, JobState.COMPLETING, JobState.SUSPENDED, JobState.PENDING, JobState.HELD, JobState.UNKNOWN,
    JobState.FAILED, JobState.OUT_OF_MEMORY, JobState.TIMED_OUT, JobState.NODE_FAILED, JobState.PREEMPTED,
    JobState.NEVER_RAN, JobState.CANCELLED, JobState.COMPLETED,
)  # fmt: skip
"""What a whole array is said to be when its tasks differ: the first that occurs."""
ATTRIBUTES = frozenset(
    {
        "Execution_Time", "Exit_status", "Hold_Types", "Job_Name", "Resource_List.walltime", "comment", "comp_time",
        "ctime", "depend", "estimated.start_time", "exec_host", "exit_status", "job_state", "mtime", "obittime",
        "queue", "resources_used.mem", "resources_used.walltime", "run_count", "start_time", "stime", "substate",
    }
)  # fmt: skip
"""Names that tell the status of a job."""
_MOST_TASKS = 100_000
_TERM = (256 + 15, 128 + 15)
"""The script was ended by TERM, or ended by itself because its body was."""


@dataclass(frozen=True, slots=True)
class Words:
    """The tables of one member of the family."""

    states: Mapping[str, JobState]
    exits: Mapping[int, tuple[str, JobState]]
    reasons: Rules

    def reason_class(self, text: str) -> ReasonClass:
        """What a comment means."""
        return next((rule.meaning for rule in self.reasons if rule.pattern.search(text)), ReasonClass.UNKNOWN)


class _End(NamedTuple):
    state: JobState
    code: int | None = None
    signal: int | None = None
    words: str = ""


def job_statuses(
    records: Iterable[Record], refs: Sequence[JobRef], words: Words, *, history: bool
) -> dict[str, JobStatus]:
    """Status by the id as asked. Ids are told apart by their number; the server's name may be short or long."""
    asked: dict[str, list[tuple[JobRef, JobId]]] = {}
    for ref in refs:
        parsed = read_job_id(ref.job_id)
        if parsed is not None:
            asked.setdefault(parsed.key, []).append((ref, parsed))
    wholes: dict[str, Record] = {}
    tasks: dict[str, dict[str, Record]] = {}
    for record in records:
        shown = read_job_id(record.name)
        if shown is None:
            continue
        for ref, parsed in asked.get(shown.key, ()):
            if _same_server(shown, parsed):
                wholes.setdefault(ref.job_id, record)
        if shown.task:
            for ref, parsed in asked.get(shown.array, ()):
                if _same_server(shown, parsed):
                    tasks.setdefault(ref.job_id, {}).setdefault(shown.task, record)
    return {
        ref.job_id: _status(ref, wholes.get(ref.job_id), tasks.get(ref.job_id, {}), words, history=history)
        for ref in refs
        if ref.job_id in wholes or ref.job_id in tasks
    }


def _same_server(one: JobId, other: JobId) -> bool:
    return not one.server or not other.server or one.server.split(".")[0] == other.server.split(".")[0]


def _status(
    ref: JobRef, whole: Record | None, tasks: Mapping[str, Record], words: Words, *, history: bool
) -> JobStatus:
    record = whole or next(iter(tasks.values()))
    values = record.values
    native = values.get("job_state", "")
    end = _state(record, words)
    parts = {index: _state(task, words).state for index, task in itertools.islice(tasks.items(), _MOST_TASKS)}
    if parts and (whole is None or end.state.final or end.state is JobState.UNKNOWN):
        state = next((each for each in _ORDER if each in parts.values()), JobState.UNKNOWN)
        end = _End(state, end.code if state is end.state else None, None, end.words)
    comment = one_line(values["comment"]) if "comment" in values else ""
    reason, meaning = comment, None
    if end.state in (JobState.PENDING, JobState.HELD):
        reason, meaning = _why(values, comment, end.state, words)
    elif end.words:
        reason = one_line(f"{end.words}: {comment}" if comment else end.words)
    begun = end.state not in (JobState.PENDING, JobState.HELD, JobState.NEVER_RAN, JobState.UNKNOWN)
    nodes = hosts_of(values.get("exec_host", ""))
    if tasks:
        others = [hosts_of(task.values.get("exec_host", "")) for task in tasks.values()]
        nodes = tuple(dict.fromkeys(itertools.chain(nodes, *others)))
    ended = values.get("obittime") or values.get("comp_time") or values.get("mtime", "")
    status = JobStatus(
        ref=ref,
        state=end.state,
        native_state=native[:200],
        reason=reason,
        reason_class=meaning,
        name=values.get("Job_Name"),
        queue=values.get("queue"),
        exit_code=end.code if end.state.final else None,
        signal=end.signal if end.state.final else None,
        submitted_at=read_moment(values.get("ctime", "")),
        started_at=read_moment(values.get("stime") or values.get("start_time", "")) if begun else None,
        ended_at=read_moment(ended) if end.state.final else None,
        expected_start=_expected(values) if end.state is JobState.PENDING else None,
        elapsed_s=_seconds(values.get("resources_used.walltime")) if begun else None,
        nodes=nodes,
        restarts=_restarts(values),
        max_rss_bytes=read_size(values.get("resources_used.mem", "")) or None,
        array_tasks=parts,
        cancelled_by=_cancelled_by(comment) if end.state is JobState.CANCELLED else None,
        warnings=("read from broken JSON",) if record.mended else (),
        from_history=history,
    )
    # The record of the whole array tells its own end.
    by_tasks = bool(parts) and (whole is None or not _state(whole, words).state.final)
    return accounted(status, ref.array_size) if by_tasks else status


def _state(record: Record, words: Words) -> _End:
    values = record.values
    word = values.get("job_state", "").strip()
    state = words.states.get(word, JobState.UNKNOWN)
    if word == "M":
        return _End(state, words=f"moved to another server ({one_line(values.get('queue', ''), limit=100)}): ask there")
    if state is JobState.HELD and _waits_for_another(values):
        return _End(JobState.PENDING)
    if not state.final:
        return _End(state)
    if record.mended:
        return _End(JobState.UNKNOWN, words="it seems to have ended, by an answer that cannot be read as a whole")
    return _end(values, words)


def _waits_for_another(values: Mapping[str, str]) -> bool:
    """A job that waits for another one is held by the system, and goes on by itself."""
    return values.get("substate") == "22" or (values.get("Hold_Types") == "s" and "depend" in values)


def _end(values: Mapping[str, str], words: Words) -> _End:
    """How a job ended: the substate tells deletion, the exit value the rest (negative ones are the scheduler's own)."""
    substate, comment = values.get("substate", ""), values.get("comment", "")
    code = _integer(values.get("Exit_status", values.get("exit_status", "")))
    started = bool(values.get("stime") or values.get("start_time") or values.get("exec_host"))
    if code is None:
        if substate == "91" or comment.endswith("and terminated") or "terminated by" in comment:
            return _End(JobState.CANCELLED)
        if not started and substate in ("92", "93"):
            return _End(JobState.NEVER_RAN, words=_depend(values) or "ended without a start")
        return _End(JobState.UNKNOWN, words="ended, and no exit value is told")
    if code < 0:
        name, state = words.exits.get(code, ("", JobState.FAILED))
        return _End(state, words=f"{name} ({code})" if name else f"exit value {code} of the scheduler's own")
    signal = code - 256 if 256 < code <= 320 else code - 128 if 128 < code <= 192 else None
    exit_code = None if code >= 256 else code
    if substate == "91":
        return _End(JobState.CANCELLED, exit_code, signal)
    if code == 0:
        return _End(JobState.COMPLETED, 0)
    if "exceeded resource" in comment:
        memory = "mem" in comment.partition("exceeded resource")[2]
        return _End(JobState.OUT_OF_MEMORY if memory else JobState.TIMED_OUT, exit_code, signal)
    if code in _TERM and not substate:
        used, limit = (_seconds(values.get(f"{which}.walltime")) for which in ("resources_used", "Resource_List"))
        over = used is not None and limit is not None and used >= limit
        return _End(JobState.TIMED_OUT if over else JobState.CANCELLED, exit_code, signal)
    return _End(JobState.FAILED, exit_code, signal)


def _why(values: Mapping[str, str], comment: str, state: JobState, words: Words) -> tuple[str, ReasonClass]:
    if state is JobState.HELD:
        holds = values.get("Hold_Types", "")
        return comment or f"Hold_Types = {one_line(holds, limit=20)}", ReasonClass.PERSON
    if comment:
        return comment, words.reason_class(comment)
    if values.get("job_state") == "W":
        return f"Execution_Time = {one_line(values.get('Execution_Time', ''), limit=60)}", ReasonClass.WAIT
    depend = _depend(values)
    return (depend, ReasonClass.WAIT) if depend else ("", ReasonClass.UNKNOWN)


def _depend(values: Mapping[str, str]) -> str:
    return f"depend = {one_line(values['depend'], limit=300)}" if values.get("depend") else ""


def _expected(values: Mapping[str, str]) -> datetime | None:
    return read_moment(values.get("estimated.start_time") or values.get("Execution_Time", ""))


def _restarts(values: Mapping[str, str]) -> int | None:
    count = _integer(values.get("run_count", ""))
    return max(count - 1, 0) if count is not None else None


def _seconds(text: str | None) -> float | None:
    seconds = read_walltime(text) if text else None
    return float(seconds) if seconds is not None else None


@functools.lru_cache(maxsize=1024)
def _integer(text: str) -> int | None:
    digits = text.strip().removeprefix("-")
    return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 10 else None


def _cancelled_by(comment: str) -> str | None:
    _, found, who = comment.rpartition("terminated by ")
    return who.partition("@")[0].strip() or None if found else None


def tag_of(values: Mapping[str, str], variable: str) -> str | None:
    """The tag that a job carries as a variable of its own; a job that merely inherited it does not count."""
    for pair in values.get("Variable_List", "").split(","):
        name, equals, value = pair.strip().partition("=")
        if equals and name == variable:
            return value.strip()
    return None
