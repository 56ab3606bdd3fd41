"""Leases: one owner at any moment, by the database's clock; who lost the lease writes nothing."""

from __future__ import annotations

from functools import partial

import anyio
import pytest

from checkpoints.ledger.ledger import PostgresLedger
from dragoman.attempt import Attempt, AttemptRecord, AttemptState, attempt_tag
from dragoman.errors import LeaseLost, UnknownName
from dragoman.event import Event, Wait
from dragoman.job import JobRef, JobSpec
from dragoman.shape import Shape
from dragoman.thread import ThreadRow, ThreadStatus
from dragoman.transfer import TransferPlan


def an_attempt(thread_id: str, number: int = 0) -> Attempt:
    tag = attempt_tag(thread_id, "dispatcher", number)
    spec = JobSpec(tag=tag, shape=Shape(), work_dir="/w", control_dir="/c", body="true")
    return Attempt(
        tag=tag, thread_id=thread_id, step="dispatcher", number=number, site="s", scheduler="slurm", spec=spec
    )


async def test_of_many_who_race_exactly_one_gets_the_lease(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    for round_ in range(1, 6):
        got: list[int | None] = []

        async def race(holder: str, into: list[int | None] = got) -> None:
            into.append(await ledger.acquire("t", holder, 30))

        async with anyio.create_task_group() as group:
            for number in range(16):
                group.start_soon(race, f"h{number}")
        assert sorted(got, key=str) == [round_, *[None] * 15]
        await ledger.release("t", round_)


async def test_an_expired_lease_is_taken_over_and_the_old_holder_can_do_nothing(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    old = await ledger.acquire("t", "first", 0.05)
    assert await ledger.acquire("t", "second", 30) is None
    await anyio.sleep(0.1)
    new = await ledger.acquire("t", "second", 30)
    assert (old, new) == (1, 2)
    assert old is not None
    with pytest.raises(LeaseLost):
        await ledger.renew("t", old, 30)
    await ledger.release("t", old)
    row = await ledger.thread("t")
    assert row is not None
    assert (row.epoch, row.lease_holder) == (2, "second")


async def test_every_write_of_a_stale_epoch_is_refused_and_changes_nothing(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    await ledger.acquire("t", "first", 0.05)
    await anyio.sleep(0.1)
    await ledger.acquire("t", "second", 30)
    attempt = an_attempt("t")
    plan = TransferPlan(id="p", mover="local", direction="in", site="s", items=(), root="/r")
    wait = Wait(id="w", thread_id="t", step="monitor", sequence=0, kind="job")
    for epoch in (1, 3, None):
        with pytest.raises(LeaseLost):
            await ledger.intend(attempt, epoch=epoch)
        with pytest.raises(LeaseLost):
            await ledger.settle_attempt(AttemptRecord(attempt=attempt, state=AttemptState.REFUSED), epoch=epoch)
        with pytest.raises(LeaseLost):
            await ledger.plan_transfer("t", plan, epoch=epoch)
        with pytest.raises(LeaseLost):
            await ledger.open_wait(wait, epoch=epoch)
        with pytest.raises(LeaseLost):
            await ledger.set_status("t", ThreadStatus.DONE, epoch=epoch, outcome="completed")
    with pytest.raises(LeaseLost):
        await ledger.failed_try("t", "x", epoch=1, most=1)
    assert await ledger.attempts("t") == []
    assert await ledger.transfers("t") == []
    assert await ledger.wait("w") is None
    row = await ledger.thread("t")
    assert row is not None
    assert row.status is ThreadStatus.NEW


async def test_an_expired_lease_is_no_lease_even_where_nobody_took_it_over(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    epoch = await ledger.acquire("t", "h", 0.05)
    assert epoch is not None
    await anyio.sleep(0.1)
    with pytest.raises(LeaseLost):
        await ledger.intend(an_attempt("t"), epoch=epoch)
    with pytest.raises(LeaseLost):
        await ledger.renew("t", epoch, 30)


async def test_a_stored_intent_is_not_given_to_a_stale_epoch_either(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    attempt = an_attempt("t")
    epoch = await ledger.acquire("t", "h", 30)
    assert epoch is not None
    await ledger.intend(attempt, epoch=epoch)
    await ledger.release("t", epoch)
    with pytest.raises(LeaseLost):
        await ledger.intend(attempt, epoch=epoch)


async def test_a_takeover_waits_for_a_write_under_way_and_refuses_the_next(
    ledger: PostgresLedger, database: str
) -> None:
    """The write that holds the row finishes first; the new owner sees it."""
    import psycopg

    await ledger.create_thread(ThreadRow(thread_id="t"))
    await ledger.acquire("t", "first", 0.2)
    taken: list[int | None] = []

    async def take() -> None:
        await anyio.sleep(0.25)
        taken.append(await ledger.acquire("t", "second", 30))

    async with await psycopg.AsyncConnection.connect(database) as writer, anyio.create_task_group() as group:
        row = await (await writer.execute("SELECT dragoman_ledger.may_write('t', 1)")).fetchone()
        assert row == (True,)
        group.start_soon(take)
        await anyio.sleep(0.5)
        assert taken == []
        await writer.commit()
    assert taken == [2]


async def test_threads_of_a_langgraph_server_are_written_without_an_epoch_and_only_so(ledger: PostgresLedger) -> None:
    await ledger.adopt_thread("api")
    await ledger.adopt_thread("api")
    assert (await ledger.intend(an_attempt("api"), epoch=None)).state is AttemptState.INTENDED
    assert await ledger.acquire("api", "h", 30) is None
    with pytest.raises(LeaseLost):
        await ledger.intend(an_attempt("api", 1), epoch=1)
    await ledger.create_thread(ThreadRow(thread_id="ours"))
    with pytest.raises(LeaseLost, match="cannot take it over"):
        await ledger.adopt_thread("ours")


async def test_names_that_do_not_exist_are_told(ledger: PostgresLedger) -> None:
    with pytest.raises(UnknownName):
        await ledger.acquire("none", "h", 30)
    with pytest.raises(UnknownName):
        await ledger.request_cancel("none", "me")
    with pytest.raises(UnknownName):
        await ledger.say("none", "s", "w")
    with pytest.raises(UnknownName):
        await ledger.intend(an_attempt("none"), epoch=None)
    with pytest.raises(LeaseLost):
        await ledger.intend(an_attempt("none"), epoch=1)


async def test_of_two_epochs_that_settle_only_the_live_one_counts(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    first = await ledger.acquire("t", "a", 0.2)
    record = await ledger.intend(an_attempt("t"), epoch=first)
    await anyio.sleep(0.25)
    second = await ledger.acquire("t", "b", 30)
    job = record.model_copy(update={"state": AttemptState.SUBMITTED, "job": JobRef(job_id="7")})
    with pytest.raises(LeaseLost):
        await ledger.settle_attempt(job, epoch=first)
    kept = await ledger.settle_attempt(job, epoch=second)
    assert (kept.state, kept.job) == (AttemptState.SUBMITTED, JobRef(job_id="7"))


async def test_a_cancel_wakes_every_open_wait_once(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    epoch = await ledger.acquire("t", "h", 30)
    await ledger.open_wait(Wait(id="w", thread_id="t", step="m", sequence=0, kind="job"), epoch=epoch)
    assert await ledger.request_cancel("t", "ann")
    assert await ledger.request_cancel("t", "bob")
    assert [(event.kind, event.by) for event in await ledger.events("w")] == [("cancel", "ann")]
    assert await ledger.cancel_requested("t") == "ann"
    await ledger.set_status("t", ThreadStatus.DONE, epoch=epoch, outcome="cancelled")
    assert not await ledger.request_cancel("t", "eve")


async def test_the_first_wait_after_a_wish_to_cancel_is_woken_and_the_next_sleeps(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    epoch = await ledger.acquire("t", "h", 30)
    await ledger.request_cancel("t", "ann")
    await ledger.open_wait(Wait(id="w0", thread_id="t", step="m", sequence=0, kind="job"), epoch=epoch)
    assert [event.kind for event in await ledger.events("w0")] == ["cancel"]
    await ledger.close_wait("w0")
    await ledger.open_wait(Wait(id="w1", thread_id="t", step="m", sequence=1, kind="job"), epoch=epoch)
    assert await ledger.events("w1") == []
    await ledger.add_event(Event(wait_id="w1", key="state:cancelled", kind="job"))
    assert [event.kind for event in await ledger.events("w1")] == ["job"]


async def test_no_wish_to_cancel_is_lost_between_a_look_and_a_wait(ledger: PostgresLedger) -> None:
    """Whichever comes first, the wait or the wish, the wait has its event."""
    for number in range(40):
        thread_id, wait_id = f"t{number}", f"w{number}"
        await ledger.create_thread(ThreadRow(thread_id=thread_id))
        epoch = await ledger.acquire(thread_id, "h", 30)
        wait = Wait(id=wait_id, thread_id=thread_id, step="m", sequence=0, kind="job")
        async with anyio.create_task_group() as group:
            group.start_soon(partial(ledger.open_wait, wait, epoch=epoch))
            group.start_soon(ledger.request_cancel, thread_id, "ann")
        assert [event.kind for event in await ledger.events(wait_id)] == ["cancel"]
