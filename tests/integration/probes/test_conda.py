"""Conda environments made by rattler, which solves and installs packages as conda and mamba do, from a channel here.

Neither Debian nor PyPI has a conda or mamba that works by itself (PyPI's `conda` is of 2017). What the probe reads is
what every one of them writes: `conda-meta` and the files of packages.
"""

import hashlib
import io
import json
import tarfile
from pathlib import Path
from typing import Any

import anyio
import pytest

from dragoman.observation import Outcome
from providers.probed import Question, ask_many
from providers.probes.software.conda import Conda
from providers.transports.local import LocalTransport
from providers.verbs import NoArguments, PackageQuery

pytestmark = pytest.mark.anyio


def build(channel: Path, name: str, version: str, build: str, files: dict[str, bytes], *depends: str) -> None:
    """Write one package as conda-build does."""
    index = {
        "name": name, "version": version, "build": build, "build_number": 0, "depends": list(depends),
        "subdir": "noarch", "noarch": "generic", "arch": None, "platform": None, "license": "MIT",
    }  # fmt: skip
    paths = [
        {"_path": path, "path_type": "hardlink", "sha256": hashlib.sha256(data).hexdigest(), "size_in_bytes": len(data)}
        for path, data in files.items()
    ]
    info = {
        "info/index.json": json.dumps(index),
        "info/paths.json": json.dumps({"paths_version": 1, "paths": paths}),
        "info/files": "\n".join(files),
    }
    with tarfile.open(channel / "noarch" / f"{name}-{version}-{build}.tar.bz2", "w:bz2") as tar:
        for path, data in {**{path: text.encode() for path, text in info.items()}, **files}.items():
            member = tarfile.TarInfo(path)
            member.size, member.mode = len(data), 0o755
            tar.addfile(member, io.BytesIO(data))


@pytest.fixture(scope="module")
def channel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("channel")
    (folder / "noarch").mkdir()
    build(folder, "gromacs", "2024.10", "nompi_h1_0", {"bin/gmx": b"#!/bin/sh\necho gmx 2024.10\n"}, "fftw >=3.3")
    build(folder, "fftw", "3.3.10", "mpi_openmpi_h2_1", {"share/fftw/wisdom": b"x"})
    build(folder, "fftw-doc", "3.3.10", "0", {"share/doc/fftw": b"x"})
    return folder


async def install(channel: Path, prefix: Path, *wanted: str) -> None:
    """`conda create --offline --prefix PREFIX --channel CHANNEL WANTED`."""
    rattler: Any = pytest.importorskip("rattler")
    index: Any = pytest.importorskip("rattler.index")
    await index.index_fs(channel)
    gateway = rattler.Gateway(cache_dir=prefix.parent / "channels")
    records = await rattler.solve(
        [rattler.Channel(channel.as_uri())], list(wanted), gateway=gateway, platforms=["noarch"]
    )
    await rattler.install(
        records, target_prefix=str(prefix), cache_dir=str(prefix.parent / "packages"), show_progress=False
    )


async def find(home: Path, verb: str, name: str = "", **paths: str) -> Any:
    transport = LocalTransport({"PATH": "/usr/bin:/bin", "HOME": str(home)})
    arguments = PackageQuery(name=name) if name else NoArguments()
    return (await ask_many(transport, [Question(Conda(), verb, arguments)], paths=paths))[0]


@pytest.fixture
async def environment(channel: Path, tmp_path: Path) -> Path:
    """An environment of the user's, which the list of the user's environments names."""
    prefix = tmp_path / "envs with spaces" / "md"
    prefix.mkdir(parents=True)
    await install(channel, prefix, "gromacs")
    (tmp_path / ".conda").mkdir()
    (tmp_path / ".conda" / "environments.txt").write_text(f"{prefix}\n")
    return prefix


async def test_what_was_asked_for_and_what_came_with_it(environment: Path, tmp_path: Path) -> None:
    gromacs = (await find(tmp_path, "find_package", "gromacs")).value.packages
    fftw = (await find(tmp_path, "find_package", "fftw")).value.packages
    told = [(each.name, each.version, each.variants, each.prefix) for each in (*gromacs, *fftw)]
    assert told == [
        ("gromacs", "2024.10", ("build=nompi_h1_0",), str(environment)),
        ("fftw", "3.3.10", ("build=mpi_openmpi_h2_1",), str(environment)),
    ]


async def test_its_lines_make_it_usable(environment: Path, tmp_path: Path) -> None:
    (package,) = (await find(tmp_path, "find_package", "gromacs")).value.packages
    done = await anyio.run_process(["/bin/sh", "-c", "\n".join([*package.load, "gmx"])], env={"PATH": "/usr/bin:/bin"})
    assert done.stdout == b"gmx 2024.10\n"


async def test_a_package_of_the_channel_is_not_installed(environment: Path, tmp_path: Path) -> None:
    answer = await find(tmp_path, "find_package", "fftw-doc")
    assert (answer.outcome, answer.value.packages, answer.value.similar) == (Outcome.OK, (), ("fftw",))
    assert (await find(tmp_path, "find_package", "no-such-thing")).outcome is Outcome.ABSENT


async def test_a_package_that_is_removed_is_gone(environment: Path, channel: Path, tmp_path: Path) -> None:
    await install(channel, environment, "fftw")
    assert (await find(tmp_path, "find_package", "gromacs")).outcome is Outcome.ABSENT
    assert (await find(tmp_path, "find_package", "fftw")).value.packages


async def test_a_record_that_was_cut_is_unknown(environment: Path, tmp_path: Path) -> None:
    (record,) = (environment / "conda-meta").glob("gromacs-*.json")
    whole = record.read_bytes()
    for size in (0, 1, len(whole) // 2, len(whole.rstrip()) - 1):
        record.write_bytes(whole[:size])
        assert (await find(tmp_path, "find_package", "gromacs")).outcome is Outcome.UNKNOWN


async def test_presence_by_the_site_file(environment: Path, tmp_path: Path) -> None:
    (tmp_path / ".conda" / "environments.txt").unlink()
    assert (await find(tmp_path, "probe")).outcome is Outcome.ABSENT
    told = await find(tmp_path, "probe", conda=str(environment))
    assert (told.value.path, told.value.detail) == (str(environment), str(environment))
