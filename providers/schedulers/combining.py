"""The state of a whole (an array, a job with several parts) from the states of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dragoman.job import JobState

__all__ = ["combined", "indices"]

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
