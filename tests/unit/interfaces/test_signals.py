"""A signal ends a command with all that it started on this host."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

RUN = """
import time, anyio, anyio.to_thread, typer
from dragoman.command import Command
from interfaces.cli.running import run_command
from providers.transports.local import LocalTransport

async def command():
    words = "echo $$ >pid.new; mv pid.new pid; exec sleep 300"
    await LocalTransport().run(Command(("sh", "-c", words), cwd={folder!r}))
    return 0

async def obstinate():
    with anyio.CancelScope(shield=True):
        await command()
    return 0

async def at_prompt():
    async with anyio.create_task_group() as group:
        group.start_soon(command)
        await anyio.to_thread.run_sync(time.sleep, 300)
    return 0

def main():
    run_command({which})

typer.run(main)
"""


def until(test: Callable[[], bool], seconds: float = 30) -> bool:
    end = time.monotonic() + seconds
    while not test():
        if time.monotonic() > end:
            return False
        time.sleep(0.05)
    return True


def gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except FileNotFoundError:
        return True


class Started:
    def __init__(self, folder: Path, which: str, before: tuple[str, ...] = ()) -> None:
        text = RUN.format(folder=str(folder), which=which)
        self.process = subprocess.Popen(
            [*before, sys.executable, "-c", text], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert until((folder / "pid").exists)
        self.child = int((folder / "pid").read_text())

    def end(self, number: int) -> tuple[int, str]:
        self.process.send_signal(number)
        _, said = self.process.communicate(timeout=30)
        return self.process.returncode, said


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., Started]]:
    started: list[Started] = []

    def one(which: str = "command", before: tuple[str, ...] = ()) -> Started:
        started.append(Started(tmp_path, which, before))
        return started[-1]

    yield one
    for each in started:
        for pid in (each.process.pid, each.child):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        each.process.wait(timeout=30)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_was_started_ends_with_the_command(start: Callable[..., Started], number: signal.Signals) -> None:
    run = start()
    code, said = run.end(number)
    assert (code, number.name in said, "Traceback" in said) == (128 + number, True, False), said
    assert until(lambda: gone(run.child), 5)


def test_a_hangup_that_is_ignored_stays_so(start: Callable[..., Started]) -> None:
    run = start(before=("nohup",))
    run.process.send_signal(signal.SIGHUP)
    time.sleep(0.5)
    assert run.process.poll() is None
    assert not gone(run.child)
    assert run.end(signal.SIGTERM)[0] == 128 + signal.SIGTERM


def test_the_second_signal_ends_at_once_what_does_not_end_by_the_first(start: Callable[..., Started]) -> None:
    run = start("obstinate")
    run.process.send_signal(signal.SIGTERM)
    time.sleep(0.5)
    assert run.process.poll() is None
    assert run.end(signal.SIGTERM)[0] == -signal.SIGTERM


def test_a_question_that_nobody_answers_holds_nothing_up(start: Callable[..., Started]) -> None:
    run = start("at_prompt")
    assert run.end(signal.SIGTERM)[0] == -signal.SIGTERM
    assert until(lambda: gone(run.child), 5)
