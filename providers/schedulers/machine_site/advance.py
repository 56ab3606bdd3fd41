"""Moves the queue on: settles jobs whose supervisor died, then starts what fits. The lock is held by the caller.

The order is that of submission, without backfill: the first job that could run and finds no room holds all behind it.
Jobs that are held, wait for others or for a time, or are larger than the host are passed over and hold nobody.
"""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress

from .folder import Folder, Unreadable
from .host import limits_of
from .job import ENDS, Job
from .launch import launch
from .processes import boot_id, is_alive, leftovers, send

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

KILL_TIMEOUT_S = 5.0


class Outlook:
    """How the queue stands: its limits, what is free, which job is next and finds no room, and what went wrong."""

    def __init__(self, limits: dict[str, Any], running: list[Job], notes: list[str]) -> None:
        self.limits = limits
        self.running = running
        self.notes = notes
        self.head = ""
        """The job that could run and finds no room."""

    @property
    def free(self) -> dict[str, int]:
        """CPUs, memory (0 where the host's is not known) and GPUs that no running job holds."""
        used = {name: sum(getattr(job, name) for job in self.running) for name in ("cpus", "memory", "gpus")}
        return {name: max(0, self.limits[name] - count) for name, count in used.items()}

    def fits(self, job: Job) -> bool:
        """Whether there is room for it now."""
        free = self.free
        room = job.memory <= free["memory"] or not self.limits["memory"]
        return need(job, self.limits)["cpus"] <= free["cpus"] and room and job.gpus <= free["gpus"]


def need(job: Job, limits: dict[str, Any]) -> dict[str, int]:
    """What a job takes of this host."""
    return {"cpus": limits["cpus"] if job.exclusive else job.cpus, "memory": job.memory, "gpus": job.gpus}


def too_large(job: Job, limits: dict[str, Any]) -> str:
    """Why a job can never run under these limits; empty where it can."""
    for name, asked in need(job, limits).items():
        if asked > limits[name] and (name != "memory" or limits["memory"]):
            return f"asks for {asked} {name}, and this machine gives {limits[name]}"
    return ""


def advance(folder: Folder) -> Outlook:
    """Settle and start. A job that cannot be started stays where it is, and the notes say why."""
    notes: list[str] = []
    running = _settle(folder, notes)
    outlook = Outlook(limits_of(folder), running, notes)
    for job_id in folder.ids("waiting"):
        try:
            # A job that moved on while the host stopped has its file in two places: the later one counts.
            moved = any(os.path.exists(folder.at(place, job_id + ".json")) for place in ("ended", "running"))
            job = None if moved else folder.load("waiting", job_id)
        except Unreadable as error:
            notes.append(str(error))
            continue
        if job is None:
            if moved:
                with suppress(OSError):
                    os.unlink(folder.at("waiting", job_id + ".json"))
            continue
        why, never = blocked(folder, job)
        if never:
            job.state, job.reason, job.ended = "never-ran", why, time.time()
            folder.store(job)
        elif not why and not too_large(job, outlook.limits):
            if not outlook.fits(job):
                outlook.head = job.id
                break
            _assign(job, outlook)
            launch(folder, job)
            outlook.running.append(job)
    return outlook


def blocked(folder: Folder, job: Job) -> tuple[str, bool]:
    """Why a waiting job may not start yet (empty where it may), and whether it never can."""
    if job.state == "held":
        return "held by a person", False
    for kind, other in job.after:
        try:
            before = folder.find(other)
        except Unreadable:
            return f"nothing is known of job {other}, which it follows", False
        if before is None:
            return f"job {other}, which it follows ({kind}), is not known any more", kind != "afterany"
        if before.state not in ENDS:
            if kind != "after" or before.state != "running":
                return f"follows job {other} ({kind})", False
        elif (
            (kind == "afterok" and before.state != "completed")
            or (kind == "afternotok" and before.state == "completed")
            or (kind == "after" and not before.started)
        ):
            return f"job {other}, which it follows ({kind}), ended as {before.state}", True
    if job.begin > time.time():
        return "begins at {}".format(time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(job.begin))), False
    return "", False


def _assign(job: Job, outlook: Outlook) -> None:
    """Give CPUs and GPUs by number, so that two jobs never share one."""
    if job.exclusive:
        job.cpus = outlook.limits["cpus"]
    all_cpus, used_cpus = outlook.limits["cpu_ids"], {one for other in outlook.running for one in other.cpu_ids}
    free_cpus = [one for one in all_cpus if one not in used_cpus]
    # With more CPUs given by a person than there are, they are counted only.
    exact = outlook.limits["cpus"] <= len(all_cpus)
    job.cpu_ids = free_cpus[: job.cpus] if exact and len(free_cpus) >= job.cpus else []
    used_gpus = {one for other in outlook.running for one in other.gpu_ids}
    job.gpu_ids = [one for one in range(outlook.limits["gpus"]) if one not in used_gpus][: job.gpus]


def _settle(folder: Folder, notes: list[str]) -> list[Job]:
    """Jobs that run; those whose supervisor is gone are ended."""
    running = []
    for job_id in folder.ids("running"):
        try:
            if os.path.exists(folder.at("ended", job_id + ".json")):
                os.unlink(folder.at("running", job_id + ".json"))
                continue
            job = folder.load("running", job_id)
        except Unreadable as error:
            notes.append(str(error))
            continue
        if job is None:
            continue
        if not is_alive(job.supervisor, job.boot):
            try:
                _end_lost(folder, job)
                continue
            except OSError as error:
                notes.append(f"the end of job {job.id} cannot be recorded: {error.strerror}")
        running.append(job)
    return running


def _end_lost(folder: Folder, job: Job) -> None:
    """End a job whose supervisor died: what the job itself recorded counts; without that it is never a success."""
    own = own_end(job)
    remain = 0 if job.boot != boot_id() else _kill_leftovers(folder, job)
    own = own or own_end(job)
    job.ended = time.time()
    lost = "the host was started anew" if job.boot != boot_id() else "supervisor lost"
    if own is None:
        job.state, job.reason = "node-failed", lost
    else:
        job.exit_code, job.ended = own
        job.state = "completed" if job.exit_code == 0 else "cancelled" if job.cancelled else "failed"
        job.reason = f"{lost}; the job recorded its end itself"
    if remain:
        job.reason += f"; {remain} of its processes cannot be killed"
    folder.store(job)


def marks(folder: Folder, job: Job) -> list[bytes]:
    """What every process of a job has in its environment, unless it took care to drop it."""
    texts = ["DRAGOMAN_JOB_ID=" + job.id, "DRAGOMAN_MACHINE=" + folder.path]
    if job.tag:
        texts.append("DRAGOMAN_TAG=" + job.tag)
    return [os.fsencode(text) for text in texts]


def _kill_leftovers(folder: Folder, job: Job) -> int:
    """Kill what is left of a job; how many are still there after a while."""
    give_up = time.monotonic() + KILL_TIMEOUT_S
    while True:
        left = leftovers(marks(folder, job), job.process)
        if not left or time.monotonic() > give_up:
            return len(left)
        send(left, signal.SIGKILL)
        time.sleep(0.01)


def own_end(job: Job) -> tuple[int, float] | None:
    """Exit code and time that the job wrote to `<control_dir>/exit`; None where it did not, or another job did."""
    if not job.control_dir:
        return None
    try:
        with open(os.path.join(job.control_dir, "exit"), encoding="utf-8", errors="replace") as file:
            words = [line.rstrip("\n").partition(" ") for line in file]
        lines = {key: value for key, _, value in words}
        if lines.get("job") != job.id:
            return None
        import calendar

        ended = float(calendar.timegm(time.strptime(lines["ended"], "%Y-%m-%dT%H:%M:%SZ")))
        return int(lines["rc"]), ended
    except (OSError, KeyError, ValueError):
        return None
