"""The command line: one verb, JSON on stdout, also for errors (with an exit code).

    submit [--tag TAG] [--hold] SCRIPT   take a job; the same tag gives the same job
    status ID...                         these jobs: found, or shown not to be there
    find TAG                             the job with a tag
    cancel ID, hold ID, release ID
    info                                 limits, what is free, how many jobs
    estimate DIRECTIVES                  when a job with these (`--cpus=4 --walltime=60`) would start
    limits [--cpus N] [--memory BYTES] [--gpus N] [--grace SECONDS] [--host]
                                         show or set what jobs may use, and the time between TERM and KILL
    prune --older-than SECONDS           forget ended jobs, and their tags

All take `--state FOLDER`; without it, `.dragoman/machine/<host>` in the home of the user.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from contextlib import suppress

from .advance import Outlook, advance, blocked, need, own_end, too_large
from .directives import PREFIX, read_directives
from .estimate import estimate
from .folder import PLACES, Folder, Unreadable, is_full, is_id
from .host import host_limits, limits_of, write_limits
from .job import ENDS, Job
from .processes import is_alive
from .start import inherited
from .trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = 1
MAX_SCRIPT_BYTES = 16 * 2**20
FLAGS = ("--hold", "--host")


def main(argv: list[str]) -> int:
    """Run one verb."""
    try:
        verb, options, words = _parse(argv)
        folder = _open(options)
        if verb == "_supervise":
            from .supervisor import supervise

            return supervise(folder, words[0])
        answer = VERBS[verb](folder, options, words)
    except Trouble as error:
        return _tell({"error": {"kind": error.kind, "what": error.what, "cure": error.cure}}, error.rc)
    except OSError as error:
        full = is_full(error)
        what = "{}{}".format(error.strerror or error, f": {error.filename}" if error.filename else "")
        kind, cure = ("full", "make room, then try again") if full else ("failed", "")
        return _tell({"error": {"kind": kind, "what": what, "cure": cure}}, Trouble.CODES[kind])
    return _tell(answer, 0)


def _tell(answer: dict[str, Any], rc: int) -> int:
    sys.stdout.write(json.dumps({"schema": SCHEMA, **answer}, separators=(",", ":")) + "\n")
    sys.stdout.flush()
    return rc


def _parse(argv: list[str]) -> tuple[str, dict[str, str], list[str]]:
    if not argv or argv[0] not in (*VERBS, "_supervise"):
        raise Trouble("bad-request", "there is no such verb", "verbs: {}".format(", ".join(VERBS)))
    options: dict[str, str] = {}
    words: list[str] = []
    rest = iter(argv[1:])
    for word in rest:
        if word == "--":
            words += rest
        elif word.startswith("--"):
            name, has_value, value = word.partition("=")
            if name not in FLAGS and not has_value:
                value = next(rest, "")
            if name not in FLAGS and not value:
                raise Trouble("bad-request", f"{name} has no value")
            options[name[2:]] = value
        else:
            words.append(word)
    return argv[0], options, words


def _open(options: dict[str, str]) -> Folder:
    if not sys.platform.startswith("linux"):
        raise Trouble("failed", "this queue needs Linux's /proc", "use another scheduler here")
    path = options.get("state", "")
    if not path:
        home = os.path.expanduser("~")  # HOME counts first
        if not os.path.isdir(home):
            raise Trouble("failed", f"the home {home} is not to be seen", "mount it, or give --state")
        path = os.path.join(home, ".dragoman", "machine", os.uname().nodename)
    folder = Folder(os.path.abspath(path))
    folder.prepare()
    return folder


def _one(words: list[str], what: str) -> str:
    if len(words) != 1:
        raise Trouble("bad-request", f"give one {what}")
    return words[0]


def _read_script(path: str) -> tuple[bytes, Job]:
    with open(path, "rb") as file:
        script = file.read(MAX_SCRIPT_BYTES + 1)
    if len(script) > MAX_SCRIPT_BYTES:
        raise Trouble("bad-request", f"the script is larger than {MAX_SCRIPT_BYTES} bytes")
    return script, Job(id="0", **read_directives(script.decode("utf-8", "surrogateescape")))


def submit(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """Take a job, once for each tag."""
    path = _one(words, "script")
    script, job = _read_script(path)
    tag = options.get("tag", job.tag)
    if job.tag and job.tag != tag:
        raise Trouble("bad-request", f"the script has the tag {job.tag}, the command line {tag}")
    job.tag = read_directives(f"{PREFIX} --tag={tag}")["tag"] if tag else ""
    if not job.work_dir or "work_dir" not in vars(job):
        job.work_dir = os.getcwd()
    with folder.lock():
        known = folder.id_of(job.tag) if job.tag else None
        try:
            there = folder.find(known) if known else None
        except Unreadable:
            return {"job": {"id": known, "state": "unknown"}, "existing": True}
        if there is not None:
            return {"job": there.shown(), "existing": True}
        outlook = _advance(folder)
        large = too_large(job, outlook.limits)
        if large:
            raise Trouble("too-large", large, "ask for less")
        for _, other in job.after:
            if not any(os.path.exists(folder.at(place, other + ".json")) for place in PLACES):
                raise Trouble("bad-request", f"there is no job {other} to follow", "name a job of this queue")
        mask = os.umask(0)
        os.umask(mask)
        job.id, job.umask, job.submitted = known or folder.next_id(), mask, time.time()
        job.environment, job.state = inherited(dict(os.environ)), "held" if "hold" in options else "pending"  # noqa: TID251
        folder.write("scripts/" + job.id, script.decode("utf-8", "surrogateescape"))
        if job.tag:
            folder.write("tags/" + job.tag, job.id)
        folder.store(job)
        outlook = _advance(folder)
        return {"job": (folder.find(job.id) or job).shown(), "existing": False, "notes": outlook.notes}


def _advance(folder: Folder) -> Outlook:
    """Move the queue on; what cannot be started or recorded now is started or recorded the next time."""
    try:
        return advance(folder)
    except OSError as error:
        running = []
        for job_id in folder.ids("running"):
            with suppress(Unreadable):
                job = folder.load("running", job_id)
                running += [job] if job is not None else []
        return Outlook(limits_of(folder), running, [f"the queue cannot be moved on: {error.strerror}"])


def status(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """These jobs. Absent is only what was forgotten (`prune`).

    A job whose file cannot be read is `unknown`, and so is a number that was never given: whoever asks had it from a
    queue that is not in this folder now (not mounted, replaced).
    """
    jobs, absent = [], []
    with folder.lock():
        outlook = _advance(folder)
        last = folder.last_id()
        for job_id in dict.fromkeys(words):
            try:
                job = folder.find(job_id) if is_id(job_id) else None
                if job is None and (not is_id(job_id) or int(job_id) > last):
                    raise Unreadable(f"{folder.path} never gave the number {job_id[:80]}")
            except Unreadable as error:
                jobs.append({"id": job_id, "state": "unknown", "reason": str(error)})
                continue
            if job is None:
                absent.append(job_id)
            else:
                jobs.append(_shown(folder, job, outlook))
    return {"host": os.uname().nodename, "jobs": jobs, "absent": absent, "notes": outlook.notes}


def _shown(folder: Folder, job: Job, outlook: Outlook) -> dict[str, Any]:
    shown = job.shown()
    if job.state in ("pending", "held"):
        why = blocked(folder, job)[0] or too_large(job, outlook.limits)
        if not why:
            why = "no room" if outlook.head == job.id else f"behind job {outlook.head}" if outlook.head else "starts"
        shown["reason"] = why
        shown["never"] = bool(too_large(job, outlook.limits))
    elif job.state == "running" and own_end(job) is not None:
        shown["state"] = "completing"
    return shown


def find(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """The job with a tag: ok, absent, or unknown where a file cannot be read."""
    tag = read_directives(PREFIX + " --tag=" + _one(words, "tag"))["tag"]
    with folder.lock():
        outlook = _advance(folder)
        try:
            job_id = folder.id_of(tag)
            job = folder.find(job_id) if job_id else None
        except Unreadable as error:
            return {"outcome": "unknown", "reason": str(error)}
        if job is None:
            return {"outcome": "absent"}
        return {"outcome": "ok", "job": _shown(folder, job, outlook)}


def list_jobs(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """Jobs that wait or run. One whose file cannot be read is `unknown`."""
    jobs = []
    with folder.lock():
        outlook = _advance(folder)
        for place in ("waiting", "running"):
            for job_id in folder.ids(place):
                try:
                    job = folder.load(place, job_id)
                except Unreadable as error:
                    jobs.append({"id": job_id, "state": "unknown", "reason": str(error)})
                    continue
                if job is not None:
                    jobs.append(_shown(folder, job, outlook))
    return {"host": os.uname().nodename, "jobs": jobs, "notes": outlook.notes}


def _known(folder: Folder, words: list[str]) -> Job:
    job_id = _one(words, "job id")
    try:
        job = folder.find(job_id) if is_id(job_id) else None
    except Unreadable as error:
        raise Trouble("failed", str(error), "mend or remove the file") from error
    if job is None:
        raise Trouble("no-such-job", f"there is no job {job_id[:80]}")
    return job


def cancel(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """End a job: at once where it waits; where it runs, its supervisor is told and the answer does not wait."""
    with folder.lock():
        _advance(folder)
        job = _known(folder, words)
        if job.state in ("pending", "held"):
            job.state, job.cancelled, job.ended, job.reason = "cancelled", time.time(), time.time(), "before its start"
            folder.store(job)
            _advance(folder)
        elif job.state == "running":
            if not job.cancelled:
                job.cancelled = time.time()
                folder.store(job)
            if is_alive(job.supervisor, job.boot):
                os.kill(job.supervisor[0], signal.SIGTERM)
    return {"job": job.shown(), "already_ended": job.state in ENDS and job.reason != "before its start"}


def hold(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """Keep a waiting job from starting."""
    return _turn(folder, words, "pending", "held")


def release(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """Let a held job start; it keeps its place in the order."""
    return _turn(folder, words, "held", "pending")


def _turn(folder: Folder, words: list[str], before: str, after: str) -> dict[str, Any]:
    with folder.lock():
        _advance(folder)
        job = _known(folder, words)
        if job.state not in (before, after):
            raise Trouble("bad-request", f"job {job.id} is {job.state}", "only waiting jobs can be held")
        if job.state == before:
            job.state = after
            folder.store(job)
            _advance(folder)
            job = folder.find(job.id) or job
        return {"job": job.shown()}


def info(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """Limits, what is free, and how many jobs wait, are held, run."""
    with folder.lock():
        outlook = _advance(folder)
        waiting = folder.ids("waiting")
        held = 0
        for job_id in waiting:
            with suppress(Unreadable):
                job = folder.load("waiting", job_id)
                held += job is not None and job.state == "held"
    return {
        "host": os.uname().nodename,
        "limits": {
            name: outlook.limits[name] for name in ("cpus", "cores", "memory", "gpus") if name in outlook.limits
        },
        "free": outlook.free,
        "pending": len(waiting) - held,
        "held": held,
        "running": len(outlook.running),
        "notes": outlook.notes,
        "python": "{}.{}.{}".format(*sys.version_info[:3]),
    }


def estimate_start(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """When a job would start at the latest, as far as the walltimes of those before it tell."""
    job = Job(id="0", **read_directives(PREFIX + " " + _one(words, "line of directives")))
    with folder.lock():
        outlook = _advance(folder)
        large = too_large(job, outlook.limits)
        if large:
            raise Trouble("too-large", large, "ask for less")
        waiting = []
        for job_id in folder.ids("waiting"):
            with suppress(Unreadable):
                other = folder.load("waiting", job_id)
                waiting += [other] if other is not None and not blocked(folder, other)[0] else []
        return {"seconds": estimate(job, outlook, waiting, time.time()), "needs": need(job, outlook.limits)}


def limits(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """Show or set what jobs may use; `--host`: what the host has."""
    with folder.lock():
        outlook = _advance(folder)
        now = host_limits() if "host" in options else outlook.limits
        given = {name: options[name] for name in ("cpus", "memory", "gpus", "grace") if name in options}
        for name, text in given.items():
            if not text.isdigit() or (name == "cpus" and int(text) < 1):
                raise Trouble("bad-request", f"--{name}={text} is no number", "memory is in bytes")
            now = {**now, name: int(text), "by": "person"}
            if name == "cpus":
                now.pop("cores", None)  # how many cores those are is not said
        if given or "host" in options:
            write_limits(folder, now)
            _advance(folder)
    return {"limits": {name: now[name] for name in ("cpus", "memory", "gpus", "grace")}, "by": now["by"]}


def prune(folder: Folder, options: dict[str, str], words: list[str]) -> dict[str, Any]:
    """Forget jobs that ended longer ago; their tags are free then."""
    text = options.get("older-than", "")
    if not text.isdigit():
        raise Trouble("bad-request", "--older-than is missing or no number of seconds")
    pruned = []
    with folder.lock():
        for job_id in folder.ids("ended"):
            with suppress(Unreadable):
                job = folder.load("ended", job_id)
                if job is not None and job.ended < time.time() - int(text):
                    for name in (
                        "scripts/" + job.id,
                        f"ended/{job.id}.json",
                        *(["tags/" + job.tag] if job.tag else []),
                    ):
                        with suppress(FileNotFoundError):
                            os.unlink(folder.at(name))
                    pruned.append(job_id)
    return {"pruned": pruned}


VERBS = {
    "submit": submit, "status": status, "find": find, "list": list_jobs, "cancel": cancel, "hold": hold,
    "release": release, "info": info, "estimate": estimate_start, "limits": limits, "prune": prune,
}  # fmt: skip
