"""A scheduler in a folder, for the fakes beside this file: takes jobs, really runs them as processes, keeps their ends.

`jobs/<id>.json` is a job. `faults/<name>` has a line for each time that a fault is still to happen. Only the standard
library is used, because the fakes are started by whatever Python there is. Run as a program, it is one job's runner.
"""

import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

Job = dict[str, Any]
WAITS = ("pending", "held")


class Folder:
    """All jobs of one scheduler."""

    def __init__(self, root: str) -> None:
        self.root = Path(root)
        for name in ("jobs", "faults", "scripts"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        with (self.root / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            yield

    def fault(self, name: str) -> bool:
        """Whether this fault happens now; each line of its file is one time."""
        file = self.root / "faults" / name
        with self.locked():
            lines = file.read_text().splitlines() if file.exists() else []
            if lines:
                file.write_text("".join(f"{line}\n" for line in lines[1:]))
        return bool(lines)

    def take(self, job: Job, name: str | None = None) -> str:
        """Take a job and start it, unless it is held or the scheduler is busy. The first id is 1."""
        busy = self.fault("busy")
        with self.locked():
            job_id = name or str(len(list((self.root / "jobs").iterdir())) + 1)
            state = "held" if job.get("hold") else "pending"
            self._write(job_id, {"id": job_id, "state": state, "submitted": time.time(), **job})
        if state == "pending" and not busy:
            self.start(job_id)
        return job_id

    def start(self, job_id: str) -> None:
        """Hand a job to a runner of its own."""
        self.change(job_id, lambda job: {**job, "state": "running", "started": time.time()})
        subprocess.Popen(
            [sys.executable, "-S", "-E", __file__, str(self.root), job_id],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        )  # fmt: skip

    def script(self, text: str) -> Path:
        """A file with this text."""
        file = self.root / "scripts" / f"{time.time_ns()}"
        file.write_text(text)
        return file

    def jobs(self) -> list[Job]:
        """All jobs, in the order of their coming."""
        with self.locked():
            found = [json.loads(file.read_text()) for file in (self.root / "jobs").iterdir()]
        return sorted(found, key=lambda job: job["submitted"])

    def change(self, job_id: str, how: Callable[[Job], Job]) -> Job | None:
        file = self.root / "jobs" / f"{job_id}.json"
        with self.locked():
            if not file.exists():
                return None
            job = how(json.loads(file.read_text()))
            self._write(job_id, job)
        return job

    def _write(self, job_id: str, job: Job) -> None:
        part = self.root / "part"
        part.write_text(json.dumps(job))
        part.replace(self.root / "jobs" / f"{job_id}.json")

    def hold(self, job_id: str) -> None:
        self.change(job_id, lambda job: {**job, "state": "held"} if job["state"] == "pending" else job)

    def release(self, job_id: str) -> None:
        job = self.change(job_id, lambda job: {**job, "state": "pending"} if job["state"] == "held" else job)
        if job is not None and job["state"] == "pending":
            self.start(job_id)

    def cancel(self, job_id: str) -> bool:
        """Ask for a job's end; false: there is no such job, or it has ended."""

        def ask(job: Job) -> Job:
            if job["state"] in WAITS:
                return {**job, "state": "ended", "why": "cancelled", "ended": time.time()}
            return {**job, "why": "cancelled"} if job["state"] == "running" else job

        job = self.change(job_id, ask)
        if job is None or job.get("why") != "cancelled":
            return False
        if job["state"] == "running" and job.get("pid"):
            kill(job["pid"], signal.SIGTERM)
        return True


def kill(pid: int, how: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(pid, how)


def run(root: str, job_id: str) -> None:
    """Run one job to its end, or to its time limit."""
    folder = Folder(root)
    job = next(one for one in folder.jobs() if one["id"] == job_id)
    with (
        Path(job.get("stdout") or os.devnull).open("ab") as out,
        Path(job.get("stderr") or os.devnull).open("ab") as err,
    ):
        child = subprocess.Popen(
            job["command"], env={**os.environ, **job.get("environment", {})}, cwd=job.get("cwd") or "/",  # noqa: TID251
            stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True,
        )  # fmt: skip
        asked = folder.change(job_id, lambda one: {**one, "pid": child.pid})
        if asked is not None and asked.get("why") == "cancelled":
            kill(child.pid, signal.SIGTERM)
        why = None
        try:
            child.wait(1.0 if folder.fault("short-limit") else job.get("limit"))
        except subprocess.TimeoutExpired:
            why = "limit"
            kill(child.pid, signal.SIGTERM)
            try:
                child.wait(5)
            except subprocess.TimeoutExpired:
                kill(child.pid, signal.SIGKILL)
        rc = child.wait()

    def ended(one: Job) -> Job:
        return {**one, "state": "ended", "rc": rc, "why": why or one.get("why"), "ended": time.time()}

    folder.change(job_id, ended)


if __name__ == "__main__":
    run(*sys.argv[1:])
