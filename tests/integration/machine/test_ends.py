"""How jobs end: codes, signals, limits, cancel."""

import os
import signal
import time
from collections.abc import Callable
from typing import Any

import anyio
import pytest

TREE = """
setsid sh -c 'echo $$ >> pids; exec sleep 300' &
sh -c 'trap "" TERM HUP INT; echo $$ >> pids; while :; do sleep 1; done' &
(setsid sh -c 'trap "" TERM; env -i sh -c "echo \\$\\$ >> pids; while :; do sleep 1; done" &' &)
echo $$ >> pids
wait
"""


@pytest.mark.parametrize(
    ("body", "state", "exit_code", "number"),
    [
        ("exit 0", "completed", 0, None),
        ("exit 7", "failed", 7, None),
        ("exit 255", "failed", 255, None),
        ("kill -SEGV $$", "failed", None, 11),
        ("kill -9 $$", "failed", None, 9),
        ("sh -c 'kill -TERM $$'", "failed", 143, None),
        ("no-such-command", "failed", 127, None),
    ],
)
async def test_exit_code_or_signal_is_recorded(
    queue: Any, body: str, state: str, exit_code: int | None, number: int | None
) -> None:
    job = await queue.until(await queue.submit(body), "completed", "failed")
    assert (job["state"], job.get("exit_code"), job.get("signal")) == (state, exit_code, number)
    assert job["started"] <= job["ended"]
    await queue.until_quiet()


@pytest.mark.parametrize(
    ("options", "first", "reason"),
    [
        (("--output=absent/out",), "#!/bin/sh", "No such file or directory: absent/out"),
        ((), "#!/no/such/interpreter", "No such file or directory"),
    ],
)
async def test_what_cannot_be_started_never_ran(queue: Any, options: tuple[str, ...], first: str, reason: str) -> None:
    job = await queue.until(await queue.submit("echo ran > ran", *options, first=first), "never-ran")
    assert reason in job["reason"]
    assert "exit_code" not in job
    assert queue.lines("ran") == []


async def test_interpreter_and_its_argument_are_those_of_the_first_line(queue: Any) -> None:
    job_id = await queue.submit("import sys; print(sys.flags.isolated)", first="#!/usr/bin/env -S python3 -I")
    await queue.until(job_id, "completed")
    assert (await queue.wait_for("out.1")) == ["1"]


async def test_walltime_asks_first(queue: Any) -> None:
    job_id = await queue.submit("trap 'echo asked > asked; exit 0' TERM; sleep 60 & wait", "--walltime=1")
    begun = time.monotonic()
    job = await queue.until(job_id, "timed-out")
    assert 0.5 < time.monotonic() - begun < 5
    assert (job["exit_code"], job["reason"]) == (0, "walltime of 1 s")
    assert queue.lines("asked") == ["asked"]
    await queue.until_quiet()


async def test_walltime_kills_what_does_not_listen(queue: Any, is_gone: Callable[[int], bool]) -> None:
    job_id = await queue.submit("trap '' TERM\n" + TREE, "--walltime=1")
    pids = [int(line) for line in await queue.wait_for("pids", 4)]
    job = await queue.until(job_id, "timed-out")
    assert job["signal"] == 9
    assert all(map(is_gone, pids))


async def test_cancel_ends_the_whole_tree(queue: Any, is_gone: Callable[[int], bool]) -> None:
    job_id = await queue.submit(TREE, "--tag=dgm-aaaaaaaaaaaa-a1")
    pids = [int(line) for line in await queue.wait_for("pids", 4)]
    answer = await queue.ask("cancel", job_id)
    assert answer["already_ended"] is False
    job = await queue.until(job_id, "cancelled")
    assert job["cancelled"] > 0
    assert [is_gone(pid) for pid in pids] == [True] * 4
    assert (await queue.ask("cancel", job_id))["already_ended"] is True
    assert (await queue.job(job_id))["state"] == "cancelled"


async def test_cancel_of_a_waiting_job_keeps_it_from_running(queue: Any) -> None:
    await queue.ask("limits", "--cpus=1")
    first = await queue.submit("sleep 1")
    second = await queue.submit("echo ran > ran")
    assert (await queue.job(second))["state"] == "pending"
    await queue.ask("cancel", second)
    await queue.until(first, "completed")
    await anyio.sleep(0.3)
    assert (await queue.job(second))["state"] == "cancelled"
    assert queue.lines("ran") == []


async def test_cancel_of_an_unknown_job(queue: Any) -> None:
    done = await queue.run("cancel", "77")
    assert done.rc == 3
    assert queue.read(done)["error"]["kind"] == "no-such-job"


async def test_what_a_job_leaves_behind_is_ended_with_it(queue: Any, is_gone: Callable[[int], bool]) -> None:
    job_id = await queue.submit(
        "setsid sh -c 'echo $$ > left; exec sleep 300' & while [ ! -s left ]; do sleep 0.05; done"
    )
    job = await queue.until(job_id, "completed")
    assert job["exit_code"] == 0
    [pid] = queue.lines("left")
    assert is_gone(int(pid))


async def test_shutdown_is_no_cancel_and_no_success(queue: Any) -> None:
    job_id = await queue.submit("trap 'exit 0' TERM; echo up > up; sleep 60 & wait")
    await queue.wait_for("up")
    os.kill((await queue.job(job_id))["supervisor"][0], signal.SIGTERM)
    job = await queue.until(job_id, "node-failed")
    assert "shutdown" in job["reason"]


EATER = """
import time
held = []
for _ in range(40):
    held.append(bytearray(b"x" * 10_000_000))
    time.sleep(0.02)
time.sleep(60)
"""


async def test_over_its_memory_a_job_is_killed(queue: Any) -> None:
    job_id = await queue.submit(EATER, "--memory=200M", first="#!/usr/bin/env python3")
    job = await queue.until(job_id, "out-of-memory")
    assert job["max_rss"] > 200 * 2**20
    assert "may hold 209715200" in job["reason"]
    await queue.until_quiet()


SHARERS = """
import mmap, os, time
area = mmap.mmap(-1, 60_000_000)
area.write(b"x" * 60_000_000)
for _ in range(4):
    if os.fork() == 0:
        sum(area[:: 4096])
        time.sleep(2.5)
        os._exit(0)
for _ in range(4):
    os.wait()
"""


async def test_shared_memory_is_counted_once(queue: Any) -> None:
    job_id = await queue.submit(SHARERS, "--memory=200M", first="#!/usr/bin/env python3")
    assert (await queue.until(job_id, "completed", "out-of-memory"))["state"] == "completed"


async def test_address_space_is_not_memory(queue: Any) -> None:
    body = "import mmap; mmap.mmap(-1, 4 * 2**30); print('ok')"
    job_id = await queue.submit(body, "--memory=200M", first="#!/usr/bin/env python3")
    assert (await queue.until(job_id, "completed", "failed"))["state"] == "completed"


async def test_output_is_kept_byte_for_byte(queue: Any) -> None:
    job_id = await queue.submit(b"printf '\\377\\376\\000x'; echo \xff\xfe")
    await queue.until(job_id, "completed")
    assert (queue.work / "out.1").read_bytes() == b"\xff\xfe\0x\xff\xfe\n"


async def test_output_and_error_apart_and_appended(queue: Any) -> None:
    (queue.work / "o ut").write_text("before\n")
    job_id = await queue.submit("echo one; echo two >&2", "--output=o%20ut", "--error=e%25rr")
    await queue.until(job_id, "completed")
    assert (queue.lines("o ut"), queue.lines("e%rr")) == (["before", "one"], ["two"])
