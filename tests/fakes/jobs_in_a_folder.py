# ruff: noqa: TID251  # a program of its own
"""What every fake scheduler does behind its commands: a folder of jobs, and processes that really run them.

`faults/` holds files that make trouble: `down` (no server), `busy` (nothing starts), `banner`, `forget` (ended jobs are
not remembered), `lost-answer` (the job is taken, and the submit command fails; used up once).
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

Job = dict[str, Any]


class Jobs:
    """The folder."""

    def __init__(self, root: str) -> None:
        self.root = Path(root)
        for name in ("jobs", "faults"):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """One command at a time changes something."""
        with (self.root / "lock").open("w") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def fault(self, name: str, *, once: bool = False) -> bool:
        """Whether there is trouble of that kind."""
        path = self.root / "faults" / name
        found = path.exists()
        if found and once:
            path.unlink()
        return found

    def all(self) -> list[Job]:
        """Every job, in the order of their keys."""
        found = [json.loads(path.read_text()) for path in (self.root / "jobs").glob("*.json")]
        return sorted(found, key=lambda job: (job["number"], job.get("task") or 0))

    def save(self, job: Job) -> None:
        """Keep it, whole or not at all."""
        path = self.root / "jobs" / f"{job['key']}.json"
        new = path.with_suffix(f".{os.getpid()}")
        new.write_text(json.dumps(job))
        new.rename(path)

    def load(self, key: str) -> Job:
        """One job."""
        found: Job = json.loads((self.root / "jobs" / f"{key}.json").read_text())
        return found

    def take(self, script: str, **fields: object) -> Job:
        """A new job with the next number; the script is copied, as schedulers do."""
        number = max((job["number"] for job in self.all()), default=-1) + 1
        task = fields.get("task")
        number = int(fields.pop("number", number))  # type: ignore[call-overload]
        key = f"{number}" if task is None else f"{number}.{task}"
        (self.root / "jobs" / f"{number}.script").write_text(script)
        job = {"number": number, "key": key, "state": "Q", "submitted": time.time(), **fields}
        self.save(job)
        return job

    def start_waiting(self, program: str) -> None:
        """Start what waits, each in a process of its own that outlives the command."""
        if self.fault("busy"):
            return
        for job in self.all():
            if job["state"] == "Q" and not job.get("waits"):
                job.update(state="R", started=time.time())
                self.save(job)
                subprocess.Popen(
                    [sys.executable, program, "--supervise", str(self.root), job["key"]],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                    start_new_session=True,
                )  # fmt: skip

    def cancel(self, job: Job) -> None:
        """End it, as the user wishes."""
        if job["state"] in ("Q", "H"):
            job.update(state="F", ended=time.time(), why="cancel")
        else:
            job["why"] = "cancel"
            with contextlib.suppress(ProcessLookupError, KeyError):
                os.killpg(job["pid"], signal.SIGTERM)
        self.save(job)

    def supervise(self, key: str, environment: dict[str, str], output: str | None) -> None:
        """Run one job to its end, or to its time limit."""
        with self.locked():
            job = self.load(key)
            path = self.root / "jobs" / f"{job['number']}.script"
            out = Path(output).open("ab") if output else subprocess.DEVNULL  # noqa: SIM115
            process = subprocess.Popen(
                ["/bin/sh", str(path)], stdin=subprocess.DEVNULL, stdout=out, stderr=out, start_new_session=True,
                env={**os.environ, **environment}, cwd=job.get("cwd") or "/",
            )  # fmt: skip
            job["pid"] = process.pid
            self.save(job)
        why = ""
        try:
            rc = process.wait(timeout=job.get("limit"))
        except subprocess.TimeoutExpired:
            why = "timeout"
            os.killpg(process.pid, signal.SIGTERM)
            rc = process.wait()
        with self.locked():
            job = self.load(key)
            job.update(state="F", ended=time.time(), rc=rc, why=why or job.get("why", ""))
            self.save(job)
