"""What Slurm's rows say of the jobs that were asked for: aliases, arrays, heterogeneous jobs, requeues."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import tzinfo
from signal import SIGKILL

from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from dragoman.units import format_bytes
from providers.schedulers.base import one_line
from providers.schedulers.hostlist import expand_hostlist
from providers.schedulers.slurm_rows import Row
from providers.schedulers.slurm_tables import NEVER_STARTED, REASONS, STATES
from providers.schedulers.slurm_values import Moment, base_id, read_duration, read_job_id, read_moment

__all__ = ["job_statuses", "latest_runs", "row_state", "with_usage"]

_MOST_TASKS = 100_000
_HELD = ("JobHeld", "JobHoldMaxRequeue", "MaxRequeue")
_NOT_FINAL = (JobState.RUNNING, JobState.COMPLETING, JobState.SUSPENDED, JobState.PENDING, JobState.HELD)
_ENDS = (
    JobState.FAILED, JobState.OUT_OF_MEMORY, JobState.TIMED_OUT, JobState.NODE_FAILED, JobState.PREEMPTED,
    JobState.NEVER_RAN, JobState.CANCELLED, JobState.COMPLETED,
)  # fmt: skip
"""What a whole is said to be when its parts ended differently: the first that occurs."""


def row_state(row: Row) -> JobState:
    """Our state of one row. Flags (`RUNNING+COMPLETING`) and words after it (`CANCELLED by 1002`) are understood."""
    state = _state(row.state, row.reason)
    if state is JobState.TIMED_OUT and row.state.startswith(("DEADLINE", "DL")) and _never_started(row):
        return JobState.NEVER_RAN
    return state


@functools.lru_cache(maxsize=4096)
def _state(text: str, reason: str) -> JobState:
    words = [STATES.get(word, JobState.UNKNOWN) for word in text.partition(" ")[0].rstrip("+").split("+")]
    state = words[0]
    for flag in (JobState.HELD, JobState.COMPLETING, JobState.PENDING):  # an ended run may be on its way back
        if flag in words[1:]:
            state = flag
            break
    if state is JobState.PENDING and (reason.startswith(_HELD) or "held" in reason.lower()):
        return JobState.HELD
    if state is JobState.FAILED and reason in NEVER_STARTED:
        return JobState.NEVER_RAN
    return state


def _never_started(row: Row) -> bool:
    return read_moment(row.started).at is None


@functools.lru_cache(maxsize=4096)
def _reason_class(reason: str) -> ReasonClass:
    return next((rule.meaning for rule in REASONS if rule.pattern.search(reason)), ReasonClass.UNKNOWN)


def latest_runs(rows: Sequence[Row]) -> tuple[list[Row], int]:
    """The latest run of each id, and the most runs that one id had (a requeued job has one row for each)."""
    latest: dict[str, Row] = {}
    runs: dict[str, int] = {}
    for row in rows:
        runs[row.id] = runs.get(row.id, 0) + 1
        known = latest.get(row.id)
        # ISO times compare as text; the later line wins a tie.
        if known is None or row.submitted >= known.submitted or not row.submitted[:1].isdigit():
            latest[row.id] = row
    return list(latest.values()), max(runs.values(), default=0)


def job_statuses(
    rows: Iterable[Row], refs: Sequence[JobRef], zone: tzinfo, *, history: bool
) -> dict[str, JobStatus | None]:
    """Status by the id as asked; None for an array of which only ended tasks are seen in the queue.

    Ended tasks leave the queue one by one, so the accounting has to say how the whole array ended.
    """
    groups: dict[str, list[Row]] = {ref.job_id: [] for ref in refs}
    tasks: dict[str, list[tuple[int, str]]] = {}
    for asked in groups:
        parsed = read_job_id(asked)
        if parsed is not None and parsed.tasks and "[" not in asked:
            tasks.setdefault(parsed.base, []).append((parsed.tasks[0].start, asked))
    for row in rows:
        shown, raw = row.id, row.raw
        base = shown if shown.isdigit() else base_id(shown)
        if base in groups:
            groups[base].append(row)
        if shown is not base and shown in groups:
            groups[shown].append(row)
        if raw in groups and raw not in (base, shown):
            groups[raw].append(row)
        if base in tasks and "[" in shown:
            parsed = read_job_id(shown)
            for index, asked in tasks[base]:
                if parsed is not None and any(index in part for part in parsed.tasks):
                    groups[asked].append(row)
    return {
        ref.job_id: _whole(ref, _of_tag(groups[ref.job_id], ref), zone, history=history)
        for ref in refs
        if groups[ref.job_id]
    }


def _of_tag(rows: list[Row], ref: JobRef) -> list[Row]:
    """Only the rows with the tag where some have it: ids are used again after years, and after a database reset."""
    if ref.tag is None:
        return rows
    mine = [row for row in rows if ref.tag in row.name or ref.tag in row.comment]
    return mine or rows


def _whole(ref: JobRef, rows: list[Row], zone: tzinfo, *, history: bool) -> JobStatus | None:
    if len(rows) == 1:
        chosen, runs = rows[0], 1
        state = row_state(chosen)
        states: Mapping[Row, JobState] = {}
        whole_array = "_" in chosen.id and "_" not in ref.job_id and base_id(chosen.id) == ref.job_id
        if whole_array:
            states = {chosen: state}
        submitted, started, ended = (
            read_moment(text, zone) for text in (chosen.submitted, chosen.started, chosen.ended)
        )
        nodes = expand_hostlist(chosen.nodes)
    else:
        current, runs = latest_runs(rows)
        states = {row: row_state(row) for row in current}
        state = _combined(states.values())
        chosen = next(row for row in current if states[row] is state)
        whole_array = (
            "_" in chosen.id
            and "_" not in ref.job_id
            and any("_" in row.id and base_id(row.id) == ref.job_id for row in current)
        )
        submitted = read_moment(chosen.submitted, zone)
        started = _bound(min, [row.started for row in current], zone)
        ended = _bound(max, [row.ended for row in current], zone)
        nodes = tuple(dict.fromkeys(itertools.chain.from_iterable(expand_hostlist(row.nodes) for row in current)))
    if whole_array and state.final and not history:
        return None
    notes: list[str] = []
    if started.ambiguous or ended.ambiguous or submitted.ambiguous:
        notes.append("a time lies in the hour that the site's clock shows twice or skips: it may be off by an hour")
    array_tasks = _tasks(states, notes) if whole_array else {}
    waits = state is JobState.PENDING or state is JobState.HELD
    begun = not waits and state is not JobState.NEVER_RAN and state is not JobState.UNKNOWN
    code, number = _exit_code(chosen.exit, state) if chosen.exit else (None, None)
    elapsed = float(chosen.elapsed) if chosen.elapsed.isdigit() else read_duration(chosen.elapsed)
    restarts = int(chosen.restarts) if chosen.restarts.isdigit() else None
    told: dict[str, object | None] = {
        "ref": ref,
        "state": state,
        "native_state": chosen.state[:200],
        "reason": one_line(chosen.reason) if chosen.reason not in ("None", "(null)") else "",
        "reason_class": _reason_class(chosen.reason) if waits else None,
        "name": chosen.name or None,
        "queue": chosen.queue or None,
        "exit_code": code,
        "signal": number,
        "submitted_at": submitted.at,
        "started_at": started.at if begun else None,
        "ended_at": ended.at if state.final else None,
        "expected_start": started.at if state is JobState.PENDING and not history else None,
        "elapsed_s": elapsed if begun and elapsed is not None and math.isfinite(elapsed) else None,
        "nodes": nodes,
        "restarts": restarts if restarts is not None else (runs - 1 if history else None),
        "array_tasks": array_tasks,
        "cancelled_by": _cancelled_by(chosen.state),
        "warnings": tuple(notes),
        "from_history": history,
    }
    # A copy of a checked one: every value has its type, and checking each again took most of the time.
    return _BLANK.model_copy(update={name: value for name, value in told.items() if value is not None})


_BLANK = JobStatus(ref=JobRef(job_id="0"), state=JobState.UNKNOWN)


def with_usage(status: JobStatus, max_rss: Mapping[str, int], memory: Mapping[str, int]) -> JobStatus:
    """The most that one task of the job, or of any task of the array, held.

    Without control groups Slurm kills a job that holds too much and calls it FAILED by signal 9: where one task held
    more than the whole job had been given, that was why.
    """
    asked = status.ref.job_id
    known = {job: size for job, size in max_rss.items() if asked in (job, base_id(job))}
    if not known:
        return status
    update: dict[str, object] = {"max_rss_bytes": max(known.values())}
    if status.state is JobState.FAILED and status.signal == SIGKILL:
        over = [(size, memory[job]) for job, size in known.items() if size > memory.get(job, size)]
        if over:
            held, given = over[0]
            words = f"killed when one task held {format_bytes(held)} and the job had {format_bytes(given)}"
            update |= {"state": JobState.OUT_OF_MEMORY, "reason": words}
    return status.model_copy(update=update)


def _bound(choose: Callable[[list[str]], str], texts: list[str], zone: tzinfo) -> Moment:
    """The earliest or latest of the times that are there (one clock's ISO times compare as text)."""
    known = texts if len(texts) == 1 else [text for text in texts if text[:1] in ("1", "2", "@")]
    return read_moment(choose(known), zone) if known else Moment(None)


def _combined(states: Iterable[JobState]) -> JobState:
    """Of a whole with several parts: under way while one part is, unknown while one is, then the worst end."""
    found = set(states)
    for state in _NOT_FINAL:
        if state in found:
            return state
    if JobState.UNKNOWN in found:
        return JobState.UNKNOWN
    return next(state for state in _ENDS if state in found)


def _tasks(states: Mapping[Row, JobState], notes: list[str]) -> dict[str, JobState]:
    tasks: dict[str, JobState] = {}
    for row, state in states.items():
        parsed = read_job_id(row.id)
        if parsed is None or not parsed.complete or len(tasks) + parsed.size > _MOST_TASKS:
            notes.append(f"not every task of {one_line(row.id, limit=60)} is listed")
            continue
        for part in parsed.tasks:
            tasks.update((str(index), state) for index in part)
    return tasks


def _exit_code(text: str, state: JobState) -> tuple[int | None, int | None]:
    """Exit code and signal of `3:0` or `0:9`; a code of 0 is believed of completed jobs only.

    `sacct --json` of 22.05 says 0 for failed jobs, and a cancelled or timed out job shows `0:0`.
    """
    code, _, signal = text.partition(":")
    if not state.final or not code.isdigit() or not (signal or "0").isdigit():
        return None, None
    if int(signal or 0):
        return int(code) or None, int(signal)
    return (int(code), None) if int(code) or state is JobState.COMPLETED else (None, None)


def _cancelled_by(state: str) -> str | None:
    """The user's number of `CANCELLED by 1002`."""
    word, _, who = state.partition(" by ")
    return who.strip() or None if word == "CANCELLED" else None
