"""What earlier runs of an application were: those that ended, the newest first, with their figure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from checkpoints.ledger.ledger import PostgresLedger
from dragoman.attempt import Attempt, AttemptRecord, AttemptState, attempt_tag
from dragoman.job import JobRef, JobSpec, JobState, JobStatus
from dragoman.model import JsonObject
from dragoman.shape import Shape
from dragoman.thread import ThreadRow

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


async def ran(
    ledger: PostgresLedger,
    thread: str,
    request: JsonObject,
    state: JobState,
    *,
    tasks: int,
    figure: float | None = None,
) -> None:
    await ledger.create_thread(ThreadRow(thread_id=thread))
    epoch = await ledger.acquire(thread, "h", 300)
    await ledger.save_request(thread, 0, request)
    tag = attempt_tag(thread, "dispatcher", 1)
    spec = JobSpec(tag=tag, shape=Shape(tasks=tasks), work_dir="/w", control_dir="/c", body="true", walltime_s=600)
    intended = AT + timedelta(minutes=tasks)
    attempt = Attempt(
        tag=tag, thread_id=thread, step="dispatcher", number=1, site="s", scheduler="slurm", spec=spec,
        intended_at=intended,
    )  # fmt: skip
    await ledger.intend(attempt, epoch=epoch)
    ref = JobRef(job_id=str(tasks), tag=tag)
    await ledger.settle_attempt(AttemptRecord(attempt=attempt, state=AttemptState.SUBMITTED, job=ref), epoch=epoch)
    ended = intended + timedelta(seconds=30) if state is not JobState.RUNNING else None
    await ledger.save_job(
        tag, JobStatus(ref=ref, state=state, started_at=intended, ended_at=ended, max_rss_bytes=tasks * 1000)
    )
    if figure is not None:
        record: JsonObject = {"tag": tag, "figure": {"value": figure, "unit": "ns/day"}}
        await ledger.save_decision(thread, "outcome", 0, record)


async def test_ended_runs_of_the_application_the_newest_first(ledger: PostgresLedger) -> None:
    lammps: JsonObject = {"software": [{"name": "lammps"}], "command": ["lmp", "-in", "lammps"]}
    await ran(ledger, "a", lammps, JobState.COMPLETED, tasks=4, figure=12.5)
    await ran(ledger, "b", lammps, JobState.OUT_OF_MEMORY, tasks=8)
    await ran(ledger, "c", lammps, JobState.RUNNING, tasks=9)
    await ran(ledger, "d", {"software": [{"name": "lammps-tools"}]}, JobState.COMPLETED, tasks=2)
    await ran(ledger, "e", {"command": ["lmp"]}, JobState.COMPLETED, tasks=3)
    runs = await ledger.earlier_runs("lammps")
    assert [(run.shape.tasks, run.state, run.run_s, run.max_rss_bytes) for run in runs] == [
        (8, JobState.OUT_OF_MEMORY, 30, 8000),
        (4, JobState.COMPLETED, 30, 4000),
    ]
    assert [run.figure.value if run.figure else None for run in runs] == [None, 12.5]
    assert [run.shape.tasks for run in await ledger.earlier_runs("lmp")] == [8, 4, 3], "by its program"
    assert [run.shape.tasks for run in await ledger.earlier_runs("lammps", limit=1)] == [8]


async def test_no_name_has_no_runs(ledger: PostgresLedger) -> None:
    await ran(ledger, "a", {"command": [""]}, JobState.COMPLETED, tasks=1)
    assert await ledger.earlier_runs("") == []
    assert await ledger.earlier_runs("nothing\x00' OR true --") == []
