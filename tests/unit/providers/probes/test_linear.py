"""Long runs of one character are read to the end; what would take an hour is ended by `faulthandler_timeout`."""

from collections.abc import Callable
from typing import Any

import pytest

from dragoman.command import Completed
from dragoman.observation import Answer, Outcome
from providers.probes.base import Ask, FileRead, Probe, Results
from providers.probes.container.blame import blame
from providers.probes.container.flavours import parse_flavour
from providers.probes.hardware.cpu import parse_cpuinfo, parse_lscpu
from providers.probes.hardware.memory import parse_meminfo
from providers.probes.hardware.nvidia import parse_instances, parse_rows
from providers.probes.network.rdma import parse_ibstat
from providers.probes.software.easybuild import parse_easyconfig
from providers.probes.software.module_names import parse_listing
from providers.probes.software.system import upstream_version
from providers.probes.storage.mount_table import Mount, parse_mountinfo
from providers.probes.storage.mounts import parse_df
from providers.probes.storage.quotas import parse_beegfs, parse_mmlsquota, parse_quota_table
from providers.probes.storage.s3 import parse_aws_config
from providers.registry import probes
from providers.verbs import NoArguments, PackageQuery

RUN = 100_000
UNITS = ("\n", " ", "x", "x ", "-", "0", "[a", "{", "a-1_", "A")
HEADS = ("", "x", "[profile ", "GPU 0: x(UUID: ")
MOUNT = Mount(root="/", point="/m", kind="lustre", source="x", options=(), super_options=())
PARSERS: dict[str, Callable[[str], object]] = {
    "flavour": parse_flavour,
    "cpuinfo": parse_cpuinfo,
    "lscpu": parse_lscpu,
    "meminfo": parse_meminfo,
    "nvidia-rows": lambda text: parse_rows(text, ("index", "uuid")),
    "nvidia-parts": parse_instances,
    "ibstat": parse_ibstat,
    "easyconfig": parse_easyconfig,
    "modules": parse_listing,
    "version": upstream_version,
    "mountinfo": parse_mountinfo,
    "df": parse_df,
    "quota": lambda text: parse_quota_table(text, MOUNT),
    "mmlsquota": lambda text: parse_mmlsquota(text, MOUNT),
    "beegfs": lambda text: parse_beegfs(text, MOUNT),
    "aws": parse_aws_config,
}
TEXTS = [f"{head}{unit * (RUN // len(unit))}{end}" for head in HEADS for unit in UNITS for end in ("", "y\n")]


@pytest.mark.parametrize("name", PARSERS)
def test_a_parser_reads_in_linear_time(name: str) -> None:
    for text in TEXTS:
        PARSERS[name](text)


def answered(probe: Probe, verb: str, data: bytes) -> None:
    """Each of its commands and files tells the same."""
    found = probe.verb(verb)
    assert found is not None
    arguments: Any = PackageQuery(name="gcc") if verb == "find_package" else NoArguments()
    said: Ask | Answer[Any] = found.ask(arguments, {})
    commands: dict[str, Completed | Exception] = {}
    files: dict[str, tuple[FileRead, ...]] = {}
    for _ in range(6):
        if not isinstance(said, Ask):
            return
        commands |= {name: Completed(each.argv, 0, data + b"\n", b"") for name, each in said.commands.items()}
        files |= {path: (FileRead(path.replace("*", "1"), Outcome.OK, data),) for path in said.files}
        said = found.parse(arguments, Results(commands, files, {}))
    raise AssertionError("asked for more and more")


VERBS = [(name, verb.name) for name, make in probes.items() for verb in make().verbs]


@pytest.mark.parametrize(("name", "verb"), VERBS)
def test_a_probe_reads_in_linear_time(name: str, verb: str) -> None:
    for unit in UNITS:
        data = (unit * (RUN // len(unit))).encode()
        answered(probes.get(name)(), verb, data)


@pytest.mark.parametrize(
    ("head", "unit"),
    [
        ("", "operation not permitted "), ("", "sock "), ("", "failed to create "), ("", "gateway "), ("clone", "() "),
    ],
)  # fmt: skip
def test_the_blame_is_laid_in_linear_time(head: str, unit: str) -> None:
    blame(head + unit * (RUN // len(unit)))


def test_limits_of_the_kernel_in_linear_time(host: Any) -> None:
    host.files = {"/proc/self/limits": "Max a" + " " * RUN, "/sys/kernel/x": ""}
    host.ask(probes.get("hardware/host")(), "policy")


def test_packages_of_alpine_in_linear_time(host: Any) -> None:
    host.commands = {"apk": "a-1" + "_a" * (RUN // 2) + "\n", "/bin/sh": "dragoman-none\n"}
    host.ask(probes.get("software/system")(), "find_package", PackageQuery(name="gcc"))


def test_blanks_in_the_names_of_devices_and_of_profiles() -> None:
    table = "Filesystem 1024-blocks Used Available Capacity Mounted on\na b:/c  1000 400 600 40% /m n\n"
    assert parse_df(table) == {"/m n": (1000 * 1024, 600 * 1024)}
    assert parse_aws_config("[ profile  a b ]\nendpoint_url = https://s3.x.org\n") == {"https://s3.x.org": ("a b",)}
    assert parse_aws_config("[default]\nregion = eu-1\n") == {"https://s3.eu-1.amazonaws.com": ("default",)}
