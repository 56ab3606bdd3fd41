"""collector: what came of it: results, exit code, cost, and what was predicted against what happened."""

from __future__ import annotations

from datetime import datetime

from dragoman.errors import DragomanError
from dragoman.job import JobState, JobStatus
from dragoman.model import JsonObject
from dragoman.request import JobRequest
from graph.figure import measured_figure
from graph.node import Goto, Step, end
from graph.reach import scheduler_at
from graph.state import CurrentAttempt
from providers.schedulers.job_script import CLAIM_RC, WORK_DIR_RC

__all__ = ["collector", "outcome_of"]

_WORDS = {
    JobState.COMPLETED: "completed",
    JobState.CANCELLED: "cancelled",
    JobState.TIMED_OUT: "time limit reached",
    JobState.OUT_OF_MEMORY: "out of memory",
    JobState.NODE_FAILED: "the node failed",
    JobState.PREEMPTED: "preempted",
    JobState.NEVER_RAN: "ended by the scheduler without a start",
    JobState.FAILED: "failed",
}


async def collector(step: Step) -> Goto:
    """Close the books of the thread. The scheduler's first final state is what counts."""
    state, deps = step.state, step.deps
    current = state.attempt
    status = await deps.ledger.job(current.tag) if current else None
    if status is None or current is None:
        return end(step, "failed", "no job was found to collect")
    happened: JsonObject = {
        "start_s": _seconds(current.submitted_at, status.started_at),
        "run_s": status.run_s,
    }
    prediction: JsonObject = {**(state.prediction or {}), "happened": happened}
    results = dict(state.results or {})
    wanted = (state.reading or JobRequest()).figure_of_merit
    figure = await measured_figure(wanted, str(results["dir"])) if wanted and results.get("dir") else None
    told: JsonObject = {"prediction": prediction, "tag": current.tag}
    if figure is not None:
        told["figure"] = results["figure"] = figure.model_dump(mode="json")
    await deps.ledger.save_decision(step.thread_id, "outcome", state.round, told)
    await _forget_secrets(step, current)
    outcome, words = outcome_of(status, results)
    await step.say(words)
    return end(step, outcome, words, results=results, prediction=prediction, job=status.dump())


async def _forget_secrets(step: Step, current: CurrentAttempt) -> None:
    """The job has ended: its secrets stay neither at the site nor here. A site that is away is not waited for."""
    request = step.state.reading
    if request is None or not any(each.secret for each in request.environment):
        return
    own = f".{step.thread_id[:13]}"
    for key in [each.secret for each in request.environment if each.secret and each.secret.endswith(own)]:
        if step.deps.forget_secret is not None:
            await step.deps.forget_secret(key)
    try:
        await scheduler_at(step.open_site(current.site)).attempts.forget_secrets(current.control_dir)
    except DragomanError as error:
        await step.say(f"secrets still lie at {current.site}: {error}")


def outcome_of(status: JobStatus, results: JsonObject) -> tuple[str, str]:
    """How the thread ends, and in words. A completed job whose required results are missing has not completed."""
    words = _WORDS.get(status.state, status.state.value)
    if status.exit_code is not None and status.state is JobState.FAILED:
        words += f" with exit code {status.exit_code}"
        if status.exit_code in (CLAIM_RC, WORK_DIR_RC):
            words += " (of a job that cannot use its folder at the site, such as one without room: nothing was run)"
        if status.signal is None and 128 < status.exit_code <= 192:
            words += f" (a shell's way to tell of signal {status.exit_code - 128})"
    if status.signal is not None and status.state is not JobState.CANCELLED:
        words += f", signal {status.signal}"
    if status.reason and status.state is not JobState.COMPLETED and "exit code" not in status.reason:
        words += f": {status.reason}"
    if status.state is JobState.CANCELLED:
        return "cancelled", words
    if status.state is not JobState.COMPLETED:
        return "failed", words
    missing, error = results.get("missing"), results.get("error")
    if isinstance(missing, list) and missing:
        return "failed", f"completed, but left no {', '.join(str(each) for each in missing)}"
    if error:
        return "failed", f"completed, but its results could not be brought back: {error}"
    return "completed", words


def _seconds(earlier: datetime | None, later: datetime | None) -> float | None:
    return None if earlier is None or later is None else max(0.0, (later - earlier).total_seconds())
