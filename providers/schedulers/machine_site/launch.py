"""Starts the supervisor of a job, detached from whoever asks, so that no job depends on the process that started it."""

from __future__ import annotations

import os
import signal
import sys
import time
from contextlib import suppress

from .job import Job
from .processes import boot_id, started

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .folder import Folder

GATE = 3
"""The supervisor's file descriptor that ends when the record of its start is written, or never will be."""
HELD_SIGNALS = frozenset((signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD))


def program(*arguments: str) -> list[str]:
    """The command line of this program."""
    return [sys.executable, "-S", "-E", "-I", os.path.abspath(sys.argv[0]), *arguments]


def launch(folder: Folder, job: Job) -> None:
    """Start a job's supervisor and record it, in that order and with a gate between them.

    The supervisor does nothing before the gate opens, and then only if the record names it. So a crash at any moment
    leaves a job that waits, or one that runs once. Raises OSError where no process can be started or nothing recorded.
    """
    told_read, told_write = os.pipe()
    gate_read, gate_write = os.pipe()
    try:
        middle = os.fork()
        if middle == 0:
            try:
                os.setsid()
                if os.fork() == 0:
                    _become_supervisor(folder, job, told_write, gate_read)
            finally:
                os._exit(0)
        os.close(told_write)
        os.waitpid(middle, 0)
        text = os.read(told_read, 32)
        pid = int(text or b"0")
        start = started(pid) if pid else 0
        if not start:
            raise OSError(0, "no process can be started")
        job.state, job.reason, job.started, job.boot, job.supervisor = (
            "running",
            "",
            time.time(),
            boot_id(),
            [pid, start],
        )
        folder.store(job)
    finally:
        for descriptor in (told_read, gate_read, gate_write):
            os.close(descriptor)


def _become_supervisor(folder: Folder, job: Job, told: int, gate: int) -> None:
    """In the new process: free of the old one's files, folder and signals; then this program again, as supervisor."""
    signal.pthread_sigmask(signal.SIG_BLOCK, HELD_SIGNALS)
    os.write(told, b"%d" % os.getpid())
    gate = os.dup(gate)
    null = os.open(os.devnull, os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    os.dup2(gate, GATE)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > GATE:
            with suppress(OSError):
                os.close(int(name))
    os.chdir("/")
    environment = {
        "PATH": os.defpath,
        "LC_ALL": "C.UTF-8",
        "DRAGOMAN_SUPERVISOR": job.id,
        "DRAGOMAN_MACHINE": folder.path,
    }
    os.execve(sys.executable, program("_supervise", "--state", folder.path, job.id), environment)  # noqa: S606
