"""Reported faults of graphs that pause and go on, each with variants."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from checkpoints.saver import FencedSaver
from dragoman.errors import DragomanError, LeaseLost
from dragoman.event import Event
from dragoman.thread import ThreadStatus
from graph.build import build


class Death(BaseException):
    """Nobody catches it, as nobody catches SIGKILL."""


async def answer(desk: Any, thread_id: str, **payload: Any) -> bool:
    [wait] = await desk.ledger.open_waits(thread_id=thread_id)
    stored: bool = await desk.ledger.add_event(
        Event(wait_id=wait.id, key="answer", kind="answer", payload=payload, by="me")
    )
    return stored


# LG03: an answered question is never asked again, and an answer never answers another question.


async def test_lg03_each_question_is_asked_once(desk: Any) -> None:
    thread = await desk.ask("ask")
    await desk.settle(thread, "parked")
    [first] = await desk.ledger.open_waits(thread_id=thread)
    assert await answer(desk, thread, decision="hold", hold_until="2020-01-01T00:00:00+00:00")
    await desk.settle(thread, "parked")
    with anyio.fail_after(20):
        while True:
            await desk.app.service.catch_up()
            waits = await desk.ledger.open_waits(thread_id=thread)
            if waits and waits[0].kind == "approval" and waits[0].id != first.id:
                break
    assert [wait.id == first.id for wait in waits] == [False]
    assert (await desk.ledger.wait(first.id)).closed_at is not None


async def test_lg03_a_late_second_answer_changes_nothing(desk: Any) -> None:
    thread = await desk.ask("ask")
    await desk.settle(thread, "parked")
    [wait] = await desk.ledger.open_waits(thread_id=thread)
    assert await answer(desk, thread, decision="approve")
    assert not await desk.ledger.add_event(
        Event(wait_id=wait.id, key="answer-2", kind="answer", payload={"decision": "refuse"}, by="late")
    )
    await desk.settle(thread, "parked")
    assert not await desk.ledger.add_event(
        Event(wait_id=wait.id, key="answer-3", kind="answer", payload={"decision": "refuse"}, by="later")
    )
    [job] = await desk.ledger.open_waits(thread_id=thread)
    assert job.kind == "job"
    assert len(desk.submits()) == 1


async def test_lg03_an_event_of_an_ended_wait_does_not_end_the_next(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    [wait] = await desk.ledger.open_waits(thread_id=thread)
    await desk.ledger.add_event(Event(wait_id=wait.id, key="held::0", kind="job", payload={}))
    await desk.ledger.add_event(Event(wait_id=wait.id, key="running::0", kind="job", payload={}))
    await desk.settle(thread, "parked")
    [after] = await desk.ledger.open_waits(thread_id=thread)
    assert (after.id != wait.id, await desk.ledger.events(after.id)) == (True, [])


# LG04: killed between the submit and the next checkpoint, the thread has one job.


@pytest.mark.parametrize("method", ["settle_attempt", "save_job", "say"])
async def test_lg04_what_dies_after_the_submit_submits_once(desk: Any, method: str) -> None:
    thread = await desk.ask()
    usual = getattr(desk.ledger, method)

    async def dies(*arguments: Any, **named: Any) -> Any:
        if not desk.submits():
            return await usual(*arguments, **named)
        raise Death

    setattr(desk.ledger, method, dies)
    with pytest.raises((Death, BaseExceptionGroup)):
        await desk.engine().resume(thread)
    setattr(desk.ledger, method, usual)
    assert len(desk.submits()) == 1
    await desk.settle(thread, "parked")
    assert len(desk.submits()) == 1
    [record] = await desk.ledger.attempts(thread)
    assert record.job.job_id == "1"


# LG05: what is found side by side is all there after a resume.


async def test_lg05_answers_of_many_sites_are_all_kept(desk: Any) -> None:
    for _ in range(5):
        thread = await desk.ask()
        await desk.settle(thread, "parked")
        assert [each.site for each in await desk.ledger.proposals(thread, 0)] == ["local"]


async def test_lg05_side_by_side_writes_to_one_thread_are_all_there(desk: Any) -> None:
    thread = await desk.ask()
    for turn in range(20):
        async with anyio.create_task_group() as group:
            for number in range(8):
                group.start_soon(desk.ledger.say, thread, "probe", f"{turn}.{number}")
    said = {entry.words for entry in await desk.ledger.timeline(thread)}
    assert said == {f"{turn}.{number}" for turn in range(20) for number in range(8)}


# LG06: what fails again and again ends in a state that can be read, with what was found so far.


async def test_lg06_a_failing_step_is_bounded_and_readable(desk: Any) -> None:
    thread = await desk.ask()

    async def fails(*_arguments: Any, **_named: Any) -> Any:
        raise DragomanError("the tool always answers Error", where="spack.find", cure="mend spack")

    usual, desk.ledger.plan_transfer = desk.ledger.intend, desk.ledger.plan_transfer
    desk.ledger.intend = fails
    engine = desk.engine(most_tries=3)
    for number in range(3):
        assert await engine.resume(thread)
        row = await desk.row(thread)
        assert (row.tries, row.status) == (number + 1, ThreadStatus.POISONED if number == 2 else ThreadStatus.ACTIVE)
    assert (thread in await desk.ledger.runnable()) is False
    assert "the tool always answers Error" in row.error
    assert "Traceback" not in row.error
    assert await desk.ledger.proposals(thread, 0)
    desk.ledger.intend = usual
    assert await desk.ledger.retry(thread)
    await desk.settle(thread, "parked")
    assert len(desk.submits()) == 1


async def test_lg06_what_cannot_be_run_can_be_cancelled_while_nothing_was_to_be_submitted(desk: Any) -> None:
    thread = await desk.ask()

    engine = desk.engine(most_tries=1)
    engine.made_with = "another:1"
    assert await engine.resume(thread)
    assert (await desk.row(thread)).status is ThreadStatus.POISONED
    assert await desk.ledger.request_cancel(thread, "me")
    assert await engine.resume(thread)
    row = await desk.row(thread)
    assert (row.status, row.outcome) == (ThreadStatus.DONE, "cancelled")
    assert "this process runs another:1" in (await desk.ledger.timeline(thread))[-1].words


async def test_lg06_failures_rest_longer_each_time(desk: Any) -> None:
    thread = await desk.ask()
    pauses = []
    for _ in range(4):
        epoch = await desk.ledger.acquire(thread, "me", 30)
        await desk.ledger.failed_try(thread, "x", epoch=epoch, most=9, pause_s=1)
        await desk.ledger.release(thread, epoch)
        row = await desk.row(thread)
        pauses.append((row.next_try_at - row.updated_at).total_seconds())
        assert thread not in await desk.ledger.runnable()
    assert [round(pause) for pause in pauses] == [1, 2, 4, 8]


async def test_lg06_a_loop_between_nodes_ends_without_a_stack_trace(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("continuation.engine.MOST_STEPS", 3)
    thread = await desk.ask()
    assert await desk.engine(most_tries=1).resume(thread)
    row = await desk.row(thread)
    assert row.status is ThreadStatus.POISONED
    assert "Traceback" not in row.error


# LG10: two runs of one thread do not overwrite each other.


async def test_lg10_of_two_workers_one_owns_the_thread(desk: Any) -> None:
    thread = await desk.ask()
    ran: list[bool] = []

    async def work() -> None:
        ran.append(await desk.engine().resume(thread))

    async with anyio.create_task_group() as group:
        for _ in range(4):
            group.start_soon(work)
    assert sorted(ran) == [False, False, False, True]
    assert len(desk.submits()) == 1


async def test_lg10_an_owner_whose_lease_ended_writes_nothing_more(desk: Any) -> None:
    thread = await desk.ask()
    saver = desk.app.checkpoints.saver
    usual = saver.aput
    stolen: list[int] = []

    async def late(config: Any, *rest: Any) -> Any:
        if not stolen and desk.submits():
            stolen.append(1)
            await desk.ledger._all(
                "UPDATE dragoman_ledger.threads SET lease_until = NULL WHERE thread_id = %(t)s RETURNING epoch",
                {"t": thread},
            )
            stolen.append(await desk.ledger.acquire(thread, "thief", 30))
        return await usual(config, *rest)

    saver.aput = late
    assert await desk.engine().resume(thread) is False
    saver.aput = usual
    row = await desk.row(thread)
    assert (row.lease_holder, row.epoch, row.tries) == ("thief", stolen[1], 0)
    await desk.ledger.release(thread, stolen[1])
    await desk.settle(thread, "parked")
    assert len(desk.submits()) == 1


async def test_lg10_resuming_many_times_at_once_takes_an_event_once(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    desk.tell("1", "completed")
    await anyio.sleep(0.3)
    await desk.app.service.watcher.look()
    async with anyio.create_task_group() as group:
        for _ in range(6):
            group.start_soon(desk.engine().resume, thread)
    row = await desk.settle(thread)
    assert row.outcome == "completed"
    words = [entry.words for entry in await desk.ledger.timeline(thread)]
    assert words.count("completed") == 1
    assert len([each for each in words if each.endswith("is completed")]) == 1


# LG11: a thread goes on from its newest checkpoint, however often it is taken up again.


async def test_lg11_each_requeue_starts_from_the_newest_state(desk: Any) -> None:
    thread = await desk.ask()
    for number in (1, 2):
        await desk.settle(thread, "parked")
        with anyio.fail_after(20):
            while len(desk.submits()) < number:
                await desk.app.service.catch_up()
        desk.tell(str(number), "node-failed")
        with anyio.fail_after(20):
            while len(desk.submits()) < number + 1:
                await anyio.sleep(0.1)
                await desk.app.service.catch_up()
    desk.tell("3", "completed")
    row = await desk.settle(thread)
    assert row.outcome == "completed"
    assert [each.rpartition("-")[2] for each in desk.submits()] == ["a1", "a2", "a3"]


async def test_lg11_a_new_process_reads_the_newest_checkpoint(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    other = build(desk.app.deps, checkpointer=FencedSaver(desk.app.checkpoints.pools))
    here = await desk.app.graph.aget_state({"configurable": {"thread_id": thread}})
    there = await other.aget_state({"configurable": {"thread_id": thread}})
    assert there.values == here.values
    assert there.config == here.config


async def test_lg11_an_old_checkpoint_cannot_be_run_on_by_a_stale_owner(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    config = {"configurable": {"thread_id": thread, "lease_epoch": 1}}
    with pytest.raises(LeaseLost):
        await desk.app.graph.aupdate_state(config, {"outcome": "failed"})
    assert not (await desk.app.graph.aget_state(config)).values.get("outcome")
