"""What Flux says of jobs: `flux jobs --json` and event logs (flux-jobs(1), RFC 21 job states, RFC 18 and 21 events)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple

from dragoman.job import JobRef, JobState, JobStatus, ReasonClass
from providers.schedulers.base import one_line
from providers.schedulers.flux_values import WaitStatus
from providers.schedulers.hostlist import expand_hostlist

__all__ = ["STATES", "read_events", "read_jobs", "status_of"]

STATES: Final[dict[str, JobState]] = {
    "NEW": JobState.PENDING,
    "DEPEND": JobState.PENDING,
    "PRIORITY": JobState.PENDING,
    "SCHED": JobState.PENDING,
    "RUN": JobState.RUNNING,
    "CLEANUP": JobState.COMPLETING,
    # INACTIVE alone says nothing: its result does.
    "COMPLETED": JobState.COMPLETED,
    "FAILED": JobState.FAILED,
    "CANCELED": JobState.CANCELLED,
    "TIMEOUT": JobState.TIMED_OUT,
    "D": JobState.PENDING,
    "P": JobState.PENDING,
    "S": JobState.PENDING,
    "R": JobState.RUNNING,
    "C": JobState.COMPLETING,
    "CD": JobState.COMPLETED,
    "F": JobState.FAILED,
    "CA": JobState.CANCELLED,
    "TO": JobState.TIMED_OUT,
}
"""States and results with the names of flux-jobs(1), long and abbreviated."""
_NEVER_STARTED = frozenset({"alloc", "dependency", "depend", "validate", "jobspec", "prolog", "scheduler"})
_NODE_LOST = ("node-failure", "lost contact", "node failure", "broker exited")


def read_jobs(text: str) -> tuple[list[dict[str, Any]], str]:
    """Records of `flux jobs --json`, a bare object for one id and a list for several; and why they cannot be read."""
    start = text.find("{")  # a banner may come first
    try:
        document = json.loads(text[start:]) if start >= 0 else None
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict):
        return [], f"the answer is no JSON of flux jobs: {one_line(text, limit=120)}" if text.strip() else "no answer"
    found = document.get("jobs", [document] if "id" in document else None)
    if not isinstance(found, list):
        return [], "the answer is JSON, but not of flux jobs"
    return [each for each in found if isinstance(each, dict) and isinstance(each.get("id"), int)], ""


class _Ending(NamedTuple):
    kind: str
    note: str
    started: bool
    wait: WaitStatus


def status_of(ref: JobRef, job: Mapping[str, Any]) -> JobStatus:
    """One record; keys are absent until they are known."""
    word, result = str(job.get("state", "")), str(job.get("result", ""))
    exception = _part(job, "exception")
    occurred = exception.get("occurred") not in (None, False, 0, "", "0", "false", "False")
    fatal = occurred and _fatal(exception)
    kind, note = str(exception.get("type", "")), str(exception.get("note", ""))
    wait = _wait(job)
    if word == "INACTIVE":
        state = _ended(STATES.get(result, JobState.UNKNOWN), _Ending(kind, note, "t_run" in job, wait))
    elif word in ("COMPLETED", "FAILED", "CANCELED", "TIMEOUT"):
        state = JobState.UNKNOWN  # these are results, and no states
    else:
        state = STATES.get(word, JobState.UNKNOWN)
    if state is JobState.PENDING and job.get("urgency") == 0:
        state = JobState.HELD
    reason, meaning = _why(job, state, f"{kind}: {note}" if note else kind, fatal=fatal)
    estimate = _part(_part(job, "annotations"), "sched").get("t_estimate")
    warnings = (one_line(f"{kind}: {note}"),) if occurred and not fatal else ()
    return JobStatus(
        ref=ref,
        state=state,
        native_state=f"{word} {result}".strip()[:200],
        reason=reason,
        reason_class=meaning,
        name=str(job["name"])[:1000] if "name" in job else None,
        queue=str(job["queue"]) if job.get("queue") else None,
        exit_code=wait.exit_code if state.final else None,
        signal=_signal(wait) if state.final else None,
        submitted_at=_moment(job.get("t_submit")),
        started_at=_moment(job.get("t_run")),
        ended_at=_moment(job.get("t_cleanup") or job.get("t_inactive")) if state.final else None,
        expected_start=_moment(estimate) if state is JobState.PENDING else None,
        elapsed_s=_number(job.get("runtime")) if "t_run" in job else None,
        nodes=expand_hostlist(str(job.get("nodelist", ""))),
        warnings=warnings,
    )


def _part(job: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    found = job.get(name)
    return found if isinstance(found, dict) else {}


def _wait(job: Mapping[str, Any]) -> WaitStatus:
    raw, code = _whole(job.get("waitstatus")), _whole(job.get("returncode"))
    if raw is not None and raw >= 0:
        return WaitStatus.decode(raw)
    if code is not None and code >= 0:
        return WaitStatus(code, None)
    # -128 stands for a job that never ran; other negative codes for the signal that ended it.
    return WaitStatus(None, -code if code is not None and -65 < code < 0 else None)


def _fatal(exception: Mapping[str, Any]) -> bool:
    """Severity 0, as a number or as text; one that cannot be read is taken for it, so that it hides no failure."""
    return _whole(exception.get("severity", 0)) in (0, None)


def _whole(value: object) -> int | None:
    """A whole number, or the text of one; None for anything else, truth values too."""
    if isinstance(value, str) and re.fullmatch(r"-?\d{1,9}", value, re.ASCII):
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _signal(wait: WaitStatus) -> int | None:
    code = wait.exit_code or 0
    return wait.signal if wait.signal is not None else code - 128 if 128 < code <= 192 else None


def _ended(state: JobState, ending: _Ending) -> JobState:
    """A failure told apart by its exception: memory, a lost node, or no start at all."""
    if state is JobState.COMPLETED and ending.wait not in (WaitStatus(0, None), WaitStatus(None, None)):
        state = JobState.FAILED  # how its program ended is no matter of opinion
    if state is not JobState.FAILED:
        return state
    words = f"{ending.kind} {ending.note}".lower()
    if ending.kind == "oom" or "out of memory" in words or "oom killed" in words:
        return JobState.OUT_OF_MEMORY
    if any(word in words for word in _NODE_LOST):
        return JobState.NODE_FAILED
    if not ending.started and (ending.kind in _NEVER_STARTED or ending.wait == WaitStatus(None, None)):
        return JobState.NEVER_RAN
    return state


def _why(job: Mapping[str, Any], state: JobState, told: str, *, fatal: bool) -> tuple[str, ReasonClass | None]:
    if state is JobState.HELD:
        return "held (urgency 0)", ReasonClass.PERSON
    if state is JobState.PENDING:
        waits = job.get("dependencies")
        if isinstance(waits, list) and waits:
            return one_line(", ".join(map(str, waits))), ReasonClass.WAIT
        sched = _part(_part(job, "annotations"), "sched")
        if sched.get("reason_pending"):
            return one_line(str(sched["reason_pending"])), ReasonClass.UNKNOWN
        # A stopped queue gives no reason; a start that is expected shows that the scheduler works on it.
        return "", ReasonClass.WAIT if "t_estimate" in sched else ReasonClass.UNKNOWN
    return (one_line(told), None) if fatal else ("", None)


def _moment(value: object) -> datetime | None:
    try:
        at = datetime.fromtimestamp(value, UTC) if isinstance(value, int | float) and value > 0 else None
    except (ValueError, OverflowError, OSError):
        return None
    return at if at is None or at.year > 1970 else None


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and 0 <= value < 1e12 else None


def _events(text: str) -> Iterator[tuple[str, float, Mapping[str, Any]]]:
    for line in text.splitlines():
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and isinstance(event.get("name"), str):
            at, context = event.get("timestamp"), event.get("context")
            yield (
                event["name"],
                float(at) if isinstance(at, int | float) else 0.0,
                context if isinstance(context, dict) else {},
            )


def read_events(ref: JobRef, text: str) -> JobStatus | None:
    """The state that an event log shows (`flux job eventlog --format=json`); None where it holds no event.

    A fatal exception (severity 0) is asked for, not yet obeyed: nothing has ended before the event `clean`. However
    often a cancel was asked for, it is told once; exceptions of other severities are warnings.
    """
    log = _Log()
    for name, at, context in _events(text):
        log.take(name, at, context)
    return log.status(ref) if log.seen else None


class _Log:
    """What the events so far say."""

    def __init__(self) -> None:
        self.seen: dict[str, float] = {}
        self.urgency = 16
        self.waits: list[str] = []
        self.fatal: tuple[str, str, str] | None = None
        self.warnings: list[str] = []
        self.wait = WaitStatus(None, None)

    def take(self, name: str, at: float, context: Mapping[str, Any]) -> None:
        """One event."""
        self.seen.setdefault(name, at)
        if name in ("submit", "urgency") and isinstance(context.get("urgency"), int):
            self.urgency = context["urgency"]
        elif name == "dependency-add":
            self.waits.append(str(context.get("description", "")))
        elif name == "dependency-remove" and str(context.get("description", "")) in self.waits:
            self.waits.remove(str(context.get("description", "")))
        elif name == "finish" and (status := _whole(context.get("status"))) is not None and status >= 0:
            self.wait = WaitStatus.decode(status)
        elif name == "exception":
            kind, note = str(context.get("type", "")), str(context.get("note", ""))
            if not _fatal(context):
                self.warnings.append(one_line(f"{kind}: {note}", limit=200))
            elif self.fatal is None:
                self.fatal = (kind, note, str(context.get("userid", "")))

    def status(self, ref: JobRef) -> JobStatus:
        """The whole."""
        kind, note, who = self.fatal or ("", "", "")
        state, native = self._state(kind, note)
        told = f"{kind}: {note}" if note else kind
        pending = state is JobState.PENDING
        return JobStatus(
            ref=ref,
            state=state,
            native_state=native,
            reason=one_line(", ".join(self.waits) if pending else told),
            reason_class=ReasonClass.PERSON if state is JobState.HELD else ReasonClass.WAIT if pending else None,
            exit_code=self.wait.exit_code if state.final else None,
            signal=_signal(self.wait) if state.final else None,
            submitted_at=_moment(self.seen.get("submit")),
            started_at=_moment(self.seen.get("start", self.seen.get("alloc"))),
            ended_at=_moment(self.seen.get("finish", self.seen.get("clean"))) if state.final else None,
            cancelled_by=who or None if state is JobState.CANCELLED else None,
            warnings=tuple(self.warnings[:20]),
        )

    def _state(self, kind: str, note: str) -> tuple[JobState, str]:
        if "clean" not in self.seen:
            if self.fatal is not None or "finish" in self.seen:
                return JobState.COMPLETING, "CLEANUP"
            if "alloc" in self.seen:
                return JobState.RUNNING, "RUN"
            word = "SCHED" if "priority" in self.seen else "PRIORITY" if "depend" in self.seen else "DEPEND"
            return JobState.HELD if self.urgency == 0 else JobState.PENDING, word
        if kind in ("cancel", "timeout"):
            result = "CANCELED" if kind == "cancel" else "TIMEOUT"
        elif self.fatal is None and self.wait == WaitStatus(None, None):
            return JobState.UNKNOWN, "INACTIVE"
        else:
            result = "COMPLETED" if self.fatal is None and self.wait == WaitStatus(0, None) else "FAILED"
        ending = _Ending(kind, note, "alloc" in self.seen, self.wait)
        return _ended(STATES[result], ending), f"INACTIVE {result}"
