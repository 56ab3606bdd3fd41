"""From the submit to the end, for every scheduler that can be imitated by its commands."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio

from dragoman.attempt import AttemptState
from dragoman.errors import NotSettled
from dragoman.job import JobRef, JobState
from dragoman.observation import Outcome
from dragoman.request import ArrayRange, ArraySpec

World = Any


def job_of(record: Any) -> JobRef:
    assert record.state is AttemptState.SUBMITTED, record.answer
    assert record.job is not None
    found: JobRef = record.job
    return found


async def test_a_job_runs_to_its_end(world: World) -> None:
    record = await world.submit("pwd; echo out; echo err >&2\n")
    job = job_of(record)
    status = await world.ended(job)
    assert (status.state, status.exit_code) == (JobState.COMPLETED, 0)
    assert status.started_at is not None
    assert status.ended_at is not None
    spec = record.attempt.spec
    work = Path(spec.work_dir)
    assert (work / "stdout.log").read_text() == f"{work}\nout\n"
    assert (work / "stderr.log").read_text() == "err\n"
    assert (Path(spec.control_dir) / "run/owner").readlink() == Path(f"job:{job.job_id}")


async def test_what_the_scheduler_does_not_know_is_known_from_the_record(world: World) -> None:
    """Accounting that forgets: the job's own record tells the end, and its id is the one that the submit printed."""
    job = job_of(await world.submit("exit 3\n"))
    assert ((await world.ended(job)).state, (await world.ended(job)).exit_code) == (JobState.FAILED, 3)
    world.fault("forget")
    status = await world.until(job, lambda each: each.state.final, world.client(grace_s=0))
    assert (status.state, status.exit_code, status.native_state) == (JobState.FAILED, 3, "exit record")


async def test_killed_by_a_signal(world: World) -> None:
    status = await world.ended(job_of(await world.submit("kill -9 $$\n")))
    assert (status.state, status.exit_code, status.signal) == (JobState.FAILED, 137, 9)


async def test_out_of_time(world: World) -> None:
    assert (await world.ended(job_of(await world.submit("sleep 60\n", walltime_s=1)))).state is JobState.TIMED_OUT


async def test_cancelled(world: World) -> None:
    job = job_of(await world.submit("sleep 60\n"))
    await world.running(job)
    client = world.client()
    assert (await client.cancel(job)).outcome is Outcome.OK
    assert (await world.ended(job)).state is JobState.CANCELLED
    assert (await client.cancel(job)).outcome is Outcome.OK  # it has ended
    never = JobRef(job_id={"flux": "1"}.get(world.name, "999999.fakehead"))
    assert (await client.cancel(never)).outcome is Outcome.ABSENT


async def test_held_and_released(world: World) -> None:
    world.fault("busy")
    job = job_of(await world.submit("echo ran\n"))
    client = world.client()
    assert (await client.hold(job)).outcome is Outcome.OK
    assert (await client.status([job])).jobs[job.job_id].state is JobState.HELD
    assert (await client.release(job)).outcome is Outcome.OK
    assert (await client.status([job])).jobs[job.job_id].state is JobState.PENDING
    world.no_fault("busy")
    await client.hold(job)
    await client.release(job)  # whatever is asked next starts what waits
    assert (await world.ended(job)).state is JobState.COMPLETED


async def test_no_hold_of_a_job_that_is_not_there(world: World) -> None:
    job = JobRef(job_id="99999999" if world.name == "flux" else "99999999.server")
    for answer in (await world.client().hold(job), await world.client().release(job)):
        assert answer.outcome is Outcome.ABSENT, answer.reason
    world.fault("down")
    assert (await world.client().hold(job)).outcome is Outcome.UNKNOWN


async def test_a_server_that_is_down_changes_no_state(world: World) -> None:
    job = job_of(await world.submit("sleep 2\n"))
    await world.running(job)
    world.fault("down")
    answers = await world.client(grace_s=0).status([job])
    assert (dict(answers.jobs), set(answers.absent), bool(answers.trouble)) == ({}, set(), True)
    assert (await world.client().workload()).outcome is Outcome.UNKNOWN
    assert (await world.client().find("dgm-0123456789ab-a0")).outcome is Outcome.UNKNOWN
    assert (await world.client().cancel(job)).outcome is Outcome.UNKNOWN
    world.no_fault("down")
    assert (await world.ended(job)).state is JobState.COMPLETED


async def test_many_jobs_in_one_question(world: World) -> None:
    jobs = [job_of(await world.submit(f"exit {code}\n")) for code in range(3)]
    for job in jobs:
        await world.ended(job)
    gone = JobRef(job_id={"flux": "1"}.get(world.name, "999999.fakehead"))
    answers = await world.client(grace_s=-1).status([*jobs, gone])
    assert [answers.jobs[job.job_id].exit_code for job in jobs] == [0, 1, 2]
    assert set(answers.absent) == {gone.job_id}


async def test_an_answer_that_was_lost_is_found_by_its_tag(world: World) -> None:
    """The submit command fails, and the job was taken all the same."""
    world.fault("busy")
    world.fault("lost-answer")
    record = await world.submit("echo ran >>ran\n")
    assert record.adopted
    job = job_of(record)
    assert (await world.client().find(record.attempt.tag)).value == JobRef(job_id=job.job_id, tag=record.attempt.tag)
    world.no_fault("busy")
    await world.client().hold(job)
    await world.client().release(job)
    assert (await world.ended(job)).state is JobState.COMPLETED
    assert (world.jobs(), (Path(record.attempt.spec.work_dir) / "ran").read_text()) == (1, "ran\n")


async def test_a_submit_that_never_reached_the_server_is_repeated_once(world: World) -> None:
    world.fault("down")
    attempt = world.attempt("echo ran\n")
    client = world.client()
    await client.prepare(attempt.spec.control_dir, attempt.spec.work_dir)
    try:
        record = await client.submit(attempt)
    except NotSettled:
        record = None
    assert world.jobs() == 0
    world.no_fault("down")
    if record is not None:  # without an instance Flux is known to have taken nothing
        assert (world.name, record.state) == ("flux", AttemptState.REFUSED)
        return
    for _ in range(60):
        try:
            record = await client.submit(attempt)
            break
        except NotSettled:
            await anyio.sleep(0.2)
    assert (await world.ended(job_of(record))).state is JobState.COMPLETED
    assert world.jobs() == 1


async def test_a_banner_is_no_id(world: World) -> None:
    world.fault("banner")
    assert (await world.ended(job_of(await world.submit("true\n")))).state is JobState.COMPLETED


async def test_an_array(world: World) -> None:
    if world.name == "flux":
        return  # refused: Flux has none
    array = ArraySpec(ranges=(ArrayRange(first=1, last=3),))
    record = await world.submit("test -n x\n", array=array)
    job = job_of(record)
    assert job.job_id == "0[].fakehead"
    status = await world.ended(job)
    assert status.state is JobState.COMPLETED
    assert status.array_tasks == dict.fromkeys("123", JobState.COMPLETED)
    control, work = Path(record.attempt.spec.control_dir), Path(record.attempt.spec.work_dir)
    assert (control / "run/owner").readlink() == Path("job:0[].fakehead")
    assert all((control / f"exit.{index}").exists() and (work / f"stdout.log.{index}").exists() for index in (1, 2, 3))
    assert not (work / "stdout.log").exists()


async def test_refused_and_why(world: World) -> None:
    refused = await world.submit(
        "true\n", **({"shape": {"nodes": 40}} if world.name == "flux" else {"queue": "nosuch"})
    )
    assert (refused.state, refused.reason_class) == (AttemptState.REFUSED, "never")
    assert world.jobs() == 0


async def test_queues_and_nodes(world: World) -> None:
    answer = await world.client().workload()
    assert answer.value is not None, answer.reason
    assert answer.value.queues
    assert answer.value.groups is not None
    assert sum(group.cpus_free or 0 for group in answer.value.groups) >= 8


async def test_a_body_with_directives_of_its_own(world: World) -> None:
    """Lines that look like directives are the body's own, and reach it as they are."""
    body = '#!/bin/sh\n#PBS -q nosuch\n#flux: -N 40\necho a\n#PBS -l walltime=9\n#flux: --nosuch\ncat "$0" >copy\n'
    record = await world.submit(body)
    assert (await world.ended(job_of(record))).state is JobState.COMPLETED
    assert (Path(record.attempt.spec.work_dir) / "copy").read_text() == body
