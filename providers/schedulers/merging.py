"""Puts together what queue, accounting and the attempts' folders say of the same jobs: pure rules.

The queue wins over the accounting, and both over the exit record that the job itself wrote. A job that is not seen is
not finished. An answer with trouble shows what it shows, and nothing is absent by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dragoman.command import Completed
from dragoman.job import JobRef, JobState, JobStatus
from dragoman.observation import Answer, Outcome
from dragoman.protocols import JobAnswers
from providers.attempt_look import AttemptLook
from providers.schedulers.combining import with_tasks
from providers.schedulers.job_script import DUPLICATE_RC

__all__ = ["by_exit_record", "needs_look", "one_finding", "partly_seen", "read_all", "union", "with_accounts"]


def read_all(answers: Iterable[Completed | Exception], read: Callable[[Completed], JobAnswers]) -> JobAnswers:
    """One answer from those of several commands that asked, between them, for the same jobs.

    A job is absent only where each of them showed that it is not there and none had trouble: a dialect may split one
    question over several commands, and reads each answer as if all jobs had been asked for in it.
    """
    jobs: dict[str, JobStatus] = {}
    absent: frozenset[str] | None = None
    troubles: list[str] = []
    for answer in answers:
        part = JobAnswers(jobs={}, trouble=str(answer)) if isinstance(answer, Exception) else read(answer)
        for job_id, status in part.jobs.items():
            if job_id not in jobs or jobs[job_id].state is JobState.UNKNOWN:
                jobs[job_id] = status
        absent = part.absent if absent is None else absent & part.absent
        if part.trouble and part.trouble not in troubles:
            troubles.append(part.trouble)
    if troubles:
        absent = frozenset()
    return JobAnswers(jobs=jobs, absent=(absent or frozenset()) - jobs.keys(), trouble="; ".join(troubles))


def union(parts: Sequence[JobAnswers]) -> JobAnswers:
    """One answer from those about different jobs."""
    return JobAnswers(
        jobs={job_id: status for part in parts for job_id, status in part.jobs.items()},
        absent=frozenset(job_id for part in parts for job_id in part.absent),
        trouble="; ".join(dict.fromkeys(part.trouble for part in parts if part.trouble)),
    )


def one_finding(
    answers: Iterable[Completed | Exception], read: Callable[[Completed], Answer[JobRef]]
) -> Answer[JobRef]:
    """One answer about a tag: found where one command found it, absent only where all showed that it is not there."""
    unknown: list[str] = []
    absent: list[str] = []
    for answer in answers:
        found = Answer[JobRef].unknown(str(answer)) if isinstance(answer, Exception) else read(answer)
        if found.outcome is Outcome.OK:
            return found
        (absent if found.outcome is Outcome.ABSENT else unknown).append(found.reason)
    if unknown:
        return Answer[JobRef].unknown("; ".join(dict.fromkeys(unknown)))
    if absent:
        return Answer[JobRef].absent("; ".join(dict.fromkeys(absent)))
    return Answer[JobRef].unknown("this scheduler cannot be asked for a tag")


def with_accounts(status: JobStatus, told: JobStatus | None) -> JobStatus:
    """What the accounting adds to a job that the queue shows as ended; nothing while its record still lags behind.

    The queue decides; a requeued job has the end of an older run in the accounting while the queue is ahead.
    """
    if told is not None and partly_seen(status):
        size = status.ref.array_size or status.array_size or told.array_size
        return told if told.state.final else with_tasks(status, told.array_tasks, size)
    if told is None or not told.state.final or not status.state.final:
        return status
    added = {
        name: value
        for name in ("exit_code", "signal", "cancelled_by", "max_rss_bytes")
        if getattr(status, name) is None and (value := getattr(told, name)) is not None
    }
    if status.state is JobState.FAILED and told.state is JobState.OUT_OF_MEMORY:
        # Only what the job used tells why it was killed.
        return status.model_copy(update={**added, "state": told.state, "reason": told.reason})
    if status.signal is not None or status.exit_code is not None or told.state is not status.state:
        # Of two accounts of one end, each is taken whole.
        added = {name: value for name, value in added.items() if name not in ("exit_code", "signal")}
    return status.model_copy(update=added) if added else status


def partly_seen(status: JobStatus) -> bool:
    """Whether it is an array of which some tasks are seen to have ended, and others not at all."""
    return status.state is JobState.UNKNOWN and any(state.final for state in status.array_tasks.values())


def needs_look(status: JobStatus | None) -> bool:
    """Whether the attempt's folder can add to what the scheduler said."""
    if status is None or status.state is JobState.UNKNOWN:
        return True
    if not status.state.final:
        return False
    return status.exit_code == DUPLICATE_RC or (
        status.exit_code is None and status.state in {JobState.COMPLETED, JobState.FAILED}
    )


def by_exit_record(
    ref: JobRef, status: JobStatus | None, look: AttemptLook, *, accounting_may_come: bool
) -> JobStatus | None:
    """What the job's own record adds; None where it adds nothing.

    Args:
        ref: the job.
        status: what the scheduler said, if it said anything.
        look: the attempt's folder.
        accounting_may_come: a failure is left to the accounting, which knows why (time limit, memory, cancelled).

    """
    if look.owner != ref.job_id:
        return None
    record = look.exits.get("")
    if record is None or record.job_id != ref.job_id:
        tasks = {
            task: JobState.COMPLETED if one.rc == 0 else JobState.FAILED
            for task, one in look.exits.items()
            if task and one.job_id == ref.job_id
        }
        if not tasks or (status is not None and not partly_seen(status)):
            return None
        # Where nobody tells how many tasks there are, an array never ends by its records.
        seen = status or JobStatus(ref=ref, state=JobState.UNKNOWN)
        found = with_tasks(seen, tasks, ref.array_size or seen.array_size)
        failed = found.state.final and found.state is not JobState.COMPLETED
        return seen.model_copy(update={"array_tasks": found.array_tasks}) if failed and accounting_may_come else found
    if status is not None and status.state.final:
        signal = status.signal if status.signal is not None else record.signal
        return status.model_copy(update={"exit_code": record.rc, "signal": signal})
    if record.rc != 0 and accounting_may_come:
        return None
    return JobStatus(
        ref=ref,
        state=JobState.COMPLETED if record.rc == 0 else JobState.FAILED,
        native_state="exit record",
        reason="" if record.rc == 0 else f"the job recorded exit code {record.rc}",
        exit_code=record.rc,
        signal=record.signal,
        started_at=record.started_at,
        ended_at=record.ended_at,
        nodes=(record.host,) if record.host else (),
        restarts=int(record.restart) if record.restart.isdecimal() else None,
        from_history=True,
    )
