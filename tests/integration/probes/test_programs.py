"""Real MPI libraries, container runtimes and packages, held against what they say when asked by hand."""

import re
import shutil
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.observation import Outcome
from providers.probes.container.option_tables import RUNTIMES
from providers.probes.software.system import upstream_version
from providers.transports.local import LocalTransport

pytestmark = pytest.mark.anyio

PATH = "/usr/local/bin:/usr/bin:/bin"
Find = Callable[..., Awaitable[Any]]


async def said(*argv: str) -> str:
    return (await anyio.run_process([*argv], check=True)).stdout.decode()


async def packaged(name: str) -> str:
    return upstream_version(await said("dpkg-query", "-W", "-f", "${Version}", name))


async def test_open_mpi(find: Find) -> None:
    found = (await find("parallel/openmpi", "libraries")).value.libraries
    assert [library.version for library in found] == [await packaged("openmpi-bin")]
    assert {"tcp", "shared-memory"} <= set(found[0].fabrics)
    assert re.search(r"Open MPI|OpenRTE", await said(found[0].launcher, "--version"))


async def test_mpich_beside_open_mpi(find: Find) -> None:
    found = (await find("parallel/mpich", "libraries")).value.libraries
    assert [library.version for library in found] == [await packaged("mpich")]
    assert set(found[0].fabrics) <= {"ofi", "ucx", "tcp"}
    assert found[0].fabrics
    assert "HYDRA" in await said(found[0].launcher, "--version")


@pytest.mark.parametrize("name", ["mvapich", "intel-mpi", "cray-mpich", "spectrum-mpi"])
async def test_no_launcher_is_taken_for_another(find: Find, name: str) -> None:
    assert (await find(f"parallel/{name}", "libraries")).outcome is Outcome.ABSENT


async def test_one_round_trip_answers_for_all_six(find: Find, parts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from providers.probed import Question, ask_many
    from providers.registry import probes

    asked: list[int] = []
    run_many = LocalTransport.run_many

    async def counting(self: LocalTransport, commands: Any, told: Any = None) -> Any:
        asked.append(len(commands))
        return await run_many(self, commands, told)

    monkeypatch.setattr(LocalTransport, "run_many", counting)
    names = [name for name in probes.names() if name.startswith("parallel/")]
    await ask_many(LocalTransport(), [Question(probes.get(name)(), "libraries") for name in names])
    assert (len(names), asked) == (6, [1])


async def test_podman(find: Find) -> None:
    found = (await find("container/podman", "status")).value
    assert found.version == await packaged("podman")
    assert found.usable.value in ("yes", "no"), found.reason
    assert (found.reason == "") is (found.usable.value == "yes")
    if found.usable.value == "yes":
        names = (await said("podman", "images", "--format", "{{.Repository}}:{{.Tag}}")).split()
        assert sorted(image.name for image in found.images) == sorted(names)


async def test_charliecloud(find: Find) -> None:
    found = (await find("container/charliecloud", "status")).value
    assert found.version == await packaged("charliecloud-runtime")
    assert found.rootless.value == "yes"
    works = (await anyio.run_process(["unshare", "--user", "--map-root-user", "true"], check=False)).returncode == 0
    assert found.usable.value == ("yes" if works else "no")


@pytest.mark.parametrize("name", ["apptainer", "singularity", "shifter", "enroot", "sarus"])
async def test_runtimes_that_are_not_there(find: Find, name: str) -> None:
    if shutil.which(name):
        pytest.skip(f"{name} is installed")
    assert (await find(f"container/{name}", "status")).outcome is Outcome.ABSENT


@pytest.mark.parametrize("name", ["openmpi-bin", "mpich", "podman"])
async def test_packages_of_the_system(find: Find, name: str) -> None:
    found = (await find("software/system", "find_package", name.upper())).value.packages
    assert [package.version for package in found] == [await packaged(name)]


async def test_a_package_that_is_not_installed(find: Find) -> None:
    assert (await find("software/system", "find_package", "no-such-package-zzq")).outcome is Outcome.ABSENT


OPTION = re.compile(r"^ +(?:(-[A-Za-z?]), +)?(--[a-z0-9][a-z0-9-]*)?(\[?=| (?=[^ ]))?", re.MULTILINE)


@pytest.mark.parametrize(
    "argv", [("podman", "run", "--help"), ("podman", "--help"), ("ch-run", "--help")], ids=" ".join
)
async def test_which_options_take_a_value_is_as_the_program_says(argv: tuple[str, ...], programs: None) -> None:
    help_text = (await anyio.run_process([*argv], env={"USER": "x", "PATH": PATH, "HOME": "/root"})).stdout.decode()
    form = RUNTIMES[argv[0]]
    known = form.before if argv == ("podman", "--help") else form.after
    options = [match for match in OPTION.finditer(help_text) if match[1] or match[2]]
    assert len(options) > 15
    for match in options:
        takes = match[3] is not None and match[3] != "[="
        for name in filter(None, (match[1], match[2])):
            assert (name, name in known.values, name in known.flags) == (name, takes, not takes)
