"""Directs a campaign: starts people's commands and watchers, and strikes when a process comes to its step."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import time
from collections import Counter, deque
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import anyio
import anyio.abc
import psycopg
from psycopg.rows import DictRow, dict_row

from campaign.forge import Forge
from campaign.place import Place
from campaign.plan import RARE, Fault, Job, jobs, next_job
from campaign.strikes import strike
from checkpoints.embedded import EmbeddedServer

__all__ = ["Campaign", "Options"]

AT_ONCE = 8
TOLD_EVERY_S = 30.0
"""Between two lines of how far it is."""
STALLED_S = 120.0
THREADS = """
SELECT t.thread_id, t.title, t.status, t.outcome, t.error, t.tries,
       (SELECT jsonb_build_object('id', w.id, 'kind', w.kind, 'has_event', w.has_event)
        FROM dragoman_ledger.waits w WHERE w.thread_id = t.thread_id AND w.closed_at IS NULL
        ORDER BY number DESC LIMIT 1) AS wait
FROM dragoman_ledger.threads t
"""


_SUBMITTING = ("lease", "stage", "prepare", "intent", "submit", "record")
_SLEEPING = (
    "lease",
    "wait",
    "interrupt",
    "checkpoint",
    "look",
    "status",
    "event",
    "resume",
    "fetch",
    "outcome",
    "rest",
)
ROLES: dict[str, tuple[tuple[str, ...], ...]] = {
    "run": (("request", "proposal", "decision", *_SUBMITTING), ("wait", "interrupt", "checkpoint", "rest")),
    "approve": (("answer",), _SUBMITTING),
    "answer": (("answer",), _SUBMITTING),
    "cancel": (("cancel", "abandon"), ("resume", "lease")),
    "watch": ((*_SLEEPING, "cancel"), (*_SUBMITTING, "abandon")),
}
"""Steps that a process of each role comes to: first those that it is sure to."""


@dataclass(frozen=True)
class Options:
    """What is asked of a campaign."""

    jobs: int
    faults: int
    seed: int
    broken: str = ""
    kinds: tuple[str, ...] = ()
    steps: tuple[str, ...] = ()
    exec: bool = False
    longest_s: float = 3600.0


@dataclass
class Process:
    """A process of the campaign that lives."""

    pid: int
    role: str
    fault: Fault | None
    since: float
    job: int | None = None
    stopped: bool = False


@dataclass
class Request:
    """One job of the campaign and its thread, once there is one."""

    job: Job
    thread_id: str = ""
    begun: float = 0.0
    asked: int = 0
    answers: int = 0
    cancelled: bool = False
    done: bool = False
    row: DictRow | None = field(default=None, repr=False)


class Campaign:
    """One run. `fired` and `requests` are what the audit counts.

    Args:
        options: how large, and from which seed.
        place: its folders.
        forge: starts its processes.
        faults: what is to go wrong, in this order.

    """

    def __init__(self, options: Options, place: Place, forge: Forge, faults: list[Fault]) -> None:
        self.options = options
        self.place = place
        self.forge = forge
        self.faults = {fault.number: fault for fault in faults}
        self.waiting = deque(faults)
        self.tried: Counter[int] = Counter()
        self.fired: list[Fault] = []
        self.anywhere = 0
        self.struck_anywhere = -1.0
        self.processes: dict[int, Process] = {}
        self.requests: list[Request] = []
        self.chance = random.Random(f"director {options.seed}")  # noqa: S311
        self.job_chance = jobs(options.seed)
        self.started = 0
        self.moved = time.monotonic()
        self.stalled = False
        self.late = False
        self.watchers = 2
        self.cancels: set[str] = set()
        self.lost_jobs = 0

    # The database, which is often down

    async def rows(self, sql: str, parameters: Any = None) -> list[DictRow]:  # noqa: ANN401
        """Rows of a question; none where the database is down now."""
        server = await EmbeddedServer.find(self.place.data)
        if server is None:
            return []
        with suppress(psycopg.Error):
            async with await psycopg.AsyncConnection[DictRow].connect(
                server.dsn, autocommit=True, row_factory=dict_row, connect_timeout=5
            ) as connection:
                return await (await connection.execute(sql.encode(), parameters)).fetchall()
        return []

    # Processes

    def start(self, role: str, *argv: str, job: int | None = None) -> Process:
        """Start a dragoman process, armed with the next fault if it is time for one."""
        fault = self._arm(role)
        self.started += 1
        log = self.place.logs / f"{self.started:05d}-{role}{'' if job is None else f'-{job}'}.log"
        pid = self.forge.start(
            argv=[*argv, "--sites", str(self.place.sites)],
            environment=self.place.environment(),
            cwd=str(self.place.person),
            log=str(log),
            seed=self.chance.randrange(2**32),
            fault=None if fault is None else fault.plain(),
            control=str(self.place.control),
            queue=str(self.place.queue),
            broken=self.options.broken,
            exec=self.options.exec,
        )
        process = Process(pid, role, fault, time.monotonic(), job)
        self.processes[pid] = process
        return process

    def _arm(self, role: str) -> Fault | None:
        """The next fault that this role can come to, if the campaign is far enough for it."""
        if not self._due():
            return None
        for steps in ROLES[role]:
            for fault in self.waiting:
                if fault.step in steps:
                    self.waiting.remove(fault)
                    return fault
        return None

    def _due(self) -> bool:
        """Faults are spread over the jobs."""
        if self.late:
            return False
        done = sum(request.done for request in self.requests)
        armed = sum(process.fault is not None for process in self.processes.values())
        share = (done + 0.9 * (len(self.requests) - done)) / max(1, self.options.jobs)
        return len(self.fired) + armed < self.options.faults * min(1.0, share) + 1

    def _ended(self) -> None:
        for pid, code in self.forge.ended().items():
            process = self.processes.pop(pid, None)
            if process is None:
                continue
            if process.fault is not None:
                self._again(process.fault)
            if process.job is not None and code not in (0, 3, 4, 5, 6, -signal.SIGKILL):
                self.moved = max(self.moved, time.monotonic() - STALLED_S / 2)

    def _again(self, fault: Fault) -> None:
        """A fault whose step its process did not come to; given up after some tries."""
        self.tried[fault.number] += 1
        if self.tried[fault.number] < (10 if fault.step in RARE else 3):
            self.waiting.append(fault)

    # Strikes

    async def _serve(self) -> None:
        listener = await anyio.create_unix_listener(self.place.control)
        await listener.serve(self._met)

    async def _met(self, link: anyio.abc.SocketStream) -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, anyio.EndOfStream, OSError):
            async with link:
                said = json.loads(await link.receive())
                fault = self.faults[said["fault"]]
                process = self.processes.get(int(said["pid"]))
                if process is None:
                    return
                process.fault = None
                self.fired.append(fault)
                answer = await strike(self, process, fault, str(said["about"]))
                if answer is None:
                    return
                process.fault = self._arm(process.role)
                process.since = time.monotonic()
                answer["next"] = None if process.fault is None else process.fault.plain()
                await link.send(json.dumps(answer).encode() + b"\n")

    # The people

    async def _people(self) -> None:
        rows = {row["thread_id"]: row for row in await self.rows(THREADS)}
        if not rows and self.requests:
            self._begin()
            return
        by_name = {row["title"][10:19]: row for row in rows.values()}
        now = time.monotonic()
        for request in self.requests:
            before = request.row
            request.row = by_name.get(request.job.name)
            if request.row is None:
                alive = any(process.job == request.job.number for process in self.processes.values())
                if not alive and now - request.begun > 0.5:
                    self._ask(request)
                continue
            request.thread_id = request.row["thread_id"]
            if before is None or (before["status"], before["wait"]) != (request.row["status"], request.row["wait"]):
                self.moved = now
            self._go_on(request, request.row, now)
        self._begin()

    def _begin(self) -> None:
        if self.late:
            return
        open_ = sum(not request.done for request in self.requests)
        wanted = self.options.jobs
        if len(self.requests) >= wanted and self._left and open_ == 0:
            wanted = min(len(self.requests) + AT_ONCE, 2 * self.options.jobs)
        # Jobs wait for the faults to keep up, so that a campaign ends with all that was asked for.
        behind = len(self.fired) / max(1, self.options.faults) < (len(self.requests) - AT_ONCE) / self.options.jobs
        while open_ < (3 if behind and self.options.faults else AT_ONCE) and len(self.requests) < wanted:
            request = Request(next_job(self.job_chance, len(self.requests)))
            self.requests.append(request)
            self._ask(request)
            open_ += 1

    def _ask(self, request: Request) -> None:
        job = request.job
        request.begun, request.asked = time.monotonic(), request.asked + 1
        form = {
            "name": job.name,
            "command": ["sh", str(self.place.body), job.name, "fails" if job.fails else "ends", str(job.seconds)],
            "shapes": [{"tasks": 1}],
            "walltime_s": 600,
            "inputs": [{"source": str(self.place.person / "in.txt"), "name": "in.txt"}],
            "outputs": [{"pattern": "out.txt"}],
        }
        approve = "ask" if job.mode in ("ask", "refuse") else "auto"
        self.start("run", "run", json.dumps(form), "--approve", approve, "--no-wait", "--json", job=job.number)

    def _go_on(self, request: Request, row: DictRow, now: float) -> None:
        job, wait = request.job, row["wait"]
        busy = sum(process.job == job.number for process in self.processes.values())
        if row["status"] in ("done", "poisoned"):
            request.done = True
            return
        if job.mode == "cancel" and not request.cancelled and now - request.begun > job.cancel_after:
            request.cancelled = True
            self.cancel(request.thread_id, job.number)
            self.cancel(request.thread_id, job.number)
        if row["status"] != "parked" or wait is None or wait["has_event"] or busy:
            return
        if wait["kind"] == "approval":
            words = [["--by", "one"], ["--by", "two", *(["--refuse"] if job.mode == "refuse" else [])]]
            self.chance.shuffle(words)
            for each in words:
                self.start("approve", "approve", request.thread_id, *each, "--json", job=job.number)
        elif wait["kind"] == "question":
            request.answers += 1
            if request.answers > 5:
                request.done = True
                return
            self.start("answer", "answer", request.thread_id, "--again", "--json", job=job.number)

    def cancel(self, thread_id: str, job: int | None = None) -> None:
        """Somebody cancels a thread."""
        self.cancels.add(thread_id)
        self.start("cancel", "cancel", thread_id, "--no-wait", "--json", job=job)

    # Watchers

    def _watch(self) -> None:
        alive = [process for process in self.processes.values() if process.role == "watch"]
        if self.chance.random() < 0.01:
            self.watchers = self.chance.choice((1, 2, 2, 4))
        for _ in range(self.watchers - len(alive)):
            self.start("watch", "watch")
        now = time.monotonic()
        for process in alive:
            # One that does not come to its fault's step, or has none and it is time: killed wherever it is; only once
            # something has moved since the last, or a host that is busy elsewhere would never let a watcher begin.
            late = now - process.since > (8 if process.fault is not None else 4)
            if (
                late
                and self.moved > self.struck_anywhere
                and not process.stopped
                and self.anywhere < self.options.faults
                and self._due()
                and "kill" in (self.options.kinds or ("kill",))
            ):
                self.anywhere += 1
                self.struck_anywhere = now
                os.kill(process.pid, signal.SIGKILL)
                process.since = now

    @property
    def _left(self) -> bool:
        """Whether faults are left that can still strike."""
        armed = any(process.fault is not None for process in self.processes.values())
        return not self.late and len(self.fired) < self.options.faults and bool(self.waiting or armed)

    @property
    def over(self) -> bool:
        """All faults have struck or cannot, and all threads are at their end or wait for a person."""
        if self.late:
            return all(request.done for request in self.requests)
        enough = not self._left or len(self.requests) >= 2 * self.options.jobs
        return enough and len(self.requests) >= self.options.jobs and all(request.done for request in self.requests)

    async def run(self) -> None:
        """From the first job to the last thread's end."""
        begun = told = time.monotonic()
        async with anyio.create_task_group() as group:
            group.start_soon(self._serve)
            while not self.place.control.exists():  # noqa: ASYNC110
                await anyio.sleep(0.01)
            self.group = group
            self._begin()
            while not self.over:
                self._ended()
                self._watch()
                await self._people()
                now = time.monotonic()
                self.late = now - begun > self.options.longest_s
                if now - told > TOLD_EVERY_S:
                    told = now
                    self._tell(now - begun)
                if time.monotonic() - self.moved > STALLED_S:
                    self.stalled = True
                    break
                await anyio.sleep(0.1)
            group.cancel_scope.cancel()

    def _tell(self, seconds: float) -> None:
        """How far it is, for who waits."""
        done = sum(request.done for request in self.requests)
        faults = f"{len(self.fired)} of {self.options.faults} faults have struck"
        jobs = f"{done} of {max(self.options.jobs, len(self.requests))} jobs are at their end"
        print(f"{seconds:5.0f} s: {faults}, {jobs}", file=sys.stderr, flush=True)

    def end(self) -> None:
        """No process of the campaign is left."""
        for pid in list(self.processes):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        until = time.monotonic() + 5
        while self.processes and time.monotonic() < until:
            self._ended()
            time.sleep(0.05)
