"""The step at the site and the process that submits are killed with SIGKILL at every point; the job runs once."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.attempt import AttemptRecord, AttemptState
from dragoman.errors import NotSettled, TransportError

World = Any
PROGRAMS = (
    "cat", "chmod", "date", "dd", "grep", "ln", "mkdir", "mv", "readlink", "rm", "sed", "sleep", "tail", "timeout",
    "uname", "wc",
)  # fmt: skip

WRAPPER = """\
#!/bin/sh
# Stands for {program}: kills the shell that called it, before or after the {point}th program that the shell calls.
count() {{
  while ! /bin/mkdir "{state}/lock" 2>/dev/null; do :; done
  n=$(($(/bin/cat "{state}/count") + 1))
  echo "$n" >"{state}/count"
  /bin/rmdir "{state}/lock"
}}
count
if [ "$n" -eq {point} ] && [ {when} = before ]; then kill -9 $PPID; exit 137; fi
{program_path} "$@"
rc=$?
if [ "$n" -eq {point} ] && [ {when} = after ]; then echo "{program} $*" >"{state}/killed"; kill -9 $PPID; fi
exit "$rc"
"""


def trap(root: Path, point: int, when: str) -> tuple[str, Path]:
    """A PATH whose programs kill their caller at one point, and the folder that tells how far it came."""
    state = root / f"trap-{when}-{point}"
    programs = state / "bin"
    programs.mkdir(parents=True)
    (state / "count").write_text("0\n")
    for program in PROGRAMS:
        real = next(Path(folder) / program for folder in ("/usr/bin", "/bin") if (Path(folder) / program).exists())
        file = programs / program
        file.write_text(WRAPPER.format(program=program, program_path=real, point=point, when=when, state=state))
        file.chmod(0o755)
    return f"{programs}:/usr/bin:/bin", state


async def settled(world: World, attempt: Any) -> AttemptRecord:
    with anyio.fail_after(20):
        while True:
            try:
                record: AttemptRecord = await world.client().submit(attempt)
                return record
            except (NotSettled, TransportError):
                await anyio.sleep(0.3)


async def _one(worlds: Callable[[str], World], point: int, when: str) -> tuple[bool, str]:
    """Kill at one point, then recover; whether that point was reached, and what went wrong."""
    world = worlds(f"{when}-{point}")
    attempt = world.attempt()
    await world.client().prepare(attempt.spec.control_dir, attempt.spec.work_dir)
    path, state = trap(world.root, point, when)
    try:
        first = await world.client(path=path).submit(attempt)
    except (NotSettled, TransportError):
        first = None
    reached = int((state / "count").read_text()) >= point
    if first is not None and first.state is not AttemptState.SUBMITTED:
        return reached, f"{when} {point}: {first.state}: {first.answer}"
    record = await settled(world, attempt)
    world.run_jobs()
    if (record.state, world.jobs(), world.runs()) != (AttemptState.SUBMITTED, 1, 1):
        return reached, f"{when} {point}: {record.state}, {world.jobs()} jobs, {world.runs()} runs: {record.answer}"
    return reached, ""


@pytest.mark.parametrize("when", ["before", "after"])
async def test_the_step_killed_at_every_program_it_calls(worlds: Callable[[str], World], when: str) -> None:
    """One job is taken and one body run, wherever the step dies; between submit and record the tag finds the job."""
    wrong: list[str] = []
    reached = 0
    limit = anyio.Semaphore(4)

    async def one(point: int) -> None:
        nonlocal reached
        async with limit:
            was, problem = await _one(worlds, point, when)
        reached += was
        if problem:
            wrong.append(problem)

    async with anyio.create_task_group() as group:
        for point in range(1, 41):
            group.start_soon(one, point)
    assert wrong == []
    # The points are those of the real step: should it call fewer programs one day, this tells.
    assert reached >= 15


CHILD = """\
import sys, importlib.util, anyio
from pathlib import Path
spec = importlib.util.spec_from_file_location("world", sys.argv[1])
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
module.World.__init__.__globals__["Path"].mkdir = lambda *a, **k: None
world = module.World(Path(sys.argv[2]))
attempt = world.attempt()
print("ready", flush=True)
sys.stdin.readline()
record = anyio.run(world.client().submit, attempt)
print(record.state.value, record.job.job_id if record.job else "", flush=True)
"""


@pytest.mark.parametrize("delay_ms", [0, 5, 10, 15, 20, 30, 40, 60, 100, 400, 1100])
async def test_the_submitting_process_killed_while_it_submits(world: World, delay_ms: int) -> None:
    """The scheduler takes a second to answer; the process dies after 0 to 1.1 s, and another one goes on."""
    world.fault("slow-after")
    attempt = world.attempt()
    await world.client().prepare(attempt.spec.control_dir, attempt.spec.work_dir)
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(CHILD), str(Path(__file__).with_name("conftest.py")), str(world.root),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdin is not None
    assert (await child.stdout.readline()).strip() == b"ready"
    child.stdin.write(b"go\n")
    await child.stdin.drain()
    await anyio.sleep(delay_ms / 1000)
    child.send_signal(signal.SIGKILL)
    await child.communicate()
    record = await settled(world, attempt)
    assert record.state is AttemptState.SUBMITTED
    assert world.jobs() == 1
    world.run_jobs()
    assert world.runs() == 1


@pytest.mark.parametrize("wakes", ["before-the-window", "after-the-window"])
async def test_a_frozen_step_that_wakes_late_does_not_submit_beside_its_successor(world: World, wakes: str) -> None:
    """SIGSTOP between claim and submit, by a `wc` that stops its caller; woken after another has taken over."""
    attempt = world.attempt()
    await world.client().prepare(attempt.spec.control_dir, attempt.spec.work_dir)
    programs, stopped = world.root / "bin", world.root / "stopped"
    programs.mkdir()
    (programs / "wc").write_text(
        f"#!/bin/sh\n/usr/bin/wc \"$@\"\nclaim='{attempt.spec.control_dir}/submit/claim.1'\n"
        f"if [ -L \"$claim\" ] && [ ! -f '{stopped}' ]; then\n  echo $PPID >'{stopped}'\n  kill -STOP $PPID\nfi\n"
    )
    (programs / "wc").chmod(0o755)
    records: list[AttemptRecord] = []

    async def frozen() -> None:
        records.append(await world.client(path=f"{programs}:/usr/bin:/bin").submit(attempt))

    async with anyio.create_task_group() as group:
        group.start_soon(frozen)
        with anyio.fail_after(10):
            while not stopped.exists() or not stopped.read_text().strip():  # noqa: ASYNC110 - another process's
                await anyio.sleep(0.05)
        with pytest.raises(NotSettled, match="is submitting it"):
            await world.client().submit(attempt)
        if wakes == "after-the-window":
            await anyio.sleep(3)
        os.kill(int(stopped.read_text()), signal.SIGCONT)
    record = await settled(world, attempt)
    assert record.state is AttemptState.SUBMITTED
    assert records[0].job == record.job
    world.run_jobs()
    assert (world.jobs(), world.runs()) == (1, 1)
    # Late by more than its fence the step gave up, and a new claim was made for the submit; in time it went on.
    claims = sorted(path.name for path in (Path(attempt.spec.control_dir) / "submit").glob("claim.*"))
    assert claims == (["claim.1", "claim.2"] if wakes == "after-the-window" else ["claim.1"])
