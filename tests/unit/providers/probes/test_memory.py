"""Memory inside a limit is the limit, not the host."""

from typing import Any

import pytest

from dragoman.observation import Outcome
from providers.probes.base import FileRead, Results
from providers.probes.hardware.control_groups import memory_limit
from providers.probes.hardware.memory import MemoryProbe

MEMINFO = "MemTotal:       1056450248 kB\nMemAvailable:   900000000 kB\nSwapTotal:              0 kB\n"
V2 = "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n"
V1 = "30 1 0:26 / /sys/fs/cgroup/memory rw - cgroup none rw,memory\n"
NO_LIMIT_V1 = "9223372036854771712"


@pytest.mark.parametrize(
    ("mounts", "member", "files", "limit"),
    [
        (V2, "0::/slurm/job_7/step_0", {"slurm/job_7/step_0": "max", "slurm/job_7": "96636764160"}, 96636764160),
        (V2, "0::/a/b", {"a/b": "300", "a": "200"}, 200),
        (V2, "0::/a/b", {"a/b": "max", "a": "max"}, None),
        (V1, "5:memory:/a/b", {"a/b": NO_LIMIT_V1, "a": NO_LIMIT_V1, "": NO_LIMIT_V1}, None),
        (V1, "5:memory:/a/b", {"a/b": NO_LIMIT_V1, "a": "64424509440", "": NO_LIMIT_V1}, 64424509440),
        # A container that sees only its own part of the tree.
        (V1.replace(" / ", " /docker/f00 "), "5:memory:/docker/f00", {"": "1073741824"}, 1073741824),
        (V2, "0::/../../other", {"": "max"}, None),
        (V2, "0::/a", {"a": str(2**50)}, None),
    ],
)  # fmt: skip
def test_the_smallest_limit_on_the_way_up(
    host: Any, mounts: str, member: str, files: dict[str, str], limit: int | None
) -> None:
    root, name = (
        ("/sys/fs/cgroup", "memory.max") if mounts == V2 else ("/sys/fs/cgroup/memory", "memory.limit_in_bytes")
    )
    host.files = {"/proc/meminfo": MEMINFO, "/proc/self/cgroup": member, "/proc/self/mountinfo": mounts}
    used = {"memory.max": "memory.current", "memory.limit_in_bytes": "memory.usage_in_bytes"}[name]
    host.files |= {f"{root}/{folder}/{name}".replace("//", "/"): text for folder, text in files.items()}
    host.files |= {f"{root}/{folder}/{used}".replace("//", "/"): "50" for folder in files}
    answer = host.ask(MemoryProbe(), "describe")
    assert answer.value is not None
    assert answer.value.total_bytes == 1056450248 * 1024
    assert answer.value.limit_bytes == limit
    assert answer.value.available_bytes == min(900000000 * 1024, limit - 50 if limit else 2**62)


def test_version_1_writes_a_large_number_for_no_limit() -> None:
    def files(limit: str) -> dict[str, tuple[FileRead, ...]]:
        texts = {"/proc/self/cgroup": "5:memory:/", "/proc/self/mountinfo": V1}
        texts["/sys/fs/cgroup/memory/memory.limit_in_bytes"] = limit
        return {path: (FileRead(path, Outcome.OK, text.encode()),) for path, text in texts.items()}

    assert memory_limit(Results(files=files(NO_LIMIT_V1))) == (None, "")
    assert memory_limit(Results(files=files("4096"))) == (4096, "")
    limit, missed = memory_limit(Results())
    assert limit is None
    assert missed, "what was not read is not 'no limit'"


DENIED = PermissionError("permission denied")
GROUP = "/sys/fs/cgroup/job"


@pytest.mark.parametrize(
    ("files", "limit", "available"),
    [
        ({f"{GROUP}/memory.max": "9000", f"{GROUP}/memory.current": "4000"}, 9000, 5000),
        ({f"{GROUP}/memory.max": "9000", f"{GROUP}/memory.current": "9001"}, 9000, 0),
        ({f"{GROUP}/memory.max": "9000", f"{GROUP}/memory.current": DENIED}, 9000, None),
        ({f"{GROUP}/memory.max": "9000"}, 9000, None),
        ({f"{GROUP}/memory.max": "9000", f"{GROUP}/memory.current": ""}, 9000, None),
        ({f"{GROUP}/memory.max": DENIED, f"{GROUP}/memory.current": "4000"}, None, None),
        ({f"{GROUP}/memory.max": "", f"{GROUP}/memory.current": "4000"}, None, None),
        ({f"{GROUP}/memory.max": "max", f"{GROUP}/memory.current": DENIED}, None, 900000000 * 1024),
        ({f"{GROUP}/memory.max": str(2**60), f"{GROUP}/memory.current": DENIED}, None, 900000000 * 1024),
        ({"/proc/self/cgroup": DENIED}, None, None),
        ({"/proc/self/mountinfo": DENIED}, None, None),
        ({"/proc/self/mountinfo": "30 1 0:26 / / rw - ext4 /dev/sda rw\n"}, None, None),
    ],
)
def test_what_a_limit_leaves_is_less_what_is_used(
    host: Any, files: dict[str, str | Exception], limit: int | None, available: int | None
) -> None:
    host.files = {"/proc/meminfo": MEMINFO, "/proc/self/cgroup": "0::/job", "/proc/self/mountinfo": V2, **files}
    answer = host.ask(MemoryProbe(), "describe")
    assert answer.value is not None
    assert (answer.value.limit_bytes, answer.value.available_bytes) == (limit, available)
    assert answer.value.total_bytes == 1056450248 * 1024


@pytest.mark.parametrize("meminfo", [PermissionError("denied"), "", "MemFree: 12 kB\n"])
def test_no_total_is_unknown_not_zero(host: Any, meminfo: str | Exception) -> None:
    host.files = {"/proc/meminfo": meminfo}
    assert host.ask(MemoryProbe(), "describe").outcome is Outcome.UNKNOWN
