"""What /proc tells of processes (proc(5)), and how a whole tree of them is ended."""

from __future__ import annotations

import os
import signal
from contextlib import suppress

SUPERVISOR = b"DRAGOMAN_SUPERVISOR="
"""In the environment of supervisors: a job that submits another must not take that one's supervisor for its own."""
_boot = ""


def read_text(path: str) -> str:
    """A small file's text; empty where it cannot be read."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except OSError:
        return ""


def boot_id() -> str:
    """What tells one boot of the host from another."""
    global _boot
    if not _boot:
        _boot = read_text("/proc/sys/kernel/random/boot_id").strip() or "unknown"
    return _boot


def _stat(pid: int) -> list[str]:
    """Fields of /proc/<pid>/stat from the third on; the name before may hold blanks and brackets."""
    return read_text(f"/proc/{pid}/stat").rpartition(")")[2].split()


def started(pid: int) -> int:
    """When a live process started, in clock ticks since the boot; 0: there is none, or it only waits to be reaped."""
    fields = _stat(pid)
    return int(fields[19]) if len(fields) > 19 and fields[0] not in ("Z", "X") else 0


def is_alive(identity: list[int], boot: str) -> bool:
    """Whether this very process is there: same number, same start, same boot."""
    return len(identity) == 2 and boot == boot_id() and started(identity[0]) == identity[1] > 0


def _environment(pid: int) -> bytes:
    try:
        with open(f"/proc/{pid}/environ", "rb") as file:
            return b"\0" + file.read()
    except OSError:
        return b""


def _all() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def children(pid: int) -> list[int]:
    """Direct children. By /proc/<pid>/task/*/children where the kernel has it, else by looking at all processes."""
    found: list[int] = []
    try:
        for task in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
                found += [int(word) for word in file.read().split()]
    except FileNotFoundError:
        if os.path.exists(f"/proc/{pid}") and not os.path.exists(f"/proc/self/task/{os.getpid()}/children"):
            return [one for one in _all() if _stat(one)[1:2] == [str(pid)]]
    except OSError:
        return found
    return found


def descendants(root: int) -> list[int]:
    """All live processes below one, without other jobs' supervisors and what is below those."""
    found: list[int] = []
    queue = [one for one in children(root) if b"\0" + SUPERVISOR not in _environment(one)]
    while queue:
        pid = queue.pop()
        if started(pid):
            found.append(pid)
        queue += children(pid)
    return found


def leftovers(markers: list[bytes], leader: list[int]) -> list[int]:
    """Processes of a job whose supervisor is gone: its session, and all that carry its marks in their environment."""
    marks = [b"\0" + marker + b"\0" for marker in markers]
    led = len(leader) == 2 and started(leader[0]) == leader[1]
    found: set[int] = set()
    for pid in _all():
        fields = _stat(pid)
        # A session's number says nothing any more when its leader is gone: another may have it by now.
        in_session = led and len(fields) > 3 and str(leader[0]) in (fields[2], fields[3])
        if pid != os.getpid() and started(pid) and (in_session or _has(_environment(pid) + b"\0", marks)):
            found.add(pid)
    for pid in list(found):
        found.update(descendants(pid))
    return sorted(found)


def _has(environment: bytes, marks: list[bytes]) -> bool:
    return all(mark in environment for mark in marks) and b"\0" + SUPERVISOR not in environment


def send(pids: list[int], number: int) -> None:
    """Signal each; those that are gone or belong to others are passed over."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)
    if number == signal.SIGTERM:
        send(pids, signal.SIGCONT)


def memory(pids: list[int], limit: int) -> int:
    """Bytes that processes hold. Shared pages are counted once (PSS) where the plain sum (RSS) is over the limit."""
    page = os.sysconf("SC_PAGE_SIZE")
    resident = {pid: _resident(pid) * page for pid in pids}
    total = sum(resident.values())
    if not limit or total <= limit:
        return total
    return sum(_proportional(pid, resident[pid]) for pid in pids)


def _resident(pid: int) -> int:
    fields = read_text(f"/proc/{pid}/statm").split()
    return int(fields[1]) if len(fields) > 1 else 0


def _proportional(pid: int, otherwise: int) -> int:
    for line in read_text(f"/proc/{pid}/smaps_rollup").splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    return otherwise
