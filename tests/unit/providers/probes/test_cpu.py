"""Processors: cores are not threads, `-` and 0 are not numbers, and a limit is what may be used."""

from typing import Any

import pytest

from dragoman.facts import Cpu, CpuCluster
from dragoman.observation import Outcome
from providers.probes.hardware.cpu import CpuProbe, count_cpus

EPYC = """\
Architecture:        x86_64
CPU(s):              256
On-line CPU(s) list: 0-255
Vendor ID:           AuthenticAMD
Model name:          AMD EPYC 7763 64-Core Processor
CPU family:          25
Model:               1
Thread(s) per core:  2
Core(s) per socket:  64
Socket(s):           2
Flags:               fpu avx avx2
"""
BIG_LITTLE = """\
Architecture:          aarch64
CPU(s):                8
Vendor ID:             ARM
Model name:            Cortex-A55
Thread(s) per core:    1
Core(s) per socket:    4
Socket(s):             1
Model name:            Cortex-A76
Thread(s) per core:    1
Core(s) per socket:    4
Socket(s):             1
"""


BY_CLUSTERS = """\
Architecture:          aarch64
CPU(s):                8
Vendor ID:             ARM
Model name:            Cortex-A55
Thread(s) per core:    1
Core(s) per cluster:   4
Socket(s):             -
Cluster(s):            1
Model name:            Cortex-A76
Thread(s) per core:    1
Core(s) per cluster:   4
Socket(s):             -
Cluster(s):            1
"""


def describe(host: Any) -> Cpu:
    answer = host.ask(CpuProbe(), "describe")
    assert answer.outcome is Outcome.OK, answer
    value = answer.value
    assert isinstance(value, Cpu)
    return value


def test_cores_threads_and_what_this_process_may_use_are_three_numbers(host: Any) -> None:
    host.commands = {"lscpu": EPYC, "uname -m": "x86_64\n"}
    host.files = {
        "/proc/self/status": "Name:\thead\nCpus_allowed_list:\t0-1,128-129\n",
        "/proc/cpuinfo": "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 1\n",
    }
    cpu = describe(host)
    assert (cpu.cores, cpu.threads, cpu.sockets, cpu.usable) == (128, 256, 2, 4.0)
    assert cpu.microarchitecture == "zen3"
    assert cpu.clusters == ()
    assert all(command.environment["LC_ALL"] == "C" for command in host.asked)


@pytest.mark.parametrize(
    ("controller", "files", "usable"),
    [
        ("0::/user.slice/job", {"user.slice/job/cpu.max": "max 100000", "user.slice/cpu.max": "250000 100000"}, 2.5),
        ("0::/job", {"job/cpu.max": "max 100000"}, 256.0),
        ("4:cpu,cpuacct:/job", {"job/cpu.cfs_quota_us": "300000", "job/cpu.cfs_period_us": "100000"}, 3.0),
        ("4:cpu,cpuacct:/job", {"job/cpu.cfs_quota_us": "-1", "job/cpu.cfs_period_us": "100000"}, 256.0),
    ],
)
def test_the_tightest_quota_on_the_way_up_counts(
    host: Any, controller: str, files: dict[str, str], usable: float
) -> None:
    v2 = controller.startswith("0:")
    kind = "cgroup2 none rw" if v2 else "cgroup none rw,cpu,cpuacct"
    host.commands = {"lscpu": EPYC, "uname -m": "x86_64\n"}
    host.files = {
        "/proc/self/status": "Cpus_allowed_list:\t0-255\n",
        "/proc/self/cgroup": controller,
        "/proc/self/mountinfo": f"30 1 0:26 / /sys/fs/cgroup rw - {kind}\n",
        **{f"/sys/fs/cgroup/{path}": value for path, value in files.items()},
    }
    assert describe(host).usable == usable


@pytest.mark.parametrize(
    "files",
    [
        {"/sys/fs/cgroup/job/cpu.max": PermissionError("denied")},
        {"/sys/fs/cgroup/job/cpu.max": ""},
        {"/sys/fs/cgroup/job/cpu.max": "200000 100000", "/sys/fs/cgroup/cpu.max": PermissionError("denied")},
        {"/proc/self/cgroup": PermissionError("denied")},
        {"/proc/self/mountinfo": PermissionError("denied")},
        {"/proc/self/mountinfo": ""},
    ],
)
def test_a_quota_that_was_not_read_leaves_what_is_usable_unknown(host: Any, files: dict[str, str | Exception]) -> None:
    host.commands = {"lscpu": EPYC, "uname -m": "x86_64\n"}
    host.files = {
        "/proc/self/status": "Cpus_allowed_list:\t0-255\n",
        "/proc/self/cgroup": "0::/job",
        "/proc/self/mountinfo": "30 1 0:26 / /sys/fs/cgroup rw - cgroup2 none rw\n",
        **files,
    }
    cpu = describe(host)
    assert (cpu.usable, cpu.threads) == (None, 256)


def test_two_kinds_of_core_are_both_kept(host: Any) -> None:
    host.commands = {"lscpu": BIG_LITTLE}
    cpu = describe(host)
    assert cpu.model == "Cortex-A55 + Cortex-A76"
    assert (cpu.cores, cpu.threads) == (8, 8)
    assert [cluster.model for cluster in cpu.clusters] == ["Cortex-A55", "Cortex-A76"]


def test_dash_and_zero_are_unknown_and_two_clusters_are_kept(host: Any) -> None:
    host.commands = {
        "lscpu": BIG_LITTLE.replace("Cortex-A55", "-")
        .replace("Cortex-A76", "-")
        .replace("socket:    4", "socket:    0")
    }
    cpu = describe(host)
    assert cpu.model is None
    assert cpu.cores is None
    assert cpu.threads == 8
    assert cpu.clusters == (CpuCluster(sockets=1, threads_per_core=1),) * 2


def test_localised_names_are_not_guessed_and_the_kernel_is_asked_instead(host: Any) -> None:
    host.commands = {"lscpu": "Architektur: x86_64\nCPU(s): 4\nModellname: Foo\nThread(s) pro Kern: 2\n"}
    block = "processor\t: {n}\nmodel name\t: Foo CPU\nphysical id\t: 0\ncore id\t: {core}\nflags\t: avx sse\n"
    host.files = {"/proc/cpuinfo": "\n".join(block.format(n=n, core=n // 2) for n in range(4))}
    cpu = describe(host)
    assert (cpu.model, cpu.cores, cpu.threads) == ("Foo CPU", 2, 4)
    assert cpu.features == ("avx", "sse")


def test_arm_without_lscpu_tells_threads_but_no_cores(host: Any) -> None:
    host.files = {"/proc/cpuinfo": "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd4f\n\nprocessor\t: 1\n"}
    cpu = describe(host)
    assert (cpu.threads, cpu.cores, cpu.microarchitecture) == (2, None, "neoverse_v2")


def test_nothing_that_tells_of_processors_is_unknown(host: Any) -> None:
    host.commands = {"lscpu": (1, "", "lscpu: failed to determine number of CPUs")}
    assert host.ask(CpuProbe(), "describe").outcome is Outcome.UNKNOWN


@pytest.mark.parametrize(("text", "count"), [("0-3,8", 5), ("7", 1), ("", None), ("0-", None), ("a-b", None)])
def test_kernel_lists(text: str, count: int | None) -> None:
    assert count_cpus(text) == count


def test_clusters_count_where_sockets_are_not_told(host: Any) -> None:
    host.commands = {"lscpu": BY_CLUSTERS, "uname -m": "aarch64\n"}
    cpu = describe(host)
    assert (cpu.cores, cpu.threads) == (8, 8)
    assert [(each.sockets, each.cores_per_socket) for each in cpu.clusters] == [(1, 4), (1, 4)]
