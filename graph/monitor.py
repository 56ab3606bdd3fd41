"""monitor: sleeps until something happens to the job that a decision depends on."""

from __future__ import annotations

from dragoman.job import JobState, JobStatus, ReasonClass
from dragoman.model import JsonObject
from graph.described import whereabouts
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

LOST_SCHEMA = {
    "type": "object",
    "properties": {"answer": {"enum": ["wait", "lost"]}, "by": {"type": "string"}},
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
        status, unseen = await _sleep(step, current, status)
        if unseen and not status.state.final:
            return await _unseen(step, current, status, cancelling)
    await step.say(_words(status, current.site), state=status.state.value, job_id=status.ref.job_id)
    if status.state.final:
        return await _ended(step, current, status, cancelling)
    if not cancelling and await deps.ledger.cancel_requested(step.thread_id):
        return goto(step, "canceller", job=_small(status))
    if status.reason_class is ReasonClass.NEVER and "dependency" in status.reason.lower():
        return await _forsaken(step, current, status, cancelling)
    if status.state is JobState.HELD or status.reason_class in (ReasonClass.NEVER, ReasonClass.PERSON):
        return await _stuck(step, current, status)
    return goto(step, "monitor", job=_small(status))


async def _sleep(step: Step, current: CurrentAttempt, status: JobStatus | None) -> tuple[JobStatus, bool]:
    """The pause itself: costs a row, no process. The watcher of the site ends it.

    Also tells whether the job is not to be seen any more, by any account of the site.
    """
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
            **whereabouts(step),
        },
    )
    newest = await step.deps.ledger.job(current.tag)
    return newest or JobStatus.model_validate(answer.get("status") or known), bool(answer.get("absent"))


async def _unseen(step: Step, current: CurrentAttempt, status: JobStatus, cancelling: bool) -> Goto:
    """No account of the site shows the job, which does not mean that it ended: the person decides."""
    await step.say(f"{current.site} does not show the job {status.ref.job_id} any more, nor how it ended")
    question: JsonObject = {
        "question": f"{current.site} does not show the job {status.ref.job_id} (tag {current.tag}) in its queue or "
        "history, and it left no record of an end. Wait, or take it as lost?",
        "site": current.site,
        "tag": current.tag,
        "job_id": status.ref.job_id,
    }
    answer = await step.pause("question", question, site=current.site, answer_schema=LOST_SCHEMA)
    if answer.get("answer") != "lost":
        return goto(step, "monitor", job=_small(status))
    await _never_to_run(step, current, str(answer.get("by") or "person"))
    lost = status.model_copy(update={"state": JobState.NODE_FAILED, "reason": "taken as lost by a person"})
    return await _ended(step, current, await step.deps.ledger.save_job(current.tag, lost), cancelling)


async def _never_to_run(step: Step, current: CurrentAttempt, by: str) -> None:
    """Whatever may still lie in a queue there will not run its body."""
    record = await step.deps.ledger.attempt(current.tag)
    if record is not None:
        await scheduler_at(step.open_site(current.site)).abandon(record.attempt, by)


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


async def _forsaken(step: Step, current: CurrentAttempt, status: JobStatus, cancelling: bool) -> Goto:
    """What it depends on ended otherwise than it had to: nothing will ever start it, so it leaves the queue."""
    await scheduler_at(step.open_site(current.site)).cancel(status.ref)
    await _never_to_run(step, current, "dependency")
    why = f"can never start ({status.reason}): taken out of the queue"
    await step.say(f"job {status.ref.job_id} at {current.site} {why}")
    ended = status.model_copy(update={"state": JobState.NEVER_RAN, "reason": f"dependency: {status.reason}"[:1000]})
    return await _ended(step, current, await step.deps.ledger.save_job(current.tag, ended), cancelling)


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
        scheduler = scheduler_at(step.open_site(current.site))
        await scheduler.cancel(status.ref)
        excluded = [*step.state.excluded, current.site]
        return goto(step, "selector", job=_small(status), attempt=None, excluded=excluded)
    return goto(step, "monitor", job=_small(status))


def _small(status: JobStatus) -> JsonObject:
    return status.model_copy(update={"array_tasks": {}, "nodes": status.nodes[:8], "warnings": ()}).dump()


def _words(status: JobStatus, site: str) -> str:
    why = f" ({status.reason})" if status.reason else ""
    return f"job {status.ref.job_id} at {site} is {status.state.value}{why}"
