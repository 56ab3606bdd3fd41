"""Waits, events and threads with something to do."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import anyio
import psycopg
import pytest

from checkpoints.ledger.ledger import PostgresLedger
from dragoman.event import Event, Wait
from dragoman.thread import SiteWatch, ThreadRow, ThreadStatus

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


async def parked(ledger: PostgresLedger, thread_id: str, **wait: object) -> Wait:
    """A thread that waits, with its lease given back."""
    await ledger.create_thread(ThreadRow(thread_id=thread_id))
    epoch = await ledger.acquire(thread_id, "h", 30)
    assert epoch is not None
    fields = {
        "id": f"w-{thread_id}",
        "thread_id": thread_id,
        "step": "monitor",
        "sequence": 0,
        "kind": "job",
        "site": "s",
    }
    stored = await ledger.open_wait(Wait.model_validate({**fields, **wait}), epoch=epoch)
    await ledger.set_status(thread_id, ThreadStatus.PARKED, epoch=epoch)
    await ledger.release(thread_id, epoch)
    return stored


async def test_of_many_answers_the_first_counts(ledger: PostgresLedger) -> None:
    wait = await parked(ledger, "t", kind="approval")
    taken: list[str] = []

    async def answer(who: str) -> None:
        if await ledger.add_event(Event(wait_id=wait.id, key=f"answer:{who}", kind="answer", by=who)):
            taken.append(who)

    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(answer, f"p{number}")
    assert len(taken) == 1
    assert [event.by for event in await ledger.events(wait.id)] == taken


async def test_the_same_event_twice_is_stored_once_in_any_order(ledger: PostgresLedger) -> None:
    wait = await parked(ledger, "t")
    keys = ["state:running:0", "state:pending:0", "state:running:0", "state:completed:0", "state:pending:0"]
    stored = [await ledger.add_event(Event(wait_id=wait.id, key=key, kind="job", payload={"k": key})) for key in keys]
    assert stored == [True, True, False, True, False]
    events = await ledger.events(wait.id)
    assert [event.key for event in events] == [keys[0], keys[1], keys[3]]
    assert all(event.id is not None and event.at is not None for event in events)


async def test_a_closed_or_unknown_wait_takes_no_event(ledger: PostgresLedger) -> None:
    wait = await parked(ledger, "t")
    await ledger.close_wait(wait.id)
    await ledger.close_wait(wait.id)
    assert not await ledger.add_event(Event(wait_id=wait.id, key="late", kind="job"))
    assert not await ledger.add_event(Event(wait_id="none", key="x", kind="job"))
    assert await ledger.events(wait.id) == []
    kept = await ledger.wait(wait.id)
    assert kept is not None
    assert kept.closed_at is not None
    assert await ledger.open_waits() == []


async def test_a_wait_is_opened_once_and_keeps_what_was_told(ledger: PostgresLedger) -> None:
    wait = await parked(ledger, "t", subject={"told": "pending"})
    await ledger.update_wait(wait.id, {"told": "running"})
    epoch = await ledger.acquire("t", "h", 30)
    again = await ledger.open_wait(wait.model_copy(update={"subject": {"told": "none"}}), epoch=epoch)
    assert again.subject == {"told": "running"}
    assert again.opened_at == wait.opened_at


async def test_open_waits_are_found_by_thread_site_and_kind(ledger: PostgresLedger) -> None:
    for number, (site, kind) in enumerate([("a", "job"), ("b", "job"), ("a", "transfer"), (None, "approval")]):
        await parked(ledger, f"t{number}", site=site, kind=kind)
    assert [wait.thread_id for wait in await ledger.open_waits()] == ["t0", "t1", "t2", "t3"]
    assert [wait.thread_id for wait in await ledger.open_waits(site="a")] == ["t0", "t2"]
    assert [wait.thread_id for wait in await ledger.open_waits(site="a", kind="job")] == ["t0"]
    assert [wait.thread_id for wait in await ledger.open_waits(thread_id="t3")] == ["t3"]
    assert await ledger.awaited_sites() == ["a", "b"]
    await ledger.close_wait("w-t1")
    assert await ledger.awaited_sites() == ["a"]


async def test_due_waits_are_those_whose_time_has_come_without_an_event(ledger: PostgresLedger) -> None:
    await parked(ledger, "soon", kind="until", due_at=AT)
    await parked(ledger, "later", kind="until", due_at=AT + timedelta(hours=1))
    await parked(ledger, "told", kind="until", due_at=AT)
    await parked(ledger, "never")
    await ledger.add_event(Event(wait_id="w-told", key="time", kind="time"))
    assert [wait.thread_id for wait in await ledger.due_waits(AT)] == ["soon"]
    assert [wait.thread_id for wait in await ledger.due_waits(AT + timedelta(hours=2))] == ["soon", "later"]


async def test_runnable_are_new_left_and_woken_threads_without_a_live_lease(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="new"))
    await parked(ledger, "asleep")
    wait = await parked(ledger, "woken")
    await ledger.add_event(Event(wait_id=wait.id, key="k", kind="job"))
    await ledger.create_thread(ThreadRow(thread_id="left", status=ThreadStatus.ACTIVE))
    await ledger.create_thread(ThreadRow(thread_id="held"))
    await ledger.acquire("held", "h", 30)
    await ledger.adopt_thread("api")
    assert sorted(await ledger.runnable()) == ["left", "new", "woken"]
    assert len(await ledger.runnable(limit=2)) == 2


async def test_a_thread_whose_owner_died_is_found_without_any_sweep(ledger: PostgresLedger) -> None:
    """Cases PG06 and PG08: no row has to be freed by a task that could itself be stuck."""
    await ledger.create_thread(ThreadRow(thread_id="t"))
    epoch = await ledger.acquire("t", "dies", 0.1)
    await ledger.set_status("t", ThreadStatus.ACTIVE, epoch=epoch)
    assert await ledger.runnable() == []
    await anyio.sleep(0.15)
    assert await ledger.runnable() == ["t"]
    assert await ledger.acquire("t", "next", 30) == 2


async def test_a_watch_whose_holder_died_is_taken_by_the_next(ledger: PostgresLedger) -> None:
    assert await ledger.take_watch("s", "me", "dies", 0.1) is not None
    assert await ledger.take_watch("s", "me", "next", 30) is None
    await anyio.sleep(0.15)
    taken = await ledger.take_watch("s", "me", "next", 30)
    assert taken is not None
    assert taken.holder == "next"
    await ledger.note_look(taken.model_copy(update={"holder": "dies", "failures": 9}))
    [watch] = await ledger.site_watches()
    assert (watch.holder, watch.failures) == ("next", 0)


async def test_taking_a_failed_thread_back_disturbs_no_other(ledger: PostgresLedger) -> None:
    """Case PG06: a retry cannot collide with another thread, held or waiting; it is taken back once."""
    await ledger.create_thread(ThreadRow(thread_id="one"))
    await ledger.create_thread(ThreadRow(thread_id="two"))
    first = await ledger.acquire("one", "h", 30)
    assert first is not None
    assert await ledger.failed_try("one", "x", epoch=first, most=2) is ThreadStatus.NEW
    assert await ledger.failed_try("one", "x\0", epoch=first, most=2) is ThreadStatus.POISONED
    await ledger.release("one", first)
    assert await ledger.runnable() == ["two"]
    second = await ledger.acquire("two", "h", 30)
    assert [await ledger.retry("one"), await ledger.retry("one"), await ledger.retry("two")] == [True, False, False]
    assert await ledger.runnable() == ["one"]
    await ledger.set_status("two", ThreadStatus.DONE, epoch=second, outcome="completed")


async def test_beginning_again_does_not_reset_the_count_of_failed_tries(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    epoch = await ledger.acquire("t", "h", 30)
    assert epoch is not None
    for expected in (ThreadStatus.ACTIVE, ThreadStatus.ACTIVE, ThreadStatus.POISONED):
        await ledger.set_status("t", ThreadStatus.ACTIVE, epoch=epoch)
        assert await ledger.failed_try("t", "x", epoch=epoch, most=3) is expected


async def test_a_run_that_dies_after_its_wait_was_closed_was_left_in_the_middle(ledger: PostgresLedger) -> None:
    wait = await parked(ledger, "t")
    await ledger.add_event(Event(wait_id=wait.id, key="k", kind="job"))
    await ledger.acquire("t", "dies", 0.1)
    await ledger.close_wait(wait.id)
    await anyio.sleep(0.15)
    assert await ledger.runnable() == ["t"]


async def test_a_thread_that_ended_waits_for_nothing(ledger: PostgresLedger) -> None:
    await parked(ledger, "t")
    epoch = await ledger.acquire("t", "h", 30)
    await ledger.set_status("t", ThreadStatus.DONE, epoch=epoch, outcome="cancelled")
    assert await ledger.open_waits() == []
    assert await ledger.awaited_sites() == []


async def test_a_cancel_takes_a_poisoned_thread_back_into_work(ledger: PostgresLedger) -> None:
    await ledger.create_thread(ThreadRow(thread_id="t"))
    epoch = await ledger.acquire("t", "h", 30)
    assert epoch is not None
    await ledger.failed_try("t", "x", epoch=epoch, most=1)
    await ledger.release("t", epoch)
    assert await ledger.request_cancel("t", "ann")
    assert await ledger.runnable() == ["t"]


async def test_the_identity_of_the_graph_stays_with_the_thread(ledger: PostgresLedger) -> None:
    """Case LG07: whoever resumes can tell by which graph the thread was begun."""
    await ledger.create_thread(ThreadRow(thread_id="t", graph="dragoman/3", input={"sites": ["A", "B"]}))
    again = await ledger.create_thread(ThreadRow(thread_id="t", graph="dragoman/4", input={"sites": ["C"]}))
    assert (again.graph, again.input) == ("dragoman/3", {"sites": ["A", "B"]})


async def test_every_change_of_status_is_on_record(ledger: PostgresLedger, database: str) -> None:
    await parked(ledger, "t")
    async with await psycopg.AsyncConnection.connect(database) as connection:
        rows = await (
            await connection.execute(
                "SELECT status, epoch, lease_holder FROM dragoman_ledger.thread_changes ORDER BY id"
            )
        ).fetchall()
    assert rows == [("new", 0, ""), ("parked", 1, "h")]


async def test_of_many_watchers_one_looks_and_only_when_it_is_due(ledger: PostgresLedger) -> None:
    taken: list[SiteWatch] = []

    async def take(holder: str) -> None:
        watch = await ledger.take_watch("s", "me", holder, 30)
        if watch is not None:
            taken.append(watch)

    async with anyio.create_task_group() as group:
        for number in range(12):
            group.start_soon(take, f"h{number}")
    [watch] = taken
    await ledger.note_look(watch.model_copy(update={"interval_s": 0.2, "next_look_at": None, "error": "e\0"}))
    assert await ledger.take_watch("s", "me", "x", 30) is None
    await anyio.sleep(0.25)
    again = await ledger.take_watch("s", "me", "x", 30)
    assert again is not None
    assert (again.holder, again.interval_s) == ("x", 0.2)
    assert again.error.startswith("e")
    assert await ledger.take_watch("s", "other identity", "x", 30) is not None


async def test_a_watcher_whose_clock_runs_ahead_cannot_put_a_site_off_for_long(ledger: PostgresLedger) -> None:
    watch = await ledger.take_watch("s", "me", "h", 30)
    assert watch is not None
    await ledger.note_look(watch.model_copy(update={"next_look_at": datetime(2099, 1, 1, tzinfo=UTC)}))
    [kept] = await ledger.site_watches()
    assert kept.next_look_at is not None
    assert kept.next_look_at - datetime.now(UTC) < timedelta(days=1, minutes=1)


@pytest.mark.parametrize("statuses", [(), (ThreadStatus.PARKED, ThreadStatus.NEW)])
async def test_threads_are_listed_the_newest_first(ledger: PostgresLedger, statuses: tuple[ThreadStatus, ...]) -> None:
    await ledger.create_thread(ThreadRow(thread_id="old"))
    await parked(ledger, "young")
    assert [row.thread_id for row in await ledger.threads(statuses=statuses)] == ["young", "old"]
    assert [row.thread_id for row in await ledger.threads(statuses=statuses, limit=1)] == ["young"]
    assert await ledger.threads(statuses=(ThreadStatus.DONE,)) == []
