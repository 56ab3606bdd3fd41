"""At a terminal: the table, the question, the answer, all in one command."""

from __future__ import annotations

import os
import pty
import select
import signal
import subprocess
import sys
import time
from typing import Any

REQUEST = "1 task for 2 minutes: sh -c 'echo made > out'"


def at_terminal(dragoman: Any, *arguments: str, answers: dict[str, str]) -> tuple[int, str]:
    """Run a command on a pseudo-terminal; types each answer when its prompt shows."""
    ours, theirs = pty.openpty()
    # Where the tests were started with INT ignored, as behind `&`, what they start would ignore it too.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    process = subprocess.Popen(
        [sys.executable, "-m", "interfaces.cli.main", *arguments, "--sites", str(dragoman.sites)],
        cwd=dragoman.folder, env={**dragoman.environment, "TERM": "dumb", "COLUMNS": "160"},
        stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
    )  # fmt: skip
    signal.signal(signal.SIGINT, before)
    os.close(theirs)
    shown, waiting, until = "", dict(answers), time.monotonic() + 90
    while time.monotonic() < until:
        ready, _, _ = select.select([ours], [], [], 0.2)
        if ready:
            try:
                shown += os.read(ours, 65536).decode("utf-8", "replace")
            except OSError:
                break
        for prompt in [prompt for prompt in waiting if prompt in shown]:
            answer = waiting.pop(prompt)
            if answer == "Ctrl-C":
                process.send_signal(signal.SIGINT)
            else:
                os.write(ours, f"{answer}\n".encode())
    os.close(ours)
    return process.wait(timeout=30), shown


def test_yes(dragoman: Any) -> None:
    code, shown = at_terminal(dragoman, "run", REQUEST, answers={"Run it at local?": "y"})
    assert code == 0, shown
    for words in (
        "READY",
        "twin (simulated)",
        "local is first by soonest",
        "completed",
        "predicted",
        "happened",
        "out",
    ):
        assert words in shown


def test_no(dragoman: Any) -> None:
    code, shown = at_terminal(dragoman, "run", REQUEST, answers={"Run it at local?": "n"})
    assert (code, "refused" in shown) == (4, True), shown


def test_later_leaves_it_paused(dragoman: Any) -> None:
    code, shown = at_terminal(dragoman, "run", REQUEST, answers={"Run it at local?": "later"})
    assert (code, "approve it with `dragoman approve" in shown) == (6, True), shown


def test_ctrl_c_loses_nothing(dragoman: Any, eventually: Any) -> None:
    go = dragoman.folder / "go"
    slow = f"1 task for 2 minutes: sh -c 'until [ -e {go} ]; do sleep 0.2; done; echo made > out'"
    code, shown = at_terminal(dragoman, "run", slow, answers={"Run it at local?": "y", "is running": "Ctrl-C"})
    assert (code, "nothing is lost" in shown) == (130, True), shown
    go.touch()
    sites = ("--sites", str(dragoman.sites))
    thread = dragoman("threads", "--json", *sites).document["threads"][0]["thread_id"]
    eventually(lambda: dragoman("show", thread, "--json", *sites).document["state"] == "completed")
