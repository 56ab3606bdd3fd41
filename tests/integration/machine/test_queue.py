"""The queue: order, limits, GPUs, holds, dependencies, many at once, tags."""

import sys
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.command import Command, Completed
from providers.schedulers.machine import Machine
from providers.transports.local import LocalTransport

TAG = "dgm-abcdefghijkl-a1"


async def test_first_in_first_out_without_backfill(queue: Any) -> None:
    await queue.ask("limits", "--cpus=2")
    first = await queue.submit("while [ ! -e go ]; do sleep 0.05; done; echo 1 >> order", "--cpus=1")
    second = await queue.submit("sleep 0.3; echo 2 >> order", "--cpus=2")
    third = await queue.submit("echo 3 >> order", "--cpus=1")
    jobs = (await queue.ask("status", first, second, third))["jobs"]
    assert [job["state"] for job in jobs] == ["running", "pending", "pending"]
    assert [job["reason"] for job in jobs[1:]] == ["no room", f"behind job {second}"]
    info = await queue.ask("info")
    assert (info["free"]["cpus"], info["pending"], info["running"]) == (1, 2, 1)
    (queue.work / "go").touch()
    await queue.until(third, "completed")
    assert queue.lines("order") == ["1", "2", "3"]
    info = await queue.ask("info")
    assert (info["free"]["cpus"], info["pending"], info["running"]) == (2, 0, 0)


async def test_memory_is_a_limit_too(queue: Any) -> None:
    await queue.ask("limits", "--memory=1000000000")
    first = await queue.submit("sleep 30", "--memory=600000000")
    second = await queue.submit("true", "--memory=600000000")
    assert (await queue.job(second))["state"] == "pending"
    await queue.ask("cancel", first)
    await queue.until(second, "completed")


async def test_gpus_are_given_to_one_job_each(queue: Any) -> None:
    await queue.ask("limits", "--gpus=3")
    show = 'echo "$CUDA_VISIBLE_DEVICES $ROCR_VISIBLE_DEVICES" > gpus.$DRAGOMAN_JOB_ID; sleep 30'
    one = await queue.submit(show, "--gpus=1")
    two = await queue.submit(show, "--gpus=2")
    none = await queue.submit(show)
    waits = await queue.submit(show, "--gpus=1")
    assert await queue.wait_for(f"gpus.{one}") == ["0 0"]
    assert await queue.wait_for(f"gpus.{two}") == ["1,2 1,2"]
    assert await queue.wait_for(f"gpus.{none}") == [" "]
    assert (await queue.job(waits))["state"] == "pending"
    await queue.ask("cancel", one)
    assert await queue.wait_for(f"gpus.{waits}") == ["0 0"]
    for job_id in (two, none, waits):
        await queue.ask("cancel", job_id)
    await queue.until_quiet()


async def test_a_job_keeps_to_its_own_cpus(queue: Any) -> None:
    limits = (await queue.ask("limits", "--host"))["limits"]
    if limits["cpus"] < 2:
        pytest.skip("this host has one CPU")
    show = "import os, time; print(*sorted(os.sched_getaffinity(0)), flush=True); time.sleep(1)"
    jobs = [await queue.submit(show, "--cpus=1", first="#!/usr/bin/env python3") for _ in range(2)]
    for job_id in jobs:
        await queue.until(job_id, "completed")
    first, second = queue.lines("out.1"), queue.lines("out.2")
    assert len(first[0].split()) == len(second[0].split()) == 1
    assert first != second


@pytest.mark.parametrize("option", ["--cpus=9", "--memory=9G", "--gpus=1"])
async def test_what_the_host_can_never_give_is_refused(queue: Any, option: str) -> None:
    done = await queue.run("submit", queue.script("true", option))
    assert done.rc == 2
    assert queue.read(done)["error"]["kind"] == "too-large"
    info = await queue.ask("info")
    assert (info["pending"], info["running"]) == (0, 0)


async def test_a_job_that_became_too_large_holds_nobody(queue: Any) -> None:
    await queue.ask("limits", "--cpus=2")
    first = await queue.submit("sleep 30", "--cpus=2")
    large = await queue.submit("true", "--cpus=2")
    small = await queue.submit("true", "--cpus=1")
    await queue.ask("limits", "--cpus=1")
    await queue.ask("cancel", first)
    await queue.until(small, "completed")
    job = await queue.job(large)
    assert (job["state"], job["never"], job["reason"]) == ("pending", True, "asks for 2 cpus, and this machine gives 1")


async def test_exclusive_jobs_run_alone(queue: Any) -> None:
    first = await queue.submit("sleep 0.5", "--cpus=1")
    alone = await queue.submit("sleep 0.3", "--exclusive")
    after = await queue.submit("true")
    assert (await queue.job(alone))["state"] == "pending"
    jobs = [await queue.until(job_id, "completed") for job_id in (first, alone, after)]
    assert jobs[0]["ended"] <= jobs[1]["started"] <= jobs[1]["ended"] <= jobs[2]["started"]


async def test_hold_and_release(queue: Any) -> None:
    held = (await queue.ask("submit", "--hold", queue.script("true")))["job"]
    other = await queue.submit("true")
    await queue.until(other, "completed")
    job = await queue.job(held["id"])
    assert (job["state"], job["reason"]) == ("held", "held by a person")
    assert (await queue.ask("info"))["held"] == 1
    await queue.ask("release", held["id"])
    await queue.until(held["id"], "completed")
    assert queue.read(await queue.run("hold", held["id"]))["error"]["kind"] == "bad-request"


async def test_dependencies(queue: Any) -> None:
    good, bad = await queue.submit("sleep 0.3"), await queue.submit("sleep 0.3; exit 1")
    ids = {
        (kind, job_id): await queue.submit("true", f"--after={kind}:{job_id}")
        for kind in ("afterok", "afternotok", "afterany", "after")
        for job_id in (good, bad)
    }
    jobs = {key: await queue.until(job_id, "completed", "never-ran") for key, job_id in ids.items()}
    assert {key: job["state"] for key, job in jobs.items()} == {
        ("afterok", good): "completed",
        ("afterok", bad): "never-ran",
        ("afternotok", good): "never-ran",
        ("afternotok", bad): "completed",
        ("afterany", good): "completed",
        ("afterany", bad): "completed",
        ("after", good): "completed",
        ("after", bad): "completed",
    }
    assert jobs["afterok", bad]["reason"] == f"job {bad}, which it follows (afterok), ended as failed"
    assert jobs["afterok", good]["started"] >= (await queue.job(good))["ended"]
    assert (
        queue.read(await queue.run("submit", queue.script("true", "--after=afterok:999")))["error"]["kind"]
        == "bad-request"
    )


async def test_a_hundred_jobs_at_once_each_run_once(queue: Any) -> None:
    scripts = [queue.script("echo $DRAGOMAN_JOB_ID >> ran", "--output=out") for _ in range(100)]
    answers = await queue.transport.run_many([queue.command("submit", path) for path in scripts])
    ids = [queue.read(done)["job"]["id"] for done in answers]
    assert sorted(ids, key=int) == [str(number) for number in range(100)]
    with anyio.fail_after(60):
        while (await queue.ask("info"))["running"] or (await queue.ask("info"))["pending"]:  # noqa: ASYNC110  # other processes change it
            await anyio.sleep(0.2)
    jobs = (await queue.ask("status", *ids))["jobs"]
    assert {job["state"] for job in jobs} == {"completed"}
    assert sorted(queue.lines("ran"), key=int) == sorted(ids, key=int)
    # In the order of submission, as far as the clock tells.
    starts = [job["started"] for job in sorted(jobs, key=lambda job: int(job["id"]))]
    assert starts == sorted(starts)


async def test_submitters_that_race_with_one_tag_get_one_job(queue: Any) -> None:
    scripts = [queue.script("echo ran >> ran", f"--tag={TAG}") for _ in range(12)]
    answers = [
        queue.read(done) for done in await queue.transport.run_many([queue.command("submit", one) for one in scripts])
    ]
    assert {answer["job"]["id"] for answer in answers} == {"0"}
    assert sorted(answer["existing"] for answer in answers) == [False] + [True] * 11
    await queue.until("0", "completed")
    again = await queue.ask("submit", scripts[0])
    assert (again["existing"], again["job"]["state"]) == (True, "completed")
    assert queue.lines("ran") == ["ran"]
    assert (await queue.ask("find", TAG))["job"]["id"] == "0"
    assert (await queue.ask("find", "dgm-abcdefghijkl-a2"))["outcome"] == "absent"


async def test_a_job_submitted_by_a_job_outlives_it(queue: Any) -> None:
    inner = queue.script("sleep 1.5; echo inner > inner", "--tag=dgm-innerinnerin-a1")
    submit = " ".join(f"'{word}'" for word in queue.command("submit", inner).argv)
    outer = await queue.submit(f"{submit}; echo submitted > submitted; sleep 60", "--tag=dgm-outerouterou-a1")
    await queue.wait_for("submitted")
    await queue.ask("cancel", outer)
    await queue.until(outer, "cancelled")
    assert queue.lines("inner") == []
    job_id = (await queue.ask("find", "dgm-innerinnerin-a1"))["job"]["id"]
    await queue.until(job_id, "completed")
    assert queue.lines("inner") == ["inner"]


async def test_only_programs_places_and_language_are_inherited(queue: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    command = queue.command("submit", queue.script("env > env"))
    given = {
        "MY_TOKEN": "secret-1",
        "LC_SECRET": "secret-2",
        "LC_ALL": "C.UTF-8",
        "HOME": "/a home",
        "PYTHONPATH": "secret-3",
    }
    done = await queue.transport.run(type(command)(command.argv, environment=given))
    await queue.until(queue.read(done)["job"]["id"], "completed")
    environment = dict(line.split("=", 1) for line in queue.lines("env"))
    assert environment["HOME"] == "/a home"
    assert environment["LC_ALL"] == "C.UTF-8"
    assert "secret" not in str(environment)
    stored = "".join(path.read_text() for path in queue.state.rglob("*") if path.is_file())
    assert "secret-" not in stored


async def test_forgotten_jobs_free_their_tags(queue: Any) -> None:
    job_id = await queue.submit("true", f"--tag={TAG}")
    await queue.until(job_id, "completed")
    assert (await queue.ask("prune", "--older-than", "3600"))["pruned"] == []
    await anyio.sleep(1.1)
    assert (await queue.ask("prune", "--older-than", "0"))["pruned"] == [job_id]
    assert (await queue.ask("status", job_id))["absent"] == [job_id]
    assert (await queue.ask("find", TAG))["outcome"] == "absent"
    assert await queue.submit("true", f"--tag={TAG}") == "1"


async def test_estimate_by_walltimes(queue: Any) -> None:
    await queue.ask("limits", "--cpus=2")
    assert (await queue.ask("estimate", "--", "--cpus=2"))["seconds"] == 0
    first = await queue.submit("sleep 30", "--cpus=1", "--walltime=100")
    assert (await queue.ask("estimate", "--", "--cpus=1"))["seconds"] == 0
    assert 90 < (await queue.ask("estimate", "--", "--cpus=2"))["seconds"] <= 100
    await queue.submit("sleep 30", "--cpus=2", "--walltime=50")
    assert 140 < (await queue.ask("estimate", "--", "--cpus=1"))["seconds"] <= 150
    await queue.submit("sleep 30", "--cpus=1")
    assert 140 < (await queue.ask("estimate", "--", "--cpus=1"))["seconds"] <= 150
    assert (await queue.ask("estimate", "--", "--cpus=2"))["seconds"] is None
    for job_id in (first, "1", "2"):
        await queue.ask("cancel", job_id)


@pytest.mark.parametrize(
    "line",
    [
        "--cpus=0", "--cpus=two", "--cpus", "--cpus=1 --cpus=2", "--name=a b", "--name=a%0Ab", "--memory=lots",
        "--walltime=4:00", "--output=%ff", "--work-dir=relative", "--tag=../x", "--no-such=1", "--exclusive=yes",
        "--after=afterok:x", "--gpus=-1",
    ],
)  # fmt: skip
async def test_directives_that_cannot_be_used_are_refused_with_their_line(queue: Any, line: str) -> None:
    done = await queue.run("submit", queue.script("true", "--cpus=1" if "cpus" not in line else "--gpus=0", line))
    assert done.rc == 2
    error = queue.read(done)["error"]
    assert error["kind"] == "bad-request"
    assert error["what"].startswith("line 3: ")
    assert (await queue.ask("info"))["pending"] == 0


async def test_packed_into_one_file_it_runs_anywhere(queue: Any, tmp_path: Path) -> None:
    from providers.schedulers.machine import PYTHON_OPTIONS, Machine, runner_bytes

    packed = tmp_path / "run ner.pyz"
    packed.write_bytes(runner_bytes())
    queue.dialect = Machine(program=(sys.executable, *PYTHON_OPTIONS, str(packed)), state=str(queue.state))
    job_id = await queue.submit("sleep 0.2; exit 5")
    assert (await queue.until(job_id, "failed"))["exit_code"] == 5


async def test_jobs_with_our_tags_are_listed(queue: Any) -> None:
    """For the doctor, who looks for jobs that no ledger knows."""
    tags = [f"dgm-0123456789ab-a{number}" for number in range(3)]
    ended = await queue.submit("true", f"--tag={tags[0]}")
    await queue.until(ended, "completed")
    await queue.ask("limits", "--cpus=1")
    running = await queue.submit("sleep 60", f"--tag={tags[1]}", "--cpus=1")
    held = await queue.submit("true", f"--tag={tags[2]}")
    await queue.ask("hold", held)
    await queue.submit("sleep 60", "--tag=somebody-elses")
    (command,) = queue.dialect.list_tags_commands()
    seen: dict[str, tuple[str | None, str]] = {}
    for _ in range(50):
        answers = queue.dialect.parse_list_tags(await queue.transport.run(command))
        seen = {job_id: (each.ref.tag, each.state.value) for job_id, each in answers.jobs.items()}
        if len(seen) == 2:
            break
        await anyio.sleep(0.1)
    assert seen == {running: (tags[1], "running"), held: (tags[2], "held")}
    assert queue.dialect.parse_list_tags(Completed(("python3",), 1, b"", b"no")).trouble


async def test_without_a_folder_the_queue_lies_in_home(tmp_path: Path) -> None:
    program = Machine().program
    done = await LocalTransport({"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}).run(Command((*program, "info")))
    assert done.rc == 0, done
    assert (tmp_path / ".dragoman/machine").is_dir()
