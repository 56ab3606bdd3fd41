"""Who is on a host: by the list that sees them, and unknown where a list cannot see them all."""

from typing import Any

import pytest

from dragoman.kleene import Truth
from providers.probes.hardware.host import Host
from providers.probes.network.infiniband import Infiniband

WHO = "alice pts/0 2026-11-30 10:00 (10.0.0.1)\nbob pts/1 2026-11-30 10:01\n"
PROC = "proc /proc proc rw,nosuid,relatime 0 0\n"
HIDES = "proc /proc proc rw,hidepid=2 0 0\n"


def tenancy(host: Any, **files: str) -> Any:
    host.files = {"/proc/self/mounts": PROC, "/proc/2/comm": "kthreadd\n", "/run/utmp": "x", **files}
    answer = host.ask(Host(), "tenancy")
    assert answer.value is not None
    return answer.value


@pytest.mark.parametrize(
    ("listed", "who", "sessions"),
    [
        ("", WHO, 2),
        ("", "", 0),
        ("  1 1001 alice - 12 manager - no -\n", "", 0),
        ("  1 1001 alice - 12 manager - no -\n", WHO, 2),
        ("  1 1001 alice - 12 manager-early - no -\n  2 1001 alice - 13 user pts/0 no -\n", WHO, 1),
        ("  c1 42 gdm seat0 900 greeter tty1 no -\n  2 1001 alice - 13 user pts/0 no -\n", "", 1),
        ("  2 1001 alice seat0 tty2\n", "", 1),
        ("", (1, "", "who: failed"), 0),
    ],
)
def test_sessions_that_somebody_logged_in_for(host: Any, listed: str, who: Any, sessions: int) -> None:
    host.commands = {"loginctl": listed, "who": who}
    assert tenancy(host).sessions == sessions


@pytest.mark.parametrize(
    ("files", "running", "others"),
    [
        ({}, 2, Truth.YES),
        ({"/proc/2/comm": "bash\n"}, None, Truth.UNKNOWN),
        ({"/proc/2/comm": ""}, None, Truth.UNKNOWN),
        ({"/proc/self/mounts": PROC + HIDES}, None, Truth.UNKNOWN),
        ({"/proc/self/mounts": HIDES + PROC}, 2, Truth.YES),
    ],
)
def test_processes_are_counted_where_all_of_them_are_seen(
    host: Any, files: dict[str, str], running: int | None, others: Truth
) -> None:
    host.commands = {"ps": "    0\n 1001\n 1002\n", "id": "1001\n", "who": WHO}
    told = tenancy(host, **files)
    assert (told.users_running, told.others_running) == (running, others)


def test_the_last_mount_of_proc_lies_on_top(host: Any) -> None:
    host.commands = {"who": WHO}
    assert tenancy(host, **{"/proc/self/mounts": PROC + HIDES}).processes_hidden is Truth.YES
    assert tenancy(host, **{"/proc/self/mounts": HIDES + PROC}).processes_hidden is Truth.NO


@pytest.mark.parametrize(
    ("state", "up"),
    [
        ("4: ACTIVE", Truth.YES), ("1: DOWN", Truth.NO), ("2: INIT", Truth.NO), ("3: ARMED", Truth.NO),
        ("0: NOP", Truth.UNKNOWN), ("5: ACTIVE_DEFER", Truth.UNKNOWN), ("9: WHAT", Truth.UNKNOWN),
    ],
)  # fmt: skip
def test_words_of_a_port_that_tell_neither(host: Any, state: str, up: Truth) -> None:
    port = "/sys/class/infiniband/mlx5_0/ports/1"
    host.files = {f"{port}/state": state, f"{port}/link_layer": "InfiniBand", f"{port}/rate": "200 Gb/sec"}
    answer = host.ask(Infiniband(), "interfaces")
    assert answer.value is not None
    assert answer.value.interfaces[0].up is up
