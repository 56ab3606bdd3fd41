"""Everything put together from settings; hearing of work; forgetting what is finished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import anyio
import psycopg
import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt
from pydantic import SecretStr
from typing_extensions import TypedDict

from checkpoints.listen import listen
from checkpoints.migrate import migrations
from checkpoints.open import Checkpoints, open_checkpoints
from dragoman.attempt import Attempt, attempt_tag
from dragoman.event import Event, Wait
from dragoman.job import JobSpec
from dragoman.settings import Settings
from dragoman.shape import Shape
from dragoman.thread import ThreadRow, ThreadStatus


def opened(database: str, **more: Any) -> Checkpoints:
    return open_checkpoints(Settings(database_url=SecretStr(database), **more))


async def test_nothing_connects_before_it_is_used(tmp_path: Any) -> None:
    checkpoints = open_checkpoints(Settings(data_dir=tmp_path / "none", database_url=None))
    await checkpoints.aclose()
    assert not (tmp_path / "none").exists()


async def test_an_empty_database_is_migrated_at_first_use(empty_database: str) -> None:
    checkpoints = opened(empty_database)
    assert await checkpoints.ledger.runnable() == []
    assert await checkpoints.migrate() == []
    store = await checkpoints.store()
    await store.aput(("people",), "ann", {"prefers": "cheapest"})
    item = await store.aget(("people",), "ann")
    assert item is not None
    assert item.value == {"prefers": "cheapest"}
    status = await checkpoints.status()
    assert status["schema_version"] == len(migrations())
    assert status["database"] == "DATABASE_URL"
    await checkpoints.aclose()


async def test_migrating_by_hand_says_what_was_applied(empty_database: str) -> None:
    checkpoints = opened(empty_database)
    assert await checkpoints.migrate() == [*(each.name for each in migrations()), "langgraph"]
    await checkpoints.aclose()


class Pauses(TypedDict, total=False):
    told: str


def a_graph(checkpoints: Checkpoints) -> Any:
    async def ask(state: Pauses) -> Pauses:
        return {"told": interrupt("?")}

    graph = StateGraph(Pauses)
    graph.add_node("ask", ask)
    graph.add_node("again", ask)
    graph.add_edge(START, "ask")
    graph.add_edge("ask", "again")
    graph.add_edge("again", END)
    return graph.compile(checkpointer=checkpoints.saver)


async def run(checkpoints: Checkpoints, thread_id: str, answers: int, status: ThreadStatus) -> None:
    """A thread of two pauses, so many of them answered, at rest afterwards."""
    await checkpoints.ledger.create_thread(ThreadRow(thread_id=thread_id))
    epoch = await checkpoints.ledger.acquire(thread_id, "h", 30)
    assert epoch is not None
    mine: Any = {"configurable": {"thread_id": thread_id, "lease_epoch": epoch}}
    state = await a_graph(checkpoints).ainvoke({"told": ""}, mine, durability="sync")
    for _ in range(answers):
        resume: Command[Any] = Command(resume={state["__interrupt__"][0].id: "yes"})
        state = await a_graph(checkpoints).ainvoke(resume, mine, durability="sync")
    tag = attempt_tag(thread_id, "d", 0)
    spec = JobSpec(tag=tag, shape=Shape(), work_dir="/w", control_dir="/c", body="true")
    attempt = Attempt(tag=tag, thread_id=thread_id, step="d", number=0, site="s", scheduler="slurm", spec=spec)
    await checkpoints.ledger.intend(attempt, epoch=epoch)
    await checkpoints.ledger.set_status(thread_id, status, epoch=epoch)
    await checkpoints.ledger.release(thread_id, epoch)


async def test_what_is_finished_goes_and_what_goes_on_can_go_on(database: str) -> None:
    checkpoints = opened(database)
    await run(checkpoints, "ended", 2, ThreadStatus.DONE)
    await run(checkpoints, "parked", 1, ThreadStatus.PARKED)
    await run(checkpoints, "left", 1, ThreadStatus.ACTIVE)
    await run(checkpoints, "poisoned", 1, ThreadStatus.POISONED)
    before = {name: await count(checkpoints, name) for name in ("ended", "parked", "left", "poisoned")}
    assert await checkpoints.prune(older_than_s=3600) == {"threads": 0, "checkpoints": 0}
    removed = await checkpoints.prune(older_than_s=0)
    assert removed == {"threads": 1, "checkpoints": before["ended"] + before["parked"] - 1}
    assert await checkpoints.ledger.thread("ended") is None
    assert await count(checkpoints, "ended") == 0
    assert await count(checkpoints, "parked") == 1
    assert (await count(checkpoints, "left"), await count(checkpoints, "poisoned")) == (before["left"],) * 2
    assert len(await checkpoints.ledger.tags("s")) == 4
    epoch = await checkpoints.ledger.acquire("parked", "h", 30)
    mine: Any = {"configurable": {"thread_id": "parked", "lease_epoch": epoch}}
    graph = a_graph(checkpoints)
    waiting = (await graph.aget_state(mine)).interrupts
    state = await graph.ainvoke(Command(resume={waiting[0].id: "on"}), mine, durability="sync")
    assert state == {"told": "on"}
    await checkpoints.aclose()


async def count(checkpoints: Checkpoints, thread_id: str) -> int:
    return len([each async for each in checkpoints.saver.alist({"configurable": {"thread_id": thread_id}})])


async def test_a_thread_that_somebody_holds_is_not_pruned(database: str) -> None:
    checkpoints = opened(database)
    await run(checkpoints, "t", 2, ThreadStatus.DONE)
    await checkpoints.ledger.acquire("t", "reads it", 30)
    assert (await checkpoints.prune(older_than_s=0))["threads"] == 0
    await checkpoints.aclose()


async def hear(checkpoints: Checkpoints, act: Callable[[], Any], until: str) -> list[str]:
    heard: list[str] = []
    with anyio.fail_after(10):
        async for word in checkpoints.listen(every=60):
            if not heard:
                await act()
            heard.append(word)
            if word == until:
                break
    return heard


async def test_new_threads_and_events_are_heard_at_once(database: str) -> None:
    checkpoints = opened(database)
    ledger = checkpoints.ledger

    async def new() -> None:
        await ledger.create_thread(ThreadRow(thread_id="t"))

    assert await hear(checkpoints, new, "t") == ["", "t"]
    epoch = await ledger.acquire("t", "h", 30)
    wait = Wait(id="w", thread_id="t", step="m", sequence=0, kind="job", site="s")
    await ledger.open_wait(wait, epoch=epoch)

    async def event() -> None:
        await ledger.add_event(Event(wait_id="w", key="k", kind="job"))

    assert await hear(checkpoints, event, "t") == ["", "t"]
    await checkpoints.aclose()


async def test_after_a_cut_connection_everything_is_looked_at(database: str) -> None:
    checkpoints = opened(database)
    await checkpoints.ready()

    async def cut() -> None:
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
            await connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                " WHERE datname = current_database() AND pid <> pg_backend_pid()"
            )

    heard: list[str] = []
    with anyio.fail_after(20):
        async for word in checkpoints.listen(every=60):
            heard.append(word)
            if len(heard) == 1:
                await cut()
            elif len(heard) == 2:
                await checkpoints.ledger.create_thread(ThreadRow(thread_id="t"))
            else:
                break
    assert heard == ["", "", "t"]
    await checkpoints.aclose()


@pytest.mark.parametrize("pooler", [True, False])
async def test_where_nothing_is_passed_on_it_is_looked_at_now_and_then(database: str, pooler: bool) -> None:
    heard = []
    with anyio.fail_after(10):
        async for word in listen(database, pooler=pooler, every=0.05):
            heard.append(word)
            if len(heard) == 3:
                break
    assert heard == ["", "", ""]
