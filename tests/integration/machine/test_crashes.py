"""What dies at any moment: submitters, supervisors, the host; and disks that are full."""

import json
import os
import random
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

TAG = "dgm-abcdefghijkl-a1"


async def test_job_survives_its_submitter(queue: Any) -> None:
    path = queue.script("sleep 0.5; ps -o ppid= -p $$ > /dev/null; echo done > done", f"--tag={TAG}")
    process = await anyio.open_process(queue.command("submit", path).argv, start_new_session=True)
    assert process.stdout is not None
    answer = json.loads(await process.stdout.receive())
    process.kill()
    await process.aclose()
    job = await queue.until(answer["job"]["id"], "completed")
    assert job["exit_code"] == 0
    assert queue.lines("done") == ["done"]


async def test_submitter_killed_at_any_moment_runs_a_job_once_at_most_and_again_gives_the_same(queue: Any) -> None:
    chance = random.Random(20)  # noqa: S311  # the same moments every time
    for number in range(25):
        tag = f"dgm-abcdefghijkl-k{number}"
        argv = queue.command("submit", queue.script(f"echo {number} >> ran", f"--tag={tag}")).argv
        process = await anyio.open_process(argv, start_new_session=True, stdout=subprocess.DEVNULL)
        await anyio.sleep(chance.uniform(0.005, 0.045))
        with suppress(ProcessLookupError):
            process.kill()
        await process.aclose()
        found = await queue.ask("find", tag)
        again = await queue.ask("submit", argv[-1])
        assert again["existing"] is (found["outcome"] == "ok")
        job = await queue.until(again["job"]["id"], "completed")
        assert job["tag"] == tag
    assert sorted(queue.lines("ran"), key=int) == [str(number) for number in range(25)]


LONG = "setsid sleep 300 & echo $! >> pids; sleep 300 & echo $! >> pids; echo $$ >> pids; wait"


async def kill_supervisor(queue: Any, job_id: str) -> None:
    os.kill((await queue.job(job_id))["supervisor"][0], signal.SIGKILL)


async def test_lost_supervisor_is_noticed_and_never_a_success(queue: Any, is_gone: Callable[[int], bool]) -> None:
    job_id = await queue.submit(LONG, f"--tag={TAG}", "--cpus=8")
    waiting = await queue.submit("true", "--cpus=8")
    pids = [int(line) for line in await queue.wait_for("pids", 3)]
    await kill_supervisor(queue, job_id)
    job = await queue.job(job_id)
    assert (job["state"], job["reason"]) == ("node-failed", "supervisor lost")
    assert "exit_code" not in job
    assert [is_gone(pid) for pid in pids] == [True] * 3
    await queue.until(waiting, "completed")


async def test_tag_of_a_lost_job_is_not_run_again(queue: Any) -> None:
    path = queue.script("echo ran >> ran; sleep 300", f"--tag={TAG}")
    job_id = (await queue.ask("submit", path))["job"]["id"]
    await queue.wait_for("ran")
    await kill_supervisor(queue, job_id)
    again = await queue.ask("submit", path)
    assert (again["existing"], again["job"]["id"]) == (True, job_id)
    assert (await queue.job(job_id))["state"] == "node-failed"
    assert queue.lines("ran") == ["ran"]


def exit_record(job_id: str, rc: int) -> str:
    return (
        f"rc {rc}\nsignal \nstarted 2026-01-01T00:00:00Z\nended 2026-01-01T00:01:00Z\njob {job_id}\nrestart 0\nhost h\n"
    )


@pytest.mark.parametrize(("rc", "state"), [(0, "completed"), (9, "failed")])
async def test_end_that_the_job_recorded_itself_counts(queue: Any, rc: int, state: str) -> None:
    control = queue.root / "control"
    control.mkdir()
    job_id = await queue.submit("echo up > up; sleep 300", f"--tag={TAG}", f"--control-dir={control}")
    await queue.wait_for("up")
    (control / "exit").write_text(exit_record(job_id, rc))
    assert (await queue.job(job_id))["state"] == "completing"
    await kill_supervisor(queue, job_id)
    job = await queue.job(job_id)
    assert (job["state"], job["exit_code"], job["ended"]) == (state, rc, 1767225660.0)
    await queue.until_quiet()


@pytest.mark.parametrize("record", [exit_record("99", 0), "rc 0\n", "", "\0\0"])
async def test_end_of_another_job_or_half_a_record_does_not_count(queue: Any, record: str) -> None:
    control = queue.root / "control"
    control.mkdir()
    (control / "exit").write_text(record)
    job_id = await queue.submit("echo up > up; sleep 300", f"--control-dir={control}")
    await queue.wait_for("up")
    await kill_supervisor(queue, job_id)
    assert (await queue.job(job_id))["state"] == "node-failed"


async def test_after_a_restart_of_the_host_nothing_is_killed_by_old_numbers(queue: Any) -> None:
    job_id = await queue.submit("echo up > up; sleep 300")
    await queue.wait_for("up")
    job = await queue.job(job_id)
    supervisor, boot = job["supervisor"][0], job["boot"]
    path = queue.state / "running" / f"{job_id}.json"
    record = json.loads(path.read_text())
    bystander = await anyio.open_process(["sleep", "300"], start_new_session=True)
    record |= {"boot": "another-boot", "process": [bystander.pid, 1], "supervisor": [bystander.pid, 1]}
    os.kill(supervisor, signal.SIGKILL)
    path.write_text(json.dumps(record))
    job = await queue.job(job_id)
    assert (job["state"], job["reason"]) == ("node-failed", "the host was started anew")
    assert bystander.returncode is None
    record |= {"boot": boot, "id": "1"}
    (queue.state / "running" / "1.json").write_text(json.dumps(record))
    assert (await queue.job("1"))["reason"] == "supervisor lost"
    await anyio.sleep(0.1)
    assert bystander.returncode is None
    bystander.kill()
    await bystander.aclose()


@pytest.mark.parametrize(
    "damage", ["", "{", '{"schema":1,"id":"0","state":"asleep"}', '{"schema":1,"id":"1"}', "[]", "\0" * 50]
)
async def test_damaged_file_makes_its_own_job_unknown_and_no_other(queue: Any, damage: str) -> None:
    job_id = (await queue.ask("submit", "--hold", queue.script("true", f"--tag={TAG}")))["job"]["id"]
    (queue.state / "waiting" / f"{job_id}.json").write_text(damage)
    other = await queue.submit("true")
    await queue.until(other, "completed")
    job = await queue.job(job_id)
    assert job["state"] == "unknown"
    assert "cannot be read" in job["reason"] or "tells of job" in job["reason"]
    assert (await queue.ask("find", TAG))["outcome"] == "unknown"
    again = await queue.ask("submit", queue.script("true", f"--tag={TAG}"))
    assert (again["job"]["id"], again["existing"]) == (job_id, True)
    assert (await queue.run("cancel", job_id)).rc != 0
    assert await queue.submit("true") == "2"


async def test_damaged_file_of_a_running_job_is_mended_at_its_end(queue: Any) -> None:
    job_id = await queue.submit("echo up > up; sleep 1; exit 4", "--control-dir=/nonexistent")
    await queue.wait_for("up")
    (queue.state / "running" / f"{job_id}.json").write_text("{")
    assert (await queue.job(job_id))["state"] == "unknown"
    assert (await queue.until(job_id, "failed"))["exit_code"] == 4


async def test_lost_counter_and_lost_tag_file(queue: Any) -> None:
    path = queue.script("true", f"--tag={TAG}")
    assert (await queue.ask("submit", path))["job"]["id"] == "0"
    await queue.until("0", "completed")
    (queue.state / "last-id").write_text("")
    (queue.state / "tags" / TAG).write_text("")
    assert (await queue.ask("submit", path))["existing"] is True
    assert await queue.submit("true") == "1"


async def test_number_that_was_never_given_is_unknown_not_absent(queue: Any) -> None:
    await queue.until(await queue.submit("true"), "completed")
    answer = await queue.ask("status", "0", "1", "none")
    assert {job["id"]: job["state"] for job in answer["jobs"]} == {"0": "completed", "1": "unknown", "none": "unknown"}
    assert answer["absent"] == []


async def test_killed_at_random_every_job_runs_once_at_most_and_gets_an_end(queue: Any) -> None:
    chance = random.Random(7)  # noqa: S311  # the same moments every time
    body = "echo start $DRAGOMAN_JOB_ID >> log; sleep 0.2; echo end $DRAGOMAN_JOB_ID >> log"
    jobs = [await queue.submit(body) for _ in range(30)]
    with anyio.fail_after(60):
        while (await queue.ask("info"))["running"]:
            await anyio.sleep(chance.uniform(0, 0.05))
            running = await anyio.to_thread.run_sync(queue.processes)
            if running:
                with suppress(ProcessLookupError):
                    os.kill(chance.choice(running), signal.SIGKILL)
    log = queue.lines("log")
    ends = {job["id"]: job["state"] for job in (await queue.ask("status", *jobs))["jobs"]}
    assert set(ends) == set(jobs)
    assert set(ends.values()) <= {"completed", "failed", "node-failed"}
    assert "node-failed" in ends.values()
    for job_id, state in ends.items():
        assert log.count(f"start {job_id}") <= 1
        if state == "completed":
            assert (log.count(f"start {job_id}"), log.count(f"end {job_id}")) == (1, 1)
    await queue.until_quiet()


async def test_queue_of_another_host_is_refused(queue: Any) -> None:
    (queue.state / "host").write_text("elsewhere")
    done = await queue.run("status", "0")
    assert done.rc == 69
    assert queue.read(done)["error"]["kind"] == "wrong-host"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 512 KB."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small file system")
    place = tmp_path / "small"
    place.mkdir()
    mounted = subprocess.call(
        ["mount", "-t", "tmpfs", "-o", "size=512k,mode=700", "none", str(place)], stderr=subprocess.DEVNULL
    )
    if mounted != 0:
        pytest.skip("a small file system cannot be mounted here")
    try:
        yield place
    finally:
        subprocess.check_call(["umount", "--lazy", str(place)])


def fill(place: Path) -> Path:
    path = place / "filler"
    with path.open("wb", buffering=0) as file:
        for size in (65536, 4096, 1):
            try:
                while True:
                    file.write(b"x" * size)
            except OSError:
                continue
    return path


async def test_full_disk_delays_the_record_and_makes_no_success(queue: Any, small_disk: Path) -> None:
    queue.state = small_disk / "state"
    await queue.ask("limits", "--cpus=1", "--grace=1")
    job_id = await queue.submit(
        "echo up > up; while [ ! -e go ]; do sleep 0.05; done; echo over > over", f"--tag={TAG}"
    )
    waiting = await queue.submit("true")
    await queue.wait_for("up")
    filler = await anyio.to_thread.run_sync(fill, small_disk)
    refused = await queue.run("submit", queue.script("true", "--tag=dgm-abcdefghijkl-a2"))
    assert refused.rc == 28
    assert queue.read(refused)["error"]["kind"] == "full"
    assert queue.dialect.parse_submit(refused).refused
    assert (await queue.ask("find", "dgm-abcdefghijkl-a2"))["outcome"] == "absent"
    (queue.work / "go").touch()
    await queue.wait_for("over")
    await anyio.sleep(1)
    assert (await queue.job(job_id))["state"] == "running"
    assert (await queue.job(waiting))["state"] == "pending"
    filler.unlink()
    begun = time.monotonic()
    assert (await queue.until(job_id, "completed"))["exit_code"] == 0
    await queue.until(waiting, "completed")
    assert time.monotonic() - begun < 10


async def test_full_disk_and_a_lost_supervisor_is_no_success(queue: Any, small_disk: Path) -> None:
    queue.state = small_disk / "state"
    await queue.ask("limits", "--cpus=1", "--grace=1")
    job_id = await queue.submit("echo up > up; while [ ! -e go ]; do sleep 0.05; done; echo over > over")
    await queue.wait_for("up")
    filler = await anyio.to_thread.run_sync(fill, small_disk)
    (queue.work / "go").touch()
    await queue.wait_for("over")
    await anyio.sleep(0.3)
    await kill_supervisor(queue, job_id)
    assert (await queue.job(job_id))["state"] == "running"
    filler.unlink()
    assert (await queue.job(job_id))["state"] == "node-failed"
