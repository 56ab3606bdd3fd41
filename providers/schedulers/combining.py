"""The state of a whole (an array, a job with several parts) from the states of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from dragoman.job import JobState, JobStatus

__all__ = ["accounted", "combined", "indices", "with_tasks"]

_NOT_FINAL = (JobState.RUNNING, JobState.COMPLETING, JobState.SUSPENDED, JobState.PENDING, JobState.HELD)
_ENDS = (
    JobState.FAILED, JobState.OUT_OF_MEMORY, JobState.TIMED_OUT, JobState.NODE_FAILED, JobState.PREEMPTED,
    JobState.NEVER_RAN, JobState.CANCELLED, JobState.COMPLETED,
)  # fmt: skip
_MOST = 100_000


def combined(states: Iterable[JobState]) -> JobState:
    """Under way while one part is, unknown while one is, then the worst end; unknown where there is no part."""
    found = set(states)
    for state in (*_NOT_FINAL, JobState.SUBMITTED):
        if state in found:
            return state
    if JobState.UNKNOWN in found or not found:
        return JobState.UNKNOWN
    return next(state for state in _ENDS if state in found)


def accounted(status: JobStatus, size: int | None) -> JobStatus:
    """The status of an array by its tasks: unknown where they would make an end, and not all of them are seen.

    Args:
        status: what those say that are seen.
        size: how many there are; None: nobody tells, so that no number of them is known to be all.

    """
    told = status.model_copy(update={"array_size": size})
    ends = [state for state in status.array_tasks.values() if state.final]
    seen = len(ends) or 1
    if not status.state.final or (size is not None and seen >= size):
        return told
    bad = sum(state is not JobState.COMPLETED for state in ends) or int(status.state is not JobState.COMPLETED)
    words = f"{seen} of {size or 'an unknown number of'} tasks are seen to have ended"
    return told.model_copy(
        update={
            "state": JobState.UNKNOWN,
            "reason": f"{words}, {bad} of them not well" if bad else words,
            "reason_class": None,
            **dict.fromkeys(("exit_code", "signal", "ended_at", "elapsed_s", "cancelled_by")),
        }
    )


def with_tasks(status: JobStatus, tasks: Mapping[str, JobState], size: int | None) -> JobStatus:
    """An array of which not all tasks were seen, with those that another account shows."""
    known = {index: state for index, state in status.array_tasks.items() if state is not JobState.UNKNOWN}
    merged = {**tasks, **known}
    state = combined(merged.values())
    if not state.final:
        return status.model_copy(update={"array_tasks": merged})
    reason = "" if state is JobState.COMPLETED else "by its tasks"
    return accounted(status.model_copy(update={"state": state, "reason": reason, "array_tasks": merged}), size)


def indices(text: str) -> Iterator[int]:
    """Indices of `1`, `7,10`, `1-10:3`; at most 100,000. Parts that are none are left out."""
    left = _MOST
    for part in text.split(","):
        span, _, step = part.strip().partition(":")
        low, _, high = span.partition("-")
        if not (low.isdecimal() and (high or low).isdecimal() and (step or "1").isdecimal()):
            continue
        for index in range(int(low), int(high or low) + 1, max(int(step or 1), 1)):
            if left == 0:
                return
            left -= 1
            yield index
