"""monitor: sleeps until something happens to the job that a decision depends on."""

from __future__ import annotations

from dragoman.job import JobState, JobStatus, ReasonClass
from dragoman.model import JsonObject
from graph.node import Goto, Step, goto
from graph.reach import scheduler_at
from graph.state import CurrentAttempt

__all__ = ["monitor"]

_LOST = (JobState.NODE_FAILED, JobState.PREEMPTED)

ANSWER_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"enum": ["wait", "cancel", "renegotiate"]}, "by": {"type": "string"}},
    "required": ["answer"],
}


async def monitor(step: Step) -> Goto:
    """Pause until the job's state changes in a way that matters; decide what follows."""
    state, deps = step.state, step.deps
    current = state.attempt
    assert current is not None  # noqa: S101  # the dispatcher went before
    status = await deps.ledger.job(current.tag)
    cancelling = bool(await deps.ledger.cancel_requested(step.thread_id))
    if status is None or not status.state.final:
        status = await _sleep(step, current, status)
    await step.say(_words(status, current.site), state=status.state.value, job_id=status.ref.job_id)
    if status.state.final:
        return await _ended(step, current, status, cancelling)
    if not cancelling and await deps.ledger.cancel_requested(step.thread_id):
        return goto(step, "canceller", job=_small(status))
    if status.state is JobState.HELD or status.reason_class in (ReasonClass.NEVER, ReasonClass.PERSON):
        return await _stuck(step, current, status)
    return goto(step, "monitor", job=_small(status))


async def _sleep(step: Step, current: CurrentAttempt, status: JobStatus | None) -> JobStatus:
    """The pause itself: costs a row, no process. The watcher of the site ends it."""
    known = status or JobStatus(ref=current.job, state=JobState.SUBMITTED) if current.job else status
    assert known is not None  # noqa: S101  # a dispatched attempt has its job
    answer = await step.pause(
        "job",
        {"job_id": known.ref.job_id, "site": current.site, "tag": current.tag, "state": known.state.value},
        site=current.site,
        subject={
            "tag": current.tag,
            "control_dir": current.control_dir,
            "told": f"{known.state.value}:{known.reason_class or ''}:{known.restarts or 0}",
        },
    )
    newest = await step.deps.ledger.job(current.tag)
    if newest is not None:
        return newest
    return JobStatus.model_validate(answer.get("status") or known)


async def _ended(step: Step, current: CurrentAttempt, status: JobStatus, cancelling: bool) -> Goto:
    """Bring the results back; or, when the site lost the job, go on as the options say."""
    options = step.state.options
    again = step.state.attempts_made < options.most_attempts
    if status.state in _LOST and again and not cancelling:
        if options.on_lost == "resubmit":
            await step.say(f"{current.site} lost the job: submitting it again")
            return goto(step, "data_mover", job=_small(status), attempt=None, phase="in")
        if options.on_lost == "renegotiate":
            excluded = [*step.state.excluded, current.site]
            return goto(step, "selector", job=_small(status), attempt=None, excluded=excluded)
    return goto(step, "data_mover", job=_small(status), phase="out")


async def _stuck(step: Step, current: CurrentAttempt, status: JobStatus) -> Goto:
    """Held, or pending for a reason that will not pass: the person decides."""
    question: JsonObject = {
        "question": f"The job {status.ref.job_id} at {current.site} will not start by itself. Wait, cancel, or "
        "cancel it and renegotiate?",
        "reason": status.reason or status.native_state,
        "state": status.state.value,
    }
    answer = await step.pause("question", question, site=current.site, answer_schema=ANSWER_SCHEMA)
    if answer.get("answer") == "cancel":
        await step.deps.ledger.request_cancel(step.thread_id, str(answer.get("by") or "person"))
        return goto(step, "canceller", job=_small(status))
    if answer.get("answer") == "renegotiate":
        scheduler = scheduler_at(step.deps.open_site(current.site))
        await scheduler.cancel(status.ref)
        excluded = [*step.state.excluded, current.site]
        return goto(step, "selector", job=_small(status), attempt=None, excluded=excluded)
    return goto(step, "monitor", job=_small(status))


def _small(status: JobStatus) -> JsonObject:
    return status.model_copy(update={"array_tasks": {}, "nodes": status.nodes[:8], "warnings": ()}).dump()


def _words(status: JobStatus, site: str) -> str:
    why = f" ({status.reason})" if status.reason else ""
    return f"job {status.ref.job_id} at {site} is {status.state.value}{why}"
