"""The queue's folder: one file for each job, one lock.

`waiting/`, `running/` and `ended/` hold `<id>.json`; a job is in the last of them that has its file. `scripts/<id>` is
the script as it was submitted, `tags/<tag>` holds the id that a tag belongs to, `last-id` the last id given,
`limits.json` what may be used, `host` whose queue it is. Files are replaced as a whole (temporary name, fsync, rename),
and all that change them hold `lock`.
"""

from __future__ import annotations

import errno
import fcntl
import json
import os
import signal
from contextlib import contextmanager, suppress

from .job import ENDS, Job
from .trouble import Trouble

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import FrameType

PLACES = ("ended", "running", "waiting")
LOCK_TIMEOUT_S = 30.0


class Unreadable(Exception):
    """A job's file is there and cannot be read: nothing is known of this job, and all others are as they were."""


class Folder:
    """The folder of one host's and one user's queue; made when it is not there."""

    def __init__(self, path: str) -> None:
        self.path = path

    def at(self, *parts: str) -> str:
        """A path in the folder."""
        return os.path.join(self.path, *parts)

    def prepare(self) -> None:
        """Make what is missing, and refuse the queue of another host: process ids and locks say nothing there."""
        if not os.path.isdir(self.at("tags")):
            for name in ("waiting", "running", "ended", "scripts", "tags"):
                os.makedirs(self.at(name), mode=0o700, exist_ok=True)
        host = os.uname().nodename
        try:
            with open(self.at("host"), encoding="utf-8") as file:
                owner = file.read().strip()
        except FileNotFoundError:
            self.write("host", host)
            owner = host
        if owner and owner != host:
            raise Trouble("wrong-host", f"{self.path} is the queue of {owner}, not of {host}", "use its own")

    @contextmanager
    def lock(self, timeout_s: float = LOCK_TIMEOUT_S) -> Iterator[None]:
        """Hold the queue; `busy` where that takes longer than `timeout_s`."""

        def give_up(_number: int, _frame: FrameType | None) -> None:
            raise Trouble("busy", f"the queue was in use for {timeout_s:g} s", "try again")

        descriptor = os.open(self.at("lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            before = signal.signal(signal.SIGALRM, give_up)
            signal.setitimer(signal.ITIMER_REAL, timeout_s)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, before)
            yield
        finally:
            os.close(descriptor)

    def write(self, name: str, text: str) -> None:
        """Replace one file as a whole; on failure the old one is untouched."""
        temporary = self.at(f"{name}.{os.getpid()}.tmp")
        try:
            with open(temporary, "w", encoding="utf-8", errors="surrogateescape", newline="") as file:
                os.fchmod(file.fileno(), 0o600)
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, self.at(name))
        except BaseException:
            with suppress(OSError):
                os.unlink(temporary)
            raise

    def read(self, name: str) -> object:
        """The JSON of one file; None where there is none or it cannot be read as such."""
        try:
            with open(self.at(name), encoding="utf-8", errors="surrogateescape") as file:
                return json.load(file)
        except (FileNotFoundError, ValueError):
            return None

    def ids(self, place: str) -> list[str]:
        """Ids in one place, oldest first."""
        found = [name[:-5] for name in os.listdir(self.at(place)) if name.endswith(".json") and is_id(name[:-5])]
        return sorted(found, key=int)

    def load(self, place: str, job_id: str) -> Job | None:
        """One job's record; None where it is not in that place. Raises `Unreadable`."""
        try:
            with open(self.at(place, job_id + ".json"), encoding="utf-8", errors="surrogateescape") as file:
                job = Job(**json.load(file))
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, OSError) as error:
            raise Unreadable(f"{place} of job {job_id} cannot be read: {error}") from error
        if job.id != job_id:
            raise Unreadable(f"{place} of job {job_id} tells of job {job.id}")
        return job

    def find(self, job_id: str) -> Job | None:
        """A job wherever it is; None where there is none. Raises `Unreadable`."""
        for place in PLACES:
            job = self.load(place, job_id)
            if job is not None:
                return job
        return None

    def store(self, job: Job) -> None:
        """Write a job's file to the place of its state, and take it out of the place before."""
        place = "ended" if job.state in ENDS else "running" if job.state == "running" else "waiting"
        self.write(os.path.join(place, job.id + ".json"), json.dumps(job.dump(), separators=(",", ":")))
        for other in PLACES:
            if other != place:
                with suppress(FileNotFoundError):
                    os.unlink(self.at(other, job.id + ".json"))
        if place == "ended":
            with suppress(OSError):
                os.unlink(self.at("scripts", job.id))

    def next_id(self) -> str:
        """The next id, one higher than any that was given."""
        last = self.last_id()
        self.write("last-id", str(last + 1))
        return str(last + 1)

    def last_id(self) -> int:
        """The last id given; -1: none yet."""
        try:
            with open(self.at("last-id"), encoding="utf-8") as file:
                return int(file.read())
        except (FileNotFoundError, ValueError):
            return max((int(one) for place in PLACES for one in self.ids(place)[-1:]), default=-1)

    def id_of(self, tag: str) -> str | None:
        """The id that a tag belongs to. Raises `Unreadable` where that cannot be told."""
        try:
            with open(self.at("tags", tag), encoding="utf-8") as file:
                text = file.read().strip()
        except FileNotFoundError:
            return None
        if text.isdigit():
            return text
        for place in PLACES:
            for job_id in self.ids(place):
                job = self.load(place, job_id)
                if job is not None and job.tag == tag:
                    return job_id
        return None


def is_id(text: str) -> bool:
    """Whether a text can be the id of a job here, and so the name of a file."""
    return text.isascii() and text.isdigit() and len(text) < 20


def is_full(error: OSError) -> bool:
    """Whether a write failed for want of room."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT)
