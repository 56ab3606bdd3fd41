"""The process beside a running job: starts it, keeps its limits, ends its whole tree, records how it ended.

It is made the reaper of all that the job starts (prctl(2), PR_SET_CHILD_SUBREAPER), so that no process of the job can
leave the tree, whatever session or group it moves to. It sleeps in sigtimedwait(2) and wakes when a child ends, when
it is told to end, at the walltime, and once in a while for memory where that is limited.
"""

from __future__ import annotations

import ctypes
import os
import signal
import time
from contextlib import suppress

from .advance import advance
from .folder import Folder, Unreadable
from .host import limits_of
from .job import Job
from .launch import GATE, HELD_SIGNALS
from .processes import boot_id, descendants, memory, send, started
from .start import start
from .trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

PR_SET_CHILD_SUBREAPER = 36
LEFT_BEHIND_GRACE_S = 2.0
"""Between TERM and KILL for processes that a job left behind when it ended by itself."""
MEMORY_POLL_S = 1.0
RECORD_FOR_S = 3600.0
"""How long recording the end is tried again when the disk is full."""


def supervise(folder: Folder, job_id: str) -> int:
    """Run one job from start to recorded end. 0: recorded, or not this process's job; 1: the end is not recorded."""
    while os.read(GATE, 1):
        pass
    os.close(GATE)
    try:
        job = folder.load("running", job_id)
    except Unreadable:
        return 1
    if job is None or job.supervisor != [os.getpid(), started(os.getpid())] or job.boot != boot_id():
        return 0
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        watch = Watch(folder, job, start(folder, job))
    except OSError as error:
        _reap()
        job.state, job.reason = "never-ran", f"cannot be started: {error.strerror or error}"
        if error.filename:
            job.reason += f": {error.filename}"
    else:
        watch.until_end()
    return 0 if record(folder, job) else 1


class Watch:
    """One job while it runs."""

    def __init__(self, folder: Folder, job: Job, pid: int) -> None:
        self.folder = folder
        self.job = job
        self.pid = pid
        self.status: int | None = None
        self.grace = limits_of(folder)["grace"]
        self.end = ""
        """Why we end it: `cancelled`, `timed-out`, `out-of-memory`, `node-failed`; empty while it may run."""
        self.kill_at = 0.0
        self.deadline = time.monotonic() + job.walltime if job.walltime else 0.0
        self.poll_at = time.monotonic() + 0.2 if job.memory else 0.0

    def until_end(self) -> None:
        """Watch until the job's first process has ended and nothing of its tree is left."""
        while True:
            told = signal.sigtimedwait(HELD_SIGNALS, self._sleep())
            if self._reap():
                break
            now = time.monotonic()
            if told is not None and told.si_signo != signal.SIGCHLD:
                self._end(*self._who_asked())
            elif self.deadline and now >= self.deadline:
                self._end("timed-out", f"walltime of {self.job.walltime} s")
            if self.poll_at and now >= self.poll_at:
                self._check_memory(now)
            if self.kill_at and now >= self.kill_at:
                send(descendants(os.getpid()), signal.SIGKILL)
                self.kill_at = now + 0.2
        self._clear_tree()
        self._conclude()

    def _sleep(self) -> float:
        moments = [moment for moment in (self.kill_at, self.poll_at, 0.0 if self.end else self.deadline) if moment]
        return max(0.0, min(moments) - time.monotonic()) if moments else 3600.0

    def _reap(self) -> bool:
        """Take up all that ended; whether the first process is among them, or was before."""
        for pid, status, usage in _reap():
            self.job.max_rss = max(self.job.max_rss, usage.ru_maxrss * 1024)
            if pid == self.pid:
                self.status = status
        return self.status is not None

    def _who_asked(self) -> tuple[str, str]:
        """A cancel is recorded before it is signalled; without that record the host is going down."""
        try:
            now = self.folder.load("running", self.job.id)
        except Unreadable:
            now = None
        if now is not None and now.cancelled:
            self.job.cancelled = now.cancelled
            return "cancelled", "cancelled by its owner"
        return "node-failed", "its supervisor was told to end (shutdown)"

    def _end(self, end: str, reason: str) -> None:
        if self.end:
            return
        self.end, self.job.reason = end, reason
        self.kill_at = time.monotonic() + self.grace
        send(descendants(os.getpid()), signal.SIGTERM)

    def _check_memory(self, now: float) -> None:
        self.poll_at = now + MEMORY_POLL_S
        held = memory(descendants(os.getpid()), self.job.memory)
        self.job.max_rss = max(self.job.max_rss, held)
        if held > self.job.memory and not self.end:
            self.end, self.job.reason = "out-of-memory", f"holds {held} bytes, may hold {self.job.memory}"
            self.kill_at = now
            self.poll_at = 0.0

    def _clear_tree(self) -> None:
        """End what is still there after the first process: asked first, then killed until none is left."""
        left = descendants(os.getpid())
        if not left:
            return
        kill_at = self.kill_at if self.end else time.monotonic() + LEFT_BEHIND_GRACE_S
        if not self.end:
            send(left, signal.SIGTERM)
        while left:
            number = time.monotonic()
            if number >= kill_at:
                send(left, signal.SIGKILL)
            signal.sigtimedwait({signal.SIGCHLD}, 0.05)
            self._reap()
            left = descendants(os.getpid())

    def _conclude(self) -> None:
        status = self.status or 0
        if os.WIFSIGNALED(status):
            self.job.signal = os.WTERMSIG(status)
        else:
            self.job.exit_code = os.WEXITSTATUS(status)
        if self.end:
            self.job.state = self.end
        elif self.job.exit_code == 0:
            self.job.state = "completed"
        else:
            self.job.state = "failed"
            self.job.reason = (
                f"ended by signal {self.job.signal}" if self.job.signal else f"exit code {self.job.exit_code}"
            )


def _reap() -> list[tuple[int, int, Any]]:
    """All children that ended; orphans of the job among them."""
    found: list[tuple[int, int, Any]] = []
    while True:
        try:
            pid, status, usage = os.wait4(-1, os.WNOHANG)
        except ChildProcessError:
            return found
        if pid == 0:
            return found
        found.append((pid, status, usage))


def record(folder: Folder, job: Job) -> bool:
    """Record the end and move the queue on; tried again for a while where the disk is full or the queue in use."""
    job.ended = time.time()
    give_up, pause = time.monotonic() + RECORD_FOR_S, 0.1
    while True:
        try:
            with folder.lock():
                with suppress(Unreadable):
                    asked = folder.load("running", job.id)
                    job.cancelled = asked.cancelled if asked is not None else job.cancelled
                folder.store(job)
                with suppress(OSError):  # the next submit or status moves the queue on
                    advance(folder)
                return True
        except (OSError, Trouble):
            if time.monotonic() > give_up:
                return False
        time.sleep(pause)
        pause = min(5.0, pause * 1.5)
