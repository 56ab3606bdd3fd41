"""What watching costs the scheduler: one squeue and at most one sacct a look, however many jobs are watched."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import anyio
import pytest

from dragoman.job import JobRef, JobState
from dragoman.observation import Outcome

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Place, Slurm

pytestmark = [pytest.mark.slurm, pytest.mark.anyio]

MANY = 50
COUNTED = ("squeue", "sacct", "scontrol", "sinfo", "sbatch")


async def counted(place: Place, slurm: Slurm) -> str:
    """A folder with programs that count their calls and then are the real ones."""
    folder = anyio.Path(place.root / "counted")
    script = f"umask 0; mkdir {folder}"
    assert (await slurm.run("sh", "-c", script))[0] == 0
    for name in COUNTED:
        program = folder / name
        rest = 'PATH=$(printf %s "$PATH" | sed "s|^[^:]*:||")'
        await program.write_text(f'#!/bin/sh\necho {name} >>{folder}/calls\n{rest}\nexec {name} "$@"\n')
        await program.chmod(0o755)
    return str(folder)


async def calls(folder: str) -> dict[str, int]:
    file = anyio.Path(folder) / "calls"
    lines = (await file.read_text()).split() if await file.exists() else []
    await file.unlink(missing_ok=True)
    return {name: lines.count(name) for name in COUNTED if name in lines}


async def test_fifty_jobs_one_question(place: Place, slurm: Slurm) -> None:
    folder = await counted(place, slurm)
    client = place.client(path=folder)
    refs: list[JobRef] = []
    for number in range(MANY):
        attempt = await place.prepared(client, place.attempt(number, body="sleep 1"))
        record = await client.submit(attempt)
        assert record.job is not None
        refs.append(record.job)
    assert await calls(folder) == {"sbatch": MANY}
    looks, asked, ends = 0, {"squeue": 0, "sacct": 0}, 0
    with anyio.fail_after(60):
        while ends < MANY:
            answers = await client.status(refs)
            looks += 1
            for name, count in (await calls(folder)).items():
                assert count == 1
                asked[name] += count
            ends = sum(status.state.final for status in answers.jobs.values())
            await anyio.sleep(0.5)
    assert asked["squeue"] == looks
    assert asked["sacct"] <= looks
    assert sorted(place.runs(), key=int) == [str(number) for number in range(MANY)]
    assert {status.exit_code for status in answers.jobs.values()} == {0}


@pytest.mark.campaign
async def test_jobs_that_left_the_queue_are_one_question_to_the_accounting(place: Place, slurm: Slurm) -> None:
    folder = await counted(place, slurm)
    client = place.client(path=folder)
    records = [
        await client.submit(await place.prepared(client, place.attempt(number, body=f"exit {number}")))
        for number in range(3)
    ]
    await place.ended(place.client(), *records)
    refs = [record.job for record in records if record.job is not None]
    with anyio.fail_after(20):
        known = 0
        while known < len(refs):
            known = len((await place.client().history(refs)).jobs)
            await anyio.sleep(0.3)
    await slurm.variant(min_job_age_s=2)
    try:
        with anyio.fail_after(60):
            left = await place.jobs()
            while left:
                await anyio.sleep(1)
                left = await place.jobs()
        await calls(folder)
        answers = await client.status(refs)
    finally:
        await slurm.variant()
    assert await calls(folder) == {"squeue": 1, "sacct": 1}
    assert [answers.jobs[ref.job_id].exit_code for ref in refs] == [0, 1, 2]
    assert answers.jobs[refs[0].job_id].from_history


async def test_another_locale_and_a_persons_own_formats_change_nothing(place: Place) -> None:
    """What SQUEUE_FORMAT and the like make of the commands for a person does not reach us."""
    habits = {
        "SQUEUE_FORMAT": "%.8i %.20j", "SACCT_FORMAT": "jobid,state%30", "SLURM_TIME_FORMAT": "relative",
        "SQUEUE_STATES": "PENDING", "SQUEUE_SORT": "N", "SLURM_BITSTR_LEN": "8", "SBATCH_TIMELIMIT": "1:0",
        "SBATCH_PARTITION": "closed", "LANG": "de_DE.UTF-8", "LC_ALL": "de_DE.UTF-8", "TZ": "Asia/Kathmandu",
    }  # fmt: skip
    client = place.client(extra=habits)
    record = await client.submit(await place.prepared(client, place.attempt(body="sleep 1")))
    assert record.job is not None
    (status,) = await place.ended(client, record)
    assert (status.state, status.exit_code, status.queue) == (JobState.COMPLETED, 0, "debug")
    plain = (await place.client().status([record.job])).jobs[record.job.job_id]
    assert (plain.submitted_at, plain.started_at, plain.ended_at) == (
        status.submitted_at,
        status.started_at,
        status.ended_at,
    )
    workload = (await client.workload()).value
    assert workload is not None
    assert json.loads(workload.model_dump_json())["cluster"] == "dragoman"


async def test_accounts_estimates_and_tags_of_the_real_thing(place: Place) -> None:
    client = place.client()
    accounts = await client.accounts()
    assert accounts.value is not None
    found = {each.name: (each.default, each.unit, each.qos) for each in accounts.value.accounts}
    assert found == {
        "proj1": (True, None, ("normal", "short")),
        "proj2": (False, "core-hours", ("normal", "short")),
    }
    balance = next(each.balance for each in accounts.value.accounts if each.name == "proj2")
    assert balance == pytest.approx(1 / 60)
    now_ = await client.estimate(place.attempt(walltime_s=60).spec)
    assert now_.value is not None
    assert (now_.value.method, (now_.value.expected_s or 0) < 60) == ("scheduler", True)
    never = await client.estimate(place.attempt(shape={"nodes": 99}, walltime_s=60).spec)
    assert never.outcome is Outcome.ABSENT
    record = await client.submit(await place.prepared(client, place.attempt(1, body="sleep 30")))
    ours = await client.ours()
    assert ours is not None
    assert record.job is not None
    assert ours.jobs[record.job.job_id].ref.tag == record.attempt.tag
