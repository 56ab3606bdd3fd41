"""Ends that a scheduler's event stream tells, and what becomes of them where the stream is not to be trusted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.model import now
from dragoman.thread import ThreadStatus

HOUR = (
    "UPDATE dragoman_ledger.site_watches SET next_look_at = now() + interval '1 hour', interval_s = 3600 "
    "WHERE identity NOT LIKE '%%(events)' RETURNING site"
)
SCHEDULERS = ("kubernetes", "flux")
STREAMS = pytest.mark.parametrize("scheduler", SCHEDULERS)


@asynccontextmanager
async def served(*desks: Any) -> AsyncIterator[None]:
    async with anyio.create_task_group() as group:
        for desk in desks:
            group.start_soon(desk.app.service.run)
        yield
        group.cancel_scope.cancel()


async def parked(desk: Any, body: str) -> str:
    """A thread whose job waits for the file `go`, or does what it is told, and is followed."""
    thread = await desk.ask(command=["/bin/sh", "-c", body])
    await desk.settle(thread, "parked")
    return str(thread)


async def until(desk: Any, thread: str, seconds: float = 20) -> None:
    with anyio.fail_after(seconds):
        while True:
            if (await desk.row(thread)).status is ThreadStatus.DONE:
                return
            await anyio.sleep(0.02)


async def followed(desk: Any, count: int = 1) -> list[str]:
    """What the stream was asked so far, once it was asked so often."""
    with anyio.fail_after(15):
        while True:
            for name in ("asked", "waits"):
                file = anyio.Path(desk.folder / name)
                lines = (await file.read_text()).split() if await file.exists() else []
                if len(lines) >= count:
                    return lines
            await anyio.sleep(0.02)


async def watching(desk: Any, scheduler: str) -> None:
    """The stream is followed, and no look comes by itself."""
    await followed(desk, 2 if scheduler == "kubernetes" else 1)
    await anyio.sleep(0.5)
    await desk.ledger._all(HOUR, {})


async def used_up(fault: Path) -> None:
    with anyio.fail_after(5):
        while True:
            if not await anyio.Path(fault).exists() or not await anyio.Path(fault).read_text():
                return
            await anyio.sleep(0.005)


@STREAMS
async def test_an_end_is_delivered_at_once(fake_desk: Any, scheduler: str, tmp_path: Path) -> None:
    desk = await fake_desk(scheduler)
    go = tmp_path / "go"
    thread = await parked(desk, f"until [ -e {go} ]; do sleep 0.02; done")
    async with served(desk):
        await watching(desk, scheduler)
        begun = now()
        go.touch()
        await until(desk, thread)
    assert (await desk.row(thread)).outcome == "completed"
    assert now() - begun < timedelta(seconds=6)


@STREAMS
async def test_a_stream_that_is_killed_begins_anew_and_loses_nothing(
    fake_desk: Any, scheduler: str, tmp_path: Path
) -> None:
    desk = await fake_desk(scheduler)
    go = tmp_path / "go"
    thread = await parked(desk, f"until [ -e {go} ]; do sleep 0.02; done")
    async with served(desk):
        await watching(desk, scheduler)
        before = len(await followed(desk))
        fault = desk.folder / "faults" / ("torn" if scheduler == "kubernetes" else "wait-torn")
        fault.write_text("x\n")
        await used_up(fault)
        go.touch()  # it ends while nobody follows
        await until(desk, thread)
    assert (await desk.row(thread)).outcome == "completed"
    if scheduler == "kubernetes":
        assert (await followed(desk, before + 1))[before] == "list"  # what came between is looked at


@pytest.mark.parametrize("fault", ["expired-later", "expired"])
async def test_a_version_that_is_too_old_is_followed_by_a_list(fake_desk: Any, fault: str, tmp_path: Path) -> None:
    desk = await fake_desk("kubernetes")
    go = tmp_path / "go"
    thread = await parked(desk, f"until [ -e {go} ]; do sleep 0.02; done")
    if fault == "expired":
        (desk.folder / "faults" / "expired").write_text("x\n")
    async with served(desk):
        await watching(desk, "kubernetes")
        if fault == "expired-later":
            (desk.folder / "faults" / "expired-later").write_text("x\n")
        assert (await followed(desk, 4))[2] == "list"
        go.touch()
        await until(desk, thread)
    assert (await desk.row(thread)).outcome == "completed"


@STREAMS
async def test_a_stream_that_lies_ends_nothing_and_does_not_have_the_site_asked_all_the_time(
    fake_desk: Any, scheduler: str, tmp_path: Path
) -> None:
    desk = await fake_desk(scheduler)
    go = tmp_path / "go"
    thread = await parked(desk, f"until [ -e {go} ]; do sleep 0.02; done")
    (desk.folder / "faults" / ("lies" if scheduler == "kubernetes" else "wait-lies")).write_text("x\n" * 1000)
    async with served(desk):
        await followed(desk, 2 if scheduler == "kubernetes" else 1)
        await anyio.sleep(3)
        assert (await desk.row(thread)).status is ThreadStatus.PARKED
        assert len(await followed(desk)) < 10
        go.touch()
        await until(desk, thread)
    assert (await desk.row(thread)).outcome == "completed"


async def test_events_that_come_twice_and_in_the_wrong_order_change_nothing(fake_desk: Any, tmp_path: Path) -> None:
    desk = await fake_desk("kubernetes")
    (desk.folder / "faults" / "twice").write_text("x\n" * 1000)
    go = tmp_path / "go"
    first, second = [await parked(desk, f"until [ -e {go}{name} ]; do sleep 0.02; done; exit {name}") for name in "03"]
    async with served(desk):
        await watching(desk, "kubernetes")
        await anyio.Path(f"{go}3").touch()
        await until(desk, second)
        assert (await desk.row(first)).status is ThreadStatus.PARKED
        await anyio.Path(f"{go}0").touch()
        await until(desk, first)
    assert [(await desk.row(one)).outcome for one in (first, second)] == ["completed", "failed"]


@STREAMS
async def test_two_that_watch_a_site_follow_it_once(fake_desk: Any, scheduler: str, tmp_path: Path) -> None:
    desks = [await fake_desk(scheduler) for _ in range(2)]
    go = tmp_path / "go"
    thread = await parked(desks[0], f"until [ -e {go} ]; do sleep 0.02; done")
    async with served(*desks):
        asked = 2 if scheduler == "kubernetes" else 1
        await followed(desks[0], asked)
        await anyio.sleep(3)
        assert len(await followed(desks[0])) == asked
        holders = [one.holder for one in await desks[0].ledger.site_watches() if one.identity.endswith(" (events)")]
        assert holders in ([desks[0].app.holder], [desks[1].app.holder])
        go.touch()
        await until(desks[0], thread)


@STREAMS
async def test_without_a_stream_the_looks_go_on(fake_desk: Any, scheduler: str, tmp_path: Path) -> None:
    desk = await fake_desk(scheduler, max_poll_interval_s=0.5)
    program = desk.folder / "bin" / ("kubectl" if scheduler == "kubernetes" else "flux")
    lines = program.read_text()
    refuse = 'case "$*" in *--raw*|*wait-event*) echo "error: no such verb" >&2; exit 1 ;; esac\n'
    program.write_text(lines.replace("#!/bin/sh\n", f"#!/bin/sh\n{refuse}"))
    go = tmp_path / "go"
    thread = await parked(desk, f"until [ -e {go} ]; do sleep 0.02; done")
    async with served(desk):
        await anyio.sleep(1)
        go.touch()
        await until(desk, thread)
    assert (await desk.row(thread)).outcome == "completed"
