"""Checkpoints: written by the thread's owner only, whole or not at all, whatever is in them and however many run."""

from __future__ import annotations

import operator
import threading
from itertools import count
from typing import Annotated, Any

import anyio
import pytest
from langchain_core.runnables import RunnableConfig
from langgraph.checkpoint.base import (
    ChannelVersions,
    Checkpoint,
    CheckpointMetadata,
    create_checkpoint,
    empty_checkpoint,
)
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, Send, interrupt
from typing_extensions import TypedDict

from checkpoints.ledger.ledger import PostgresLedger
from checkpoints.pool import LoopPools
from checkpoints.saver import FencedSaver
from checkpoints.storable import MARK, REPLACEMENT
from dragoman.errors import LeaseLost
from dragoman.thread import ThreadRow, ThreadStatus

_VERSIONS = count(1)
META: CheckpointMetadata = {"source": "loop", "step": 1, "parents": {}}


@pytest.fixture
def saver(pools: LoopPools) -> FencedSaver:
    return FencedSaver(pools)


def config(thread_id: str, epoch: int | None = None, **more: Any) -> RunnableConfig:
    lease = {} if epoch is None else {"lease_epoch": epoch}
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": "", **lease, **more}}


def a_checkpoint(**values: Any) -> tuple[Checkpoint, ChannelVersions]:
    versions: ChannelVersions = dict.fromkeys(values, f"{next(_VERSIONS):032}.0")
    made = create_checkpoint(empty_checkpoint(), None, 1)
    made["channel_values"], made["channel_versions"] = values, dict(versions)
    return made, versions


async def held(ledger: PostgresLedger, thread_id: str, seconds: float = 30) -> int:
    await ledger.create_thread(ThreadRow(thread_id=thread_id))
    epoch = await ledger.acquire(thread_id, "h", seconds)
    assert epoch is not None
    return epoch


async def test_only_the_live_epoch_writes(ledger: PostgresLedger, saver: FencedSaver) -> None:
    old = await held(ledger, "t", 0.1)
    checkpoint, versions = a_checkpoint(a=[1])
    written = await saver.aput(config("t", old), checkpoint, META, versions)
    assert written.get("configurable", {})["lease_epoch"] == old
    await anyio.sleep(0.15)
    new = await ledger.acquire("t", "next", 30)
    assert new is not None
    later, versions = a_checkpoint(a=[2])
    for epoch in (old, new + 1, None):
        with pytest.raises(LeaseLost):
            await saver.aput(config("t", epoch), later, META, versions)
        with pytest.raises(LeaseLost):
            await saver.aput_writes(config("t", epoch, checkpoint_id=checkpoint["id"]), [("a", [3])], "task")
        with pytest.raises(LeaseLost):
            await saver.adelete_thread("t", lease_epoch=epoch)
    with pytest.raises(LeaseLost):
        await saver.aprune(["t"], strategy="delete")
    kept = [each async for each in saver.alist(config("t"))]
    assert [(each.checkpoint["channel_values"], each.pending_writes) for each in kept] == [({"a": [1]}, [])]
    await saver.aput(config("t", new), later, META, versions)
    newest = await saver.aget_tuple(config("t"))
    assert newest is not None
    assert newest.checkpoint["channel_values"] == {"a": [2]}


async def test_without_a_lease_only_foreign_threads_are_written(ledger: PostgresLedger, saver: FencedSaver) -> None:
    checkpoint, versions = a_checkpoint(a=[1])
    await saver.aput(config("unknown to the ledger"), checkpoint, META, versions)
    await ledger.adopt_thread("api")
    await saver.aput(config("api"), checkpoint, META, versions)
    with pytest.raises(LeaseLost):
        await saver.aput(config("api", 1), checkpoint, META, versions)
    with pytest.raises(LeaseLost):
        await saver.aput(config("never made", 1), checkpoint, META, versions)
    await held(ledger, "ours")
    with pytest.raises(LeaseLost):
        await saver.aput(config("ours", lease_epoch="1"), *a_put())


def a_put() -> tuple[Checkpoint, CheckpointMetadata, ChannelVersions]:
    checkpoint, versions = a_checkpoint()
    return checkpoint, META, versions


async def test_a_thread_that_ended_may_be_deleted_without_a_lease(ledger: PostgresLedger, saver: FencedSaver) -> None:
    epoch = await held(ledger, "t")
    checkpoint, versions = a_checkpoint(a=[1])
    await saver.aput(config("t", epoch), checkpoint, META, versions)
    await ledger.set_status("t", ThreadStatus.DONE, epoch=epoch, outcome="completed")
    with pytest.raises(LeaseLost):
        await saver.adelete_thread("t")
    await ledger.release("t", epoch)
    await saver.adelete_thread("t")
    assert await saver.aget_tuple(config("t")) is None


async def test_a_write_is_whole_or_not_there(saver: FencedSaver, database: str) -> None:
    """The row that is refused last takes the others of its statement with it."""
    import psycopg

    async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
        await connection.execute("ALTER TABLE checkpoints ADD CHECK (thread_id <> 'refused')")
        checkpoint, versions = a_checkpoint(a=[1])
        with pytest.raises(psycopg.errors.CheckViolation):
            await saver.aput(config("refused"), checkpoint, META, versions)
        rows = await (await connection.execute("SELECT count(*) FROM checkpoint_blobs")).fetchall()
    assert rows == [(0,)]


@pytest.mark.parametrize(
    "value",
    ["ok\0done", {"k\0": ["a\0", {"b": "\0"}]}, "\\u0000", "", None, True, 0, 1.5, [], {}, "é\U0001f600", ["x"] * 1000],
)
async def test_state_comes_back_as_it_was_written(saver: FencedSaver, value: object) -> None:
    """Case PG01: text that jsonb cannot hold loses neither the write nor a character of the state."""
    checkpoint, versions = a_checkpoint(a=value)
    place = await saver.aput(config("t"), checkpoint, META, versions)
    await saver.aput_writes(place, [("a", value), ("b", [value])], "task")
    kept = await saver.aget_tuple(config("t"))
    assert kept is not None
    assert kept.checkpoint["channel_values"] == {"a": value}
    assert kept.pending_writes == [("task", "a", value), ("task", "b", [value])]


async def test_numbers_that_json_cannot_say_do_not_lose_the_write(saver: FencedSaver) -> None:
    checkpoint, versions = a_checkpoint(a=float("nan"), b=float("inf"))
    await saver.aput(config("t"), checkpoint, META, versions)
    kept = await saver.aget_tuple(config("t"))
    assert kept is not None
    values = kept.checkpoint["channel_values"]
    assert values["a"] != values["a"]
    assert values["b"] == float("inf")


async def test_metadata_is_mended_and_marked(pools: LoopPools) -> None:
    saver = FencedSaver(pools, graph="dragoman/3")
    checkpoint, versions = a_checkpoint()
    noisy: Any = {**META, "note": "a\0b", "deep": {"k\0": ["\0", "\\u0000", "\ud800"]}}
    place: RunnableConfig = {**config("t", label="c\0d"), "metadata": {"who": "e\0f"}}
    await saver.aput(place, checkpoint, noisy, versions)
    kept = await saver.aget_tuple(config("t"))
    assert kept is not None
    noted: dict[str, Any] = dict(kept.metadata)
    bad = REPLACEMENT
    assert (noted["note"], noted["label"], noted["who"]) == (f"a{bad}b{MARK}", f"c{bad}d{MARK}", f"e{bad}f{MARK}")
    assert noted["deep"] == {f"k{bad}{MARK}": [bad + MARK, "\\u0000", bad + MARK]}
    assert noted["graph"] == "dragoman/3"


class State(TypedDict):
    steps: Annotated[list[str], operator.add]
    value: dict[str, Any]
    answer: str


def a_graph(saver: FencedSaver) -> Any:
    """Two nodes, a pause between them."""

    async def first(state: State) -> dict[str, Any]:
        return {"steps": ["first"], "value": {"seen": state["value"]["id"]}}

    async def second(state: State) -> dict[str, Any]:
        return {"steps": ["second"], "answer": interrupt({"for": state["value"]["seen"]})}

    graph = StateGraph(State)
    graph.add_node("first", first)
    graph.add_node("second", second)
    graph.add_edge(START, "first")
    graph.add_edge("first", "second")
    graph.add_edge("second", END)
    return graph.compile(checkpointer=saver)


async def test_fifty_runs_at_once_read_back_what_each_wrote(ledger: PostgresLedger, saver: FencedSaver) -> None:
    """Case PG10."""
    graph = a_graph(saver)
    ended: dict[str, Any] = {}

    async def run(name: str) -> None:
        epoch = await held(ledger, name, 120)
        mine = {"configurable": {"thread_id": name, "lease_epoch": epoch}}
        paused = await graph.ainvoke({"value": {"id": name}}, mine, durability="sync")
        assert paused["__interrupt__"][0].value == {"for": name}
        resume = {paused["__interrupt__"][0].id: f"answer for {name}"}
        ended[name] = await graph.ainvoke(Command(resume=resume), mine, durability="sync")

    async with anyio.create_task_group() as group:
        for number in range(50):
            group.start_soon(run, f"t{number}")
    for name, state in ended.items():
        assert state == {"steps": ["first", "second"], "value": {"seen": name}, "answer": f"answer for {name}"}
        snapshot = await graph.aget_state({"configurable": {"thread_id": name}})
        assert snapshot.values == state
    assert len(ended) == 50


async def test_runs_that_lose_their_lease_in_the_middle_stop_there(ledger: PostgresLedger, saver: FencedSaver) -> None:
    """Case LG10: the second owner goes on from what is stored, the first is refused."""
    graph = a_graph(saver)
    first = await held(ledger, "t", 0.3)
    mine = {"configurable": {"thread_id": "t", "lease_epoch": first}}
    paused = await graph.ainvoke({"value": {"id": "t"}}, mine, durability="sync")
    await anyio.sleep(0.35)
    second = await ledger.acquire("t", "second", 30)
    resume = {paused["__interrupt__"][0].id: "x"}
    with pytest.raises(LeaseLost):
        await graph.ainvoke(Command(resume=resume), mine, durability="sync")
    with pytest.raises(LeaseLost):
        await graph.aupdate_state(mine, {"answer": "stale"})
    theirs = {"configurable": {"thread_id": "t", "lease_epoch": second}}
    state = await graph.ainvoke(Command(resume=resume), theirs, durability="sync")
    assert (state["steps"], state["answer"]) == (["first", "second"], "x")


async def test_of_workers_that_pick_the_same_thread_one_runs_it(ledger: PostgresLedger, saver: FencedSaver) -> None:
    """Case LG10, all at the same moment: each step once."""
    graph = a_graph(saver)
    await ledger.create_thread(ThreadRow(thread_id="t"))
    ran: list[int] = []

    async def work(holder: str) -> None:
        epoch = await ledger.acquire("t", holder, 30)
        if epoch is not None:
            mine = {"configurable": {"thread_id": "t", "lease_epoch": epoch}}
            await graph.ainvoke({"value": {"id": "t"}}, mine, durability="sync")
            ran.append(epoch)

    async with anyio.create_task_group() as group:
        for number in range(6):
            group.start_soon(work, f"h{number}")
    assert ran == [1]
    assert (await graph.aget_state({"configurable": {"thread_id": "t"}})).values["steps"] == ["first"]


async def test_a_restart_goes_on_from_the_newest_checkpoint(ledger: PostgresLedger, pools: LoopPools) -> None:
    """Case LG11: three restarts, each with a saver of its own, each from where the last one left."""

    def counting(state: State) -> Command[Any]:
        done = len(state.get("steps") or [])
        told = interrupt(done)
        return Command(update={"steps": [f"{done}:{told}"]}, goto="count" if done < 3 else END)

    graph = StateGraph(State)
    graph.add_node("count", counting, destinations=("count", END))
    graph.add_edge(START, "count")
    given: Any = {"steps": []}
    for restart in range(4):
        compiled = graph.compile(checkpointer=FencedSaver(pools))
        epoch = await held(ledger, "t") if restart == 0 else await ledger.acquire("t", "h", 30)
        mine: Any = {"configurable": {"thread_id": "t", "lease_epoch": epoch}}
        paused = await compiled.ainvoke(given, mine, durability="sync")
        assert paused["__interrupt__"][0].value == restart
        given = Command(resume={paused["__interrupt__"][0].id: f"r{restart}"})
        assert epoch is not None
        await ledger.release("t", epoch)
    snapshot = await compiled.aget_state({"configurable": {"thread_id": "t"}})
    assert snapshot.values["steps"] == ["0:r0", "1:r1", "2:r2"]


class Probes(TypedDict):
    results: Annotated[list[int], operator.add]
    number: int


async def test_no_parallel_write_is_lost(ledger: PostgresLedger, saver: FencedSaver) -> None:
    """Case LG05: eight at once, a hundred times, read back after a resume."""

    async def probe(state: Probes) -> dict[str, Any]:
        return {"results": [state["number"]]}

    async def rest(state: Probes) -> dict[str, Any]:
        interrupt(len(state["results"]))
        return {}

    graph = StateGraph(Probes)
    graph.add_node("probe", probe)
    graph.add_node("rest", rest)
    graph.add_conditional_edges(START, lambda _: [Send("probe", {"number": n}) for n in range(8)], ["probe"])
    graph.add_edge("probe", "rest")
    compiled = graph.compile(checkpointer=saver)
    limiter = anyio.CapacityLimiter(10)

    async def run(name: str) -> None:
        async with limiter:
            mine: Any = {"configurable": {"thread_id": name, "lease_epoch": await held(ledger, name, 120)}}
            paused = await compiled.ainvoke({"results": [], "number": 0}, mine, durability="sync")
            resume: Command[Any] = Command(resume={paused["__interrupt__"][0].id: "on"})
            state = await compiled.ainvoke(resume, mine, durability="sync")
            assert sorted(state["results"]) == list(range(8))

    async with anyio.create_task_group() as group:
        for number in range(100):
            group.start_soon(run, f"t{number}")


async def test_large_states_leave_no_transaction_idle(ledger: PostgresLedger, database: str) -> None:
    """Case PG09: ten runs with 20 MB each on five connections."""
    import psycopg

    pools = LoopPools(database, max_size=5)
    saver = FencedSaver(pools)
    idle: list[float] = []
    watching = anyio.Event()

    async def watch() -> None:
        async with await psycopg.AsyncConnection.connect(database, autocommit=True) as connection:
            while not watching.is_set():
                rows = await connection.execute(
                    "SELECT extract(epoch FROM clock_timestamp() - state_change)::float FROM pg_stat_activity"
                    " WHERE state LIKE 'idle in transaction%' AND datname = current_database()"
                )
                idle.extend([row[0] for row in await rows.fetchall()])
                await anyio.sleep(0.05)

    async def run(number: int) -> None:
        epoch = await held(ledger, f"t{number}", 120)
        blocks = [f"{number}-{block}-" + "x" * 1_000_000 for block in range(20)]
        checkpoint, versions = a_checkpoint(blocks=blocks)
        place = await saver.aput(config(f"t{number}", epoch), checkpoint, META, versions)
        await saver.aput_writes(place, [("blocks", blocks)], "task")
        kept = await saver.aget_tuple(config(f"t{number}"))
        assert kept is not None
        assert kept.checkpoint["channel_values"]["blocks"] == blocks

    async with anyio.create_task_group() as group:
        group.start_soon(watch)
        async with anyio.create_task_group() as runs:
            for number in range(10):
                runs.start_soon(run, number)
        watching.set()
    await pools.aclose()
    assert max(idle, default=0) < 1


async def test_a_slow_serialiser_holds_no_connection(database: str) -> None:
    """Case PG09: with one connection in the pool, others write while a state is being serialised."""
    pools = LoopPools(database, max_size=1)
    saver = FencedSaver(pools)
    go = threading.Event()
    slow = saver.serde

    class Waiting:
        def dumps_typed(self, obj: Any) -> tuple[str, bytes]:
            if obj == ["slow"]:
                assert go.wait(20)
            return slow.dumps_typed(obj)

        def loads_typed(self, data: tuple[str, bytes]) -> Any:
            return slow.loads_typed(data)

    saver.serde = Waiting()
    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            checkpoint, versions = a_checkpoint(a=["slow"])
            group.start_soon(saver.aput, config("slow"), checkpoint, META, versions)
            await anyio.sleep(0.1)
            quick, versions = a_checkpoint(a=["quick"])
            await saver.aput(config("quick"), quick, META, versions)
            go.set()
    await pools.aclose()


async def test_a_saver_made_before_any_loop_serves_several(database: str, ledger: PostgresLedger) -> None:
    pools = LoopPools(database)
    saver = await anyio.to_thread.run_sync(FencedSaver, pools)
    graph = a_graph(saver)

    async def run(name: str) -> Any:
        paused = await graph.ainvoke({"value": {"id": name}}, {"configurable": {"thread_id": name}})
        return paused["__interrupt__"][0].value

    def in_a_loop_of_its_own(name: str) -> Any:
        async def whole() -> Any:
            value = await run(name)
            await (await pools.get()).close()
            return value

        return anyio.run(whole)

    assert await run("here") == {"for": "here"}
    assert await anyio.to_thread.run_sync(in_a_loop_of_its_own, "there") == {"for": "there"}
    assert await run("here again") == {"for": "here again"}
    await pools.aclose()


async def test_an_interrupt_written_twice_by_one_task_keeps_the_last(saver: FencedSaver) -> None:
    checkpoint, versions = a_checkpoint(a=[1])
    place = await saver.aput(config("t"), checkpoint, META, versions)
    await saver.aput_writes(place, [("__interrupt__", ["a"]), ("__interrupt__", ["b"])], "task")
    await saver.aput_writes(place, [("x", 1), ("y", 2)], "other")
    await saver.aput_writes(place, [("x", 9), ("y", 9)], "other")
    kept = await saver.aget_tuple(config("t"))
    assert kept is not None
    assert sorted(kept.pending_writes or []) == [("other", "x", 1), ("other", "y", 2), ("task", "__interrupt__", ["b"])]
