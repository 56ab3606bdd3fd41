"""Exactly once through the faults that a real controller can show; each job counts its own runs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import TYPE_CHECKING

import anyio
import pytest

from dragoman.attempt import AttemptRecord, AttemptState
from dragoman.errors import NotSettled
from dragoman.job import JobState, ReasonClass

if TYPE_CHECKING:
    from tests.integration.slurm.conftest import Place, Slurm

pytestmark = [pytest.mark.slurm, pytest.mark.anyio]


@pytest.fixture
async def quick(slurm: Slurm) -> AsyncIterator[Slurm]:
    """Commands give up on a silent controller after two seconds."""
    await slurm.variant(message_timeout_s=2)
    yield slurm
    await slurm.ctld_resume()
    await slurm.variant()


async def once(place: Place, record: AttemptRecord) -> None:
    """The job ended well, its body ran once, and no other job of the attempt was ever taken."""
    assert record.state is AttemptState.SUBMITTED
    client = place.client()
    (status,) = await place.ended(client, record)
    assert (status.state, status.exit_code) == (JobState.COMPLETED, 0)
    assert place.runs() == [str(record.attempt.number)]
    assert await place.jobs() == [status.ref.job_id]


async def test_a_plain_submit_and_its_repeats(place: Place) -> None:
    client = place.client()
    attempt = await place.prepared(client, place.attempt())
    record = await client.submit(attempt)
    assert not record.adopted
    assert (await place.client().submit(attempt)).job == record.job
    assert (await client.reconcile(AttemptRecord(attempt=attempt))).job == record.job
    await once(place, record)


@pytest.mark.parametrize("filter_", ["banner", "notice", "strip-tags"])
async def test_filters_that_talk_or_strip_tags(place: Place, slurm: Slurm, filter_: str) -> None:
    await slurm.submit_filter(filter_)
    client = place.client()
    record = await client.submit(await place.prepared(client, place.attempt()))
    assert (record.state, record.adopted) == (AttemptState.SUBMITTED, False)
    await once(place, record)


async def test_a_filter_that_refuses(place: Place, slurm: Slurm) -> None:
    await slurm.submit_filter("refuse")
    client = place.client()
    record = await client.submit(await place.prepared(client, place.attempt()))
    assert record.state is AttemptState.REFUSED
    assert "refused by the site's submit filter" in record.answer
    assert place.runs() == []


async def test_the_answer_is_lost(place: Place, slurm: Slurm) -> None:
    await slurm.submit_filter("lost-answer", times=1)
    client = place.client()
    record = await place.settled(client, await place.prepared(client, place.attempt()))
    assert record.adopted
    await once(place, record)


async def test_the_request_is_lost(place: Place, slurm: Slurm) -> None:
    await slurm.submit_filter("lost-request", times=1)
    client = place.client()
    attempt = await place.prepared(client, place.attempt())
    with pytest.raises(NotSettled):
        await client.submit(attempt)
    record = await place.settled(client, attempt)
    assert not record.adopted
    await once(place, record)


async def test_the_answer_is_lost_and_the_filter_strips_the_tags(place: Place, slurm: Slurm) -> None:
    """Neither queue nor accounting can tell whose job it is: the job itself does when it starts."""
    await slurm.submit_filter("lost-answer", times=1)
    await slurm.fault("submit-strip-tags")
    client = place.client(window_s=20)
    record = await place.settled(client, await place.prepared(client, place.attempt()))
    assert record.adopted
    await once(place, record)


async def test_the_accounting_is_down(place: Place, slurm: Slurm) -> None:
    """A submit needs none; a lost request is not repeated while half of the look-ups fail."""
    await slurm.dbd_stop()
    client = place.client()
    plain = await client.submit(await place.prepared(client, place.attempt(1)))
    (status,) = await place.ended(client, plain)
    assert (status.state, status.exit_code) == (JobState.COMPLETED, 0)
    await slurm.submit_filter("lost-request", times=1)
    attempt = await place.prepared(client, place.attempt(2))
    for _ in range(2):
        with pytest.raises(NotSettled):
            await client.submit(attempt)
        await anyio.sleep(1.2)
    assert place.runs() == ["1"]
    await slurm.dbd_start()
    record = await place.settled(client, attempt)
    await place.ended(client, record)
    assert place.runs() == ["1", "2"]


@pytest.mark.campaign
async def test_the_controller_is_stopped_and_started_again(place: Place, slurm: Slurm, quick: Slurm) -> None:
    """Nothing is submitted blindly, no running job is lost, and nothing is taken for ended."""
    client = place.client()
    runs = await client.submit(await place.prepared(client, place.attempt(1, body="sleep 3")))
    assert runs.job is not None
    await slurm.ctld_stop()
    attempt = await place.prepared(client, place.attempt(2))
    with pytest.raises(NotSettled):
        await client.submit(attempt)
    answers = await client.status([runs.job])
    assert (dict(answers.jobs), answers.absent) == ({}, frozenset())
    assert answers.trouble
    await slurm.ctld_start()
    again = await place.settled(client, attempt)
    ends = await place.ended(client, runs, again)
    assert [(status.state, status.exit_code) for status in ends] == [(JobState.COMPLETED, 0)] * 2
    assert sorted(place.runs()) == ["1", "2"]
    assert len(await place.jobs()) == 2


async def test_the_controller_hangs_in_the_middle_of_the_submit(place: Place, slurm: Slurm, quick: Slurm) -> None:
    """The request lies in its socket: once it goes on it takes a job that nobody has been told of."""
    await slurm.ctld_pause()
    client = place.client()
    attempt = await place.prepared(client, place.attempt())
    with pytest.raises(NotSettled):
        await client.submit(attempt)
    await slurm.ctld_resume()
    record = await place.settled(client, attempt)
    await once(place, record)


@pytest.mark.campaign
async def test_the_controller_is_slow(place: Place, slurm: Slurm) -> None:
    client = place.client()
    attempt = await place.prepared(client, place.attempt())
    records: list[AttemptRecord] = []

    async def submit() -> None:
        records.append(await place.settled(client, attempt))

    await slurm.ctld_pause()
    async with anyio.create_task_group() as group:
        group.start_soon(submit)
        await anyio.sleep(3)
        await slurm.ctld_resume()
    await once(place, records[0])


async def test_a_limit_that_nobody_enforces_is_noticed(place: Place, slurm: Slurm) -> None:
    """EnforcePartLimits=NO: the job is taken and would pend for ever."""
    client = place.client()
    too_long = await client.submit(await place.prepared(client, place.attempt(1, queue="small", walltime_s=3600)))
    closed = await client.submit(await place.prepared(client, place.attempt(2, queue="closed")))
    broke = await client.submit(await place.prepared(client, place.attempt(3, account="proj2", walltime_s=600)))
    refs = [record.job for record in (too_long, closed, broke) if record.job is not None]
    told: list[tuple[JobState, str, ReasonClass | None]] = []
    with anyio.move_on_after(20):
        while [each[1] for each in told] != ["PartitionTimeLimit", "PartitionDown", "AssocGrpCPUMinutesLimit"]:
            jobs = (await client.status(refs)).jobs
            told = [
                (jobs[ref.job_id].state, jobs[ref.job_id].reason, jobs[ref.job_id].reason_class)
                for ref in refs
                if ref.job_id in jobs
            ]
            await anyio.sleep(0.5)
    assert told == [
        (JobState.PENDING, "PartitionTimeLimit", ReasonClass.NEVER),
        (JobState.PENDING, "PartitionDown", ReasonClass.PERSON),
        (JobState.PENDING, "AssocGrpCPUMinutesLimit", ReasonClass.PERSON),
    ]


async def test_enforced_limits_are_a_refusal(place: Place, slurm: Slurm) -> None:
    await slurm.variant(enforce="ALL")
    try:
        client = place.client()
        record = await client.submit(await place.prepared(client, place.attempt(queue="small", walltime_s=3600)))
    finally:
        await slurm.variant()
    assert (record.state, record.reason_class) == (AttemptState.REFUSED, "never")
