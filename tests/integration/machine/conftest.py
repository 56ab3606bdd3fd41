"""A queue of the scheduler `machine` in a folder of its own, with real processes."""

import itertools
import os
import signal
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest

from dragoman.command import Command, Completed
from providers.schedulers.machine import Machine
from providers.transports.local import LocalTransport

Answer = dict[str, Any]


class MachineQueue:
    """Puts questions to one queue, and scripts into it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.state = root / "state"
        self.work = root / "work"
        self.work.mkdir(parents=True)
        self.dialect = Machine(state=str(self.state))
        self.transport = LocalTransport(at_once=16)
        self._numbers = itertools.count(1)

    def command(self, verb: str, *words: str) -> Command:
        return Command((*self.dialect.program, verb, "--state", str(self.state), *words))

    async def run(self, verb: str, *words: str) -> Completed:
        return await self.transport.run(self.command(verb, *words))

    async def ask(self, verb: str, *words: str) -> Answer:
        done = await self.run(verb, *words)
        assert done.rc == 0, done
        answer: Answer = self.read(done)
        return answer

    @staticmethod
    def read(done: Completed) -> Answer:
        import json

        assert done.err == ""
        answer: Answer = json.loads(done.out)
        assert answer["schema"] == 1
        return answer

    def script(self, body: str | bytes, *options: str, first: str = "#!/bin/sh") -> str:
        """The path of a new script; output goes to `out.<n>` beside it."""
        number = next(self._numbers)
        path = self.root / f"script.{number}"
        head = [first, *(f"#DRAGOMAN {option}" for option in options), f"#DRAGOMAN --work-dir={self.work}"]
        if not any(option.startswith("--output=") for option in options):
            head.append(f"#DRAGOMAN --output=out.{number} --error=out.{number}")
        data = body if isinstance(body, bytes) else body.encode()
        path.write_bytes("\n".join(head).encode() + b"\n" + data + b"\n")
        return str(path)

    async def submit(self, body: str | bytes, *options: str, first: str = "#!/bin/sh") -> str:
        answer = await self.ask("submit", self.script(body, *options, first=first))
        assert answer["existing"] is False
        return str(answer["job"]["id"])

    async def job(self, job_id: str) -> Answer:
        answer = await self.ask("status", job_id)
        [job] = answer["jobs"]
        assert job["id"] == job_id
        found: Answer = job
        return found

    async def until(self, job_id: str, *states: str, seconds: float = 20) -> Answer:
        """The job when it is in one of these states."""
        with anyio.fail_after(seconds):
            while (job := await self.job(job_id))["state"] not in states:  # noqa: ASYNC110  # other processes change it
                await anyio.sleep(0.05)
        return job

    async def wait_for(self, name: str, lines: int = 1, seconds: float = 20) -> list[str]:
        """Lines of a file in the work folder, when there are so many."""
        with anyio.fail_after(seconds):
            while len(found := await anyio.to_thread.run_sync(self.lines, name)) < lines:  # noqa: ASYNC110  # other processes change it
                await anyio.sleep(0.02)
        return found

    def lines(self, name: str) -> list[str]:
        path = self.work / name
        return path.read_text(errors="replace").splitlines() if path.exists() else []

    def processes(self) -> list[int]:
        """Live processes of this queue's jobs and supervisors, by their environment."""
        found = []
        mark = b"\0" + os.fsencode(f"DRAGOMAN_MACHINE={self.state}") + b"\0"
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and mark in b"\0" + (entry / "environ").read_bytes():
                    found.append(int(entry.name))
            except OSError:
                continue
        return found

    async def until_quiet(self, seconds: float = 10) -> None:
        """No process of this queue is left."""
        with anyio.fail_after(seconds):
            while await anyio.to_thread.run_sync(self.processes):  # noqa: ASYNC110  # other processes change it
                await anyio.sleep(0.05)


@pytest.fixture
async def queue(tmp_path: Path) -> AsyncIterator[MachineQueue]:
    """A queue with room for 8 CPUs, whatever this host has."""
    one = MachineQueue(tmp_path / "queue")
    await one.ask("limits", "--cpus=8", "--memory=8589934592", "--gpus=0", "--grace=1")
    yield one
    for pid in one.processes():
        try:
            os.kill(pid, signal.SIGKILL)
        except ProcessLookupError:
            continue


def gone(pid: int) -> bool:
    """Whether a process ended, reaped or not."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


@pytest.fixture
def is_gone() -> object:
    """The test for an ended process."""
    return gone
