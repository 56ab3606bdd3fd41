"""Looking at sites: one question, within the site's bound, sooner when something is known to have happened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import anyio
import pytest

from continuation.service import Service
from continuation.watcher import Watcher
from dragoman.thread import ThreadStatus


async def watch_of(desk: Any) -> Any:
    [watch] = await desk.ledger.site_watches()
    return watch


async def until_looked(desk: Any, more_than: int, seconds: float = 10) -> None:
    with anyio.fail_after(seconds):
        while desk.looks() <= more_than:
            await desk.app.service.watcher.look()
            await anyio.sleep(0.02)


async def test_all_jobs_of_a_site_are_asked_about_in_one_question(desk: Any) -> None:
    threads = [await desk.ask() for _ in range(5)]
    for thread in threads:
        await desk.settle(thread, "parked")
    await until_looked(desk, desk.looks())
    await anyio.sleep(0.2)
    before = desk.looks()
    await until_looked(desk, before)
    assert desk.looks() == before + 1
    assert {(await desk.row(thread)).status for thread in threads} == {ThreadStatus.PARKED}


async def test_a_job_that_runs_wakes_nobody_and_is_told_once(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    for _ in range(3):
        await until_looked(desk, desk.looks())
    [wait] = await desk.ledger.open_waits(thread_id=thread)
    assert await desk.ledger.events(wait.id) == []
    assert (await desk.ledger.job((await desk.ledger.attempts(thread))[0].attempt.tag)).state.value == "running"
    said = [entry.words for entry in await desk.ledger.timeline(thread) if entry.step == "watcher"]
    assert said == ["job 1 at local is running"]


async def test_hastening_keeps_the_sites_bound(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    await until_looked(desk, desk.looks())
    before, begun = desk.looks(), anyio.current_time()
    while anyio.current_time() - begun < 2:
        await desk.ledger.hasten_watch("local")
        await desk.app.service.watcher.look()
        await anyio.sleep(0.005)
    assert 3 <= desk.looks() - before <= 2 / 0.1 + 1


async def test_a_hastening_during_a_look_is_not_lost(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    await until_looked(desk, desk.looks())
    await anyio.sleep(0.6)
    watch = await desk.ledger.take_watch("local", (await watch_of(desk)).identity, "me", 30)
    assert watch is not None
    await desk.ledger.hasten_watch("local")
    await desk.ledger.note_look(watch.model_copy(update={"interval_s": 60.0, "next_look_at": None}))
    after = await watch_of(desk)
    assert (after.next_look_at - after.looked_at).total_seconds() == pytest.approx(after.least_s, abs=0.05)


async def test_a_site_without_answers_keeps_its_pauses(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    await until_looked(desk, desk.looks())
    await anyio.sleep(0.6)
    watch = await desk.ledger.take_watch("local", (await watch_of(desk)).identity, "me", 30)
    await desk.ledger.note_look(watch.model_copy(update={"interval_s": 60.0, "next_look_at": None, "failures": 3}))
    planned = (await watch_of(desk)).next_look_at
    await desk.ledger.hasten_watch("local")
    assert (await watch_of(desk)).next_look_at == planned


async def test_a_look_that_is_broken_off_leaves_the_site_to_others(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    await anyio.sleep(0.6)
    runtime = desk.app.sites.open("local")

    async def hangs(*_arguments: Any, **_named: Any) -> None:
        await anyio.sleep(60)

    runtime.scheduler.status = hangs
    with anyio.move_on_after(0.5):
        await desk.app.service.watcher.look()
    assert await desk.ledger.take_watch("local", runtime.identity, "next", 30) is not None


async def test_a_long_look_keeps_the_site(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    await anyio.sleep(0.6)
    runtime = desk.app.sites.open("local")
    usual = runtime.scheduler.status

    async def slow(*arguments: Any, **named: Any) -> Any:
        await anyio.sleep(1.5)
        return await usual(*arguments, **named)

    runtime.scheduler.status = slow
    usual_watcher = desk.app.service.watcher
    watcher = Watcher(desk.ledger, usual_watcher.places, "slow", lease_s=0.6)
    taken: list[Any] = []

    async def others() -> None:
        for _ in range(20):
            await anyio.sleep(0.06)
            taken.append(await desk.ledger.take_watch("local", runtime.identity, "other", 30))

    async with anyio.create_task_group() as group:
        group.start_soon(watcher.look)
        await anyio.sleep(0.1)
        group.start_soon(others)
    assert taken == [None] * 20


async def test_a_job_that_tells_its_end_is_looked_at_at_once(desk: Any, tmp_path: Path) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    usual = desk.app.service
    service = Service(desk.ledger, usual.watcher, usual.resumer, news=usual.news, ends=usual.ends)
    ended = tmp_path / "site" / ".ended"

    async def done() -> bool:
        return (await desk.row(thread)).status is ThreadStatus.DONE

    async def tell() -> None:
        await anyio.sleep(1.5)
        await desk.ledger._all(
            "UPDATE dragoman_ledger.site_watches SET next_look_at = now() + interval '1 hour' RETURNING site",
            {},
        )
        desk.tell("1", "completed")
        await anyio.Path(ended / desk.submits()[0]).touch()

    with anyio.fail_after(20):
        async with anyio.create_task_group() as group:
            group.start_soon(tell)
            await service.run(done, idle_s=0.5)
    assert (await desk.row(thread)).outcome == "completed"
    assert [*ended.iterdir()] == []


async def test_one_thread_that_fails_does_not_stop_the_others(desk: Any) -> None:
    threads = [await desk.ask() for _ in range(3)]
    usual = desk.app.service.resumer.resume

    async def fails(thread_id: str, progress: Any = None) -> bool:
        if thread_id == threads[0]:
            raise RuntimeError("boom")
        return bool(await usual(thread_id, progress))

    desk.app.service.resumer.resume = fails

    async def parked() -> bool:
        rows = [await desk.row(thread) for thread in threads[1:]]
        return all(row.status is ThreadStatus.PARKED for row in rows)

    with anyio.fail_after(30):
        await desk.app.service.run(parked, idle_s=0.2)
    assert (await desk.row(threads[0])).status is ThreadStatus.NEW


async def test_another_thread_that_takes_long_keeps_no_command_whose_own_is_done(desk: Any) -> None:
    slow, own = await desk.ask(), await desk.ask()
    usual = desk.app.service.resumer.resume
    begun: list[str] = []

    async def hangs(thread_id: str, progress: Any = None) -> bool:
        begun.append(thread_id)
        if thread_id == slow:
            await anyio.sleep(60)
        return bool(await usual(thread_id, progress))

    desk.app.service.resumer.resume = hangs

    async def parked() -> bool:
        return (await desk.row(own)).status is ThreadStatus.PARKED and slow in begun

    with anyio.fail_after(30):
        await desk.app.service.run(parked, idle_s=0.2)
    assert (await desk.row(slow)).status is ThreadStatus.NEW


@pytest.mark.parametrize("reason", ["DependencyNeverSatisfied", "Dependency condition invalid or never satisfied"])
async def test_a_job_whose_dependency_failed_leaves_the_queue_and_says_so(desk: Any, reason: str) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    desk.tell("1", f"pending {reason}")
    row = await desk.settle(thread)
    assert row.outcome == "failed"
    job = await desk.ledger.job(desk.submits()[0])
    assert (job.state.value, job.reason) == ("never-ran", f"dependency: {reason}")
    assert (desk.folder / "state.1").read_text().strip() == "cancelled"
    assert len(desk.submits()) == 1


async def test_another_reason_that_will_not_pass_is_put_to_the_person(desk: Any) -> None:
    thread = await desk.ask()
    await desk.settle(thread, "parked")
    desk.tell("1", "pending PartitionTimeLimit")
    with anyio.fail_after(30):
        while not any(wait.kind == "question" for wait in await desk.ledger.open_waits(thread_id=thread)):
            await desk.app.service.catch_up()
            await anyio.sleep(0.05)
    assert (desk.folder / "state.1").read_text().strip() == "pending PartitionTimeLimit"
