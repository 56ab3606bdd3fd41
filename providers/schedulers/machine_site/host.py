"""What this host has for jobs: the defaults of the queue's limits."""

from __future__ import annotations

import math
import os

from .processes import boot_id, read_text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from .folder import Folder


GRACE_S = 10
"""Between TERM and KILL when a job is ended: walltime, cancel, shutdown."""


def limits_of(folder: Folder) -> dict[str, Any]:
    """`cpus`, `cpu_ids`, `cores`, `memory` (bytes), `gpus`, `grace` (seconds): as set by a person, else the host's.

    The host's are stored once for each boot, because a submit from within a job sees that job's CPUs only.
    """
    stored = folder.read("limits.json")
    if isinstance(stored, dict) and (stored.get("by") == "person" or stored.get("boot") == boot_id()):
        return stored
    found = host_limits()
    try:
        write_limits(folder, found)
    except OSError:
        return found
    return found


def write_limits(folder: Folder, limits: dict[str, Any]) -> None:
    """Store limits."""
    import json

    folder.write("limits.json", json.dumps(limits))


def host_limits() -> dict[str, Any]:
    """What the host has, within the control group's limits of this process."""
    cpu_ids = sorted(os.sched_getaffinity(0))
    cpus = min(len(cpu_ids), _quota() or len(cpu_ids))
    return {
        "by": "host", "boot": boot_id(), "cpus": cpus, "cpu_ids": cpu_ids, "cores": min(_cores(cpu_ids), cpus),
        "memory": _memory(), "gpus": _gpus(), "grace": GRACE_S,
    }  # fmt: skip


def _groups() -> list[tuple[str, str]]:
    """Controllers (empty for version 2) and folders of this process's control groups, parents included."""
    found = []
    for line in read_text("/proc/self/cgroup").splitlines():
        _, controllers, path = [*line.split(":", 2), "", ""][:3]
        root = os.path.join("/sys/fs/cgroup", controllers.replace("name=", ""))
        while True:
            found.append((controllers, root + path.rstrip("/")))
            if path in ("", "/"):
                break
            path = os.path.dirname(path)
    return found


def _quota() -> int:
    """Whole CPUs that the control group's time quota amounts to; 0: no quota."""
    quotas = []
    for controllers, path in _groups():
        words = read_text(path + "/cpu.max").split()
        if "cpu" in controllers.split(","):
            words = [read_text(path + "/cpu.cfs_quota_us").strip(), read_text(path + "/cpu.cfs_period_us").strip()]
        if len(words) == 2 and words[0].isdigit() and words[1].isdigit() and int(words[1]):
            quotas.append(max(1, math.floor(int(words[0]) / int(words[1]))))
    return min(quotas, default=0)


def _cores(cpu_ids: list[int]) -> int:
    """Physical cores that these CPUs are on: threads of one core name each other. 0: not known."""
    found = {read_text(f"/sys/devices/system/cpu/cpu{one}/topology/thread_siblings_list").strip() for one in cpu_ids}
    return 0 if "" in found else len(found)


def _memory() -> int:
    """Bytes of the host, or of the control group's limit where that is less; 0: not known."""
    total = 0
    for line in read_text("/proc/meminfo").splitlines():
        if line.startswith("MemTotal:"):
            total = int(line.split()[1]) * 1024
    for controllers, path in _groups():
        name = "memory.limit_in_bytes" if "memory" in controllers.split(",") else "memory.max"
        text = read_text(os.path.join(path, name)).strip()
        if text.isdigit() and 0 < int(text) < total:
            total = int(text)
    return total


def _gpus() -> int:
    """Devices of NVIDIA's or AMD's driver."""
    try:
        nvidia = [name for name in os.listdir("/dev") if name.startswith("nvidia") and name[6:].isdigit()]
    except OSError:
        nvidia = []
    if nvidia:
        return len(nvidia)
    nodes = "/sys/class/kfd/kfd/topology/nodes"
    try:
        return sum(
            read_text(os.path.join(nodes, node, "gpu_id")).strip() not in ("", "0") for node in os.listdir(nodes)
        )
    except OSError:
        return 0
